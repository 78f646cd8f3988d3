# What only a script can see of the command: each gets the command and a folder of small traces.
if(NOT CMAKE_CROSSCOMPILING)
  file(GLOB cli_scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/*.sh)
  foreach(script IN LISTS cli_scripts)
    get_filename_component(name ${script} NAME_WE)
    traceloom_script(cli.${name} cli/${name}.sh $<TARGET_FILE:traceloom> ${CMAKE_CURRENT_SOURCE_DIR}/golden/input)
  endforeach()
  traceloom_script(cli.option_table cli/option_table.py)
endif()
