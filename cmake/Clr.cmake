# libtraceloom-clr.so, the profiler that CoreCLR loads to record a program. It has its own declarations of what it uses of
# the runtime, and is loaded by it: it needs only libc to be built.

option(TRACELOOM_CLR "The profiler for CoreCLR" ON)
if(NOT TRACELOOM_CLR OR NOT TARGET traceloom-rt OR TRACELOOM_FUZZ OR CMAKE_CROSSCOMPILING OR
   NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  return()
endif()
file(GLOB TL_CLR_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/managed/*.c ${PROJECT_SOURCE_DIR}/src/clr/*.c
     ${PROJECT_SOURCE_DIR}/src/clr/*_x86_64.S)
add_library(traceloom-clr MODULE ${TL_CLR_SOURCES} ${PROJECT_SOURCE_DIR}/src/base/grow.c
            ${PROJECT_SOURCE_DIR}/src/base/pe_file.c)
traceloom_module(traceloom-clr)
# Hooks run where the compiled code does not expect that vector registers change.
target_sources(traceloom-clr PRIVATE)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/managed/managed_calls.c ${PROJECT_SOURCE_DIR}/src/clr/clr_calls.c
                            PROPERTIES COMPILE_OPTIONS -mgeneral-regs-only)
