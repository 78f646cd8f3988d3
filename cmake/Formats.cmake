# One switch for each folder of src/format: OFF leaves the folder out of the build and out of the list of formats.

file(GLOB format_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}/src/format
     ${PROJECT_SOURCE_DIR}/src/format/*)
set(TRACELOOM_FORMATS)
set(without)
foreach(folder IN LISTS format_folders)
  string(TOUPPER ${folder} name)
  option(TRACELOOM_FORMAT_${name} "Formats of src/format/${folder}" ON)
  if(TRACELOOM_FORMAT_${name})
    list(APPEND TRACELOOM_FORMATS ${folder})
  else()
    list(FILTER TL_SOURCES EXCLUDE REGEX "/src/format/${folder}/")
    list(APPEND without TL_WITHOUT_${name})
  endif()
endforeach()

# What `record --insn` writes in any build.
list(APPEND TL_SOURCES ${PROJECT_SOURCE_DIR}/src/format/xtrace/xtrace_index.c)
list(REMOVE_DUPLICATES TL_SOURCES)

# A format without its folder is not listed.
file(STRINGS ${PROJECT_SOURCE_DIR}/src/formats.def listed REGEX "#ifndef TL_WITHOUT_")
foreach(line IN LISTS listed)
  string(REGEX REPLACE ".*TL_WITHOUT_" "" name ${line})
  string(TOLOWER ${name} folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/format/${folder}/*.c)
  if(NOT sources)
    list(APPEND without TL_WITHOUT_${name})
  endif()
endforeach()

# Only the list of formats knows these, so that switching one off compiles one file.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/formats.c PROPERTIES COMPILE_DEFINITIONS "${without}")
