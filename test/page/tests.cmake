# The page of a report: its numbers, without a browser.
if(NOT CMAKE_CROSSCOMPILING)
  foreach(case calls no-names no-clock messy damaged threads several selected profile live recording samples bytes told insns)
    traceloom_script(page.data.${case} page/page_data.py ${case})
    set_property(TEST page.data.${case} APPEND PROPERTY ENVIRONMENT TL_MANY_RUNS=1)
  endforeach()
  traceloom_script(page.bounds page/page_bounds.py)
  traceloom_script(page.hostile page/page_hostile.py)
endif()
