#!/usr/bin/env python3
"""The binary interface is the recorded one: abi_diff.py [--record] LIBRARY...

abidw describes each library (functions, and all types that they lead to) from its debug information; abidiff compares
that with test/abi/recorded/NAME.abi. Any change is a failure: docs/abi.md says which changes are allowed, and
test/abi/record.sh records them. Every public type must be in one of the descriptions."""
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import public_api

harness = public_api.harness
RECORDED = os.path.join(harness.SOURCE, "test", "abi", "recorded")
MOST_BYTES = 300_000
# Without facts of the machine, internals, and names of parameters, which are not interface.
DUMP = ["abidw", "--exported-interfaces-only", "--drop-private-types", "--drop-undefined-syms", "--headers-dir", public_api.FOLDER,
        "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--no-architecture",
        "--no-parameter-names", "--no-write-default-sizes", "--type-id-style", "hash"]


def name_of(library):
    """libtraceloom.so.0.1.0: libtraceloom."""
    return os.path.basename(library).partition(".")[0]


def dump(library, target):
    done = subprocess.run([*DUMP, "--out-file", target, library], capture_output=True, text=True)
    if done.returncode:
        sys.exit("abidw %s: %s" % (library, done.stderr[-2000:]))
    settle(target)


def settle(path):
    """Makes equal interfaces equal texts: the first source of a type, and the paths of sources, differ from build to build.
    The result is one sorted part."""
    tree = xml.etree.ElementTree.parse(path)
    corpus = tree.getroot()
    parts = corpus.findall("abi-instr")
    everything = {xml.etree.ElementTree.tostring(item).strip(): item for part in parts for item in part}
    one = xml.etree.ElementTree.SubElement(corpus, "abi-instr", {"address-size": "64", "path": "all", "language": "LANG_C11"})
    for part in parts:
        corpus.remove(part)
    one.extend(sorted(everything.values(), key=lambda item: (item.tag, item.get("name", ""), item.get("id", ""))))
    xml.etree.ElementTree.indent(tree)
    tree.write(path, encoding="unicode")
    with open(path, "a", encoding="utf-8") as file:
        file.write("\n")


def has_debug_information(library):
    done = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True, check=True)
    return ".debug_info" in done.stdout


def compare(checks, library, folder):
    recorded, now = os.path.join(RECORDED, name_of(library) + ".abi"), os.path.join(folder, name_of(library) + ".abi")
    dump(library, now)
    if not checks.that(os.path.exists(recorded), recorded, "is not there: test/abi/record.sh makes it"):
        return
    checks.that(os.path.getsize(recorded) < MOST_BYTES, recorded, "is larger than", MOST_BYTES, "bytes")
    done = subprocess.run(["abidiff", "--harmless", "--no-show-locs", recorded, now], capture_output=True, text=True)
    checks.that(done.returncode == 0, name_of(library), "is not as recorded (docs/abi.md, test/abi/record.sh):\n" + done.stdout[-4000:],
                done.stderr[-1000:])


def public_types():
    for header in public_api.headers():
        if header != "rt.h":
            text = public_api.read(header)
            yield from re.findall(r"^typedef (?:struct|enum) (\w+) \{", text, re.M)
            yield from re.findall(r"^enum (\w+) \{", text, re.M)


def main():
    record = sys.argv[1] == "--record"
    libraries = sys.argv[2 if record else 1:]
    for tool in ("abidw", "abidiff", "readelf"):
        if not shutil.which(tool):
            harness.skip(tool + " is not installed (abigail-tools)")
    for library in libraries:
        if not has_debug_information(library):
            harness.skip(library + " has no debug information")
    if record:
        for library in libraries:
            dump(library, os.path.join(RECORDED, name_of(library) + ".abi"))
        return
    checks = harness.Checks()
    with harness.work_folder() as folder:
        for library in libraries:
            compare(checks, library, folder)
        texts = ""
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts += file.read()
    for name in public_types():
        checks.that(re.search(r"<(class|enum)-decl name=\"%s\" [^>]*size-in-bits|<enum-decl name=\"%s\"" % (name, name), texts),
                    name, "is in no description: test/abi/abi_types.c needs a function with it")
    checks.end()


if __name__ == "__main__":
    main()
