# musl: another C library for the same host. Linked statically, so that it needs no foreign root.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(TRACELOOM_SHARED OFF)
# The kernel's headers are the same, but musl-gcc does not look where glibc's are.
foreach(headers linux asm-generic x86_64-linux-gnu/asm)
  get_filename_component(name ${headers} NAME)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/kernel)
  file(CREATE_LINK /usr/include/${headers} ${CMAKE_BINARY_DIR}/kernel/${name} SYMBOLIC)
endforeach()
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${CMAKE_BINARY_DIR}/kernel)
set(CMAKE_ASM_STANDARD_INCLUDE_DIRECTORIES ${CMAKE_BINARY_DIR}/kernel)
