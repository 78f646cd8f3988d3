# Optional libraries: each is found or named with its Debian package, and each can be switched off.

# traceloom_library(NAME <what it is for> [COMMAND] LIBRARIES <lib>... HEADER <file> PACKAGE <debian package>...)
# defines the option TRACELOOM_<NAME>, and with it TL_HAVE_<NAME> and the libraries to link; COMMAND: only the command
# needs it, not the library.
function(traceloom_library name purpose)
  cmake_parse_arguments(lib "COMMAND" "HEADER" "LIBRARIES;PACKAGE" ${ARGN})
  option(TRACELOOM_${name} "${purpose}" ON)
  if(NOT TRACELOOM_${name})
    return()
  endif()
  find_path(TL_${name}_INCLUDE NAMES ${lib_HEADER})
  set(paths)
  set(missing)
  if(NOT TL_${name}_INCLUDE)
    set(missing "header ${lib_HEADER}")
  endif()
  foreach(library IN LISTS lib_LIBRARIES)
    find_library(TL_${name}_${library} NAMES ${library})
    if(NOT TL_${name}_${library})
      list(APPEND missing "library ${library}")
    endif()
    list(APPEND paths ${TL_${name}_${library}})
  endforeach()
  mark_as_advanced(TL_${name}_INCLUDE)
  if(missing)
    list(JOIN missing ", " missing)
    list(JOIN lib_PACKAGE " " packages)
    message(FATAL_ERROR "${purpose}: ${missing} not found.\n"
                        "Install it with: apt-get install ${packages}\n"
                        "or build without it: -DTRACELOOM_${name}=OFF")
  endif()
  string(TOLOWER ${name} word)
  set_property(GLOBAL APPEND PROPERTY TL_BUILD_OPTIONS ${word})
  if(lib_COMMAND)
    set_property(GLOBAL APPEND PROPERTY TL_COMMAND_LIBRARIES ${paths})
    set_property(GLOBAL APPEND PROPERTY TL_COMMAND_DEFINITIONS TL_HAVE_${name})
    return()
  endif()
  target_link_libraries(libtraceloom PUBLIC ${paths})
  target_include_directories(libtraceloom SYSTEM PRIVATE ${TL_${name}_INCLUDE})
  target_compile_definitions(libtraceloom PUBLIC TL_HAVE_${name})
  # Prepended: the linker visits a static library once, and later ones here need earlier ones.
  get_property(private GLOBAL PROPERTY TL_PRIVATE_LIBRARIES)
  list(TRANSFORM lib_LIBRARIES PREPEND -l)
  set_property(GLOBAL PROPERTY TL_PRIVATE_LIBRARIES ${lib_LIBRARIES} ${private})
endfunction()

traceloom_library(ZLIB "Reading and writing .gz" LIBRARIES z HEADER zlib.h PACKAGE zlib1g-dev)
traceloom_library(ZSTD "Reading and writing .zst" LIBRARIES zstd HEADER zstd.h PACKAGE libzstd-dev)
traceloom_library(BZIP2 "Reading .bz2" LIBRARIES bz2 HEADER bzlib.h PACKAGE libbz2-dev)
traceloom_library(LIBDW "Files and lines of functions" LIBRARIES dw elf HEADER elfutils/libdwfl.h
                  PACKAGE libdw-dev libelf-dev)
traceloom_library(DEMANGLE "C++ names as people write them" LIBRARIES iberty HEADER libiberty/demangle.h
                  PACKAGE libiberty-dev)
traceloom_library(SQLITE "SQL over traces: traceloom query" LIBRARIES sqlite3 HEADER sqlite3.h PACKAGE libsqlite3-dev)
traceloom_library(LIBEDIT "Editing lines in the shell of query" COMMAND LIBRARIES edit HEADER histedit.h
                  PACKAGE libedit-dev)

traceloom_library(SERVE "Pages with answers: traceloom serve" COMMAND LIBRARIES microhttpd HEADER microhttpd.h
                  PACKAGE libmicrohttpd-dev)

traceloom_library(CURL "Traces in ClickHouse: traceloom load" COMMAND LIBRARIES curl HEADER curl/curl.h
                  PACKAGE libcurl4-openssl-dev)

# Not linked and not needed to build: the command looks for it at run time.
option(TRACELOOM_LLVM "Text of instructions through LLVM, where it is installed" ON)
if(TRACELOOM_LLVM)
  target_link_libraries(libtraceloom PUBLIC ${CMAKE_DL_LIBS})
  target_compile_definitions(libtraceloom PUBLIC TL_HAVE_LLVM)
  foreach(library IN LISTS CMAKE_DL_LIBS)
    set_property(GLOBAL APPEND PROPERTY TL_PRIVATE_LIBRARIES -l${library})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY TL_BUILD_OPTIONS llvm)
endif()

# Logarithms, for comparing runs.
target_link_libraries(libtraceloom PUBLIC m)
set_property(GLOBAL APPEND PROPERTY TL_PRIVATE_LIBRARIES -lm)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
target_link_libraries(libtraceloom PUBLIC Threads::Threads)
set_property(GLOBAL APPEND PROPERTY TL_PRIVATE_LIBRARIES -pthread)
