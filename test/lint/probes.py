#!/usr/bin/env python3
"""Every probe on every golden and generated file and folder: probes.py PROBE_ALL. Exactly one format may claim each."""
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import ctf_gen
import live_gen
import recording_gen
import tracelog_gen
import xray_gen
import xtrace_gen

FORMATS = {"basic": "xray-basic", "fdr": "xray-fdr", "profile": "xray-profile"}
NO_RECORDS = ("empty",)         # nothing in it identifies it


def instructions(folder):
    """Streams and snapshots: by name, as folders, and by content alone."""
    pairs = []
    for name in xtrace_gen.cases():
        inside = os.path.join(folder, "xtrace-" + name)
        xtrace_gen.save(inside, name)
        pairs.append("xtrace=" + inside)
        for number, file in enumerate(xtrace_gen.make(name)):
            if not file.data:
                continue
            pairs.append("xtrace=" + os.path.join(inside, file.name))
            # By content alone, damaged or short ones and long vectors may stay unrecognised.
            path = os.path.join(folder, "%s-%d.bin" % (name, number))
            with open(path, "wb") as out:
                out.write(file.data)
            known = not file.problems and len(file.events) > 8 and (file.shots is None or file.shots[0]["vl"] <= 256)
            pairs.append(("xtrace=" if known else "?xtrace=") + path)
    return pairs


def main():
    with harness.work_folder() as folder:
        pairs = []
        for name in xray_gen.cases():
            path = os.path.join(folder, name + ".xray")
            with open(path, "wb") as file:
                file.write(xray_gen.make(name)[0])
            pairs.append("%s=%s" % (FORMATS[xray_gen.cases()[name][0].split()[0]], path))
        for name in recording_gen.cases():
            path = os.path.join(folder, name + ".xray")
            with open(path, "wb") as file:
                file.write(recording_gen.make(name)[0])
            pairs.append("xray-fdr=" + path)
        for name in live_gen.CASES:
            path = os.path.join(folder, name + ".tlp.live")
            with open(path, "wb") as file:
                file.write(live_gen.make(name)[0])
            pairs.append("tlp-live=" + path)
        for name in ctf_gen.cases():
            ctf_gen.save(folder, name, ctf_gen.make(name)[0], None)
            pairs.append("ctf=" + os.path.join(folder, name))
        for name in tracelog_gen.cases():
            if name in NO_RECORDS:
                continue
            path = os.path.join(folder, name + ".log")
            with open(path, "wb") as file:
                file.write(tracelog_gen.make(name)[0])
            pairs.append("tracelog=" + path)
        pairs += instructions(folder)
        for path in glob.glob(os.path.join(harness.SOURCE, "test", "golden", "input", "*.tlp")):
            pairs.append("tlp=" + path)
        sys.exit(subprocess.run(harness.command_words(sys.argv[1]) + pairs).returncode)


if __name__ == "__main__":
    main()
