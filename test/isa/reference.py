#!/usr/bin/env python3
"""Classes and branch targets against the reference reader of the shared folder: reference.py A64_LINES"""
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

EACH = 60       # words for each value of the eleven highest bits


def main():
    tools = harness.shared("tools")
    if not os.path.exists(os.path.join(tools, "xtrace_reference.py")):
        harness.skip("the shared folder has no xtrace_reference.py")
    sys.path.insert(0, tools)
    import xtrace_reference
    numbers = random.Random(1)
    words = [high << 21 | numbers.getrandbits(21) for high in range(2048) for _ in range(EACH)]
    text = "".join("%08x\n" % word for word in words).encode()
    done = subprocess.run(harness.command_words(sys.argv[1]), input=text, stdout=subprocess.PIPE, check=True)
    checks = harness.Checks()
    lines = done.stdout.decode().splitlines()
    checks.equal(len(lines), len(words), "lines")
    for word, line in zip(words, lines):
        if word & 0xbffffc00 == 0x99800800:     # STLR that changes its base: a load to the reference
            continue
        name = xtrace_reference.classify(word)
        target = xtrace_reference.direct_target(0x100000000, word) if name in ("branch.jump", "branch.call", "branch.cond") else None
        fields = line.split("\t")
        checks.equal((fields[1], fields[5]), (name, "" if target is None else "%x" % target), "%08x" % word)
    checks.end()


if __name__ == "__main__":
    main()
