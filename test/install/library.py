#!/usr/bin/env python3
"""Installs the library and builds programs with it as a user would: library.py BUILD C_COMPILER [FLAGS]

Shared and static; by pkg-config and by CMake's find_package(); in C and in C++. FLAGS are those of the build: programs
linked to a library with sanitizers need them, too."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

CMAKE = """cmake_minimum_required(VERSION 3.16)
project(stranger LANGUAGES C CXX)
find_package(traceloom 0.1 REQUIRED)
add_compile_options(${FLAGS})
add_link_options(${FLAGS})
foreach(kind traceloom static)
  add_executable(c-${kind} ${EXAMPLES}/count_functions.c)
  add_executable(cpp-${kind} ${EXAMPLES}/busiest_threads.cpp)
  foreach(language c cpp)
    target_link_libraries(${language}-${kind} PRIVATE traceloom::${kind})
  endforeach()
endforeach()
"""
EXAMPLES = os.path.join(harness.SOURCE, "examples")
INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def cxx_of(cc):
    """The C++ compiler for a C compiler: gcc-12 g++-12, clang clang++, cc c++."""
    folder, name = os.path.split(cc)
    return os.path.join(folder, re.sub(r"(gcc|clang|cc)", lambda m: {"gcc": "g++", "clang": "clang++", "cc": "c++"}[m.group()], name, count=1))


class Stranger:
    def __init__(self, folder, build, cc, flags):
        self.folder, self.cc, self.cxx, self.flags, self.checks = folder, cc, cxx_of(cc), flags, harness.Checks()
        self.prefix = os.path.join(folder, "usr")
        self.must("cmake", "--install", build, "--prefix", self.prefix)
        self.lib = next(root for root, _, names in os.walk(self.prefix) if "libtraceloom.a" in names)
        self.has_shared = os.path.exists(os.path.join(self.lib, "libtraceloom.so"))

    @staticmethod
    def must(*command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit("%s\n%s%s" % (" ".join(command), done.stdout[-2000:], done.stderr[-3000:]))
        return done.stdout

    def files(self):
        """Names as loaders and linkers look for them."""
        links = {name: os.readlink(os.path.join(self.lib, name)) if os.path.islink(os.path.join(self.lib, name)) else None
                 for name in os.listdir(self.lib) if name.startswith("libtraceloom.so")}
        if self.has_shared:
            self.checks.equal(links, {"libtraceloom.so": "libtraceloom.so.0", "libtraceloom.so.0": "libtraceloom.so.0.1.0",
                                      "libtraceloom.so.0.1.0": None}, "the shared library's names")

    def options(self, *what):
        environment = dict(os.environ, PKG_CONFIG_LIBDIR=os.path.join(self.lib, "pkgconfig"))
        done = subprocess.run(["pkg-config", *what, "traceloom"], capture_output=True, text=True, env=environment)
        if done.returncode:
            sys.exit("pkg-config: " + done.stderr)
        return done.stdout.split()

    def uses(self, program, shared):
        """Runs it, and checks how it was linked."""
        program = os.path.join(self.folder, program)
        needed = self.must("readelf", "-d", program)
        self.checks.equal("[libtraceloom.so.0]" in needed, shared, program, "needs the shared library")
        environment = dict(os.environ, **({"LD_LIBRARY_PATH": self.lib} if shared else {}))
        done = subprocess.run([program, os.path.join(INPUT, "fdr-v5-le.xray")], capture_output=True, text=True, env=environment,
                              timeout=60)
        self.checks.that(done.returncode == 0 and len(done.stdout.splitlines()) >= 3 and not done.stderr, program, "says\n", done.stdout,
                         done.stderr)

    def build(self, name, *options):
        """A program of C, and one of C++."""
        self.must(self.cc, "-std=c99", *STRICT, *self.flags, os.path.join(EXAMPLES, "count_functions.c"), "-o",
                  os.path.join(self.folder, name), *options)
        self.must(self.cxx, "-std=c++11", *STRICT, *self.flags, os.path.join(EXAMPLES, "busiest_threads.cpp"), "-o",
                  os.path.join(self.folder, name + "-cpp"), *options)
        return name, name + "-cpp"

    def by_pkg_config(self):
        for program in self.build("plain", *self.options("--cflags", "--libs")) if self.has_shared else ():
            self.uses(program, True)
        aside = [name for name in os.listdir(self.lib) if name.startswith("libtraceloom.so")]
        for name in aside:
            os.rename(os.path.join(self.lib, name), os.path.join(self.folder, name))
        for program in self.build("static", *self.options("--static", "--cflags", "--libs")):
            self.uses(program, False)
        for name in aside:
            os.rename(os.path.join(self.folder, name), os.path.join(self.lib, name))
        if not self.flags:
            # Without any shared library at all, not even the C library's.
            self.must(self.cc, "-static", os.path.join(EXAMPLES, "count_functions.c"), "-o", os.path.join(self.folder, "alone"),
                      *self.options("--static", "--cflags", "--libs"))
            self.uses("alone", False)

    def by_cmake(self):
        with open(os.path.join(self.folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(CMAKE)
        build = os.path.join(self.folder, "build")
        self.must("cmake", "-S", self.folder, "-B", build, "-DCMAKE_C_COMPILER=" + self.cc, "-DCMAKE_CXX_COMPILER=" + self.cxx,
                  "-DCMAKE_PREFIX_PATH=" + self.prefix, "-DEXAMPLES=" + EXAMPLES, "-DFLAGS=" + ";".join(self.flags))
        self.must("cmake", "--build", build)
        for language in ("c", "cpp"):
            self.uses(os.path.join(build, language + "-traceloom"), self.has_shared)
            self.uses(os.path.join(build, language + "-static"), False)


def main():
    build, cc, flags = sys.argv[1], sys.argv[2], [flag for flag in sys.argv[3:] if flag]
    for tool in ("pkg-config", "readelf", cxx_of(cc)):
        if not shutil.which(tool):
            harness.skip(tool + " is not installed")
    with harness.work_folder() as folder:
        stranger = Stranger(folder, build, cc, flags)
        stranger.files()
        stranger.by_pkg_config()
        stranger.by_cmake()
        stranger.checks.end()


if __name__ == "__main__":
    main()
