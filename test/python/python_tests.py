#!/usr/bin/env python3
"""Runs a case of the tests of the module for Python: python_tests.py CASE LIBRARY COMPILER
The case runs in the system's Python, which has NumPy, pandas and babeltrace2's bindings if their packages are installed,
and, if the library has sanitizers, with their runtime."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

PYTHON = "/usr/bin/python3"
NEEDS = {"numpy": "numpy", "pandas": "pandas", "arrow": "numpy", "babeltrace": "bt2", "leaks": "numpy", "readme": "numpy", "lifetimes": "numpy"}
FILES = {**dict.fromkeys(("wheel", "clone"), "python_wheel.py"), **dict.fromkeys(("readme", "interrupt", "looks"), "python_use.py")}  # others are in python_cases.py
PACKAGES = {"numpy": "python3-numpy", "pandas": "python3-pandas", "bt2": "python3-bt2"}


def main():
    case, library, compiler = sys.argv[1:4]
    if not os.path.exists(PYTHON):
        harness.skip("there is no " + PYTHON)
    if not harness.built_with("SQLite"):
        harness.skip("this build has no SQL")
    module = NEEDS.get(case)
    if module and subprocess.run([PYTHON, "-c", "import " + module], check=False, stderr=subprocess.DEVNULL).returncode:
        harness.skip("%s is not installed" % PACKAGES[module])
    folder = os.path.join(harness.SOURCE, "python")
    env = dict(os.environ, PYTHONPATH=os.pathsep.join((folder, os.path.dirname(os.path.abspath(__file__)))), TRACELOOM_LIBRARY=library, TL_COMPILER=compiler)
    with open(library, "rb") as file:
        if b"__asan_init" in file.read():
            env["LD_PRELOAD"] = subprocess.run([compiler, "-print-file-name=libasan.so"], check=True, capture_output=True, text=True).stdout.strip()
            env["ASAN_OPTIONS"] = "detect_leaks=0:quarantine_size_mb=1:malloc_context_size=4"
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), FILES.get(case, "python_cases.py"))
    return subprocess.run([PYTHON, "-B", "-X", "faulthandler", script, case], env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
