# AArch64, run by qemu. The command and the tests are linked statically, so that they need no foreign root; programs that
# tests record may be dynamic, so qemu gets the path of the C library.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(TRACELOOM_SHARED OFF)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
find_program(TL_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(TL_QEMU_AARCH64 AND NOT CMAKE_HOST_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(CMAKE_CROSSCOMPILING_EMULATOR ${TL_QEMU_AARCH64} -L /usr/aarch64-linux-gnu)
endif()
