#!/usr/bin/env python3
"""`sudo make install`: installs the build without rebuilding, and the build folder stays its owner's."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

OWNER = 65534  # the user nobody


def owners(folder):
    return {os.path.relpath(os.path.join(at, name), folder): os.lstat(os.path.join(at, name)).st_uid
            for at, folders, files in os.walk(folder) for name in folders + files}


def give_away(folder):
    for at, _, files in os.walk(folder):
        for path in [at] + [os.path.join(at, name) for name in files]:
            os.lchown(path, OWNER, OWNER)


def install(tree, prefix):
    return subprocess.run(["make", "-C", tree, "install", "PREFIX=" + prefix], capture_output=True, text=True, check=False)


def main():
    if os.geteuid() != 0:
        harness.skip("only root can give files to another user")
    checks = harness.Checks()
    work = os.path.join(os.environ["TL_WORK"], "install")
    shutil.rmtree(work, ignore_errors=True)
    tree, prefix = os.path.join(work, "tree"), os.path.join(work, "prefix")
    os.makedirs(tree)
    shutil.copy(os.path.join(os.environ["TL_SOURCE"], "Makefile"), tree)
    give_away(tree)

    done = install(tree, prefix)
    checks.equal(done.returncode, 2, "status before anything was built")
    checks.that("run 'make' first, without sudo" in done.stdout, "it says so:\n" + done.stdout)

    build = os.path.join(tree, "build")
    os.mkdir(build)
    with open(os.path.join(build, "traceloom"), "w", encoding="utf-8") as file:
        file.write("built\n")
    os.chmod(os.path.join(build, "traceloom"), 0o755)
    with open(os.path.join(build, "cmake_install.cmake"), "w", encoding="utf-8") as file:
        file.write('file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/bin" TYPE PROGRAM FILES "%s/traceloom")\n'
                   'file(WRITE "%s/install_manifest.txt" "bin/traceloom")\n' % (build, build))
    give_away(tree)
    before = owners(tree)
    done = install(tree, prefix)
    checks.equal(done.returncode, 0, "status:\n" + done.stdout + done.stderr)
    checks.that(os.access(os.path.join(prefix, "bin", "traceloom"), os.X_OK), "the command is installed")
    checks.equal(owners(tree), before, "files of the tree, and whose they are")
    checks.end()


if __name__ == "__main__":
    main()
