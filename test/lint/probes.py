#!/usr/bin/env python3
"""Every probe on every golden and generated file and folder: probes.py PROBE_ALL. Exactly one format may claim each."""
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import generate_all
import live_gen
import xtrace_gen

NO_RECORDS = ("empty",)         # nothing in it identifies it


def instructions(name, folder):
    """Streams and snapshots: by name, as folders, and by content alone."""
    pairs = ["xtrace=" + folder]
    for number, file in enumerate(xtrace_gen.make(name)):
        if not file.data:
            continue
        pairs.append("xtrace=" + os.path.join(folder, file.name))
        # By content alone, damaged or short ones and long vectors may stay unrecognised.
        path = "%s-%d.bin" % (folder, number)
        with open(path, "wb") as out:
            out.write(file.data)
        known = not file.problems and len(file.events) > 8 and (file.shots is None or file.shots[0]["vl"] <= 256)
        pairs.append(("xtrace=" if known else "?xtrace=") + path)
    return pairs


def main():
    with harness.work_folder() as folder:
        pairs = []
        for kind, name, path in generate_all.traces(folder):
            if kind == "xtrace":
                pairs += instructions(name, path)
            elif name not in NO_RECORDS:
                pairs.append("%s=%s" % (kind, path))
        for name in live_gen.CASES:
            path = os.path.join(folder, name + ".tlp.live")
            with open(path, "wb") as file:
                file.write(live_gen.make(name)[0])
            pairs.append("tlp-live=" + path)
        for path in glob.glob(os.path.join(harness.SOURCE, "test", "golden", "input", "*.tlp")):
            pairs.append("tlp=" + path)
        sys.exit(subprocess.run(harness.command_words(sys.argv[1]) + pairs).returncode)


if __name__ == "__main__":
    main()
