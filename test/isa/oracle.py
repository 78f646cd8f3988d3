"""Compiles the programs that ask disassemblers of others."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

HERE = os.path.dirname(os.path.abspath(__file__))


def program(name, folder, target, *more):
    """NAME.cpp beside this file, linked with LLVM's parts for TARGET and MORE arguments; compiled once for all tests of a
    build, in FOLDER."""
    config = shutil.which("llvm-config-19")     # other versions differ
    if not config:
        harness.skip("no LLVM 19 to compare with (apt-get install llvm-19-dev)")
    compiler = next((found for found in map(shutil.which, ("g++", "clang++-19", "clang++")) if found), None)
    if not compiler:
        harness.skip("no C++ compiler for the program that asks LLVM")
    source, made = os.path.join(HERE, name + ".cpp"), os.path.join(folder, name)
    if os.path.exists(made) and os.path.getmtime(made) > max(map(os.path.getmtime, (source, *filter(os.path.exists, more)))):
        return made

    def flags(*what):
        return subprocess.run([config, *what], capture_output=True, text=True, check=True).stdout.split()

    try:
        before, behind = flags("--cppflags"), flags("--ldflags", "--libs", target, "mc", "mcdisassembler", "--link-shared")
    except subprocess.CalledProcessError as error:
        harness.skip("llvm-config does not know %s: %s" % (target, error.stderr.strip()))
    handle, fresh = tempfile.mkstemp(dir=folder)
    os.close(handle)
    done = subprocess.run([compiler, "-std=c++17", "-O1", "-w", "-fno-rtti", *before, source, "-o", fresh, *more, *behind],
                          capture_output=True, text=True)
    if done.returncode:
        os.unlink(fresh)
        harness.skip("the program that asks LLVM does not compile: " + done.stderr[-1000:])
    os.replace(fresh, made)
    return made
