# The recorder, libtraceloom-rt: what is linked into the programs that are traced. x86-64 and AArch64 Linux only.

option(TRACELOOM_RT "The recorder, libtraceloom-rt" ON)
if(NOT TRACELOOM_RT OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64)$")
  return()
endif()
enable_language(ASM)

file(GLOB TL_RT_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/rt/*.c ${PROJECT_SOURCE_DIR}/src/rt/*.S)
add_library(traceloom-rt STATIC ${TL_RT_SOURCES})
set_target_properties(traceloom-rt PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
target_include_directories(traceloom-rt PUBLIC include PRIVATE src)
# Hooks run where the compiler of the traced program does not expect a call: no vector register may change, no call of
# libc may be made up, and nothing may be traced or sanitized itself.
set(TL_RT_FLAGS -O2 -mgeneral-regs-only -ffreestanding -fno-tree-loop-distribute-patterns -fno-stack-protector
    -ftls-model=initial-exec -fno-sanitize=all -U_FORTIFY_SOURCE)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  list(REMOVE_ITEM TL_RT_FLAGS -fno-tree-loop-distribute-patterns)
endif()
target_compile_options(traceloom-rt PRIVATE ${TL_RT_FLAGS})
