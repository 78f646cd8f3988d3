# The module for Python, with the shared library of this build.
if(TARGET libtraceloom-shared AND NOT CMAKE_CROSSCOMPILING)
  foreach(case tables recipes events babeltrace numpy pandas arrow errors lifetimes threads leaks hostile structs wheel clone readme interrupt looks)
    traceloom_script(python.${case} python/python_tests.py ${case} $<TARGET_FILE:libtraceloom-shared> ${CMAKE_C_COMPILER})
  endforeach()
  traceloom_slow(python.clone)
endif()
