# traceloom-mpi, on this machine alone. Where a build wants it and there is no MPI, a skipped test says so.
if(TARGET traceloom-mpi)
  foreach(what bytes options failures rerun parts)
    traceloom_script(mpi.${what} mpi/mpi_report.py ${what} $<TARGET_FILE:traceloom-mpi>)
  endforeach()
  # Messages of a few bytes, so that small content takes many.
  add_executable(mpi_pieces ${CMAKE_CURRENT_SOURCE_DIR}/mpi/mpi_pieces.c ${PROJECT_SOURCE_DIR}/src/mpi/rank_bytes.c)
  target_compile_definitions(mpi_pieces PRIVATE TL_RANK_MESSAGE=7u)
  target_include_directories(mpi_pieces PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(mpi_pieces PRIVATE libtraceloom MPI::MPI_C)
  traceloom_script(mpi.pieces mpi/mpi_report.py pieces $<TARGET_FILE:mpi_pieces>)
elseif(TL_MPI_MISSING)
  traceloom_script(mpi.missing mpi/mpi_report.py missing ${TL_MPI_MISSING})
endif()
