#!/usr/bin/env python3
"""Rules of the page's script and style, src/view/web: what keeps text of a trace from becoming markup or code, and what
cmake/Page.cmake needs to put the modules into one file."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

WEB = os.path.join(harness.SOURCE, "src", "view", "web")
LINES_MAX, BYTES_MAX = 6000, 380 * 1024   # of which comments and indentation stay here
FORBIDDEN = [r"\binnerHTML\b", r"\bouterHTML\b", r"\binsertAdjacentHTML\b", r"\bdocument\.write", r"\bcreateContextualFragment\b", r"\bsrcdoc\b",
             r"\bDOMParser\b", r"\beval\b", r"\bFunction\(", r"setAttribute\(\s*['\"`]on", r"setAttribute\(\s*['\"`]style", r"\bhttps?:", r"\bimport\(",
             r"\blocalStorage\b", r"\bsessionStorage\b", r"\bindexedDB\b", r"\bcookie\b", r"\bfetch\(", r"\bXMLHttpRequest\b", r"\bWebSocket\b",
             r"\bEventSource\b", r"\bsendBeacon\b", r"setTimeout\(\s*['\"`]", r"</", r"<!--", r"//# source"]
# Elements with such a property would load something, or run it.
ATTRIBUTES = [r"\b(src|href|action|formaction)\s*[:=](?!=)"]
SERVED = "source_serve.js"                               # asks the server of a served page, which the policy allows no file
HREF = "link.href = url;"                                 # of a file to save


def read(name):
    with open(os.path.join(WEB, name), encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    return re.sub(r"^[ \t]*//.*$", "", text, flags=re.M)


def listed():
    with open(os.path.join(harness.SOURCE, "cmake", "Page.cmake"), encoding="utf-8") as file:
        return re.search(r"set\(TL_WEB_MODULES\s+([^)]*)\)", file.read()).group(1).split()


def rules(checks, name, text):
    code = without_comments(text)
    for number, line in enumerate(code.splitlines(), 1):
        for pattern in FORBIDDEN + ATTRIBUTES:
            if name == SERVED and pattern in (r"\bfetch\(", r"\bEventSource\b"):
                continue
            found = re.search(pattern, line)
            checks.that(not found or line.strip() == HREF, "%s:%d: has" % (name, number), found and found.group(0))
    checks.that("\r" not in text and "\0" not in text, name, "has bytes that a browser would change, and another hash")
    checks.that(re.match(r"// [A-Z]", text), name, "does not begin with what it is for")


def module(checks, name, text, order, owners):
    """Imports first, one a line, of modules before it; names of the top level unique; no default, no list of exports but names."""
    code, imports_end = text.splitlines(), False
    for number, line in enumerate(code, 1):
        where = "%s:%d" % (name, number)
        found = re.match(r"import \{ ([\w, ]+) \} from '\./(\w+)\.js';$", line)
        if line.startswith("import"):
            checks.that(found and not imports_end, where, "an import in another form, or behind code")
        elif line and not line.startswith("//"):
            imports_end = True
        if found:
            other = found.group(2)
            if checks.that(other in order and order.index(other) < order.index(name), where, "imports", other, "which comes later or is not listed"):
                exported = set(re.findall(r"^export (?:async )?(?:function|const) (\w+)", read(other + ".js"), re.M))
                for word in found.group(1).split(", "):
                    checks.that(word in exported, where, word, "is not exported by", other)
                    checks.that(len(re.findall(r"\b%s\b" % word, without_comments(text))) > 1, where, word, "is not used")
        checks.that(not re.match(r"export(?! (async )?function |( const) )", line), where, "an export that is no declaration")
        declared = re.match(r"(?:export )?(?:async )?(?:function|const|let|class)\*? (\w+|\{[^}]*\}|\[[^\]]*\])", line)
        if declared:
            for word in re.findall(r"\w+", declared.group(1)):
                checks.that(owners.setdefault(word, name) == name, where, word, "is also declared in", owners[word])
        checks.that(line.count("`") % 2 == 0, where, "a text over several lines would lose its indentation")


def main():
    checks, order, owners, lines, size = harness.Checks(show=60), listed(), {}, 0, 0
    checks.equal(sorted(order), sorted(f[:-3] for f in os.listdir(WEB) if f.endswith(".js")), "modules in Page.cmake and in the folder")
    for name in order:
        text = read(name + ".js")
        rules(checks, name + ".js", text)
        module(checks, name, text, order, owners)
        lines, size = lines + text.count("\n"), size + len(text.encode())
    for name in ("page.html", "page.css"):
        text = read(name)
        for pattern in (r"\bstyle=", r"\bon\w+=", r"https?:", r"<script", r"@import", r"url\("):
            checks.that(not re.search(pattern, text), name, "has", pattern)
        lines, size = lines + text.count("\n"), size + len(text.encode())
    checks.that(lines <= LINES_MAX, "the page has", lines, "lines; at most", LINES_MAX)
    checks.that(size <= BYTES_MAX, "the page has", size, "bytes; at most", BYTES_MAX)
    checks.end()


if __name__ == "__main__":
    main()
