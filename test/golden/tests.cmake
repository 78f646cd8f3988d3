# One test for each line of cases.txt.
set(golden_cases ${CMAKE_CURRENT_SOURCE_DIR}/golden/cases.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${golden_cases})
file(STRINGS ${golden_cases} golden_lines REGEX "^[a-z]")
foreach(line IN LISTS golden_lines)
  string(REGEX REPLACE " .*" "" name "${line}")
  # Builds without a library have no case that depends on it.
  if((line MATCHES "\\.gz" AND NOT TRACELOOM_ZLIB) OR (line MATCHES "pprof" AND NOT TRACELOOM_ZLIB))
    continue()
  endif()
  # The C library reads the data of a locale in its own byte order.
  if(name MATCHES "-utf8$" AND CMAKE_CROSSCOMPILING)
    continue()
  endif()
  traceloom_script(golden.${name} golden/golden.py ${name})
endforeach()
