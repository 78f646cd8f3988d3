# traceloom-mpi, which adds up the profiles of a fleet with the ranks of an MPI job. A program of its own, so that neither
# the command nor the library needs MPI.

set(TRACELOOM_MPI OFF CACHE STRING "traceloom-mpi: ON, OFF, or AUTO: where MPI is installed")
set(TL_MPI_MISSING)
if(NOT TRACELOOM_MPI OR NOT cli_main OR CMAKE_CROSSCOMPILING OR TRACELOOM_PARTS_SHARED)
  return()
endif()
find_package(MPI QUIET COMPONENTS C)
if(NOT MPI_C_FOUND)
  set(TL_MPI_MISSING "MPI was not found; apt-get install libopenmpi-dev openmpi-bin")
  if(NOT TRACELOOM_MPI STREQUAL AUTO)
    message(FATAL_ERROR "${TL_MPI_MISSING}, or build without it: -DTRACELOOM_MPI=OFF")
  endif()
  return()
endif()
file(GLOB TL_MPI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/mpi/*.c)
add_executable(traceloom-mpi ${TL_MPI_SOURCES})
set_target_properties(traceloom-mpi PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
# Of what the parts of the command need, only what these parts need.
target_link_options(traceloom-mpi PRIVATE -Wl,--as-needed)
target_link_libraries(traceloom-mpi PRIVATE traceloom-cli MPI::MPI_C)
