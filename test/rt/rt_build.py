"""Builds the counting programs with each source of hooks, once, and only if a source or library is newer.

The environment says where the recorder is: TL_RT_LIBRARY (libtraceloom-rt.a), TL_RT_START (the part that every object
with sleds needs, libtraceloom-rt-start.a), TL_RT_SHARED (libtraceloom-rt.so)."""
import fcntl
import glob
import os
import shutil
import subprocess
import zlib

import harness

HERE = os.path.join(harness.SOURCE, "test", "rt")
SRC = os.path.join(harness.SOURCE, "src")
RT = os.path.join(SRC, "rt")
CLANGS = ("14", "19")
SLEDS = ["-fxray-instrument", "-fxray-instruction-threshold=1"]
NO_RUNTIME = {"14": "-fnoxray-link-deps", "19": "-fno-xray-link-deps"}
COMMON = ["-g1", "-gdwarf-4", "-I", HERE, "-I", os.path.join(harness.SOURCE, "include")] # 4: Debian 12's valgrind cannot read all of 5
CROSS_FLAGS = ["-std=c17", "-D_GNU_SOURCE", "-O2", "-g1", "-fPIC", "-fvisibility=hidden", "-mgeneral-regs-only", "-ffreestanding",
               "-fno-tree-loop-distribute-patterns", "-fno-stack-protector", "-ftls-model=initial-exec", "-mno-outline-atomics",
               "-I", os.path.join(harness.SOURCE, "src"), "-I", os.path.join(harness.SOURCE, "include")]
# Functions of the program called by objects that it opens.
EXPORTS = ["-Wl,--export-dynamic-symbol=" + name for name in ("tl_rt_object_register", "tl_rt_object_unregister",
                                                              "__cyg_profile_func_enter", "__cyg_profile_func_exit", "tl_rt_on",
                                                              "tl_rt_span_enter", "tl_rt_span_leave")]
NEEDED = {"sleds": ["TL_RT_LIBRARY", "TL_RT_START"], "llvm": ["TL_RT_LIBRARY"], "functions": ["TL_RT_LIBRARY"],
          "spans": ["TL_RT_LIBRARY"], "shared": ["TL_RT_SHARED"], "found": ["TL_RT_SHARED"], "patch": ["TL_RT_SHARED"]}
# Programs without any hook, whose code the recorder patches: a name, and what else is given to these compilers.
LEVELS = ("O0", "O1", "O2", "O3", "Os")
SHAPES = {"": [], "-nopie": ["-fno-pie", "-no-pie"]}
PATCHED = {"gcc": {"": [], "-cet": ["-fcf-protection"], "-room": ["-fpatchable-function-entry=5"], "-fentry": ["-pg", "-mfentry"]},
           "clang": {"": [], "-cet": ["-fcf-protection"], "-room": ["-fpatchable-function-entry=5"], "-sleds": SLEDS}}


class Hook:
    """A way to build; tests use its `name`."""

    def __init__(self, name, kind, compiler, flags, link=(), plugin=(), target=None):
        self.name, self.kind, self.compiler, self.target = name, kind, compiler, target
        self.flags, self.link, self.plugin = list(flags), list(link), list(plugin)
        self.static = "-static" in self.flags

    def command(self, cplus):
        if not cplus:
            return self.compiler
        return self.compiler.replace("clang", "clang++").replace("gcc", "g++")

    def needs(self, cplus):
        """The reason why it cannot be built here, or None."""
        compilers = [self.command(cplus)] + (["aarch64-linux-gnu-g++" if cplus else "aarch64-linux-gnu-gcc"] if self.target else [])
        missing = [c for c in compilers + (["qemu-aarch64"] if self.target else []) if not shutil.which(c)]
        return "no %s" % missing[0] if missing else None


def hooks():
    out = []
    for version in CLANGS:
        clang, sleds = "clang-" + version, SLEDS + [NO_RUNTIME[version]]
        out += [Hook("sleds-clang%s" % version, "sleds", clang, ["-O2"] + sleds),
                Hook("sleds-clang%s-O0" % version, "sleds", clang, ["-O0"] + sleds),
                Hook("sleds-clang%s-static" % version, "sleds", clang, ["-O2", "-static"] + sleds),
                Hook("sleds-clang%s-nopie" % version, "sleds", clang, ["-O2", "-fno-pie", "-no-pie"] + sleds),
                Hook("llvm-clang%s" % version, "llvm", clang, ["-O2"] + SLEDS),
                Hook("functions-clang%s" % version, "functions", clang, ["-O2", "-finstrument-functions"]),
                Hook("functions-clang%s-O0" % version, "functions", clang, ["-O0", "-finstrument-functions"]),
                Hook("arm-clang%s" % version, "sleds", clang, ["-O2", "--target=aarch64-linux-gnu"] + sleds, target="aarch64")]
    for level in ("O0", "O2"):
        flags = ["-" + level, "-finstrument-functions"]
        out += [Hook("functions-gcc-" + level, "functions", "gcc", flags),
                Hook("functions-gcc-%s-static" % level, "functions", "gcc", flags + ["-static"]),
                Hook("functions-gcc-%s-shared" % level, "shared", "gcc", flags)]
    for version in CLANGS:
        clang, sleds = "clang-" + version, SLEDS + [NO_RUNTIME[version]]
        out += [Hook("found-clang%s" % version, "found", clang, ["-O2"] + sleds),
                Hook("found-clang%s-O0" % version, "found", clang, ["-O0"] + sleds),
                Hook("found-clang%s-nopie" % version, "found", clang, ["-O2", "-fno-pie", "-no-pie"] + sleds),
                Hook("found-llvm-clang%s" % version, "found", clang, ["-O2"] + SLEDS),
                Hook("arm-found-clang%s" % version, "found", clang, ["-O2", "--target=aarch64-linux-gnu"] + sleds, target="aarch64")]
    for level in ("O0", "O2", "O3"):
        out.append(Hook("arm-patch-gcc-" + level, "found", "aarch64-linux-gnu-gcc", ["-" + level], target="aarch64"))
    out += [Hook("arm-patch-clang19", "found", "clang-19", ["-O2", "--target=aarch64-linux-gnu"], target="aarch64"),
            Hook("arm-patch-gcc-bti", "found", "aarch64-linux-gnu-gcc", ["-O2", "-mbranch-protection=standard"], target="aarch64"),
            Hook("arm-patch-gcc-nopie", "found", "aarch64-linux-gnu-gcc", ["-O2", "-fno-pie", "-no-pie"], target="aarch64")]
    out.append(Hook("found-functions-gcc-O2", "found", "gcc", ["-O2", "-finstrument-functions"]))
    out.append(Hook("spans-gcc", "spans", "gcc", ["-O2", "-DCOUNT_SPANS"]))
    out.append(Hook("arm-functions-gcc", "functions", "aarch64-linux-gnu-gcc", ["-O2", "-finstrument-functions"], target="aarch64"))
    return {hook.name: hook for hook in out + list(patched())}


def patched():
    """Nothing of the recorder is in them: the loader adds it, and the recorder patches what it finds."""
    for compiler, version in [("gcc", "")] + [("clang", v) for v in CLANGS]:
        command = compiler + ("-" + version if version else "")
        for more, extra in PATCHED[compiler].items():
            flags = extra + ([NO_RUNTIME[version]] if more == "-sleds" else [])
            for level in LEVELS:
                for shape, shaped in SHAPES.items():
                    yield Hook("patch-%s%s-%s%s%s" % (compiler, version, level, shape, more), "patch", command, ["-" + level] + shaped + flags)


def mixed(some):
    """So that neighbours differ: each compiler in turn, other flags without an order."""
    some = sorted(some, key=lambda hook: zlib.crc32(hook.name.encode()))
    by = {}
    for hook in some:
        by.setdefault(hook.compiler, []).append(hook)
    return [hook for row in zip(*by.values()) for hook in row]


HOOKS = hooks()


def folder(*parts):
    root = os.environ.get("TL_WORK") or "/tmp/traceloom-rt-work"
    path = os.path.join(root, "rt", *parts)
    os.makedirs(path, exist_ok=True)
    return path


def call(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("$ %s\n%s%s" % (" ".join(command), done.stdout, done.stderr))


def newer(path, sources):
    return os.path.exists(path) and all(os.path.getmtime(source) < os.path.getmtime(path) for source in sources)


class Locked:
    """Keeps several tests from building the same thing."""

    def __init__(self, path):
        self.file = open(path + ".lock", "w")

    def __enter__(self):
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def recorder_sources():
    return sorted(os.path.join(room, name) for room, _, names in os.walk(RT) for name in names)


def shared_sources():
    """What is in the shared recorder alone, as in cmake/Runtime.cmake."""
    return sorted(glob.glob(os.path.join(SRC, "patch", "*.[ch]"))) + [os.path.join(SRC, "isa", *name) for name in
                                                                      (("x86", "x86_decode.c"), ("x86", "x86_glance.c"), ("a64_class.c",))]


def cross_compile(place, sources, flags):
    out = []
    for source in sources:
        if source.endswith((".c", ".S")):
            out.append(os.path.join(place, os.path.basename(source) + ".o"))
            call(["aarch64-linux-gnu-gcc"] + CROSS_FLAGS + flags + ["-c", source, "-o", out[-1]])
    return out


def cross_libraries():
    """{TL_RT_...: path} for AArch64, made here."""
    place = folder("aarch64")
    out = {name: os.path.join(place, file) for name, file in (("TL_RT_LIBRARY", "libtraceloom-rt.a"), ("TL_RT_SHARED", "libtraceloom-rt.so"),
                                                              ("TL_RT_START", "libtraceloom-rt-start.a"))}
    sources = recorder_sources()
    with Locked(out["TL_RT_LIBRARY"]):
        if not newer(out["TL_RT_START"], sources + shared_sources() + [os.path.abspath(__file__)]):
            objects = cross_compile(place, [s for s in sources if os.sep + "patch" + os.sep not in s], [])
            for path in out.values():
                if os.path.exists(path):
                    os.unlink(path)
            start = [o for o in objects if os.path.basename(o).startswith(("rt_object_start", "rt_trampoline"))]
            every = cross_compile(folder("aarch64", "shared"), sources + shared_sources(), ["-DTL_RT_SHARED"])
            call(["aarch64-linux-gnu-gcc", "-shared", "-Wl,-z,defs", "-Wl,-z,now", "-Wl,-z,nodelete", "-o", out["TL_RT_SHARED"]] + every)
            call(["aarch64-linux-gnu-ar", "rcs", out["TL_RT_LIBRARY"]] + [o for o in objects if o not in start])
            call(["aarch64-linux-gnu-ar", "rcs", out["TL_RT_START"]] + start)
    return out


def preloaded(hook, command, env):
    """The command that runs a program with the recorder, if that is not linked into it; sets env."""
    if hook.target == "aarch64":
        more = ["-E", "LD_PRELOAD=" + libraries(hook)[0]] if hook.kind == "found" else []
        return ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"] + more + command
    if hook.kind == "found":
        env["LD_PRELOAD"] = libraries(hook)[0]
    return command


def libraries(hook):
    found = cross_libraries() if hook.target else {name: os.environ.get(name, "") for name in ("TL_RT_LIBRARY", "TL_RT_START", "TL_RT_SHARED")}
    for name in NEEDED[hook.kind]:
        if not os.path.exists(found[name]):
            harness.skip("the recorder is not built here (%s)" % name)
    return [found[name] for name in NEEDED[hook.kind]]


def linked(hook, shared):
    """Linked after the objects of a program; a shared object uses the program's recorder."""
    paths = libraries(hook)
    if hook.kind in ("found", "patch"):
        return []
    if hook.kind == "shared":
        return [paths[0], "-Wl,-rpath," + os.path.dirname(paths[0])]
    start = ["-Wl,--whole-archive", paths[1], "-Wl,--no-whole-archive"] if hook.kind == "sleds" else []
    if shared:
        return start
    first = {"sleds": ["-Wl,-u,tl_rt_object_register"], "functions": ["-Wl,-u,__cyg_profile_func_enter"]}.get(hook.kind, [])
    first.append("-Wl,-u,tl_rt_life")
    if hook.kind == "llvm":
        return ["-Wl,--whole-archive", paths[0], "-Wl,--no-whole-archive"]
    return first + start + [paths[0]] + ([] if hook.static else EXPORTS)


def build(hook, source, extra=(), shared=False, name=None):
    """The path of the built program (or shared object)."""
    plus = source.endswith(".cpp")
    path = os.path.join(folder(hook.name), (name or os.path.splitext(source)[0]) + (".so" if shared else ""))
    inputs = [os.path.join(HERE, source), os.path.abspath(__file__), *glob.glob(os.path.join(HERE, "*.h"))]
    with Locked(path):
        if not newer(path, inputs + libraries(hook)):
            shape = ["-shared", "-fPIC"] if shared else []
            call([hook.command(plus), "-std=gnu++17" if plus else "-std=gnu17"] + COMMON + hook.flags + shape + list(extra) +
                 [inputs[0], "-o", path + ".new"] + linked(hook, shared) + ["-lpthread", "-ldl"])
            os.rename(path + ".new", path)
    return path
