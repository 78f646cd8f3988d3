#!/usr/bin/env python3
"""The shared libraries export what their headers declare, and nothing else: exports.py NM LIBRARY VERSION | RECORDER

The recorder, named without VERSION, also exports the hooks that compilers call."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import public_api

harness = public_api.harness

# Called by compilers' code or by other objects' start parts, and declared in no header for users.
RECORDER_HOOKS = {
    "__cyg_profile_func_enter", "__cyg_profile_func_exit",  # -finstrument-functions
    "tl_rt_object_register", "tl_rt_object_unregister",     # an object with sleds, when it is loaded and unloaded
    "tl_rt_attach",                                         # traceloom record -p, in the process that it enters
}


def exported(nm, library):
    """name -> version ("" without one)."""
    done = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    words = [line.split() for line in done.stdout.splitlines()]
    return {name.partition("@")[0]: name.rpartition("@")[2] if "@" in name else ""
            for *_, kind, name in words if kind != "A"}


def main():
    checks = harness.Checks()
    nm, library = sys.argv[1:3]
    found = exported(nm, library)
    if len(sys.argv) > 3:
        expected, version = {f.name for f in public_api.functions()}, "TRACELOOM_" + sys.argv[3]
    else:
        expected, version = public_api.recorder_symbols() | RECORDER_HOOKS, ""
    for name in sorted(expected - set(found)):
        checks.that(False, name, "is declared, but not exported")
    for name in sorted(set(found) - expected):
        checks.that(False, name, "is exported, but not declared in a public header")
    for name in sorted(expected & set(found)):
        checks.equal(found[name], version, "version of", name)
    done = subprocess.run([re.sub("nm$", "readelf", nm), "-d", library], capture_output=True, text=True, check=True)
    soname = re.search(r"soname: \[(.*?)\]", done.stdout)
    checks.equal(soname and soname.group(1), os.path.basename(library).partition(".so")[0] + ".so.0", "soname")
    print("%d functions" % len(found))
    checks.end()


if __name__ == "__main__":
    main()
