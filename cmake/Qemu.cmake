# libtraceloom-qemu.so, the plugin that `traceloom record --insn` loads into QEMU's user mode. It declares what it uses of
# QEMU itself, which no package has a header of, and of nothing else: it needs only libc to be built.

option(TRACELOOM_QEMU "The plugin for QEMU that records instructions" ON)
if(NOT TRACELOOM_QEMU OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8 OR TRACELOOM_FUZZ OR
   TRACELOOM_PARTS_SHARED)
  return()
endif()
file(GLOB TL_QEMU_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/qemu/*.c)
add_library(traceloom-qemu MODULE ${TL_QEMU_SOURCES} ${PROJECT_SOURCE_DIR}/src/isa/a64_class.c)
# QEMU has no sanitizer's runtime, and what is counted there is not the command's.
set(flags -Wall -Wextra -Wshadow -Wconversion -O2 -ftls-model=initial-exec -fno-sanitize=all -fno-profile-arcs
    -fno-test-coverage)
if(TRACELOOM_WERROR)
  list(APPEND flags -Werror)
endif()
set_target_properties(traceloom-qemu PROPERTIES OUTPUT_NAME traceloom-qemu C_VISIBILITY_PRESET hidden
                      COMPILE_OPTIONS "${flags}" LINK_OPTIONS "")
target_include_directories(traceloom-qemu PRIVATE src)
target_link_libraries(traceloom-qemu PRIVATE Threads::Threads)
add_dependencies(traceloom traceloom-qemu)
