# The page of `report -o x.html`: src/view/web becomes three strings of the library, and the two hashes of its content
# security policy. CMake does all of it: the build needs neither node nor Python.

set(TL_WEB ${CMAKE_CURRENT_LIST_DIR}/../src/view/web)

# In the order of their imports: a module uses only names of those before it. A new view is a line here and one in views.js.
set(TL_WEB_MODULES
  units clock dom unpack source_file source_serve colours profile tree_shape time range_profile exact_range state find canvas export
  table call_text detail menu strip time_strip flame tree functions chart heat_map over_time timeline_rows call_table timeline
  latency_heat latency overview report_table report_charts runtime code events losses compare sql views shell live main)

# tl_web_base64(OUT HEX): the SHA-256 as base64, as content security policies write it.
function(tl_web_base64 out hex)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text)
  foreach(at RANGE 0 60 6) # three bytes become four letters; of the last three only two are left
    string(SUBSTRING "${hex}0000" ${at} 6 three)
    math(EXPR bits "0x${three}")
    foreach(shift 18 12 6 0)
      math(EXPR letter "(${bits} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${letter} 1 letter)
      string(APPEND text ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)
  set(${out} "sha256-${text}=" PARENT_SCOPE)
endfunction()

# tl_web_string(NAME TEXT [HASH]): appends the definition of tl_page_NAME, its size and, if asked for, its hash.
function(tl_web_string name text)
  set(file ${PROJECT_BINARY_DIR}/page_${name}.txt)
  file(WRITE ${file} "${text}")
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  # Lines of 16 bytes: compilers dislike lines of a megabyte.
  set(sixteen "([^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,)")
  string(REGEX REPLACE "${sixteen}" "\\1\n" bytes "${bytes}")
  string(APPEND web_source "const char tl_page_${name}[] = {\n${bytes}0};\n"
         "const size_t tl_page_${name}_size = sizeof tl_page_${name} - 1;\n")
  if(ARGN)
    file(SHA256 ${file} digest)
    tl_web_base64(hash ${digest})
    string(APPEND web_source "const char tl_page_${name}_hash[] = \"${hash}\";\n")
  endif()
  set(web_source "${web_source}" PARENT_SCOPE)
endfunction()

# Comments that are lines of their own, and indentation, stay here.
function(tl_web_strip out text)
  string(REGEX REPLACE "\n[ \t]+" "\n" text "\n${text}")
  string(REGEX REPLACE "\n//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n\n+" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

set(script)
foreach(module IN LISTS TL_WEB_MODULES)
  file(READ ${TL_WEB}/${module}.js text)
  string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  tl_web_strip(text "${text}")
  string(APPEND script "${text}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TL_WEB}/${module}.js)
endforeach()
file(READ ${TL_WEB}/page.css style)
string(REGEX REPLACE "/\\*[^*]*\\*/" "" style "${style}")
tl_web_strip(style "${style}")
file(READ ${TL_WEB}/page.html shell)
tl_web_strip(shell "${shell}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TL_WEB}/page.css ${TL_WEB}/page.html)

set(web_source "/* Made by cmake/Page.cmake. */\n#include \"view/web/web_assets.h\"\n\n")
tl_web_string(script "(() => {\n'use strict';\n${script}})();\n" HASH)
tl_web_string(style "${style}" HASH)
tl_web_string(shell "${shell}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/web_assets.c CONTENT "${web_source}" @ONLY)
target_sources(libtraceloom PRIVATE ${PROJECT_BINARY_DIR}/web_assets.c)
