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
  # The reverse: recorders whose traces we read.
  traceloom_script(consumers.lttng consumers/lttng.sh $<TARGET_FILE:traceloom>)
  traceloom_script(consumers.mono consumers/mono.sh $<TARGET_FILE:traceloom>)
  traceloom_script(consumers.xtrace consumers/xtrace.sh $<TARGET_FILE:traceloom>)
endif()
