# What is released: the tarball.
if(NOT CMAKE_CROSSCOMPILING)
  traceloom_script(package.dist package/dist.py)
endif()
