# The documents are right: their examples run, and everything that they name exists.
traceloom_script(docs.examples docs/run_examples.py)
traceloom_script(docs.names docs/check_names.py ${PROJECT_BINARY_DIR})
if(TARGET traceloom-rt AND NOT CMAKE_CROSSCOMPILING)
  traceloom_script(docs.record docs/run_recorded.py ${PROJECT_BINARY_DIR})
endif()
