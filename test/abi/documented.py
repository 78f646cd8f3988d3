#!/usr/bin/env python3
"""Every public function has a comment directly before it, with all facts that can be checked: for a pointer its owner or
NULL, for a status its failures, for a closing function whether NULL is fine, for *out its owner. Every header has a rule
on threads. libtraceloom(3) names only functions that exist, and each header."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import public_api

PAGE = os.path.join(public_api.harness.SOURCE, "docs", "man", "libtraceloom.3")
# Kinds of functions; the comment on one of them contains one of these words.
LENDS = re.compile(r"\b(NULL|[Bb]orrowed|[Ss]tatic)\b")
FAILS = re.compile(r"\b(errors?|Errors)\b|\bthe same\b", re.I)
NULLS = re.compile(r"\bNULL\b")
TAKES = re.compile(r"[Bb]elongs? to the caller|[Tt]he same")
STEPS = re.compile(r"\bReturns\b|1: .*0: (the )?end.*< 0: error")
NOT_NULL = {"tl_count_free"}   # frees the contents of a struct, which is the caller's


def check(checks, f):
    said = f.comment.strip("/* ")
    if not checks.that(len(said.split()) >= 3, f, "has no comment directly before it"):
        return
    fails = "tl_error *" in f.arguments
    if f.result.endswith("*"):
        checks.that(LENDS.search(said), f, "returns a pointer; of NULL, borrowed, static the comment says nothing")
    if f.result == "int" and fails and f.header != "error.h":
        checks.that(FAILS.search(said) or STEPS.search(said), f, "can fail; the comment says nothing of errors")
    if re.search(r"_(next|runs)$", f.name) and fails and "write" not in f.name:
        checks.that(STEPS.search(said), f, "is called until the end; the comment does not say what it returns")
        checks.that("orrowed" in said or "lends" in said, f, "hands out what it owns; the comment does not say how long it stays")
    if re.search(r"_(close|free)$", f.name):
        checks.that(NULLS.search(said), f, "frees; the comment does not say whether NULL is fine")
    if re.search(r"\*\*out\b", f.arguments):
        checks.that(TAKES.search(said), f, "makes something; the comment does not say whose it is")


def main():
    checks = public_api.harness.Checks(show=60)
    for f in public_api.functions():
        check(checks, f)
        checks.that(f.name not in NOT_NULL or "not NULL" in f.comment, f, "does not take NULL, and does not say so")
    for header in public_api.headers():
        top = re.match(r"/\*.*?\*/", public_api.read(header), re.S).group()
        if header != "traceloom.h":
            checks.that("thread" in top, header, "does not say at its top which threads may use it")
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    names = {f.name for f in public_api.functions()} | {name for header in public_api.headers()
                                                        for name in re.findall(r"^static inline .*?(tl_\w+)\(", public_api.read(header), re.M)}
    for name in re.findall(r"^\.Fn (tl_\w+)", page, re.M):
        checks.that(name in names, "libtraceloom(3) names", name, "which no header declares")
    for header in public_api.headers():
        checks.that("traceloom/" + header in page, "libtraceloom(3) does not name traceloom/" + header)
    checks.end()


if __name__ == "__main__":
    main()
