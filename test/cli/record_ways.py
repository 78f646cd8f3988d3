#!/usr/bin/env python3
"""Which way traceloom record takes by what the program is, what it hands to the recorder, and what it refuses:
record_ways.py

Programs are built here, and some get other headers byte by byte. What is refused has not run, and leaves no file."""
import os
import re
import shutil
import stat
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

LIBRARY = "libtraceloom-rt.so.0"
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int leaf(int x) { __asm__ volatile(""); return x + 1; }
int main(void)
{
    const char *set = getenv("TRACELOOM"), *preload = getenv("LD_PRELOAD");
    printf("%d\n%s\n%s\n", leaf(1), set ? set : "-", preload ? preload : "-");
    return 0;
}
"""
PARENT = r"""
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int own(int x) { __asm__ volatile(""); return x + 1; }
int main(void)
{
    int status;
    own(1);
    if (fork() == 0) {
        execl("./plain", "plain", (char *)0);
        _exit(9);
    }
    wait(&status);
    own(2);
    return status != 0;
}
"""
GO_NOTE = r"""
__asm__(".pushsection .note.go.buildid,\"a\",@note\n.long 4, 4, 4\n.asciz \"Go\\0\"\n.long 0\n.popsection");
"""
ELF_CLASS, ELF_MACHINE = 4, 18
QUIET_ASAN = dict(ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")


def build(name, *flags, source=SOURCE, compiler="gcc"):
    """False: this system lacks what the flags need."""
    return subprocess.run([compiler, "-O1", "-x", "c", "-", "-o", name, *flags], input=source.encode(), capture_output=True).returncode == 0


def changed(name, *changes):
    """A copy of `plain` with other bytes: (offset, bytes)."""
    with open("plain", "rb") as file:
        content = bytearray(file.read())
    for offset, new in changes:
        content[offset:offset + len(new)] = new
    with open(name, "wb") as file:
        file.write(content)
    os.chmod(name, 0o755)


def record(*arguments, env=None):
    for name in os.listdir("."):
        if ".tlp" in name:
            os.remove(name)
    return harness.run("record", *arguments, env=dict(QUIET_ASAN, **(env or {})))


def refused(checks, arguments, *parts):
    done = record(*arguments)
    text = done.err.decode()
    checks.equal(done.status, 125, arguments, "is refused:", text)
    checks.equal(done.out, b"", arguments, "has not run")
    for part in parts:
        checks.that(part in text, arguments, "says", part, "in:", text)
    checks.that(not [n for n in os.listdir(".") if ".tlp" in n], arguments, "leaves no recording")


def settings(checks, *arguments, env=None):
    """The pairs of TRACELOOM, and LD_PRELOAD, as the program got them."""
    done = record("-q", *arguments, env=env)
    lines = done.text().splitlines()
    if not checks.that(len(lines) == 3, arguments, "ran:", done):
        return {}, []
    pairs = {}
    for pair in re.findall(r"((?:[^:\\]|\\.)+)", lines[1]):
        key, _, value = pair.partition("=")
        pairs.setdefault(key, []).append(re.sub(r"\\(.)", r"\1", value))
    return pairs, lines[2].split(":")


def identity(path):
    found = os.stat(path)
    return ["%d:%d" % (found.st_dev, found.st_ino)]


def check_settings(checks):
    pairs, preload = settings(checks, "./plain")
    checks.equal(pairs.get("patch"), ["on"], "plain: patch")
    checks.equal(pairs.get("exe"), identity("plain"), "plain: exe")
    checks.equal(pairs.get("strict"), ["on"], "plain: strict")
    checks.that(preload[0].startswith("/") and LIBRARY in preload[0] and len(preload) == 1, "plain: LD_PRELOAD", preload)
    for key in ("libs", "min-size", "exact"):
        checks.that(key not in pairs, "plain:", key, "is not set")
    pairs, preload = settings(checks, "--libs", "libz*", "--libs", "a:b\\*", "--min-size", "2", "--exact", "--children", "-m", "fdr", "--ring",
                              "64M", "-F", "leaf", "-N", "x::y", "-D", "9", "--threshold", "5us", "--limit", "1G", "./plain")
    for key, value in (("libs", ["libz*", "a:b\\*"]), ("min-size", ["2"]), ("exact", ["on"]), ("mode", ["fdr"]), ("ring", ["64M"]),
                       ("func", ["leaf"]), ("not", ["x::y"]), ("depth", ["9"]), ("threshold", ["5us"]), ("limit", ["1G"]),
                       ("exe", None), ("start", ["on"])):
        checks.equal(pairs.get(key), value, "all options:", key)
    other = subprocess.run(["gcc", "-print-file-name=libm.so.6"], capture_output=True, text=True).stdout.strip()
    pairs, preload = settings(checks, "./plain", env={"LD_PRELOAD": other, "TRACELOOM": "control=off"})
    checks.that(len(preload) == 2 and LIBRARY in preload[0] and preload[1] == other, "LD_PRELOAD is kept behind ours:", preload)
    checks.equal(pairs.get("control"), ["off"], "TRACELOOM is kept")
    pairs, preload = settings(checks, "--any", "./plain")
    checks.that(preload == ["-"] and "patch" not in pairs, "--any loads nothing")


def check_hooks(checks):
    build("hooks", "-finstrument-functions")
    pairs, preload = settings(checks, "./hooks")
    checks.equal(pairs.get("patch"), ["off"], "hooks of -finstrument-functions: patch")
    checks.that(LIBRARY in preload[0], "hooks of -finstrument-functions: the recorder is loaded")
    done = record("./hooks")
    checks.that("has the calls of -finstrument-functions" in done.err.decode() and "leaf" in done.err.decode(), "they are recorded:", done)
    checks.equal(settings(checks, "--how", "patch", "./hooks")[0].get("patch"), ["on"], "--how patch")
    refused(checks, ["--libs", "libz*", "./hooks"], "--libs goes with --how patch")
    refused(checks, ["--how", "linked", "./hooks"], "link it with the recorder", "traceloom-rt-functions")
    refused(checks, ["--how", "linked", "./plain"], "build it with one of these")
    refused(checks, ["--how", "linked", "--libs", "x", "./plain"], "--libs is for programs that are patched")
    refused(checks, ["--any", "--exact", "./plain"], "--exact is for programs that are patched")
    refused(checks, ["--how", "preload", "./plain"], "--how patch records it")
    archive = os.environ.get("TL_RT_LIBRARY", "")
    if checks.that(build("linked", "-finstrument-functions", "-x", "none", "-Wl,-u,tl_rt_life,-u,__cyg_profile_func_enter", archive, "-lpthread"),
                   "a program with the recorder is built"):
        pairs, preload = settings(checks, "./linked")
        checks.that("patch" not in pairs and preload == ["-"], "a program with the recorder in it is as ever")
        refused(checks, ["--how", "patch", "./linked"], "has the recorder in it")
        refused(checks, ["--min-size", "9", "./linked"], "--min-size is for programs that are patched: this one has the recorder in it")
    if shutil.which("clang") and build("sleds", "-fxray-instrument", "-fxray-instruction-threshold=1", compiler="clang"):
        checks.equal(settings(checks, "./sleds")[0].get("patch"), ["auto"], "sleds without recorder: patch")


def calls(path):
    """{function: calls} of a recording."""
    return {f["name"]: f["calls"] for f in harness.run("report", "--json", path).json()["functions"]}


def check_patched(checks):
    """What is patched is recorded, said, and called by its place where it has no name."""
    done = record("./plain")
    checks.that(re.search(r"^traceloom: plain has no recorder in it: its functions are patched", done.err.decode(), re.M), "said before:", done)
    checks.that(re.search(r"^traceloom: patched plain: [12] of 2 functions", done.err.decode(), re.M), "said after:", done)
    checks.equal(calls("plain.tlp").get("leaf"), 1, "calls of leaf")
    counts = harness.run("info", "--json", "plain.tlp").json().get("patched")
    checks.that(counts and len(counts) == 1 and counts[0]["path"] == os.path.abspath("plain") and counts[0]["functions"] == 2 and
                "patched plain: %d of 2 functions" % counts[0]["patched"] in done.err.decode(), "counts in the finished recording:", counts)
    checks.that(re.search(r"^  patched   plain: [12] of 2 functions", harness.run("info", "plain.tlp").text(), re.M), "counts that info shows")
    place = next(int(line.split()[0], 16) for line in subprocess.run(["nm", "plain"], capture_output=True, text=True, check=True).stdout.splitlines()
                 if line.endswith(" leaf"))
    subprocess.run(["strip", "-o", "bare", "plain"], check=True)
    record("-q", "./bare")
    checks.equal(calls("bare.tlp").get("bare+0x%x" % place), 1, "calls of leaf by its place")
    record("-q", "--libs", "libc.so*", "./plain")
    checks.that(calls("plain.tlp").get("puts", 0) + calls("plain.tlp").get("printf", 0) > 0, "functions of libc")
    build("libbare.so", "-shared", "-fPIC", "-s", source="__attribute__((noinline)) static int in(int x) { __asm__ volatile(\"\"); return x + 1; }"
          "int outer(int x) { return in(x) + 1; }")
    if build("uses", "-s", "-x", "none", "./libbare.so", source="int outer(int); __attribute__((noinline)) int leaf(int x)"
             "{ __asm__ volatile(\"\"); return x + 1; } int main(void) { return outer(leaf(1)) == 0; }"):
        record("-q", "--libs", "libbare*", "./uses")
        for name in ("uses", "libbare.so"):
            said = harness.run("report", "uses.tlp", "-F", name + "+*").err.decode()
            checks.that("no name; install debug symbols of %s," % name in said, "the object of functions without a name:", said)
    parts = ["./libpart%d.so" % i for i in range(6)]
    for i, part in enumerate(parts):
        build(part, "-shared", "-fPIC", source="int part%d(int x) { return x + %d; }" % (i, i))
    if build("many", "-x", "none", "-Wl,--no-as-needed", *parts):
        said = record("--libs", "libpart*", "./many").err.decode()
        checks.equal(len(re.findall(r"patched (?:many|libpart\d\.so):", said)), 4, "objects that are named", said)
        checks.that("patched 3 more libraries" in said, "the others are counted:", said)
        said = record("--libs", "libpart[0-3]*", "./many").err.decode()
        checks.that("patched 1 more library\n" in said, "one other:", said)
        checks.that("was patched" not in said, "all patterns match:", said)
        checks.equal(len(harness.run("info", "--json", "many.tlp").json()["patched"]), 5, "all counts")
        said = record("--libs", "libpart0*", "--libs", "nolib*", "./many").err.decode()
        checks.that("traceloom: no library that matches nolib* was patched\n" in said, "a pattern that does nothing:", said)
    if not build("parent", source=PARENT):
        return
    for arguments, others in (([], 0), (["--children"], 1)):
        done = record(*arguments, "./parent")
        checks.equal(calls("parent.tlp").get("own"), 2, arguments, "the program itself", done)
        found = [name for name in os.listdir(".") if re.fullmatch(r"parent\.\d+\.tlp", name)]
        checks.equal([calls(name).get("leaf") for name in found], [1] * others, arguments, "what it starts")


def check_shell(checks):
    """A program whose code is nearly all in a library."""
    source = "int f%d(int x) { __asm__ volatile(\"\"); return x + %d; }"
    for name, functions in (("most", 400), ("some", 40), ("m", 400)):
        build("lib%s.so.1" % name, "-shared", "-fPIC", source="\n".join(source % (i, i) for i in range(functions)))
        build("shell_" + name, "-x", "none", "./lib%s.so.1" % name, source="int f3(int); int main(void) { return f3(1) - 4; }")
    note = re.compile(r"^traceloom: shell_most itself has 1 function, and libmost\.so\.1 about 40\d: --libs 'libmost\*' records these, too$", re.M)
    for dry in ([], ["--dry-run"]):
        said = record(*dry, "./shell_most").err.decode()
        checks.that(note.search(said), dry, "the note:", said)
        for arguments in (["--libs", "libmost*", "./shell_most"], ["./shell_some"], ["./shell_m"]):
            said = record(*dry, *arguments).err.decode()
            checks.that("itself has" not in said, dry, arguments, "need no note:", said)


def check_scripts(checks):
    interpreter = shutil.which("python3")
    body = "import os\nprint(2)\nprint(os.environ.get('TRACELOOM'))\nprint(os.environ.get('LD_PRELOAD'))\n"
    for name, line in (("direct", interpreter), ("env", "/usr/bin/env python3"), ("env_split", "/usr/bin/env -S python3 -u"),
                       ("nested", os.path.abspath("direct"))):
        with open(name, "w", encoding="utf-8") as file:
            file.write("#!%s\n%s" % (line, body))
        os.chmod(name, 0o755)
        pairs, _ = settings(checks, "./" + name)
        checks.equal(pairs.get("exe"), identity(interpreter), name, "is run by python3")
    said = record("--how", "patch", "-D", "1", "./env").err.decode()
    checks.that("python3 runs ./env, and has no recorder in it" in said, "who runs a script:", said)
    with open("lost", "w", encoding="utf-8") as file:
        file.write("#!/no/such/program\n")
    os.chmod("lost", 0o755)
    done = record("./lost")
    checks.that(done.status == 127 and b"cannot be run: No such file" in done.err, "a script of nobody:", done)
    build("static_sh", "-static")
    with open("by_static", "w", encoding="utf-8") as file:
        file.write("#!%s\n" % os.path.abspath("static_sh"))
    os.chmod("by_static", 0o755)
    refused(checks, ["./by_static"], "is run by", "static_sh, which is linked statically")


def check_refusals(checks):
    if build("static", "-static"):
        refused(checks, ["./static"], "static: is linked statically: it can be recorded if it is linked with the recorder")
    if build("static_pie", "-static-pie"):
        refused(checks, ["./static_pie"], "static_pie: is linked statically")
    build("library", "-shared", "-fPIC")
    refused(checks, ["./library"], "library: is a library, not a program")
    build("go", source=SOURCE + GO_NOTE)
    refused(checks, ["./go"], "go: is a Go program, whose stacks move")
    with open("go", "rb") as file: # without sections the segment says it
        content = bytearray(file.read())
    content[40:48], content[60:64] = bytes(8), bytes(4)
    with open("go", "wb") as file:
        file.write(content)
    refused(checks, ["./go"], "go: is a Go program")
    build("musl", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    refused(checks, ["./musl"], "is started by ld-musl-x86_64.so.1")
    if build("asan", "-fsanitize=address"):
        refused(checks, ["./asan"], "is built with AddressSanitizer")
    if build("tsan", "-fsanitize=thread"):
        refused(checks, ["./tsan"], "is built with ThreadSanitizer")
    ours = struct.unpack_from("<H", open("plain", "rb").read(), ELF_MACHINE)[0]
    changed("small", (ELF_CLASS, b"\1"))
    refused(checks, ["./small"], "is a 32-bit program")
    for machine, word in ((183 if ours == 62 else 62, "AArch64" if ours == 62 else "x86-64"), (3, "x86"), (22, "s390x"), (999, "machine 999")):
        changed("other", (ELF_MACHINE, struct.pack("<H", machine)))
        refused(checks, ["./other"], "is for %s, which cannot be recorded on" % word)


def check_rights(checks):
    shutil.copy("plain", "owned")
    if os.statvfs(".").f_flag & os.ST_NOSUID:
        print("set-user-id is ignored in this folder")
    elif os.getuid() == 0:
        os.chown("owned", 65534, 65534)
        os.chmod("owned", 0o4755)
        refused(checks, ["./owned"], "set-user-id programs cannot be recorded by another user")
        os.chmod("owned", 0o2755)
        refused(checks, ["./owned"], "set-group-id programs cannot be recorded by another group")
        os.chmod("owned", 0o755)
        checks.equal(settings(checks, "./owned")[0].get("patch"), ["on"], "of another user, but without these bits")
        os.chown("owned", 0, 0)
        os.chmod("owned", 0o6755)
        checks.equal(settings(checks, "./owned")[0].get("patch"), ["on"], "set-user-id of the caller changes nothing")
    else:
        found = next((p for p in ("/usr/bin/passwd", "/usr/bin/su", "/bin/mount") if os.path.exists(p) and os.stat(p).st_mode & stat.S_ISUID), None)
        if found:
            refused(checks, [found], "set-user-id programs cannot be recorded by another user")


def check_library(checks):
    """A command elsewhere, with and without its library."""
    command = harness.binary()[-1]
    library = os.path.join(os.path.dirname(command), LIBRARY)
    for place, inside in (("alone", None), ("flat", ""), ("installed", "../lib"), ("a space", ""), ("open", "")):
        folder = os.path.abspath(place) + "/bin"
        os.makedirs(folder)
        shutil.copy(command, folder)
        if inside is not None:
            os.makedirs(os.path.join(folder, inside), exist_ok=True)
            shutil.copy(library, os.path.join(folder, inside, LIBRARY))
        if place == "open":
            os.chmod(os.path.join(folder, LIBRARY), 0o666)
        done = subprocess.run([os.path.join(folder, "traceloom"), "record", "-q", "-f", "./plain"], capture_output=True, text=True)
        expected = {"alone": "not installed beside this command: it is in the package libtraceloom-rt0", "a space": "has a space or a colon",
                    "open": "others may change that file"}.get(place)
        if expected:
            checks.that(done.returncode == 125 and expected in done.stderr and not done.stdout, place, done)
        else:
            checks.that("/%s/" % place in done.stdout.splitlines()[-1], place, "loads its own library:", done)


def main():
    if not os.path.exists(os.path.join(os.path.dirname(harness.binary()[-1]), LIBRARY)):
        harness.skip("the recorder is not built here")
    os.environ.pop("TRACELOOM", None)
    checks = harness.Checks()
    with harness.work_folder() as folder:
        os.chmod(folder, 0o755)
        os.chdir(folder)
        if not build("plain"):
            harness.skip("no gcc")
        for part in (check_settings, check_hooks, check_patched, check_shell, check_scripts, check_refusals, check_rights, check_library):
            part(checks)
        os.chdir("/")
    checks.end()


main()
