#!/usr/bin/env python3
"""Programs of Debian, stripped, never built for this: they do the same while patched, and each function has as many
calls as QEMU counts.

    patch_programs.py NAME...       of PROGRAMS; "all"; or "sample", which is all in `make slow`

Three times with the oracle, twice with memory at other addresses: what differs between these runs depends on addresses,
times or process numbers and is not compared. Differences that are known have a reason in EXPLAINED; any other one fails."""
import csv
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import patch_oracle
import patch_servers

PATIENCE = 300
SAMPLE = ["gzip", "bzip2", "xz", "sqlite3", "lua5.4", "bash", "dash", "git", "sed"]
C_FILE = """int printf(const char *, ...);
struct pair { int a; double b; };
static int add(struct pair *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i].a * (int)p[i].b; return s; }
int main(int c, char **v) { struct pair p[9] = {{c, 2.0}}; (void)v; printf("%d\\n", add(p, 9)); return 0; }
"""
LUA = """local t = {} for i = 1, 2000 do t[#t + 1] = (i * 7919) % 1009 end table.sort(t)
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(15), t[1], t[#t], ("x"):rep(40):gsub("x", "yz"), string.format("%5.2f", 3.14159))
print(pcall(error, "thrown"), select("#", table.unpack(t, 1, 50)))
local c = coroutine.wrap(function() for i = 1, 9 do coroutine.yield(i) end end) print(c() + c() + c())"""
PYTHON = """import re, json, collections
words = collections.Counter(re.findall("[a-z]+", open("text").read().lower()))
print(sorted(words.items(), key=lambda p: (-p[1], p[0]))[:5], json.dumps([1, "a", None, 2.5]))
try: [][1]
except IndexError as e: print(e)
print(sum(i * i for i in range(1000)))"""
PERL = r"""my %n; while (<>) { $n{lc $1}++ while /([a-z]+)/gi } my $i = 0;
for (sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n) { print "$_ $n{$_}\n"; last if ++$i == 5 } eval { die "dead\n" }; print $@;"""
SHELL = """f() { [ "$1" -le 1 ] && { echo 1; return; }; echo $(( $1 * $(f $(( $1 - 1 ))) )); }
f 5; for i in a b c; do case $i in b) echo two;; *) echo $i;; esac; done; trap 'echo end' EXIT; x=hello; echo ${x#h} ${#x}; (exit 3); echo $?"""
SQL = """create table t(a integer primary key, b text); with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
insert into t select i, 'row ' || (i * 7919 % 101) from n; create index x on t(b); select b, count(*), sum(a) from t group by b order by 2 desc, 1 limit 5;
select group_concat(a) from t where b like 'row 1_' and a % 5 = 0;"""
REPOSITORY = """git init -q . && git config user.name n && git config user.email e && git add text && git commit -q -m one && echo >>text && git commit -q -a -m two"""


class Program:
    """`files`: what is in the folder before; `shell`: prepares it; `made`: files that must be the same afterwards; `forks`:
    entries are counted in logs, because a call that is open when a process forks ends twice."""

    def __init__(self, name, words, files=None, shell=None, made=(), stdin=None, forks=False, env=None, libs=()):
        self.name, self.words, self.files, self.shell, self.made = name, words, files or {}, shell, made
        self.stdin, self.forks, self.env, self.libs = stdin, forks, env or {}, libs


def cc1():
    found = sorted(glob.glob("/usr/lib/gcc/x86_64-linux-gnu/*/cc1"))
    return found[-1] if found else "cc1"


PROGRAMS = {program.name: program for program in (
    Program("gzip", ["gzip", "-9", "-n", "-c", "text"]),
    Program("bzip2", ["bzip2", "-9", "-c", "text"], libs=["libbz2*"]),
    Program("xz", ["xz", "-3", "-T1", "-c", "text"], libs=["liblzma*"]),
    Program("sqlite3", ["sqlite3", "-batch", "base"], stdin=SQL, libs=["libsqlite3*"]),
    Program("lua5.4", ["lua5.4", "script"], {"script": LUA}),
    Program("bash", ["bash", "--norc", "script"], {"script": SHELL}, forks=True),
    Program("dash", ["dash", "script"], {"script": SHELL}, forks=True),
    Program("perl", ["perl", "script", "text"], {"script": PERL}, env={"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}),
    Program("python3", ["/usr/bin/python3", "-S", "-E", "-B", "script"], {"script": PYTHON}, env={"PYTHONHASHSEED": "0"}),
    Program("git", ["git", "--no-pager", "log", "-p", "--stat"], shell=REPOSITORY,
            env={"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z"}),
    Program("gawk", ["gawk", "{ for (i = 1; i <= NF; i++) n[tolower($i)]++ } END { k = asorti(n, s); for (i = 1; i < 9; i++) print s[i], n[s[i]] }",
                     "text"]),
    Program("sed", ["sed", "-E", r"s/([a-z]+) ([a-z]+)/\2 \1/g; /the/!d; y/abc/xyz/", "text"]),
    Program("jq", ["jq", "-c", "[.[] | {n: .a, m: (.b | length)}] | sort_by(.m) | .[0:3]", "numbers"],
            {"numbers": json.dumps([{"a": n, "b": "x" * (n * 37 % 11)} for n in range(60)])}, libs=["libjq*", "libonig*"]),
    Program("cc1", [cc1(), "-quiet", "-O2", "in.c", "-o", "out.s"], {"in.c": C_FILE}, made=["out.s"]),
    Program("openssl", ["openssl", "sha256", "text"]),
    Program("gdb", ["gdb", "-nx", "-batch", "-ex", "info line main", "-ex", "disassemble main", "-ex", "ptype struct pair", "prog"], {"in.c": C_FILE},
            shell="gcc -g -O1 in.c -o prog"),
)}

# (program, pattern of names): functions that differ from the oracle's for a reason that is known. docs/patching.md has them.
BEFORE = "called before the recorder begins"
EXPLAINED = {
    ("xz", r"liblzma\.so\.[0-9.]+\+0x[0-9a-f]+"): BEFORE + ": by the loader, to choose an indirect function",
    ("jq", "jv_mem_uninit_setup"): BEFORE + ": a constructor of a library",
    ("gdb", r"_Zn[wa]m|_Zd[la]Pv.*|_ZNSt7__cxx1112basic_string.*"): BEFORE + ": by constructors of libraries",
}
# A few functions of a program that differ a little: they depend on addresses, or on when signals and threads come.
NEARLY = {"bash": 1, "python3": 8, "gdb": 4}
LITTLE, LITTLE_SHARE = 2, 0.01


def environment(place, program, extra):
    """As many variables of the same length whether recorded or not: where the stack lies depends on them."""
    env = {"PATH": "/usr/bin:/bin", "HOME": place, "LC_ALL": "C", "TZ": "UTC", "LD_PRELOA_": "", "TRACELOO_": ""}
    env.update(program.env)
    if extra:
        for name in ("LD_PRELOA_", "TRACELOO_"):
            del env[name]
        env.update(extra)
    return env


def prepare(place, program):
    with open(os.path.join(place, "text"), "w", encoding="utf-8") as file:
        with open(os.path.join(harness.SOURCE, "LICENSE"), encoding="utf-8") as source:
            file.write(source.read() * 12)
    for name, text in program.files.items():
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            file.write(text)
    if program.shell:
        subprocess.run(program.shell, shell=True, check=True, cwd=place, env=environment(place, program, None))


class Run:
    """In a folder that has the same name each time."""

    def __init__(self, place, program, how, extra=None, shifted=False):
        work = os.path.join(place, "work")
        shutil.rmtree(work, ignore_errors=True)
        os.mkdir(work)
        prepare(work, program)
        words = [shutil.which(program.words[0])] + program.words[1:]
        more = {"input": program.stdin.encode()} if program.stdin is not None else {"stdin": subprocess.DEVNULL}
        env = environment(work, program, extra)
        if how is None:
            self.done = subprocess.run(words, env=env, cwd=work, capture_output=True, timeout=PATIENCE, preexec_fn=patch_oracle.fixed_addresses, **more)
            self.counted = None
        else:
            if shifted:
                del env["LD_PRELOA_"]
            self.counted = patch_oracle.Counted(words, how, env, place, shifted, cwd=work, **more)
            self.done = self.counted.done
        self.made = []
        for name in program.made:
            with open(os.path.join(work, name), "rb") as file:
                self.made.append(file.read())

    def seen(self):
        return self.done.returncode, self.done.stdout, self.done.stderr, self.made


def objects_of(program):
    """The program, and those of its libraries that are patched, too."""
    path = shutil.which(program.words[0])
    out = [patch_oracle.Functions(path)]
    listed = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
    for found in re.finditer(r"=> (\S+) \(", listed):
        if any(os.path.basename(found[1]).startswith(name.rstrip("*")) for name in program.libs):
            out.append(patch_oracle.Functions(found[1]))
    return out


class Recorded:
    """The calls of all processes by name, and how many of them never ended: they are in no sum of a profile. Functions that
    are left out, as the recording says."""

    def __init__(self, checks, program, place):
        self.calls, self.open, self.left_out = {}, 0, 0
        # A process that ends with _exit() leaves a recording that is still open.
        for path in sorted(glob.glob(os.path.join(place, "run*"))):
            told = harness.run("info", "--json", path).json()["patched"]
            self.left_out = max(self.left_out, sum(o["left_out"] for o in told))
            if program.forks:
                self.add_log(checks, path, re.match(r"run\.\d+\.", os.path.basename(path)) is not None)
            else:
                self.add_profile(checks, path)
        checks.that(self.calls, program.name, "nothing was recorded")

    def add(self, name, calls):
        self.calls[name] = self.calls.get(name, 0) + calls

    def add_profile(self, checks, path):
        result = harness.run("report", "-q", "--json", "--no-demangle", "--by", "func", path)
        if checks.equal(result.status, 0, result):
            table = json.loads(result.out)
            for row in table["functions"]:
                self.add(row["name"] or "#%d" % row["id"], row["calls"])
            self.open += table["unmatched"]["open"]
            checks.equal(table["unmatched"]["exits"], 0, path, "exits without entry")

    def add_log(self, checks, path, child):
        """A child's log begins with the calls that were open when it was forked, all at time 0."""
        result = harness.run("convert", "-q", "--no-demangle", "--to", "csv", "-o", path + ".csv", path)
        if not checks.equal(result.status, 0, result):
            return
        with open(path + ".csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["class"] == "xray.enter" and not (child and row["ts"] == "0"):
                    self.add(row["function"], 1)


def without_known(program, differ, got):
    """Leaves away what has a reason: functions that are left out, calls that did not end, EXPLAINED."""
    differ = [one for one in differ if not any(which == program.name and re.fullmatch(name, one[0]) for which, name in EXPLAINED)]
    fewer = sorted((one for one in differ if one[1] < one[2]), key=lambda one: one[1] - one[2])
    for _ in range(got.left_out):
        one = next((one for one in fewer if one[1] == 0), None)
        if one:
            fewer.remove(one)
    if sum(theirs - ours for _, ours, theirs in fewer) <= got.open:
        fewer = []
    rest = [one for one in differ if one[1] > one[2]] + fewer
    near = [one for one in rest if abs(one[1] - one[2]) <= max(LITTLE, LITTLE_SHARE * one[2])]
    return [one for one in rest if one not in near] if len(near) <= NEARLY.get(program.name, 0) else rest


def compare(checks, program, objects, got, runs):
    """Names stand for one or more places; places that have a name in common are compared by their sums."""
    same, differ, varying, unknown, parts, calls = 0, [], 0, [], 0, got.calls
    left = {(one, address) for run in runs for one in objects for address in run.calls[one]}
    for name, count in sorted(calls.items()):
        places = {(one, address) for one in objects for address in one.find(name)}
        if not places:
            unknown.append(name)
            continue
        sums = [sum(run.calls[one].get(address, (0, 0))[0] for one, address in places) for run in runs]
        left -= places
        if len(set(sums)) > 1:
            varying += 1
        elif sums[0] == count:
            same += 1
        else:
            differ.append((name, count, sums[0]))
    for one, address in sorted(left, key=lambda item: (item[0].path, item[1])):
        counts = [run.calls[one].get(address, (0, 0)) for run in runs]
        if len(set(counts)) > 1:
            varying += 1
        elif counts[0][1]:
            differ.append((one.called(address), 0, counts[0][0]))
        else:
            parts += 1 # only jumped to: parts of functions that are split
    print("%s: %d functions, %d called, %d calls; %d as the oracle counts, %d vary, %d differ, %d open, %d left out; %d are parts" % (
        program.name, sum(len(one.end) for one in objects), len([c for c in calls.values() if c]), sum(calls.values()), same, varying, len(differ), got.open, got.left_out, parts))
    differ = without_known(program, differ, got)
    for name, ours, theirs in differ:
        checks.that(False, program.name, name, "has", ours, "calls, the oracle counts", theirs)
    checks.that(not unknown, program.name, "names of no function:", unknown[:5])
    checks.that(same > 5, program.name, "too little was compared")


def try_program(checks, program):
    if not shutil.which(program.words[0]):
        return "no " + program.words[0]
    library = os.environ.get("TL_RT_SHARED", "")
    oracle = patch_oracle.needs()
    with tempfile.TemporaryDirectory(prefix="tl") as place:
        plain = Run(place, program, None)
        objects = objects_of(program)
        runs = [] if oracle else [Run(place, program, objects, None, shifted) for shifted in (False, True, True)]
        path = shutil.which(program.words[0])
        status = os.stat(path)
        settings = ":".join(["patch=on:mode=%s:out=%s/run" % ("fdr" if program.forks else "profile", place), "exe=%d\\:%d" % (status.st_dev, status.st_ino)] +
                            ["libs=" + name for name in program.libs])
        done = Run(place, program, None, {"LD_PRELOAD": library, "TRACELOOM": settings})
        checks.equal(done.seen(), plain.seen(), program.name, "status, output and files")
        for run in runs:
            checks.equal(run.seen(), plain.seen(), program.name, "in the oracle")
        got = Recorded(checks, program, place)
        if runs and got.calls:
            compare(checks, program, objects, got, [run.counted for run in runs])
    return None


def main():
    names = sys.argv[1:]
    if names == ["all"] or names == ["sample"] and harness.THOROUGH:
        names = list(PROGRAMS)
    elif names == ["sample"]:
        names = list(SAMPLE)
    if not os.path.exists(os.environ.get("TL_RT_SHARED", "")):
        harness.skip("the recorder is not built here (TL_RT_SHARED)")
    checks, skipped = harness.Checks(show=60), []
    for name in names:
        missing = try_program(checks, PROGRAMS[name])
        if missing:
            skipped.append(missing)
            print("not tried:", missing)
    if harness.THOROUGH:
        names += patch_servers.SERVERS
        for name, server in patch_servers.SERVERS.items():
            missing = server(checks)
            if missing:
                skipped.append(missing)
                print("not tried:", missing)
    if len(skipped) == len(names):
        harness.skip(skipped[0])
    checks.end()


if __name__ == "__main__":
    main()
