# make install: the command, the library, its headers and pkg-config file, man pages and shell completions.

include(GNUInstallDirs)
# The pkg-config file finds everything from where it lies itself, so that any --prefix at install time is right.
file(RELATIVE_PATH TL_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" TL_PC_PREFIX ${TL_PC_PREFIX})
get_property(TL_PC_LIBS GLOBAL PROPERTY TL_PRIVATE_LIBRARIES)
list(JOIN TL_PC_LIBS " " TL_PC_LIBS)
configure_file(cmake/traceloom.pc.in traceloom.pc @ONLY)

install(TARGETS libtraceloom ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TL_CLI)
  install(TARGETS traceloom RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/traceloom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/traceloom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

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
