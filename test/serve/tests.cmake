# `traceloom serve`: whom it answers, and what.
if(NOT CMAKE_CROSSCOMPILING AND TRACELOOM_SERVE)
  traceloom_script(serve.guard serve/serve_guard.py)
  foreach(input calls messy basic no-clock damaged samples log profile live insns events several)
    traceloom_script(serve.same.${input} serve/serve_same.py ${input})
    set_property(TEST serve.same.${input} APPEND PROPERTY ENVIRONMENT TL_MANY_RUNS=1)
  endforeach()
  traceloom_script(serve.ends serve/serve_ends.py)
endif()
