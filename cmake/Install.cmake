# make install: the command, the libraries, their headers, files for pkg-config and for CMake's find_package(), man pages
# and shell completions.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
# Files for pkg-config and CMake find everything from where they lie, so that any --prefix at install time is right.
set(TL_PC_FOLDER ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(TL_CONFIG_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/traceloom)
file(RELATIVE_PATH TL_PC_PREFIX /${TL_PC_FOLDER} /)
file(RELATIVE_PATH TL_CONFIG_PREFIX /${TL_CONFIG_FOLDER} /)
string(REGEX REPLACE "/$" "" TL_PC_PREFIX ${TL_PC_PREFIX})
string(REGEX REPLACE "/$" "" TL_CONFIG_PREFIX ${TL_CONFIG_PREFIX})
get_property(TL_PC_LIBS GLOBAL PROPERTY TL_PRIVATE_LIBRARIES)
string(REPLACE "-pthread" "Threads::Threads" TL_CONFIG_LIBS "${TL_PC_LIBS}")
list(JOIN TL_PC_LIBS " " TL_PC_LIBS)

install(TARGETS libtraceloom ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(modules traceloom)
if(TARGET traceloom-rt)
  list(APPEND modules traceloom-rt traceloom-rt-functions traceloom-rt-llvm traceloom-rt-shared traceloom-rt-xray
       traceloom-rt-xray-library)
  # A file of options and not words of the pkg-config file, because pkg-config drops the second -Xclang.
  set(TL_RT_XRAY "-Xclang -fxray-instrument -Xclang -fxray-instruction-threshold=1")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/xray.options "${TL_RT_XRAY}\n")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/xray.options DESTINATION ${CMAKE_INSTALL_DATADIR}/traceloom)
  # What a program exports for libraries that it opens later, so that they record into its recorder.
  set(TL_RT_EXPORT)
  foreach(symbol object_register object_unregister on span_enter span_leave event record_start record_stop record_flush
          record_state)
    list(APPEND TL_RT_EXPORT --export-dynamic-symbol=tl_rt_${symbol})
  endforeach()
  foreach(symbol enter exit)
    list(APPEND TL_RT_EXPORT --export-dynamic-symbol=__cyg_profile_func_${symbol})
  endforeach()
  list(JOIN TL_RT_EXPORT "," TL_RT_EXPORT)
  string(PREPEND TL_RT_EXPORT "-Wl,")
  install(TARGETS traceloom-rt traceloom-rt-start traceloom-rt-shared
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
foreach(module IN LISTS modules)
  configure_file(cmake/${module}.pc.in ${module}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${module}.pc DESTINATION ${TL_PC_FOLDER})
endforeach()
configure_file(cmake/traceloomConfig.cmake.in traceloomConfig.cmake @ONLY)
write_basic_package_version_file(traceloomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/traceloomConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/traceloomConfigVersion.cmake
        DESTINATION ${TL_CONFIG_FOLDER})
if(TL_CLI)
  install(TARGETS traceloom RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/traceloom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS docs/man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

# Each shell finds a completion by its file name.
set(completion_bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions traceloom)
set(completion_zsh ${CMAKE_INSTALL_DATADIR}/zsh/site-functions _traceloom)
set(completion_fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d traceloom.fish)
foreach(shell bash zsh fish)
  list(GET completion_${shell} 0 folder)
  list(GET completion_${shell} 1 name)
  foreach(file docs/completion/traceloom.${shell} docs/completion/${name})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      install(FILES ${file} DESTINATION ${folder} RENAME ${name})
      break()
    endif()
  endforeach()
endforeach()
