# `make mutants` finds, applies and judges changes as it says; the list of those that change nothing is up to date.
if(NOT CMAKE_CROSSCOMPILING)
  foreach(part operators bench listed)
    traceloom_script(mutants.${part} mutants/self_test.py ${part})
  endforeach()
endif()
