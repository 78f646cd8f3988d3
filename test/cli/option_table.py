#!/usr/bin/env python3
"""Help and man pages are right: each verb takes its options and no others, and each example runs.

The table comes from the command itself (traceloom help --names options)."""
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

VERBS = ("info", "check", "report", "diff", "convert", "cat", "query", "serve", "load", "record", "ctl")
REAL = {"cat": "convert", "diff": "report"}  # other names of verbs
# A valid value of each kind, by its name in the table.
VALUES = {"TABLE": "func", "WHAT": "time", "COLUMN": "self", "N": "1", "N|TIME": "1", "T": "5us", "SIZE": "1M", "[=SIZE]": "64K", "WHEN": "off", "FILE": "x.json",
          "FORMAT": "text", "STYLE": "plain", "HOW": "10s", "NAME": "doc", "TIME": "delta", "A..B": "1..2", "GLOB": "x", "LEVEL": "0", "PATH": "x",
          "SPEC": "l2=0", "LIST": "ras", "MODE": "fdr", "DIR": "x",
          "KIND": "md5", "ns": "ns", "URL": "http://127.0.0.1:1/nowhere", "N|FUNC": "main", "TITLE": "a page", "GATE": "p99(f) > +5%", "PERCENT": "5%", "OLD=NEW": "a=b", "OLD": "x", "WAY": "patch", "CLOCK": "cpu", "PID": "4711", "PORT": "4711", "NAME=VALUE": "a=1"}
BY_OPTION = {"engine": "sqlite", "jit": "all", "fail-when": "interval", "per": "call", "for": "10s", "period": "10ms", "timeout": "10s", "color": "never", "from": None, "format-version": "2", "line-size": "64", "cpu": "0", "compress": "gzip"}
USAGE = re.compile(rb"has no option|unknown option|needs a value|takes no value|: expected ")
INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")


class Option:
    def __init__(self, line):
        self.verb, self.letter, self.name, value, values = line.split("\t")
        self.letter = None if self.letter == "-" else self.letter
        self.value = None if value == "-" else value
        self.values = values
        self.may_lack = value.startswith("[")

    def right(self):
        if self.name in BY_OPTION and BY_OPTION[self.name] is not None:
            return BY_OPTION[self.name]
        if self.values == "@read":
            return harness.run("help", "--names", "read").text().split()[0]
        return VALUES[self.value]


def table():
    return [Option(line) for line in harness.run("help", "--names", "options").text().splitlines()]


def usage_status(verb):
    return 125 if verb == "record" else 2


def accepted(checks, verb, option, folder):
    """In every spelling; other errors later (a missing file, process or program) do not matter."""
    value = [option.right()] if option.value else []
    ways = [["--" + option.name] + ([] if option.may_lack else value)]
    if value:
        ways.append(["--%s=%s" % (option.name, value[0])])
    if option.letter:
        ways.append(["-" + option.letter] + value)
    for way in ways:
        done = harness.run(verb, *way, *(["--help"] if option.name != "help" else []), cwd=folder)
        checks.that(done.status == 0 and not done.err, "is not accepted:", done)
    if option.may_lack:
        done = harness.run(verb, "--%s=" % option.name, cwd=folder)
        checks.that(b"--%s needs a value: " % option.name.encode() in done.err, done)
    elif value:
        done = harness.run(verb, "--" + option.name, cwd=folder)
        checks.that(done.status == usage_status(verb) and b"--%s needs a value: " % option.name.encode() in done.err, done)
    else:
        done = harness.run(verb, "--%s=1" % option.name, cwd=folder)
        checks.that(done.status == usage_status(verb) and b"--%s takes no value" % option.name.encode() in done.err, done)


def documented(checks, verb, option, helps, mans):
    checks.that("--" + option.name in helps[verb], "the help of", verb, "lacks --" + option.name)
    flag = "Fl -" + option.name.replace("-", "-")
    checks.that(re.search(r"^\.It .*%s( |$)" % re.escape(flag), mans[verb], re.M), "the page of", verb, "lacks --" + option.name)


def refused(checks, verb, option, owners, letters):
    """With a message that names the option, the verb, and a verb that has it. letters: the verbs that have a letter, which
    may belong to different options."""
    words = ["--" + option.name]
    if option.letter and REAL.get(verb, verb) not in letters[option.letter]:
        words.append("-" + option.letter)
        owners = owners + letters[option.letter]
    for word in words:
        done = harness.run(verb, word)
        said = done.err.decode()
        checks.that(done.status == usage_status(verb) and "%s has no option %s (" % (verb, word) in said and
                    any("(%s has)" % owner in said for owner in owners), done)


def wrong_values(checks, option):
    """A word that is not allowed gets the list, and a nearly right one a suggestion."""
    if option.may_lack or option.name in ("threshold", "ring", "limit", "for", "period", "memory", "timeout") or option.values == "-" or option.values == "@file":
        return  # a size or a time, or anything goes
    checked = harness.run(option.verb, "--" + option.name, "xyzzy", "x", *(["-o", "x.csv"] if option.name == "split" else []))
    checks.that(checked.status == usage_status(option.verb) and
                (b"--%s xyzzy: " % option.name.encode() in checked.err), "a wrong value is taken:", checked)
    words = option.values.split()
    if option.values.startswith("@") or option.name in ("line-size", "split"):
        return
    for word in words:
        checks.that(word.encode() in checked.err, "no list of what there is:", checked)
    longest = max(words, key=len)
    if len(longest) > 3:
        typo = longest[0] + longest[2] + longest[1] + longest[3:]
        done = harness.run(option.verb, "--" + option.name, typo, "x")
        checks.that(typo == longest or b"did you mean %s?" % longest.encode() in done.err, done)


def typos(checks):
    for verb in VERBS + ("help",):
        typo = verb[:-2] + verb[-1] + verb[-2]
        near = b"did you mean %s?" % (b"cat" if verb == "ctl" else verb.encode())  # clt is as near to either
        for words in ([typo], ["help", typo]) if typo != verb else ():
            done = harness.run(*words)
            checks.that(done.status == 2 and near in done.err, done)
    for option, name in (("--to", "convert"), ("--from", "read")):
        for known in harness.run("help", "--names", name).text().split():
            done = harness.run("convert", option, known + "x", "x")
            checks.that(done.status == 2 and b"did you mean " in done.err, done)


def prepare(folder):
    """The files that the examples name."""
    copies = {"app.xray": "fdr-v5-le.xray", "a.xray": "fdr-v5-le.xray", "run1": "fdr-v5-le.xray", "run2": "fdr-v5-le.xray",
              "traces/one": "fdr-v5-le.xray", "traces/two": "basic-v3-le.xray", "app": "program.elf", "app.log": "tracelog-doc.log", "app.tlp.live": "live-adding.tlp.live"}
    copies.update(("%s/%d" % (side, run), "fdr-v5-le.xray") for side in ("old", "new") for run in range(4))
    for name in ("traces", "old", "new"):
        os.makedirs(os.path.join(folder, name))
    os.makedirs(os.path.join(folder, "bin"))
    for name, source in copies.items():
        shutil.copy(os.path.join(INPUT, source), os.path.join(folder, name))
    subprocess.run(["gzip", "-k", "app.xray"], cwd=folder, check=True)
    scripts = {"deploy": "true", "server": "true", "bin/less": "cat", "bin/jq": "cat",
               "bin/traceloom": 'exec %s "$@"' % shlex.join(map(os.path.abspath, harness.binary()))}
    for name, text in scripts.items():
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def examples(helps):
    """The commands in help."""
    for verb in helps:
        for line in helps[verb].splitlines():
            found = re.match(r"  ((?:traceloom|zcat) .*?)  +\S", line)
            if found:
                yield found.group(1)


def run_examples(checks, folder, helps, pages):
    prepare(folder)
    env = dict(os.environ, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"], TERM="dumb")
    seen = set()
    for command in examples(helps):
        if command in seen:
            continue
        seen.add(command)
        checks.that(command.replace("-", "\\-").replace("'", "\\(aq") in pages, "no man page has the example", command)
        if command.startswith("traceloom serve "):  # until it is told to end
            command = "timeout -s INT 2 " + command + "; test $? -eq 124"
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
        if re.match("traceloom query ", command) and not harness.built_with("SQLite"):
            checks.that(b"this build has no SQL" in done.stderr, command, done.stderr)
        elif "traceloom serve " in command and not harness.built_with("libmicrohttpd"):
            checks.that(b"this build has no server" in done.stderr, command, done.stderr)
        elif re.match("traceloom (record|ctl|load) |.* --server ", command):  # without a recorder, that process or servers: the words are right
            checks.that(not USAGE.search(done.stderr), command, done.stderr)
        else:
            checks.that(done.returncode == 0, command, done.returncode, done.stderr)
    return seen


def main():
    checks = harness.Checks()
    options = table()
    helps = {verb: harness.run(verb, "--help").text() + harness.run("help", verb).text() for verb in VERBS}
    helps["traceloom"] = harness.run().text()
    mans = {verb: harness.run("help", "--man", REAL.get(verb, verb)).text() for verb in VERBS}
    mans["traceloom"] = harness.run("help", "--man", "traceloom").text()
    names, letters = {}, {}
    for option in options:
        letters.setdefault(option.letter, []).append(option.verb)
        names.setdefault(option.name, []).append(option)
    with harness.work_folder() as folder:
        for verb in VERBS:
            real = REAL.get(verb, verb)
            for name, known in names.items():
                mine = [o for o in known if o.verb == real]
                if mine:
                    accepted(checks, verb, mine[0], folder)
                    documented(checks, verb, mine[0], helps, mans)
                else:
                    refused(checks, verb, known[0], [o.verb for o in known], letters)
    for option in options:
        if option.value:
            wrong_values(checks, option)
    typos(checks)
    with harness.work_folder() as folder:
        seen = run_examples(checks, folder, helps, "".join(mans.values()))
    checks.that(len(seen) >= 18, "only these examples were found:", seen)
    checks.end()


if __name__ == "__main__":
    main()
