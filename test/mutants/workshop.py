"""The build for trying mutants: how a file is compiled and linked, and which tests there are."""
import collections
import json
import os
import re
import queue
import resource
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
# Tests of the code's behaviour. The others check the tree, or code without mutants: see mutate.py. For the recorder:
# two sources of hooks, and none that takes minutes.
KINDS = re.compile(r"(unit|golden|cli|roundtrip|differential|matrix|rt|spans|isa|fuzz\.replay|hostile\.limit|docs\.record)\b")
MORE = re.compile(r"rt\..*(arm-|clang14|clang20|-O0|-static|-nopie|-shared|llvm-xray|valgrind|tsan|functions-clang|million|deep|churn|kill|storm)")
# Lines of the recorder are not counted: a hook may not count itself. Tests that record can notice its mutants.
RECORDS = re.compile(r"rt\.|unit\.test_rt_|spans\.|docs\.record|cli\.(record|ctl|follow)")
CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DTRACELOOM_PARTS_SHARED=ON", "-DTRACELOOM_EXAMPLES=OFF", "-DTL_SHARED=",
             "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--enable-new-dtags"]
# All cases of a unit test run at once, except these, one of which fails without a static library.
SINGLE = ("test_rt_symbols",)
MEMORY = 4 << 30  # bytes of a test's process, to stop endless loops that allocate
PYTHON = sys.executable
# ccache would not notice that a changed file shadows the known one.
UNCACHED = {**os.environ, "CCACHE_DISABLE": "1"}

Test = collections.namedtuple("Test", "name command folder environment")


def limits(seconds, memory):
    """Limits of a test's processes: set in the child."""
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)  # which nohup and shells in the background ignore
        os.nice(1)
    return apply


def run(test, environment, seconds, memory=MEMORY):
    """How a test ended, "good", "skipped", "failed", "crashed" or "endless", and the seconds that it took."""
    began = time.monotonic()
    with subprocess.Popen(test.command, cwd=test.folder, env={**os.environ, **test.environment, **environment},
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True, preexec_fn=limits(seconds, memory)) as process:
        try:
            status = process.wait(timeout=20 + 8 * seconds)  # other programs may use the processors, too
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)  # and its remaining processes
        except ProcessLookupError:
            pass
        process.wait()
    if status is None or status in (-signal.SIGXCPU, -signal.SIGKILL):
        how = "endless"
    else:
        how = "crashed" if status < 0 else {0: "good", 77: "skipped"}.get(status, "failed")
    return how, time.monotonic() - began


class Workshop:
    def __init__(self, build, jobs):
        self.build, self.jobs = os.path.abspath(build), jobs
        self.counted = os.path.join(self.build, "counted")

    def make(self):
        """Builds everything, and the libraries again with counted lines."""
        for folder, more, targets in ((self.build, ["-DCMAKE_C_FLAGS_DEBUG=-O1"], []),
                                      (self.counted, ["-DCMAKE_C_FLAGS_DEBUG=-O0", "-DTRACELOOM_COVERAGE=ON", "-DTRACELOOM_TESTS=OFF",
                                                      "-DTRACELOOM_RT=OFF"], ["traceloom-cli"])):
            if not os.path.exists(os.path.join(folder, "build.ninja")):
                self.loud(["cmake", "-S", SOURCE, "-B", folder] + CONFIGURE + more)
            self.loud(["cmake", "--build", folder, "-j", str(self.jobs)] + (["--target"] + targets if targets else []))
        self.read_commands()
        self.read_tests()

    def loud(self, command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            sys.exit("%s\n%s failed" % (done.stdout[-4000:], " ".join(command)))

    def read_commands(self):
        """The build's rules: `compiles` by source, `links` by output; which tests include a source file (for its static
        functions), or the recorder; and `lowered`, the copies of files in a command with low limits."""
        listed = subprocess.run(["ninja", "-C", self.build, "-t", "commands", "all"], capture_output=True, text=True, check=True).stdout
        self.compiles, self.links = collections.defaultdict(list), {}
        for line in listed.splitlines():
            words = line.split()
            if " -c " in line and words[-1].endswith(".c"):
                self.compiles[os.path.relpath(words[-1], SOURCE)].append(words)
            elif " qc " in line:
                self.links[words[words.index("qc") + 1]] = words
            elif " -o " in line:
                self.links[words[words.index("-o") + 1]] = words
        self.including, self.recording = collections.defaultdict(set), set()
        low = {os.path.basename(path): path for path in self.compiles if "/low/" in path}
        self.lowered = {path: low["low_" + path[4:].replace("/", "_")] for path in self.compiles
                        if "low_" + path[4:].replace("/", "_") in low}
        depends = subprocess.run(["ninja", "-C", self.build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
        for target, files in re.findall(r"^test/CMakeFiles/(test_\w+)\.dir/unit/test_\w+\.c\.o:.*\n((?:    .*\n)*)", depends, re.M):
            for path in files.split():
                path = os.path.relpath(os.path.join(self.build, path), SOURCE)
                if path.endswith(".c") and path.startswith("src/"):
                    self.including[path].add(target)
            if target.startswith("test_rt_"):
                self.recording.add(target)

    def read_tests(self):
        listed = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.build, capture_output=True, check=True).stdout)
        self.tests, self.cases = {}, {}
        for test in listed["tests"]:
            name, command = test["name"], test.get("command")
            properties = {p["name"]: p["value"] for p in test["properties"]}
            if not command or not KINDS.match(name) or MORE.match(name):
                continue
            if "python" in os.path.basename(command[0]):
                command[0] = PYTHON
            environment = dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", []))
            if name.startswith("unit.") and name.split(".")[1] not in SINGLE:
                self.cases[name] = environment.pop("TL_CASE")
                name = "unit." + name.split(".")[1]
            self.tests.setdefault(name, Test(name, command, properties["WORKING_DIRECTORY"], environment))

    def replaced(self, words, changes):
        """Runs a command with some words replaced, in the build's folder. Returns its output, None if it succeeded."""
        done = subprocess.run(" ".join(changes.get(word, word) for word in words), shell=True, cwd=self.build, text=True, env=UNCACHED,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout or "failed" if done.returncode else None


def parallel(workers, items, work):
    """work(worker, item) for all items, in a thread for each worker; the first error ends the program."""
    waiting, errors = queue.SimpleQueue(), []
    for item in items:
        waiting.put(item)

    def loop(worker):
        while not errors:
            try:
                work(worker, waiting.get_nowait())
            except queue.Empty:
                return
            except BaseException as error:  # pylint: disable=broad-except
                errors.append(error)
    threads = [threading.Thread(target=loop, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
