#!/usr/bin/env python3
"""Rules of the tree that no compiler checks: lint.py RULE (see RULES at the end)."""
import fnmatch
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

LAYERS = ["base", "isa", "patch", "model", "format", "op", "analysis", "query", "view", "cli", "mpi"]
CORE = ("src/base/", "src/model/", "src/op/", "src/query/", "src/cli/")
MAX_LINES = 500
GENERATED = ("build", "build-", "demo", "node_modules", ".git")


def files(*suffixes):
    """All files of the project, by path from its top, without build results."""
    for folder, folders, names in os.walk(harness.SOURCE):
        inside = os.path.relpath(folder, harness.SOURCE)
        folders[:] = sorted(f for f in folders if f != "__pycache__" and
                            not (inside == "." and (f in GENERATED or f.startswith("build-"))))
        for name in sorted(names):
            if not suffixes or name.endswith(suffixes):
                yield os.path.normpath(os.path.join(inside, name))


def read(path):
    with open(os.path.join(harness.SOURCE, path), encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def is_text(path):
    with open(os.path.join(harness.SOURCE, path), "rb") as file:
        return b"\0" not in file.read(8192)


def includes(path):
    """Pairs of a line's number and the file that it includes in quotes."""
    for number, line in enumerate(read(path).splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if found:
            yield number, found.group(1)


RECORDERS = {"rt": ("rt/", "patch/", "isa/", "traceloom/rt.h"), "qemu": ("qemu/", "isa/a64.h", "base/compiler.h")}


def recorder_includes(checks, path, own):
    """A recorder goes into other programs: it includes what is its own, and layouts, which include only layouts."""
    for number, target in includes(path):
        layout = target.endswith("_layout.h")
        checks.that(layout or target.startswith(own), "%s:%d: includes %s of the library" % (path, number, target))
        if layout:
            for _, more in includes("src/" + target):
                checks.that(more.endswith("_layout.h"), "src/" + target, "which a recorder shares, includes", more)


def module_includes(checks, path):
    """The modules for runtimes of .NET include themselves, the recorder, and a little of the base that needs nothing else."""
    for number, target in includes(path):
        fine = target in ("base/grow.h", "base/compiler.h", "base/endian.h", "base/pe_file.h") or target.startswith(("managed/", "rt/", path.split("/")[1] + "/"))
        checks.that(fine, "%s:%d: includes %s of the library" % (path, number, target))


def layers(checks):
    """A file includes only its own layer and those left of it; no format includes another."""
    for path in files(".c", ".h", ".S"):
        if not path.startswith("src/") or path.count("/") < 2:
            continue
        layer = path.split("/")[1]
        if layer in RECORDERS:
            recorder_includes(checks, path, RECORDERS[layer])
            continue
        if layer in ("clr", "managed", "mono"):
            module_includes(checks, path)
            continue
        checks.that(layer in LAYERS, path, "lies in no known layer")
        for number, target in includes(path):
            part = target.split("/")
            checks.that(layer != "cli" or not target.endswith("_impl.h") or target == "model/format_impl.h", path,
                        "includes private structs:", target)
            where = "%s:%d: includes %s" % (path, number, target)
            if part[0] == "traceloom" or (path.startswith("src/format") and "/" not in target):
                continue
            if layer == "cli" and part[0] in ("formats.def", "formats_manual.def") or (
                    layer in ("analysis", "cli") and part[0] == "tables.def"):
                continue  # tables of everything there is
            if part[0] in ("rt", "qemu", "managed"):
                checks.that(layer == "cli" and target.endswith("_layout.h"), where, "of a recorder, of which only the command reads layouts")
                continue
            if checks.that(part[0] in LAYERS, where, "but includes are relative to src/"):
                checks.that(LAYERS.index(part[0]) <= LAYERS.index(layer), where, "of a layer to the right of", layer)
                if layer == "format" and part[0] == "format":
                    checks.that(part[1] == path.split("/")[2], where, "of another format")


def headers(checks):
    """Public headers include only public headers and the C library's."""
    for path in files(".h"):
        if path.startswith("include/"):
            for target in re.findall(r'^\s*#\s*include\s+([<"][^>"]+)', read(path), re.M):
                checks.that(target.startswith("<traceloom/") or "/" not in target, path, "includes", target)


def names(checks):
    """File names of sources are unique in the tree, so that a name identifies one file."""
    seen = {}
    for path in files(".c", ".h", ".S"):
        seen.setdefault(os.path.basename(path), []).append(path)
    for name, paths in seen.items():
        # The stand-in for cmocka needs its name; a public and an internal header may share one.
        checks.that(len(paths) == 1 or name == "cmocka.h", "several files are called", name, paths)


def format_words():
    """Names of formats: the folders of src/format, and other names in their files."""
    folders = {f for f in os.listdir(os.path.join(harness.SOURCE, "src", "format")) if not f.startswith(".")}
    return folders - {"none"} | {"fdr", "xprof", "xrayprof", "llvm"}  # no text can do without that word


def core(checks):
    """The core names no format, neither in code nor in comments. A suffix in an example (app.svg) does not count."""
    english = {"text", "dot", "folded", "listing"}          # these count in quotes only
    plain = "|".join(sorted(map(re.escape, format_words() - english)))
    quoted = "|".join(sorted(english & format_words()))
    pattern = re.compile(r'(?<![a-z.])(?:%s)(?![a-z])|"(?:%s)"' % (plain, quoted), re.I)
    allowed = [line.split(None, 1) for line in read("test/lint/format-names.txt").splitlines()
               if line and not line.startswith("#")]
    for path in files(".c", ".h"):
        if not path.startswith(CORE):
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            found = pattern.search(line)
            fine = not found or any(fnmatch.fnmatchcase(path, where) and (text in line or text == "*") for where, text in allowed)
            checks.that(fine, "%s:%d names a format: %s" % (path, number, line.strip()[:100]))


def length(checks):
    """No file is longer than 500 lines, except those in long-files.txt, each with its reason."""
    reasons = {}
    for line in read("test/lint/long-files.txt").splitlines():
        if line.strip() and not line.startswith("#"):
            path, _, reason = line.partition(" ")
            checks.that(len(reason.split()) >= 3, "long-files.txt: no reason for", path)
            reasons[path] = reason
    for path in files(".c", ".h", ".S", ".py", ".sh", ".js", ".mjs", ".css"):
        lines = read(path).count("\n")
        checks.that(lines <= MAX_LINES or path in reasons, path, "has", lines, "lines")
        checks.that(path not in reasons or lines > MAX_LINES, "long-files.txt names", path, "which has only", lines, "lines")


def first_comment(checks):
    """The first line of a source file says why the file exists."""
    for path in files(".c", ".h", ".S"):
        line = read(path).split("\n", 1)[0]
        checks.that(re.match(r"/\* \S+ .*\S+", line) or re.match(r"// \S+ \S+", line), path, "begins with", repr(line))


def words(checks):
    """Nothing unfinished, no marks of a merge, no machine's own paths, no trailing white space."""
    unfinished = re.compile("\\b(TO" "DO|FIX" "ME|XX" "X|HA" "CK)\\b")
    machine = re.compile(r"(?<![\w.}])/(work|home|root|farm|Users)/[A-Za-z.]")
    for path in files():
        if not is_text(path) or path.startswith("fuzz/corpus/") or path.startswith("test/golden/"):
            continue
        text = read(path)
        for number, line in enumerate(text.splitlines(), 1):
            where = "%s:%d" % (path, number)
            checks.that(not unfinished.search(line), where, "is unfinished:", line.strip()[:100])
            checks.that(not machine.search(line), where, "has a path of one machine:", line.strip()[:100])
            checks.that(line == line.rstrip(), where, "ends with white space")
            checks.that(not line.startswith(("<" * 7, ">" * 7)), where, "is a mark of a merge")
        checks.that(text.endswith("\n") or not text, path, "does not end with a line feed")


def functions(checks):
    """Functions are short: under about 60 lines."""
    reasons = read("test/lint/long-functions.txt")
    for path in files(".c"):
        if not path.startswith("src/"):
            continue
        start, name = None, None
        for number, line in enumerate(read(path).splitlines(), 1):
            if re.match(r"[A-Za-z_].*\)$", line) or (start is None and re.match(r"[A-Za-z_].*\($", line)):
                found = re.search(r"(\w+)\(", line)
                name = found.group(1) if found else name
            if line == "{":
                start = number
            elif line == "}" and start:
                size = number - start
                checks.that(size <= 75 or "%s %s " % (path, name) in reasons, "%s:%d: %s has %d lines" % (path, start, name, size))
                start = None


def messages(checks):
    """Messages are parts of a line: no capital at the begin, except in names, and no full stop or exclamation mark at the
    end. Tests skip with a reason."""
    call = re.compile(r'\b(tl_fail|tl_fail_errno|tl_error_context|tl_say|tl_say_error|tl_say_more|wrong|bad_value)\('
                      r'((?:[^"();{}]|\([^()]*\)|"(?:[^"\\]|\\.)*")*)\)')
    found = 0
    for path in files(".c"):
        if not path.startswith("src/") or path.startswith("src/rt/"):
            continue
        text = read(path)
        for one in call.finditer(text):
            said = re.findall(r'"((?:[^"\\]|\\.)*)"', one.group(2))
            if not said:
                continue
            found += 1
            where = "%s:%d: %s" % (path, text[:one.start()].count("\n") + 1, "".join(said))
            checks.that(not re.match(r"[A-Z][a-z]", said[0]), where, "begins with a capital")
            checks.that(not re.search(r"(?<!\.\.)[.!]$|\\n$", said[-1]), where, "ends as a sentence or a line")
    checks.that(found > 500, "only", found, "messages were found")
    for path in files(".c", ".h"):
        if path.startswith("test/unit/test_") or path.endswith("_fixture.h"):
            checks.that(not re.search(r"\bskip\(\)", read(path)), path, "skips without a reason: skip_because()")


def units(checks):
    """Unit tests include cmocka and its headers only through check.h; no case marks its state as unused."""
    found = 0
    for path in files(".c", ".h"):
        if not path.startswith("test/") or path.startswith("test/unit/compat/cmocka.h"):
            continue
        text = read(path)
        found += '#include "check.h"' in text
        checks.that("<cmocka.h>" not in text or path == "test/unit/check.h", path, "includes cmocka.h by itself: check.h")
        checks.that("(void)state;" not in text, path, "says (void)state, which unit.cmake has a flag for")
    checks.that(found > 50, "only", found, "files include check.h")


def struct_members(text, name):
    """The members of a struct by name, each with its declaration; empty if the text has no such struct."""
    found = re.search(r"typedef struct %s \{\n(.*?)\n\} %s;" % (name, name), re.sub(r"/\*.*?\*/", "", text, flags=re.S), re.S)
    out = {}
    for declared in found.group(1).split(";") if found else ():
        function = re.search(r"\(\*(\w+)\)\(", declared)
        plain = re.findall(r"(\w+)\s*(?=,|$)", declared.strip())
        out.update(dict.fromkeys([function.group(1)] if function else plain, declared.strip()))
    return out


def members(checks):
    """CONTRIBUTING.md has each member of tl_format, and of the structs of its roles, in one row of one table, and no
    others. Each role has its own table."""
    tables = {"tl_reader": "to read", "tl_event_writer": "to write events", "tl_profile_writer": "to write profiles"}
    rows, table = {heading: [] for heading in tables.values()}, None
    for line in read("CONTRIBUTING.md").splitlines():
        cells = [cell.strip() for cell in line.strip().split("|")]
        if len(cells) != 4:
            table = None
        elif table is None:
            table = cells[1] if cells[1] in rows else ""
        elif table:
            rows[table] += re.findall(r"`(\w+)`", cells[1])
    header = read("src/model/format_impl.h")
    structs = {name: struct_members(header, name) for name in ("tl_format", *tables)}
    checks.that(sum(map(len, structs.values())) > 50, "only", sum(map(len, structs.values())), "members were found")
    for struct, known in structs.items():
        for name, declared in known.items():
            if any(re.match(r"const %s \*" % role, declared) for role in tables):
                continue
            where = [tables[struct]] if struct in tables else [heading for role, heading in tables.items() if name not in structs[role]]
            count = sum(rows[heading].count(name) for heading in where)
            checks.that(count == 1, "CONTRIBUTING.md has %s.%s in %d rows of the tables: %s" % (struct, name, count, ", ".join(where)))
    for role, heading in tables.items():
        for name in rows[heading]:
            checks.that(name in structs[role] or name in structs["tl_format"], "CONTRIBUTING.md,", heading + ":", name, "is no member")


def wording(checks):
    """Texts for people use no replaced words: replaced-words.txt lists them with their replacements."""
    rows = [line.split("\t") for line in read("test/lint/replaced-words.txt").splitlines() if line and not line.startswith("#")]
    found = 0
    for path in files(".c", ".h", ".def", ".md", ".1", ".3", ".5"):
        text = read(path)
        if path.startswith("src/"):
            text = "\n".join(" ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r"/\*.*", "", line))) for line in text.splitlines())
        elif not path.startswith(("include/", "docs/")) and "/" in path:
            continue
        found += 1
        for pattern, better in rows:
            for one in re.finditer(pattern, text):
                checks.that(False, "%s:%d: %s: %s" % (path, text[:one.start()].count("\n") + 1, one.group(0), better))
    checks.that(found > 500 and len(rows) > 5, "only", found, "files and", len(rows), "words were looked at")


def limits(checks):
    """Each constant named ..._MAX or ..._MOST is a limit in SECURITY.md, or explained in plain-sizes.txt."""
    defined = re.compile(r"^\s*#\s*define\s+([A-Z]\w*_(?:MAX|MOST))\b(?!\()|\b([A-Z]\w*_(?:MAX|MOST))\s*=(?!=)|"
                         r"^\s+([A-Z]\w*_(?:MAX|MOST)),?$", re.M)
    rows = re.findall(r"^\| `([A-Z]\w*)` \| [^|]+ \| `([^`]+)` \|", read("SECURITY.md"), re.M)
    known, plain = {(path, name) for name, path in rows}, set()
    for line in read("test/lint/plain-sizes.txt").splitlines():
        if line.strip() and not line.startswith("#"):
            path, name, what = (line.split(None, 2) + ["", ""])[:3]
            checks.that(len(what.split()) >= 2, "plain-sizes.txt: what is", path, name)
            plain.add((path, name))
    found = set()
    for path in files(".c", ".h", ".def"):
        if path.startswith(("src/", "include/")) and not path.startswith(("src/rt/", "src/cli/", "include/traceloom/rt")):
            found |= {(path, "".join(groups)) for groups in defined.findall(read(path))}
    checks.that(len(found) > 150, "only", len(found), "constants were found")
    for path, name in sorted(found - known - plain):
        checks.that(False, path, name, "is neither in SECURITY.md, with a test that reaches it, nor in plain-sizes.txt")
    for path, name in sorted(plain - found):
        checks.that(False, "plain-sizes.txt names", path, name, "which there is not")
    for path, name in sorted(plain & known):
        checks.that(False, "plain-sizes.txt names", path, name, "which is a limit in SECURITY.md")


def hashes(checks):
    """Hash tables of file contents are keyed: a table that probes gets its slots from base/hasher.h, with a seed from
    there. plain-hashes.txt lists mixing without a key, with the reason why no file can exploit it."""
    mixes = re.compile(r"\btl_hash_mix\(|\btl_hasher_stable\(|0x(?:9e3779b97f4a7c15|d6e8feb86659fd93|c2b2ae3d27d4eb4f|100000001b3)|"
                       r"\b(?:2166136261|16777619|1099511628211)|\* 3[13] \+|\(\w+ << 5\) \+", re.I)
    probes = re.compile(r"\b(\w+) = \(\1 \+ 1\) (?:&|%)")
    keyed = re.compile(r"\btl_(?:hash_place|hash_bytes|pair_hash|place_index_start)\(")
    seeds = re.compile(r"\bseed\s*=(?!=|\s*tl_hash_seed\(|\s*\w+->seed\b)")
    reasons, mixed, probing = {}, set(), set()
    for line in read("test/lint/plain-hashes.txt").splitlines():
        if line.strip() and not line.startswith("#"):
            path, _, reason = line.partition(" ")
            checks.that(len(reason.split()) >= 4, "plain-hashes.txt: no reason for", path)
            reasons[path] = reason
    for path in files(".c", ".h"):
        if not path.startswith("src/") or path.startswith("src/rt/"):
            continue  # the recorder's tables hold facts of its own program
        text = read(path)
        if mixes.search(text):
            mixed.add(path)
        if probes.search(text):
            probing.add(path)
        if path in probing and path not in reasons:
            checks.that(keyed.search(text), path, "has a table whose places are not those of base/hasher.h")
            checks.that(not seeds.search(text), path, "has a table with a seed that is not tl_hash_seed()")
    checks.that(len(probing) >= 5, "only", sorted(probing), "were found to be tables")
    for path in sorted(mixed - set(reasons)):
        checks.that(False, path, "mixes bits without a key, and is not in plain-hashes.txt")
    for path in sorted(set(reasons) - mixed - probing):
        checks.that(False, "plain-hashes.txt names", path, "which mixes nothing")


def allocations(checks):
    """Arrays grow in base/grow.c alone, where sizes are checked: nothing else calls realloc(), and no call of malloc()
    multiplies, which wraps on hosts of 32 bits. The recorder has an allocator of its own."""
    unchecked = re.compile(r"\brealloc\(|\bmalloc\((?:[^;{}]|\n)*?\s\*\s")
    for bad in ("p = realloc(p, n)", "p = malloc(n * sizeof *p)", "malloc(((size_t)n + 1) *\n  sizeof *p)"):
        checks.that(unchecked.search(bad), "would not be found:", bad)
    for fine in ("p = malloc(sizeof *p)", "p = tl_alloc(n, sizeof *p)", "p = malloc(n + 1); q = n * 2"):
        checks.that(not unchecked.search(fine), "would be found:", fine)
    for path in files(".c", ".h"):
        if path.startswith("src/") and not path.startswith("src/rt/"):
            text = re.sub(r"/\*.*?\*/", lambda comment: re.sub(r"[^\n]", " ", comment.group()), read(path), flags=re.S)
            calls = ["%s:%d" % (path, text[:one.start()].count("\n") + 1) for one in unchecked.finditer(text)]
            checks.that(len(calls) == (path == "src/base/grow.c"), calls or path, "calls realloc() or multiplies: base/grow.h")


def layout(checks):
    """clang-format would change nothing."""
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        harness.skip("clang-format is not installed")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    if " 14." not in version:
        harness.skip("another version than 14 lays out differently: " + version.strip())
    paths = list(files(".c", ".h"))
    for start in range(0, len(paths), 20):
        done = subprocess.run([tool, "--dry-run", "--Werror"] + paths[start:start + 20], cwd=harness.SOURCE, capture_output=True,
                              text=True)
        bad = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line})
        checks.that(done.returncode == 0, "clang-format would change", " ".join(bad))


RULES = {rule.__name__: rule for rule in (layers, headers, names, core, length, first_comment, words, functions, messages, units,
                                           members, wording, limits, hashes, allocations, layout)}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in RULES:
        sys.exit("usage: lint.py " + "|".join(RULES))
    checks = harness.Checks(show=60)
    RULES[sys.argv[1]](checks)
    checks.end()


if __name__ == "__main__":
    main()
