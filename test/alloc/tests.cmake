# No allocation per event.
if(NOT CMAKE_CROSSCOMPILING)
  add_executable(alloc_iterate ${CMAKE_CURRENT_SOURCE_DIR}/alloc/iterate.c)
  target_link_libraries(alloc_iterate PRIVATE libtraceloom)
  target_link_options(alloc_iterate PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc)
  traceloom_script(alloc.growth alloc/growth.py $<TARGET_FILE:fault_shim> $<TARGET_FILE:alloc_iterate>)
endif()
