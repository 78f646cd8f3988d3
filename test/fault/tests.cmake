# What happens when memory, reads or writes fail. Not on foreign hosts, where nothing can be preloaded.
if(NOT CMAKE_CROSSCOMPILING)
  file(GLOB shim_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fault/shim*.c)
  add_library(fault_shim MODULE ${shim_sources})
  set_target_properties(fault_shim PROPERTIES PREFIX "")
  # Without sanitizers in any build: it is loaded into the plain build of the command.
  target_compile_options(fault_shim PRIVATE -fno-sanitize=all -fno-builtin -Wno-conversion)
  target_link_options(fault_shim PRIVATE -fno-sanitize=all)
  foreach(kind malloc malloc+ read write files thread pipe shrink grow folder short eintr)
    traceloom_script(fault.${kind} fault/loop.py $<TARGET_FILE:fault_shim> ${kind})
    set_tests_properties(fault.${kind} PROPERTIES TIMEOUT 3600) # `make faults` tries every n
  endforeach()
  foreach(what standard pipes targets limits)
    traceloom_script(fault.${what} fault/surroundings.py ${what})
  endforeach()
endif()
