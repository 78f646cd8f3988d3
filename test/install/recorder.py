#!/usr/bin/env python3
"""Installs the recorder, builds programs with it as a user would, and records them: recorder.py BUILD COMPILER [FLAGS]

Each compiler, C and C++, each kind of hook, by pkg-config and by CMake's find_package(); an instrumented library, linked
or opened later; a program with LLVM's own runtime; and the shared recorder, preloaded into a program that was built
without any. COMPILER and FLAGS are those of the build: a program that links the library itself needs them."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

COMPILERS = (("gcc", "g++"), ("clang-14", "clang++-14"), ("clang-19", "clang++-19"))
# The counts: main 1, work 3, leaf 30 (and part 7 of the library), with any kind of hooks.
FUNCTIONS_C = """
#ifdef LIBRARY
extern int part(int);
#else
static int part(int n) { return n; }
#endif
__attribute__((noinline)) int leaf(int n) { __asm__ volatile(""); return n + 1; }
__attribute__((noinline)) int work(int n) { int sum = 0; for (int i = 0; i < 10; i++) sum += leaf(i); return sum + n; }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += work(i);
    for (int i = 0; i < 7; i++)
        sum += part(i);
    return sum == 0;
}
"""
FUNCTIONS_CPP = """
#include <stdexcept>
namespace shop {
struct Cart {
    __attribute__((noinline)) int leaf(int n) { if (n < 0) throw std::runtime_error("n"); return n + 1; }
    __attribute__((noinline)) int work(int n);
};
int Cart::work(int n) { int sum = 0; for (int i = 0; i < 10; i++) sum += leaf(i); return sum + n; }
}
int main()
{
    shop::Cart cart;
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += cart.work(i);
    return sum == 0;
}
"""
PART_C = """
__attribute__((noinline)) int part(int n) { __asm__ volatile(""); return n; }
"""
OPENER_C = """
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    int (*part)(int) = library ? (int (*)(int))dlsym(library, "part") : 0;
    int sum = 0;
    for (int i = 0; part && i < 7; i++)
        sum += part(i);
    return !part;
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.16)
project(stranger LANGUAGES C CXX)
find_package(traceloom 0.1 REQUIRED)
foreach(language c cpp)
  foreach(kind ${KINDS})
    add_executable(${language}-${kind} app.${language})
    target_link_libraries(${language}-${kind} PRIVATE traceloom::${kind})
  endforeach()
endforeach()
add_library(part SHARED part.c)
target_link_libraries(part PRIVATE traceloom::${LAST})
add_executable(with-part app.c)
target_compile_definitions(with-part PRIVATE LIBRARY)
target_link_libraries(with-part PRIVATE part traceloom::${LAST})
add_executable(spans spans.c)
target_link_libraries(spans PRIVATE traceloom::rt)
if(READER)
  add_executable(reader reader.c)
  target_link_libraries(reader PRIVATE traceloom::traceloom)
  target_link_options(reader PRIVATE ${READER_FLAGS})
endif()
"""
READER_C = """
#include <traceloom/traceloom.h>
int main(void) { return !tl_version(); }
"""


class Stranger:
    def __init__(self, folder, build):
        self.folder, self.checks = folder, harness.Checks()
        done = subprocess.run(["cmake", "--install", build, "--prefix", os.path.join(folder, "usr")], capture_output=True, text=True)
        if done.returncode:
            sys.exit("cmake --install: " + done.stderr)
        self.lib = next(root for root, _, names in os.walk(os.path.join(folder, "usr")) if "libtraceloom-rt.a" in names)
        self.traceloom = os.path.join(folder, "usr", "bin", "traceloom")
        self.runs = 0
        for suffix in ("c", "cpp"):
            shutil.copy(os.path.join(harness.SOURCE, "examples", "spans.c"), os.path.join(folder, "spans." + suffix))
        for name, text in (("app.c", FUNCTIONS_C), ("app.cpp", FUNCTIONS_CPP), ("part.c", PART_C), ("opener.c", OPENER_C),
                           ("reader.c", READER_C), ("CMakeLists.txt", CMAKE)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)

    def flags(self, what, module):
        environment = dict(os.environ, PKG_CONFIG_LIBDIR=os.path.join(self.lib, "pkgconfig"))
        done = subprocess.run(["pkg-config"] + what + [module], capture_output=True, text=True, env=environment)
        if done.returncode:
            sys.exit("pkg-config %s: %s" % (module, done.stderr))
        return done.stdout.split()

    def call(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        return self.checks.that(done.returncode == 0 and not done.stderr, " ".join(command), "says\n", done.stderr[-3000:])

    def exports(self):
        """A program exports the symbols of the shared recorder: otherwise a library would find only some of them."""
        listed = [word for flag in self.flags(["--libs"], "traceloom-rt") for word in flag.split(",")]
        program = sorted(word.partition("=")[2] for word in listed if word.startswith("--export-dynamic-symbol="))
        names = subprocess.run(["nm", "-D", "--defined-only", os.path.join(self.lib, "libtraceloom-rt.so")], capture_output=True,
                               text=True, check=True).stdout
        shared = {line.split()[-1] for line in names.splitlines()} - {"tl_rt_attach"}  # for processes without a recorder
        self.checks.equal(program, sorted(shared), "what is exported")

    def record(self, program, counts, *arguments, before=()):
        """Records, and compares the number of calls of each function."""
        self.runs += 1
        out = os.path.join(self.folder, "%d.tlp" % self.runs)
        where = "%s (%s)" % (program, out)
        done = subprocess.run([self.traceloom, "record", "-o", out, *before, os.path.join(self.folder, program)] + list(arguments),
                              cwd=self.folder, capture_output=True, text=True, timeout=120)
        if not self.checks.equal(done.returncode, 0, where, "ends\n", done.stderr[-2000:]):
            return
        done = subprocess.run([self.traceloom, "report", out, "--json"], capture_output=True, text=True, timeout=120)
        if not self.checks.equal(done.returncode, 0, where, "is not read:\n", done.stderr[-2000:]):
            return
        found = {}
        for row in harness.json.loads(done.stdout)["functions"]:
            name = (row["name"] or "?").partition("(")[0]   # C++: without arguments
            if name in counts:
                found[name] = found.get(name, 0) + row["calls"]
        self.checks.equal(found, counts, where, "calls")

    def by_pkg_config(self, cc, cxx):
        """Every kind of hook in a program; only clang has sleds."""
        part = {"main": 1, "work": 3, "leaf": 30}
        parts = dict(part, part=7)
        whole = {"main": 1, "shop::Cart::work": 3, "shop::Cart::leaf": 30}
        for kind in ["functions"] + (["xray"] if cc.startswith("clang") else []):
            module = "traceloom-rt-" + kind
            both, name = self.flags(["--cflags", "--libs"], module), "%s-%s" % (cc, kind)
            if self.call(cc, "-O2", "app.c", "-o", name, *both):
                self.record(name, part)
            if shutil.which(cxx) and self.call(cxx, "-O2", "app.cpp", "-o", name + "-cpp", *both):
                self.record(name + "-cpp", whole)
            # Flags before the sources, compiling and linking in two steps, and statically.
            if self.call(cc, *both, "-O2", "app.c", "-o", name + "-before"):
                self.record(name + "-before", part)
            if self.call(cc, "-c", "-O2", *self.flags(["--cflags"], module), "app.c", "-o", name + ".o") and \
                    self.call(cc, name + ".o", "-o", name + "-steps", *self.flags(["--libs"], module)):
                self.record(name + "-steps", part)
            if self.call(cc, "-static", "-O2", "app.c", "-o", name + "-static", *both):
                self.record(name + "-static", part)
            # A library of the program, and one that it opens while it runs.
            flags = self.flags(["--cflags"], module) + (self.flags(["--libs"], module + "-library") if kind == "xray" else [])
            library = os.path.join(self.folder, "lib%s.so" % name)
            if not self.call(cc, "-shared", "-fPIC", "-O2", "part.c", "-o", library, *flags):
                continue
            if self.call(cc, "-DLIBRARY", "-O2", "app.c", library, "-o", name + "-linked", *both):
                self.record(name + "-linked", parts)
            if self.call(cc, "-O2", "opener.c", "-o", name + "-opener", *both, "-ldl"):
                self.record(name + "-opener", {"main": 1, "part": 7}, library)

    def by_hand(self, cc, cxx):
        """Spans; and a program with LLVM's runtime, whose functions the recorder records because it is linked."""
        both, counts = self.flags(["--cflags", "--libs"], "traceloom-rt"), {"session": 1, "load page": 3}
        strict = ["-Wall", "-Wextra", "-Werror"]
        if self.call(cc, "-std=c11", *strict, "spans.c", "-o", cc + "-spans", *both):
            self.record(cc + "-spans", counts)
        if self.call(cxx, "-std=c++11", *strict, "spans.cpp", "-o", cxx + "-spans", *both):
            self.record(cxx + "-spans", counts)
        if self.call(cc, *strict, "-DTRACELOOM_RT_DISABLE", *self.flags(["--cflags"], "traceloom-rt"), "spans.c", "-o", cc + "-none"):
            self.call(os.path.join(self.folder, cc + "-none"))
        llvm = ["-O2", "-fxray-instrument", "-fxray-instruction-threshold=1", "app.c", "-o", cc + "-llvm"]
        if cc.startswith("clang") and self.call(cc, *llvm, *self.flags(["--cflags", "--libs"], "traceloom-rt-llvm")):
            self.record(cc + "-llvm", {"main": 1, "work": 3, "leaf": 30})

    def by_cmake(self, cc, cxx):
        kinds = ["rt-functions"] + (["rt-xray"] if cc.startswith("clang") else [])
        build = os.path.join(self.folder, "build-" + cc)
        # Nothing is found by chance below the system's own prefix: only files installed here.
        if not self.call("cmake", "--no-warn-unused-cli", "-S", self.folder, "-B", build, "-DCMAKE_C_COMPILER=" + cc, "-DCMAKE_CXX_COMPILER=" + cxx,
                         "-DCMAKE_PREFIX_PATH=" + os.path.join(self.folder, "usr"), "-DCMAKE_BUILD_TYPE=Release",
                         "-DKINDS=" + ";".join(kinds), "-DLAST=" + kinds[-1],
                         "-DREADER=%d" % self.same(cc), "-DREADER_FLAGS=" + " ".join(sys.argv[3:])):
            return
        if not self.call("cmake", "--build", build):
            return
        for kind in kinds:
            self.record(os.path.join(build, "c-" + kind), {"main": 1, "work": 3, "leaf": 30})
            self.record(os.path.join(build, "cpp-" + kind), {"main": 1, "shop::Cart::work": 3, "shop::Cart::leaf": 30})
        self.record(os.path.join(build, "spans"), {"session": 1, "load page": 3})
        self.record(os.path.join(build, "with-part"), {"main": 1, "work": 3, "leaf": 30, "part": 7})

    @staticmethod
    def same(cc):
        """Is this the build's compiler? Another one may have other sanitizers."""
        return os.path.realpath(shutil.which(cc)) == os.path.realpath(shutil.which(sys.argv[2]) or "")

    def preloaded(self, cc):
        """Built with the compiler's flag alone: the preloaded recorder then provides the hooks."""
        if self.call(cc, "-O2", "-finstrument-functions", "app.c", "-o", "bare-" + cc):
            self.record("bare-" + cc, {"main": 1, "work": 3, "leaf": 30},
                        before=["--any", "env", "LD_PRELOAD=" + os.path.join(self.lib, "libtraceloom-rt.so")])


def main():
    if not shutil.which("pkg-config"):
        harness.skip("pkg-config is not installed")
    present = [pair for pair in COMPILERS if all(map(shutil.which, pair))]
    missing = [pair[0] for pair in COMPILERS if pair not in present]
    if not present:
        harness.skip("none of these compilers is installed: " + ", ".join(missing))
    with harness.work_folder() as folder:
        stranger = Stranger(folder, sys.argv[1])
        stranger.exports()
        for cc, cxx in present:
            stranger.by_pkg_config(cc, cxx)
            stranger.by_hand(cc, cxx)
            stranger.by_cmake(cc, cxx)
            stranger.preloaded(cc)
        print("%d recordings; without %s" % (stranger.runs, ", ".join(missing) or "nothing"))
        stranger.checks.end()


if __name__ == "__main__":
    main()
