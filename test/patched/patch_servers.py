#!/usr/bin/env python3
"""Programs that serve others, or draw: they behave as ever while they are patched.

    patch_servers.py redis     redis-server under redis-benchmark, with the calls of commands that it counts itself
    patch_servers.py gtk       a program of GTK under Xvfb"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
sys.path.insert(0, os.path.join(harness.SOURCE, "test", "rt"))
import rt_matrix

PATIENCE, REQUESTS = 120, 4000
COMMANDS = ("set", "get", "lpush", "incr", "sadd", "hset")


def recorder():
    library = os.environ.get("TL_RT_SHARED", "")
    if not os.path.exists(library):
        harness.skip("the recorder is not built here (TL_RT_SHARED)")
    return library


def plain_environment():
    return {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_", "LD_"))}


def patched_environment(program, out, *libs):
    status = os.stat(program)
    return dict(plain_environment(), LD_PRELOAD=recorder(), TRACELOOM=":".join(
        ["patch=on:mode=profile:out=" + out, "exe=%d\\:%d" % (status.st_dev, status.st_ino)] + ["libs=" + name for name in libs]))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Redis:
    """A server in a folder; `ask` is redis-cli."""

    def __init__(self, folder, env):
        self.port = str(free_port())
        self.process = subprocess.Popen([shutil.which("redis-server"), "--port", self.port, "--bind", "127.0.0.1", "--dir", folder, "--io-threads", "3",
                                         "--io-threads-do-reads", "yes", "--save", "", "--appendonly", "no"], env=env, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None and self.ask("ping").stdout != "PONG\n":
            time.sleep(0.05)

    def ask(self, *words):
        return subprocess.run(["redis-cli", "-p", self.port] + list(words), capture_output=True, text=True, timeout=PATIENCE)

    def end(self):
        if self.process.poll() is None:
            self.ask("shutdown", "nosave")
        try:
            out = self.process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            out = self.process.communicate()[0]
        return self.process.returncode, out.decode(errors="replace")


def benchmark(checks, redis):
    """The numbers of calls that the server itself counts, by command."""
    done = subprocess.run(["redis-benchmark", "-p", redis.port, "-n", str(REQUESTS), "-c", "20", "-P", "4", "--threads", "2", "-q", "-t",
                           ",".join(COMMANDS)], capture_output=True, text=True, timeout=PATIENCE)
    checks.equal((done.returncode, done.stderr), (0, ""), "redis-benchmark", done.stdout[-500:])
    checks.equal(redis.ask("eval", "local s = 0 for i = 1, 1000 do s = s + redis.call('incr', 'n') end return s", "0").stdout, "500500\n", "a script")
    told = redis.ask("info", "commandstats").stdout
    return {name: int(calls) for name, calls in re.findall(r"cmdstat_(\w+):calls=(\d+)", told)}


def redis(checks):
    for tool in ("redis-server", "redis-benchmark", "redis-cli"):
        if not shutil.which(tool):
            return "no " + tool
    with harness.work_folder() as folder:
        out = os.path.join(folder, "run.tlp")
        program = os.path.realpath(shutil.which("redis-server"))
        server = Redis(folder, patched_environment(program, out))
        told = benchmark(checks, server) if server.process.poll() is None else {}
        status, said = server.end()
        checks.equal(status, 0, "the server's end", said[-1500:])
        checks.equal({name: told.get(name) for name in COMMANDS if name != "incr"}, {name: REQUESTS for name in COMMANDS if name != "incr"}, "commands")
        checks.equal(told.get("incr"), REQUESTS + 1000, "incr")
        if not checks.that(os.path.exists(out), "nothing was recorded:", os.listdir(folder)):
            return None
        table = rt_matrix.report(checks, out, "--by", "func")
        calls = rt_matrix.by_name(table["functions"]) if table else {}
        for name, count in told.items():
            if name + "Command" in calls: # exported names alone are known
                checks.equal(calls[name + "Command"], count, name + "Command()")
        checks.that(sum(name + "Command" in calls for name in COMMANDS) >= 4, "commands have no names", sorted(calls)[:20])
        checks.equal(table["unmatched"]["exits"] if table else 0, 0, "exits without entry")
        print("redis: %d functions, %d calls" % (len(calls), sum(calls.values())))
    return None


def gtk(checks):
    for tool in ("xvfb-run", "gtk3-demo-application", "gtk3-demo"):
        if not shutil.which(tool):
            return "no " + tool
    program, ends = os.path.realpath(shutil.which("gtk3-demo")), []
    with harness.work_folder() as folder:
        out = os.path.join(folder, "run.tlp")
        for env in (plain_environment(), patched_environment(program, out, "libgtk-3*", "libgdk-3*", "libgobject*", "libglib*")):
            command = ["xvfb-run", "-a", "env"] + ["%s=%s" % item for item in env.items() if item[0] in ("LD_PRELOAD", "TRACELOOM")]
            done = subprocess.run(command + ["NO_AT_BRIDGE=1", "GTK_A11Y=none", program, "--autoquit"], capture_output=True, text=True, timeout=PATIENCE,
                                  env=dict(plain_environment(), HOME=folder))
            ends.append((done.returncode, done.stdout, re.sub(r"\(gtk3-demo:\d+\)|\d\d:\d\d:\d\d\.\d+", "", done.stderr)))
        checks.equal(ends[1], ends[0], "the program's end")
        table = rt_matrix.report(checks, out, "--by", "func") if checks.that(os.path.exists(out), "nothing was recorded:", os.listdir(folder)) else None
        if table:
            calls = rt_matrix.by_name(table["functions"])
            print("gtk: %d functions, %d calls" % (len([c for c in calls.values() if c]), sum(calls.values())))
            checks.that(calls.get("gtk_widget_show", 0) > 0, "gtk_widget_show() was not called")
            checks.equal(table["unmatched"]["exits"], 0, "exits without entry")
    return None


SERVERS = {"redis": redis, "gtk": gtk}


def main():
    checks = harness.Checks()
    missing = SERVERS[sys.argv[1]](checks)
    if missing:
        harness.skip(missing)
    checks.end()


if __name__ == "__main__":
    main()
