# libtraceloom.so.0, of the objects of libtraceloom.a: they are position-independent and hidden in any case.
#
# The command links the static library, because two thirds of the functions it calls are not public. With the shared one
# it would be smaller by 1.3 of its 1.5 MiB of code, but no longer one file; and it would not start sooner, because
# loading the libraries that both need takes the time.

set(shared_default ON)
if(TRACELOOM_FUZZ OR TRACELOOM_PARTS_SHARED OR (TRACELOOM_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES "Clang"))
  # Clang links the sanitizers' runtime into programs only, not into the libraries that need it.
  set(shared_default OFF)
endif()
option(TRACELOOM_SHARED "libtraceloom.so beside libtraceloom.a" ${shared_default})
if(NOT TRACELOOM_SHARED)
  return()
endif()

add_library(libtraceloom-shared SHARED $<TARGET_OBJECTS:libtraceloom>)
set(map ${PROJECT_SOURCE_DIR}/cmake/libtraceloom.map)
set_target_properties(libtraceloom-shared PROPERTIES OUTPUT_NAME traceloom SOVERSION 0 VERSION ${PROJECT_VERSION}
                      LINKER_LANGUAGE C LINK_DEPENDS ${map})
target_include_directories(libtraceloom-shared INTERFACE include)
# Internal calls do not go through the symbol table: nothing here is meant to be replaced.
target_link_options(libtraceloom-shared PRIVATE -Wl,--version-script=${map} -Wl,-Bsymbolic-functions -Wl,-z,defs)
get_target_property(libraries libtraceloom LINK_LIBRARIES)
target_link_libraries(libtraceloom-shared PRIVATE ${libraries})
