#!/usr/bin/env python3
"""The release tarball: the same bytes wherever and however it is made, with the committed files."""
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness


def git(source, *arguments):
    return subprocess.run(["git", "-C", source] + list(arguments), capture_output=True, text=True, check=False)


def dist(checks, source, folder, mask, settings, **environment):
    """The tarball that SOURCE's script puts into FOLDER, by a user with this umask and these settings of git."""
    home = folder + ".home"
    os.mkdir(home)
    with open(os.path.join(home, ".gitconfig"), "w", encoding="utf-8") as file:
        file.write("[safe]\n\tdirectory = *\n" + settings)
    done = subprocess.run(["bash", "-c", "umask %s; exec '%s/tools/dist.sh' '%s'" % (mask, source, folder)], capture_output=True,
                          text=True, check=False, env=dict(os.environ, HOME=home, **environment))
    checks.equal(done.returncode, 0, "tools/dist.sh says\n", done.stderr)
    if done.returncode:
        checks.end()
    made = os.listdir(folder)
    checks.equal(len(made), 1, "files made")
    return os.path.join(folder, made[0])


def check_content(checks, source, tarball):
    with open(os.path.join(source, "CMakeLists.txt"), encoding="utf-8") as file:
        version = re.search(r"^project\(traceloom VERSION ([0-9.]+)", file.read(), re.M).group(1)
    checks.equal(os.path.basename(tarball), "traceloom-%s.tar.gz" % version, "its name")
    top = "traceloom-%s/" % version
    with tarfile.open(tarball) as tar:
        members = tar.getmembers()
    checks.equal({(m.uid, m.gid, m.uname, m.gname) for m in members}, {(0, 0, "root", "root")}, "owners")
    checks.equal(len({m.mtime for m in members}), 1, "different times")
    checks.equal({m.mode for m in members} - {0o755, 0o644}, set(), "modes")
    files = sorted(m.name[len(top):] for m in members if not m.isdir())
    checks.equal(files, sorted(git(source, "ls-tree", "-r", "-z", "--name-only", "HEAD").stdout.split("\0")[:-1]), "its files")


def main():
    if not shutil.which("git") or git(harness.SOURCE, "rev-parse", "HEAD").returncode or \
            git(harness.SOURCE, "rev-parse", "--show-prefix").stdout.strip():
        harness.skip("a tarball is made of a checkout of git, and this is not one")
    checks = harness.Checks()
    with harness.work_folder() as folder:
        # Clones, because of possible commits meanwhile.
        one, other = os.path.join(folder, "clone"), os.path.join(folder, "clone of a clone")
        for source, clone in ((harness.SOURCE, one), (one, other)):
            checks.equal(git(source, "clone", "-q", "--depth=1", "file://" + source, clone).returncode, 0, "git clone")
            shutil.copy(os.path.join(harness.SOURCE, "tools", "dist.sh"), os.path.join(clone, "tools"))
        first = dist(checks, one, os.path.join(folder, "first"), "022", "")
        second = dist(checks, other, os.path.join(folder, "second"), "077", "[tar]\n\tumask = user\n[core]\n\tautocrlf = true\n",
                      TZ="Pacific/Kiritimati", LC_ALL="C")
        checks.that(filecmp.cmp(first, second, shallow=False), "two tarballs of the same commit differ")
        check_content(checks, one, first)
        # Unpacked sources make no tarball, even inside a checkout, and say so.
        with tarfile.open(first) as tar:
            tar.extractall(one)
        inner = next(os.path.join(one, name) for name in os.listdir(one) if name.startswith("traceloom-"))
        shutil.copy(os.path.join(harness.SOURCE, "tools", "dist.sh"), os.path.join(inner, "tools"))
        done = subprocess.run([os.path.join(inner, "tools", "dist.sh")], capture_output=True, text=True, check=False)
        checks.that(done.returncode == 1 and "not a checkout" in done.stderr, "in a tarball, tools/dist.sh says", done.stderr)
    checks.end()


if __name__ == "__main__":
    main()
