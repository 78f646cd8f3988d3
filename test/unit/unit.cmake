# One executable for each file of this folder, one ctest entry for each case in it.

# Where starting a process costs more than most cases (valgrind), an executable is one entry.
option(TRACELOOM_WHOLE_UNITS "One ctest entry for each executable of unit tests, not for each case" OFF)
option(TRACELOOM_OWN_CMOCKA "Use test/unit/compat/cmocka.h: for hosts without the library" OFF)
set(unit_libraries)
if(NOT TRACELOOM_OWN_CMOCKA)
  find_library(TL_CMOCKA NAMES cmocka)
  find_path(TL_CMOCKA_INCLUDE NAMES cmocka.h)
  if(NOT TL_CMOCKA OR NOT TL_CMOCKA_INCLUDE)
    traceloom_no_tests("cmocka was not found: no unit tests. Install it with: apt-get install libcmocka-dev")
    return()
  endif()
  list(APPEND unit_libraries ${TL_CMOCKA})
endif()

file(GLOB unit_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/unit/test_*.c)
foreach(unit IN LISTS unit_files)
  get_filename_component(name ${unit} NAME_WE)
  # Parts of the recorder, test_rt_<thing>.c: only in builds with a recorder.
  set(recorder)
  if(name MATCHES "^test_rt_")
    if(NOT TARGET traceloom-rt)
      continue()
    endif()
    set(recorder traceloom-rt)
    if(name MATCHES "^test_rt_patch_")
      set(recorder traceloom-rt-patch traceloom-rt)
    endif()
  endif()
  # Simulations: numbers, not memory, and minutes of valgrind's time.
  if(name STREQUAL "test_compare_truth" AND CMAKE_CROSSCOMPILING_EMULATOR MATCHES "valgrind")
    continue()
  endif()
  add_executable(${name} ${unit} ${CMAKE_CURRENT_SOURCE_DIR}/unit/compat/one_case.c)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${name} PRIVATE -Wno-unused-parameter) # each case has a `state`, which few use
  if(TRACELOOM_OWN_CMOCKA)
    target_include_directories(${name} BEFORE PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit/compat)
  endif()
  target_link_libraries(${name} PRIVATE ${recorder} $<TARGET_NAME_IF_EXISTS:traceloom-cli> libtraceloom ${unit_libraries})

  # The source has the names of the cases; reconfigure when it changes.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${unit})
  file(READ ${unit} text)
  string(REGEX MATCHALL "cmocka_unit_test[a-z_]*\\([ \n]*[A-Za-z_0-9]+" calls "${text}")
  set(cases)
  foreach(call IN LISTS calls)
    string(REGEX REPLACE ".*\\([ \n]*" "" case "${call}")
    list(APPEND cases ${case})
  endforeach()
  list(REMOVE_DUPLICATES cases)
  if(NOT cases)
    message(WARNING "${unit} registers no cases with cmocka_unit_test(...)")
  endif()
  # Files that try one of many, and in `make slow` all.
  set(labels unit)
  if(text MATCHES "\"thorough\\.h\"")
    list(APPEND labels slow)
  endif()
  if(TRACELOOM_WHOLE_UNITS)
    set(cases "")
    add_test(NAME unit.${name} COMMAND ${name})
    set_tests_properties(unit.${name} PROPERTIES ENVIRONMENT "${TL_TEST_ENVIRONMENT}"
      FAIL_REGULAR_EXPRESSION "Running 0 test" LABELS "${labels}" TIMEOUT 1200)
  endif()
  foreach(case IN LISTS cases)
    string(REGEX REPLACE "^test_" "" short_case ${case})
    set(entry unit.${name}.${short_case})
    add_test(NAME ${entry} COMMAND ${name})
    set_tests_properties(${entry} PROPERTIES
      ENVIRONMENT "${TL_TEST_ENVIRONMENT};TL_CASE=${case}"
      SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\] ${case}"
      FAIL_REGULAR_EXPRESSION "Running 0 test"
      LABELS "${labels}" TIMEOUT 300)
  endforeach()
endforeach()
