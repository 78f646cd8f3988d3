"""The wheel: made of the library of this build, installed into an empty environment, used and removed; and made of a clone
of the sources alone, in `make slow`."""
import os
import re
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import traceloom

TRACE = os.path.join(harness.SOURCE, "test", "golden", "input", "fdr-v5-le.xray")
PLAIN = dict(os.environ, LD_PRELOAD="", PYTHONPATH="", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore")
TAG = re.compile(r"traceloom-[0-9.]+-py3-none-linux_\w+\.whl$")
LIBRARY = "traceloom/libtraceloom.so.0"
checks = harness.Checks()


def run(*words, cwd=None, env=None):
    return subprocess.run(words, cwd=cwd, env=env or PLAIN, capture_output=True, text=True, check=False)


def needs(*modules):
    if run(sys.executable, "-c", "import " + ", ".join(modules)).returncode:
        harness.skip("python3-pip, python3-setuptools, python3-wheel or python3-venv is not installed")


def the_wheel(folder):
    found = [name for name in os.listdir(folder) if name.endswith(".whl")]
    if not checks.that(len(found) == 1 and TAG.match(found[0]), "wheels", found):
        checks.end()
    return os.path.join(folder, found[0])


def versions():
    """There is one version: that of CMakeLists.txt."""
    with open(os.path.join(harness.SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        version = re.search(r"VERSION ([0-9.]+)", file.read().split("project(", 1)[1])[1]
    with open(os.path.join(harness.SOURCE, "python", "pyproject.toml"), encoding="utf-8") as file:
        checks.equal(re.search(r'^version = "(.*)"', file.read(), re.M)[1], version, "the version of pyproject.toml")
    checks.equal(traceloom.__version__, version, "the version of the module")
    return version


def wheel():
    """tools/wheel.sh works offline; pip installs what it makes, and what is installed needs neither PYTHONPATH nor the library of the system."""
    needs("setuptools", "wheel", "pip", "venv", "ensurepip")
    version = versions()
    library, build = os.environ["TRACELOOM_LIBRARY"], os.path.dirname(os.environ["TRACELOOM_LIBRARY"])
    with harness.work_folder() as folder:
        done = run(os.path.join(harness.SOURCE, "tools", "wheel.sh"), build, folder, env=dict(PLAIN, PYTHON=sys.executable))
        if not checks.equal(done.returncode, 0, done.stdout, done.stderr):
            checks.end()
        path = the_wheel(folder)
        with zipfile.ZipFile(path) as archive:
            sources = set(os.listdir(os.path.join(harness.SOURCE, "python", "traceloom"))) - {"__pycache__"}
            names = {name for name in archive.namelist() if ".dist-info/" not in name}
            checks.equal(sorted(names), sorted(["traceloom/" + name for name in sources] + [LIBRARY]), "files of the wheel")
            info = archive.read("traceloom-%s.dist-info/WHEEL" % version).decode()
            checks.that("Root-Is-Purelib: false" in info, info)
        place = os.path.join(folder, "empty")
        done = run(sys.executable, "-m", "venv", place)
        checks.equal(done.returncode, 0, done.stderr)
        python = os.path.join(place, "bin", "python")
        done = run(python, "-m", "pip", "install", "--no-index", "-q", path)
        checks.equal(done.returncode, 0, done.stdout, done.stderr)
        env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "TRACELOOM_LIBRARY")}
        code = ("import traceloom; n = sum(1 for _ in traceloom.open(%r)); maps = open('/proc/self/maps').read()\n"
                "print(traceloom.__file__, n, traceloom.version(), [line.split()[-1] for line in maps.splitlines() if 'libtraceloom' in line][0])" % TRACE)
        done = run(python, "-c", code, cwd=folder, env=env)
        words = done.stdout.split()
        if checks.equal(len(words), 4, done.stdout, done.stderr):
            checks.that(words[0].startswith(os.path.realpath(place)) or words[0].startswith(place), "the module is that of the environment", words[0])
            checks.equal(int(words[1]), sum(1 for _ in traceloom.open(TRACE)), "events")
            checks.equal(words[2], traceloom.version(), "the version of the library")
            checks.equal(os.path.realpath(words[3]), os.path.join(os.path.dirname(os.path.realpath(words[0])), "libtraceloom.so.0"), "the library is that of the wheel")
        done = run(python, "-m", "pip", "uninstall", "-q", "-y", "traceloom")
        checks.equal((done.returncode, run(python, "-c", "import traceloom", cwd=folder).returncode), (0, 1), "removed")
        # Without a library, and away from its sources, setup.py says what is missing.
        alone = os.path.join(folder, "alone", "python")
        shutil.copytree(os.path.join(harness.SOURCE, "python"), alone, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        done = run(sys.executable, "-m", "pip", "wheel", "--no-index", "--no-build-isolation", "--no-deps", "-w", alone, alone)
        checks.that(done.returncode and "TRACELOOM_WHEEL_LIBRARY" in done.stdout + done.stderr, "the message", done.stdout, done.stderr)
        checks.that(os.path.exists(library))


def clone():
    """`pip wheel python/` in a clone, where nothing is built."""
    if not harness.THOROUGH:
        harness.skip("building the library takes minutes: make slow does it")
    needs("setuptools", "wheel", "pip")
    with harness.work_folder() as folder:
        there = os.path.join(folder, "clone")
        done = run("git", "-c", "safe.directory=*", "clone", "-q", "--no-hardlinks", harness.SOURCE, there)
        if done.returncode:
            harness.skip("not a checkout of git: " + done.stderr)
        done = run(sys.executable, "-m", "pip", "wheel", "--no-index", "--no-build-isolation", "--no-deps", "-w", folder, "python/", cwd=there)
        checks.equal(done.returncode, 0, done.stdout[-2000:], done.stderr[-2000:])
        checks.equal(run("git", "status", "--porcelain", cwd=there).stdout, "", "files that git does not ignore")
        with zipfile.ZipFile(the_wheel(folder)) as archive:
            archive.extractall(os.path.join(folder, "site"))
        done = run(sys.executable, "-c", "import traceloom; print(sum(1 for _ in traceloom.open(%r)))" % TRACE, env=dict(PLAIN, PYTHONPATH=os.path.join(folder, "site"), TRACELOOM_LIBRARY=""))
        checks.equal(done.stdout.strip(), str(sum(1 for _ in traceloom.open(TRACE))), done.stderr)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    checks.end()
