# What users install, and what they may switch off.
if(NOT CMAKE_CROSSCOMPILING)
  set(install_flags "")
  if(TRACELOOM_SANITIZE)
    set(install_flags "-fsanitize=${TRACELOOM_SANITIZE}")
  endif()
  traceloom_script(install.files install/install.sh ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER} "${install_flags}")
  traceloom_script(install.options install/options.sh ${CMAKE_C_COMPILER})
endif()
