# The recorder, libtraceloom-rt, linked into the programs to trace. x86-64 and AArch64 Linux only.
#
#   traceloom-rt         static: everything but the start part
#   traceloom-rt-start   static, small: what every object with sleds needs a copy of, programs and shared libraries
#                        alike; the trampolines, because a sled reaches 2 GiB (AArch64: 128 MiB), and its registration
#   traceloom-rt-shared  libtraceloom-rt.so.0: the first one as a shared library, for libraries whose program has none,
#                        and for LD_PRELOAD

option(TRACELOOM_RT "The recorder, libtraceloom-rt" ON)
if(NOT TRACELOOM_RT OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8 OR
   NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64)$")
  return()
endif()
enable_language(ASM)
# traceloom --version says so.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cli/build_facts.c PROPERTIES COMPILE_DEFINITIONS TL_WITH_RECORDER)
include(CheckCCompilerFlag)

# Hooks run where the compiler of the traced program does not expect a call: they may not change vector registers, gain
# calls of libc, or be traced, counted or sanitized themselves. So only the warnings of the other targets' options
# (Compiler.cmake) apply here.
set(TL_RT_FLAGS -Wall -Wextra -Wshadow -Wconversion -O2 -mgeneral-regs-only -ffreestanding -fno-stack-protector
    -ftls-model=initial-exec -fno-sanitize=all -U_FORTIFY_SOURCE)
if(TRACELOOM_WERROR)
  list(APPEND TL_RT_FLAGS -Werror)
endif()
# Each only where the compiler knows it. Loops stay loops and are not turned into memcpy; AArch64 has atomic instructions
# since 8.1 only, and would call libgcc to find out.
foreach(flag -fno-tree-loop-distribute-patterns -mno-outline-atomics -fno-xray-instrument -fnoxray-instrument
        -fno-profile-arcs -fno-test-coverage)
  string(MAKE_C_IDENTIFIER "TL_RT_HAVE${flag}" have)
  set(CMAKE_REQUIRED_FLAGS -Werror)
  check_c_compiler_flag(${flag} ${have})
  unset(CMAKE_REQUIRED_FLAGS)
  if(${have})
    list(APPEND TL_RT_FLAGS ${flag})
  endif()
endforeach()

file(GLOB_RECURSE TL_RT_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/rt/*.c ${PROJECT_SOURCE_DIR}/src/rt/*.S)
# Assembly files are named after their processor.
set(others "_x86_64\\.S$")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(others "_aarch64\\.S$")
endif()
list(FILTER TL_RT_SOURCES EXCLUDE REGEX "${others}")
# Programs that link the recorder are not patched: that is for the shared library.
set(TL_RT_PATCH ${TL_RT_SOURCES})
list(FILTER TL_RT_PATCH INCLUDE REGEX "/src/rt/patch/")
list(FILTER TL_RT_SOURCES EXCLUDE REGEX "/src/rt/patch/")
file(GLOB TL_PATCH CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/patch/*.c)
list(APPEND TL_RT_PATCH ${TL_PATCH} ${PROJECT_SOURCE_DIR}/src/isa/x86/x86_decode.c ${PROJECT_SOURCE_DIR}/src/isa/x86/x86_glance.c
     ${PROJECT_SOURCE_DIR}/src/isa/a64_class.c)
set(start "/rt_(object_start\\.c|trampoline_.*\\.S)$")
set(TL_RT_START ${TL_RT_SOURCES})
list(FILTER TL_RT_START INCLUDE REGEX "${start}")
list(FILTER TL_RT_SOURCES EXCLUDE REGEX "${start}")

function(traceloom_rt_target name)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden
    COMPILE_OPTIONS "${TL_RT_FLAGS}" LINK_OPTIONS "")
  target_include_directories(${name} PUBLIC include PRIVATE src)
endfunction()

add_library(traceloom-rt STATIC ${TL_RT_SOURCES})
traceloom_rt_target(traceloom-rt)
set_property(TARGET traceloom-rt PROPERTY INTERFACE_LINK_LIBRARIES Threads::Threads)

add_library(traceloom-rt-start STATIC ${TL_RT_START})
traceloom_rt_target(traceloom-rt-start)

add_library(traceloom-rt-patch STATIC ${TL_RT_PATCH}) # for lint.rt_symbols, which walks over archives
traceloom_rt_target(traceloom-rt-patch)

# It has the start part for objects with sleds that have none.
add_library(traceloom-rt-shared SHARED ${TL_RT_SOURCES} ${TL_RT_START} $<TARGET_OBJECTS:traceloom-rt-patch>)
traceloom_rt_target(traceloom-rt-shared)
target_compile_definitions(traceloom-rt-shared PRIVATE TL_RT_SHARED)
target_link_libraries(traceloom-rt-shared PRIVATE Threads::Threads)
target_link_options(traceloom-rt-shared PRIVATE -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete)
set_target_properties(traceloom-rt-shared PROPERTIES OUTPUT_NAME traceloom-rt SOVERSION 0 VERSION ${PROJECT_VERSION})
