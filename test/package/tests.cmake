# Releases: the tarball, and the lists of the Debian packages. `make package-test` builds and uses the packages.
if(NOT CMAKE_CROSSCOMPILING)
  traceloom_script(package.dist package/dist.py)
  traceloom_script(package.install package/install.py)
  traceloom_script(package.lists package/packages.py ${PROJECT_BINARY_DIR})
endif()
