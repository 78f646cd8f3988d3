"""How often each function of a program was called, by somebody else: binutils says where functions are, QEMU's user mode
counts how often their first instruction is reached (oracle_plugin.c). No code of the project takes part."""
import ctypes
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE, ADDR_NO_RANDOMIZE = 500, 0x0040000
PLTS = (".plt", ".plt.got", ".plt.sec", ".plt.bnd", ".init", ".fini")
ENTRY = re.compile(r"^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ (CIE|FDE)")


def fixed_addresses():
    """Between fork and exec: no ASLR, as setarch -R does, which would be another program that is recorded."""
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)


def needs():
    """The reason why there is no oracle here, or None."""
    for tool in ("qemu-x86_64", "readelf", "gcc"):
        if not shutil.which(tool):
            return "no %s" % tool
    if "-plugin" not in subprocess.run(["qemu-x86_64", "-help"], capture_output=True, text=True).stdout:
        return "this qemu-x86_64 has no plugins"
    return None


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True, env=dict(os.environ, LC_ALL="C")).stdout


class Functions:
    """Of an ELF file: where they begin and end, by .eh_frame, and what they are called."""

    def __init__(self, path):
        self.path = os.path.realpath(path)
        self.end = self.ranges()          # {address: end}
        self.names = {}                   # {address: set of names}
        self.addresses = {}               # {name: set of addresses}
        self.symbols("--syms")
        self.symbols("--dyn-syms")

    def segments(self):
        """Executable ones: (offset in the file, address, size)."""
        for line in tool("readelf", "-lW", self.path).splitlines():
            words = line.split()
            if words[:1] == ["LOAD"] and "E" in words[6:-1]:
                yield int(words[1], 16), int(words[2], 16), int(words[4], 16)

    def linkage(self):
        """Sections of PLTs."""
        for line in tool("readelf", "-SW", self.path).splitlines():
            found = re.match(r" *\[ *\d+\] (\S+) +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", line)
            if found and found[1] in PLTS:
                yield int(found[2], 16), int(found[2], 16) + int(found[3], 16)

    def ranges(self):
        out, common, pending, inside, plts = {}, {}, None, False, list(self.linkage())
        text = tool("readelf", "-wNF", self.path)

        def finish(row):
            """`row`: the rule at the first address."""
            begin, end = pending
            if row and row[0] == "rsp+8" and row[1] != "u" and not any(a <= begin < b for a, b in plts):
                out[begin] = end

        number = None
        for line in text.splitlines():
            if line.startswith("Contents of the"):
                inside = ".eh_frame section" in line
                continue
            if not inside:
                continue
            if ENTRY.match(line):
                if pending:
                    finish(common[number])
                pending, words = None, line.split()
                if words[3] == "CIE":
                    current, common[words[0]] = words[0], None
                    signal = "S" in words[4]
                    common[current] = ("signal", "u") if signal else None
                else:
                    number = re.search(r"cie=([0-9a-f]+)", line)[1]
                    pending, current = tuple(int(a, 16) for a in re.search(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", line).groups()), None
                continue
            words = line.split()
            if len(words) < 3 or words[0] == "LOC" or words[1] == "ZERO":
                continue
            row = words[1], words[-1]
            if pending:
                finish(row if common[number] != ("signal", "u") else None)
                pending = None
            elif current and common[current] is None:
                common[current] = row
                current = None
        if pending:
            finish(common[number])
        return out

    def symbols(self, which):
        for line in tool("readelf", "-W", which, self.path).splitlines():
            words = line.split()
            if len(words) >= 8 and words[3] in ("FUNC", "IFUNC", "NOTYPE") and words[6] != "UND":
                address, name = int(words[1], 16), words[7].split("@")[0]
                if address in self.end:
                    self.names.setdefault(address, set()).add(name)
                    self.addresses.setdefault(name, set()).add(address)

    def find(self, shown):
        """The addresses that a name in a report may stand for."""
        found = re.match(r"(.*)\+0x([0-9a-f]+)$", shown)
        if found and found[1] == os.path.basename(self.path):
            return {int(found[2], 16)}
        return self.addresses.get(shown, set())

    def called(self, address):
        return ",".join(sorted(self.names.get(address, ()))) or "%s+0x%x" % (os.path.basename(self.path), address)


def built(name):
    """A shared object: built once, or again if its source is newer."""
    path, source = os.path.join(folder(), name + ".so"), os.path.join(HERE, name + ".c")
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(source):
        made = "%s.%d" % (path, os.getpid())
        subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", source, "-o", made], check=True)
        os.rename(made, path)
    return path


def folder():
    path = os.path.join(os.environ.get("TL_WORK") or "/tmp/traceloom-patch-work", "patch")
    os.makedirs(path, exist_ok=True)
    return path


class Counted:
    """A run of the program in the oracle: its end, and {address: (calls, right behind a call)} for each file. `shifted`:
    with a heap and mappings at other addresses."""

    def __init__(self, command, files, env, place, shifted=False, **more):
        listed, counts = os.path.join(place, "oracle.list"), os.path.join(place, "oracle.counts")
        if os.path.exists(counts):
            os.unlink(counts)
        order = []
        with open(listed, "w", encoding="utf-8") as file:
            for one in files:
                segments = list(one.segments())
                file.write("file %s\n" % one.path)
                for address, end in sorted(one.end.items()):
                    for offset, begin, size in segments:
                        if begin <= address < begin + size:
                            file.write("%x %x\n" % (address - begin + offset, end - begin + offset))
                            order.append((one, address))
        shift = ["-E", "LD_PRELOAD=" + built("oracle_shift")] if shifted else []
        self.done = subprocess.run(["qemu-x86_64", "-cpu", "max", "-plugin", "%s,list=%s,counts=%s" % (built("oracle_plugin"), listed, counts)] + shift + command,
                                   env=env, capture_output=True, timeout=PATIENCE, preexec_fn=fixed_addresses, **more)
        with open(counts, "rb") as file:
            numbers = struct.unpack("<%dQ" % (2 * len(order)), file.read())
        self.calls = {one: {} for one in files}
        for at, (one, address) in enumerate(order):
            if numbers[2 * at]:
                self.calls[one][address] = numbers[2 * at], numbers[2 * at + 1]


def main():
    """patch_oracle.py PROGRAM [ARGUMENT...]: prints the counts."""
    one = Functions(shutil.which(sys.argv[1]))
    with harness.work_folder() as place:
        run = Counted([shutil.which(sys.argv[1])] + sys.argv[2:], [one], dict(os.environ), place)
    for address, (calls, behind) in sorted(run.calls[one].items()):
        print("%10d %10d  %s" % (calls, behind, one.called(address)))
    print(run.done.returncode, len(one.end), "functions", file=sys.stderr)


if __name__ == "__main__":
    main()
