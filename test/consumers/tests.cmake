# The programs that people open our files with: each reads what we write, and finds the same numbers.
if(NOT CMAKE_CROSSCOMPILING)
  file(GLOB consumers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/consumers/*.sh)
  set(golden_input ${CMAKE_CURRENT_SOURCE_DIR}/golden/input)
  foreach(recorder lttng mono xtrace)
    list(REMOVE_ITEM consumers ${CMAKE_CURRENT_SOURCE_DIR}/consumers/${recorder}.sh)
  endforeach()
  foreach(consumer IN LISTS consumers)
    get_filename_component(short ${consumer} NAME_WE)
    foreach(trace fdr-v5-le fdr-v5-le-messy basic-v3-le)
      traceloom_script(consumers.${short}.${trace} consumers/${short}.sh $<TARGET_FILE:traceloom>
                       ${golden_input}/${trace}.xray ${golden_input}/program.elf)
    endforeach()
  endforeach()
  foreach(trace doc vs saved)
    traceloom_script(consumers.samples.${trace} consumers/samples.py $<TARGET_FILE:traceloom>
                     ${golden_input}/tracelog-${trace}.log)
  endforeach()
  foreach(part recipes tables hostile many refused export)
    traceloom_script(consumers.columns.${part} consumers/columns.py ${part})
  endforeach()
  # Servers that `load` fills. The cases of kills try twenty seeds in `make fleet`.
  foreach(case tables again down kill_shard kill_loader lost_reply two_loaders changed names stub
          current.tables current.again)
    traceloom_script(fleet.${case} consumers/clickhouse/fleet.py $<TARGET_FILE:traceloom> ${case})
    set_tests_properties(fleet.${case} PROPERTIES PROCESSORS 2 TIMEOUT 1500 FIXTURES_REQUIRED plain)
  endforeach()
  # The reverse: recorders whose traces we read.
  traceloom_script(consumers.lttng consumers/lttng.sh $<TARGET_FILE:traceloom>)
  traceloom_script(consumers.mono consumers/mono.sh $<TARGET_FILE:traceloom>)
  traceloom_script(consumers.xtrace consumers/xtrace.sh $<TARGET_FILE:traceloom>)
endif()
