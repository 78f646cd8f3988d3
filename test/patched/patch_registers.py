#!/usr/bin/env python3
"""A patched program finds all registers as it left them: every kind of first and last instruction, in assembly.

    patch_registers.py

The program prints what each function left in the registers, with several states; the output must be the same. Calls are
compared with those that QEMU counts, if it is there."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
sys.path.insert(0, os.path.join(harness.SOURCE, "test", "rt"))
import patch_oracle
import rt_build
import rt_matrix

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = {"pie": ["-pie", "-fPIE"], "nopie": ["-no-pie", "-fno-pie"], "packed": ["-pie", "-fPIE", "-DPACKED"],
          "packed-nopie": ["-no-pie", "-fno-pie", "-DPACKED"]}
PARTS = ".cold"                           # fragments of functions, which the oracle cannot tell from others
FLAGS = "r_near_f"                        # its calls depend on flags that nobody promises
# Of "pie": functions whose begin, or jump to it, has no room for a jump, or is a call of the next instruction. More are where nothing is between them,
# or where jumps reach down less far.
LEFT_OUT = {"r_call_next", "r_jrcxz_tail", "r_loop_tail", "r_self", "r_self_loop"}


def build(name):
    program = os.path.join(rt_build.folder("registers-" + name), "patch_registers")
    sources = [os.path.join(HERE, "patch_registers" + suffix) for suffix in (".c", ".S", "_ends.S")]
    with rt_build.Locked(program):
        if not rt_build.newer(program, sources + [os.path.join(HERE, "patch_registers.inc"), os.path.abspath(__file__)]):
            rt_build.call(["gcc", "-O2", "-g1"] + SHAPES[name] + sources + ["-o", program + ".new"])
            os.rename(program + ".new", program)
    return program


def run(program, env):
    return subprocess.run([program], env=env, capture_output=True, text=True, timeout=100, preexec_fn=patch_oracle.fixed_addresses)


def lines(text, word):
    return [line for line in text.splitlines() if line.startswith(word + " ")]


def check_states(checks, name, done, plain):
    checks.equal((done.returncode, done.stderr), (0, ""), name, "the program's end")
    got, expected = lines(done.stdout, "state"), lines(plain.stdout, "state")
    checks.that(len(expected) > 500, name, "the program printed only", len(expected), "lines")
    checks.equal(len(got), len(expected), name, "lines")
    for one, other in zip(got, expected):
        checks.equal(one, other, name)


def check_calls(checks, name, program, out, folder):
    missing = patch_oracle.needs()
    if missing:
        print("without the oracle:", missing)
        return
    functions = patch_oracle.Functions(program)
    counted = patch_oracle.Counted([program], [functions], dict(os.environ), folder)
    checks.equal(counted.done.returncode, 0, name, "the oracle's end", counted.done.stderr)
    expected = {functions.called(address): calls for address, (calls, _) in counted.calls[functions].items()}
    expected = {called: calls for called, calls in expected.items() if called.startswith("r_") and PARTS not in called and called != FLAGS}
    result = harness.run("report", "-q", "--json", "--by", "func", "-e", program, out)
    if not checks.equal(result.status, 0, name, result):
        return
    table = json.loads(result.out)
    calls = {function: count for function, count in rt_matrix.by_name(table["functions"]).items() if count and function.startswith("r_")}
    left_out = {function for function in expected if function not in calls}
    for function in sorted(set(expected) - left_out):
        checks.equal(calls[function], expected[function], name, "calls of", function)
    checks.equal(sorted(one for one in set(calls) - set(expected) - {FLAGS} if PARTS not in one), [], name, "functions that were not called")
    if name == "pie":
        checks.that(left_out <= LEFT_OUT, name, "left out:", sorted(left_out - LEFT_OUT))
    told = sum(o["left_out"] for o in harness.run("info", "--json", out).json()["patched"])
    checks.that(len(left_out) <= told, name, "left out are", sorted(left_out), "and told", told)
    print("%s: %d functions as the oracle counts, %d left out" % (name, len(expected) - len(left_out), len(left_out)))
    checks.equal(table["unmatched"]["exits"], 0, name, "exits without entry")


def main():
    library = os.environ.get("TL_RT_SHARED", "")
    if not os.path.exists(library):
        harness.skip("the recorder is not built here (TL_RT_SHARED)")
    checks = harness.Checks()
    for name in SHAPES:
        program = build(name)
        env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_", "LD_"))}
        plain = run(program, env)
        with harness.work_folder() as folder:
            out = os.path.join(folder, "run.tlp")
            done = run(program, dict(env, LD_PRELOAD=library, TRACELOOM="patch=on:mode=profile:out=" + out))
            check_states(checks, name, done, plain)
            if checks.that(os.path.exists(out), name, "no recording", done.stderr):
                check_calls(checks, name, program, out, folder)
    checks.end()


if __name__ == "__main__":
    main()
