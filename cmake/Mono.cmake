# libmono-profiler-traceloom.so, the module that Mono loads to record a program: `traceloom record app.exe`. It needs
# headers of Mono, and nothing of it to link with: the functions are in the program that loads it.

# What runtimes load: they have no sanitizer's runtime, and what is counted there is not the command's.
function(traceloom_module name)
  set(flags -Wall -Wextra -Wshadow -Wconversion -O2 -ftls-model=initial-exec -fno-sanitize=all -fno-profile-arcs
      -fno-test-coverage)
  if(TRACELOOM_WERROR)
    list(APPEND flags -Werror)
  endif()
  set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET hidden COMPILE_OPTIONS "${flags}" LINK_OPTIONS "")
  target_include_directories(${name} PRIVATE src include)
  target_compile_definitions(${name} PRIVATE "TL_VERSION=\"${PROJECT_VERSION}\"")
  # The recorder's own names stay inside: the program may have one, too.
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,nodelete)
  target_link_libraries(${name} PRIVATE traceloom-rt Threads::Threads m)
  add_dependencies(traceloom ${name})
endfunction()

option(TRACELOOM_MONO "The module for Mono, if its headers (libmono-2.0-dev) are there" ON)
if(NOT TRACELOOM_MONO OR NOT TARGET traceloom-rt OR TRACELOOM_FUZZ OR CMAKE_CROSSCOMPILING)
  return()
endif()
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(TL_MONO QUIET mono-2)
endif()
if(NOT TL_MONO_FOUND)
  message(STATUS "Mono's headers are not here (libmono-2.0-dev): its programs are not recorded by this build")
  return()
endif()
file(GLOB TL_MONO_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/managed/*.c ${PROJECT_SOURCE_DIR}/src/mono/*.c)
add_library(mono-profiler-traceloom MODULE ${TL_MONO_SOURCES} ${PROJECT_SOURCE_DIR}/src/base/grow.c
            ${PROJECT_SOURCE_DIR}/src/base/pe_file.c)
traceloom_module(mono-profiler-traceloom)
target_include_directories(mono-profiler-traceloom SYSTEM PRIVATE ${TL_MONO_INCLUDE_DIRS})
