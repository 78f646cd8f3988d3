#!/usr/bin/env python3
"""Runs the documents' commands for recording, with the recorder installed as for a user: run_recorded.py BUILD [--update]
or, with the system's own recorder, run_recorded.py --installed.

    <!-- recorded -->   before a block of README.md or docs/recording.md
    ```sh               commands that must succeed, and leave one new .svg, which shows the program's functions
    ```console          lines "$ command", each followed by its output, in which times, shares and bars may differ
    <!-- needs: a b --> a line before that: the block is left out where these commands are not installed

Commands run in an empty folder with app.c and shop.cs (beside this script) and spans.c of the examples. --update rewrites the
documents if more than times differ."""
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

DOCUMENTS = ("README.md", "docs/recording.md")
BLOCK = re.compile(r"((?:<!-- needs: (?P<needs>[^\n]*) -->\n)?<!-- recorded -->\n```(?P<kind>sh|console)\n)(?P<text>.*?)(?P<end>^```$)", re.M | re.S)


def put(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def install(folder, build):
    """Installs the build below FOLDER; returns the variables for pkg-config to find it."""
    usr = os.path.join(folder, "usr")
    done = subprocess.run(["cmake", "--install", build, "--prefix", usr], capture_output=True, text=True)
    if done.returncode:
        sys.exit("cmake --install: " + done.stderr)
    return {"PKG_CONFIG_PATH": next(root for root, _, names in os.walk(usr) if "traceloom-rt.pc" in names)}


def prepare(folder, build):
    """The environment for commands: an installed recorder, and compilers under their short names."""
    found = {} if build == "--installed" else install(folder, build)
    commands, place = os.path.join(folder, "bin"), os.path.join(folder, "place")
    os.mkdir(commands)
    os.mkdir(place)
    clang = shutil.which("clang-19") or shutil.which("clang")
    put(os.path.join(commands, "clang"), "#!/bin/sh\nexec %s \"$@\"\n" % clang, 0o755)
    put(os.path.join(commands, "traceloom"), "#!/bin/sh\nexec %s \"$@\"\n" % shlex.join(harness.binary()), 0o755)
    for name in ("app.c", "shop.cs"):
        shutil.copy(os.path.join(harness.SOURCE, "test", "docs", name), place)
    shutil.copy(os.path.join(harness.SOURCE, "examples", "spans.c"), place)
    return place, dict(os.environ, PATH=commands + ":" + os.environ["PATH"], LC_ALL="C.UTF-8", TERM="dumb", **found)


def run(command, place, environment):
    done = subprocess.run(["bash", "-c", command], cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    lines = (done.stdout + done.stderr).decode("utf-8", "backslashreplace").replace(place + "/", "").splitlines()
    return done.returncode, "".join(line.rstrip() + "\n" for line in lines)


def masked(text):
    """Lines without the parts that change from run to run: times, sizes, shares, bars, blanks between columns; and in any
    order, since on a busy machine a short function may take longer than the next one."""
    text = re.sub(r"[▏▎▍▌▋▊▉█]+", "", text)
    text = re.sub(r"\b\d+\.\d{6,}\b", "~", text)
    text = re.sub(r"\b(thread|spans) +\d+", r"\1 ~", text)  # a thread has the name of its program, if any
    text = re.sub(r"\d[\d.,]* (?:ns|us|ms|s|%|B|KiB|MiB|GHz|MHz)(?![\w])", "~", text)
    return sorted(re.sub(r" +", " ", line).strip() for line in text.splitlines())


def console(text, place, environment):
    out = ""
    for line in text.splitlines():
        if line.startswith("$ "):
            out += ("\n" if out else "") + line + "\n" + run(line[2:], place, environment)[1]
    return out


def check(checks, path, place, environment, update):
    with open(os.path.join(harness.SOURCE, path), encoding="utf-8") as file:
        document = file.read()
    blocks = list(BLOCK.finditer(document))
    checks.that(blocks, path, "records nothing")
    for match in blocks:
        kind, text = match.group("kind"), match.group("text")
        missing = [tool for tool in (match.group("needs") or "").split() if not shutil.which(tool)]
        if missing:
            print(path, "left out, without", *missing)
            continue
        if kind == "sh":
            status, printed = run("set -ex\n" + text, place, environment)
            checks.equal(status, 0, path, "fails:\n" + printed)
            pictures = [name for name in os.listdir(place) if name.endswith(".svg")]
            if checks.equal(len(pictures), 1, path, "leaves pictures", pictures, "and printed:\n" + printed):
                with open(os.path.join(place, pictures[0]), encoding="utf-8") as file:
                    shown = file.read()
                for name in ("serve", "hash_password", "render_page"):
                    checks.that(name in shown, pictures[0], "does not show", name)
            continue
        real = console(text, place, environment)
        if masked(real) != masked(text) and update:
            document = document.replace(match.group(0), match.group(1) + real + match.group("end"))
        elif not update:
            checks.equal("\n".join(masked(real)), "\n".join(masked(text)), path, "differs from what is printed (run_recorded.py BUILD --update rewrites it):")
    if update:
        put(os.path.join(harness.SOURCE, path), document)


def main():
    build, update = sys.argv[1], sys.argv[2:] == ["--update"]
    os.environ.setdefault("TL_BINARY", os.path.join(build, "traceloom"))
    for tool in ("pkg-config", "gcc"):
        if not shutil.which(tool):
            harness.skip(tool + " is not installed")
    if not shutil.which("clang-19") and not shutil.which("clang"):
        harness.skip("clang is not installed")
    checks = harness.Checks()
    for path in DOCUMENTS:
        with harness.work_folder() as folder:
            check(checks, path, *prepare(folder, build), update)
    if not update:
        checks.end()


if __name__ == "__main__":
    main()
