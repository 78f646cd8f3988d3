"""Lines of the source on CoreCLR, from portable PDBs."""
import glob
import os
import subprocess

import harness
from dotnet_tools import CONFIGURATION, HERE, RUNTIME, is_fine, record, report


# What OpenSSL 3 calls otherwise, or has not; the compiler only computes a hash.
OPENSSL = """
int EVP_MD_get_size(const void *m);
int EVP_MD_size(const void *m) { return EVP_MD_get_size(m); }
void ERR_put_error(int a, int b, int c, const char *file, int line) {}
void *SSL_get_peer_certificate(const void *s) { return 0; }
"""


def build_with_pdb(folder):
    """The programs with a portable PDB, by the compiler of the runtime's kit, which needs an older OpenSSL."""
    compilers = glob.glob(os.path.join(RUNTIME, "sdk", "*", "Roslyn", "bincore", "csc.dll"))
    library = os.path.join(folder, "libssl.so.99")
    with open(os.path.join(folder, "openssl.c"), "w", encoding="ascii") as file:
        file.write(OPENSSL)
    linked = subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", library, file.name, "-Wl,--no-as-needed", "-lssl", "-lcrypto"], capture_output=True, check=False)
    if linked.returncode or not compilers:
        harness.skip("no compiler for portable PDBs: it needs cc and libssl-dev")
    path = os.path.join(folder, "lined.dll")
    parts = [name for name in glob.glob(os.path.join(RUNTIME, "shared", "Microsoft.NETCore.App", "*", "System.*.dll"))]
    done = subprocess.run(["dotnet", "exec", compilers[0], "-nologo", "-optimize", "-debug:portable", "-nowarn:CS0649", "-out:" + path, *("-r:" + name for name in parts),
                           os.path.join(HERE, "dotnet_programs.cs")], capture_output=True, text=True, check=False,
                          env=dict(os.environ, LD_LIBRARY_PATH=folder, CLR_OPENSSL_VERSION_OVERRIDE="99"))
    if done.returncode:
        harness.skip("the compiler of the runtime's kit does not run: " + (done.stdout + done.stderr).strip().splitlines()[-1])
    with open(os.path.join(folder, "lined.runtimeconfig.json"), "w", encoding="ascii") as file:
        file.write(CONFIGURATION)
    return path


def clr_lines(checks, binary, folder):
    """Lines of samples: the loop of each method, and where it is called. A PDB of another build, or a damaged one, has none."""
    program, log = build_with_pdb(folder), os.path.join(folder, "l.log")
    done = record(binary, folder, "--lines", "--alloc", "--period", "1ms", "-o", "l.log", program, "shares")
    checks.equal((done.returncode, done.stdout), (0, "done True\n"), done.stderr)
    is_fine(checks, binary, log)
    with open(os.path.join(HERE, "dotnet_programs.cs"), encoding="utf-8") as file:
        texts = [""] + file.read().splitlines()
    rows = report(checks, binary, log, "--by", "line")["lines"]
    for method in "ABC":
        begin = next(i for i, text in enumerate(texts) if "static uint %s(" % method in text)
        loop = next(i for i in range(begin, begin + 9) if "for (" in texts[i])
        found = {row["line"]: row["self"] for row in rows if row["function"] == "Told.Shares:" + method}
        checks.that(sum(found.get(i, 0) for i in (loop, loop + 1)) > 0.9 * sum(found.values()) > 0, method, "is at", found, "expected", loop)
    call = next(i for i, text in enumerate(texts) if "C(B(A(i)))" in text)
    found = {row["line"]: row["total"] for row in rows if row["function"] == "Told.Shares:Rounds"}
    checks.that(found.get(call, 0) > 0.9 * sum(found.values()) > 0, "calls are at", found, "expected", call)
    checks.equal({os.path.basename(row["file"]) for row in rows if (row["function"] or "").startswith("Told.Shares")}, {"dotnet_programs.cs"}, "files")

    pdb, size = os.path.join(folder, "lined.pdb"), 64 << 20
    with open(pdb, "rb") as file:
        good = file.read()
    with open(program, "rb") as file:
        at = file.read().index(b"RSDS") + 4
    with open(program, "rb") as file:
        file.seek(at)
        own = file.read(16)
    for name, change, expected in (("whole", lambda file: file.truncate(size), True), ("too large", lambda file: file.truncate(size + 1), False),
                                   ("of another build", lambda file: (file.seek(good.index(own)), file.write(bytes([own[0] ^ 0xff]))), False),
                                   ("cut off", lambda file: file.truncate(len(good) // 2), False), ("empty", lambda file: file.truncate(0), False)):
        with open(pdb, "wb") as file:
            file.write(good)
            change(file)
        done = record(binary, folder, "-f", "--lines", "--sampling", "off", "-o", "l.log", program, "calls")
        checks.equal((done.returncode, done.stdout.splitlines()[:2]), (0, ["sum 506315", "later 190"]), name, done.stderr)
        with open(log, encoding="utf-8") as file:
            checks.equal("\nlin src" in file.read(), expected, "lines with a PDB that is", name)


CASES = {"clr_lines": clr_lines}
