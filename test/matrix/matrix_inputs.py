"""The kinds of traces to convert, each as a small file of our own generators.

A kind has one or more files: all must be converted alike, only losses differ. A recording of our own recorder in CTF
cannot be generated, so it is recorded: see recorded()."""
import os
import shutil
import struct
import subprocess

import harness
import ctf_gen
import live_gen
import recording_gen
import tracelog_gen
import xray_gen
import xtrace_gen
from elf_gen import build_elf


class Kind:
    """`name`: of the test, and of the anchors in the page. `title`: the users' name. `make`: a function of an empty folder
    that gives pairs of a path and its options."""

    def __init__(self, name, title, make):
        self.name, self.title, self.make = name, title, make


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def exe(folder):
    return ["-e", write(os.path.join(folder, "program.elf"), build_elf())]


def xray(*names):
    def make(folder):
        for name in names:
            options = [] if name.startswith("profile") or "no-clock" in name else exe(folder)
            yield write(os.path.join(folder, name + ".xray"), xray_gen.make(name)[0]), options
    return make


def ctf(*names):
    def make(folder):
        for name in names:
            ctf_gen.save(folder, name, ctf_gen.make(name)[0], None)
            yield os.path.join(folder, name), []
    return make


CYG_METADATA = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
clock { name = clk; freq = 1000000000; offset_s = 1500000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.clk.value; } := ticks;
stream { id = 0;
    packet.context := struct { ticks timestamp_begin; ticks timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id; };
    event.header := struct { u32 id; ticks timestamp; };
    event.context := struct { u32 vpid; u32 vtid; }; };
event { name = "lttng_ust_cyg_profile:func_entry"; id = 0; stream_id = 0; fields := struct { u64 addr; u64 call_site; }; };
event { name = "lttng_ust_cyg_profile:func_exit"; id = 1; stream_id = 0; fields := struct { u64 addr; u64 call_site; }; };
event { name = "app:request"; id = 2; stream_id = 0; fields := struct { u64 number; }; };
"""


def cyg_profile(folder):
    """Calls as recorded by LTTng: functions are addresses, and threads move between processors."""
    path = os.path.join(folder, "cyg")
    os.makedirs(path)
    write(os.path.join(path, "metadata"), CYG_METADATA.encode())
    events = []
    for thread, offset in ((100, 0), (101, 700)):
        for number in range(12):
            at, f, g = offset + number * 5000, 0x401000 + number % 3 * 64, 0x7F0012345000 + number % 2 * 32
            events += [(at, thread, 0, f), (at + 100, thread, 0, g), (at + 1300, thread, 2, number), (at + 1900, thread, 1, g),
                       (at + 2500, thread, 1, f)]
    events.sort()
    for cpu in (0, 1):
        mine = [event for event in events if (event[0] // 5000 + event[1]) % 2 == cpu]
        body = b"".join(struct.pack("<IQII", kind, at, 42, thread) + struct.pack("<Q" if kind == 2 else "<QQ", *(value, 0)[:1 if kind == 2 else 2])
                        for at, thread, kind, value in mine)
        size = 8 * (8 + 36 + len(body))
        write(os.path.join(path, "ch_%d" % cpu),
              struct.pack("<II", 0xC1FC1FC1, 0) + struct.pack("<QQQQI", mine[0][0], mine[-1][0], size, size, cpu) + body)
    yield path, []


def tracelog(*names):
    def make(folder):
        for name in names:
            yield write(os.path.join(folder, name + ".log"), tracelog_gen.make(name)[0]), []
    return make


def xtrace(name, part):
    def make(folder):
        place, files = os.path.join(folder, name), xtrace_gen.make(name)
        os.makedirs(place)
        for file in files:
            if part in file.name:               # alone: the other kind would be found beside it
                path = write(os.path.join(place, file.name), file.data)
        yield place if part == "." else path, ["-e", write(os.path.join(folder, "program.elf"), xtrace_gen.elf_of(files))]
    return make


def live(folder):
    for name in ("live-done", "live-killed"):
        yield write(os.path.join(folder, name + ".tlp.live"), live_gen.make(name)[0]), []


def profile_of(make, *options):
    """Our own profile file of a trace."""
    def made(folder):
        for number, (path, more) in enumerate(make(folder)):
            out = os.path.join(folder, "profile%d.tlp" % number)
            done = harness.run("report", "-q", path, *more, *options, "-o", out)
            assert done.status == 0, done
            yield out, []
    return made


def recording(folder):
    for name, data in recording_gen.binaries().items():
        write(os.path.join(folder, name), data)
    for name in ("rec-done", "rec-live"):
        yield write(os.path.join(folder, name + ".xray"), recording_gen.make(name, folder)[0]), []


PROGRAM = """#include <traceloom/rt.h>
static int leaf(int n) { TL_RT_INSTANT_F("landed", TL_RT_FIELD(i64, "n", n)); return n + 1; }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        TL_RT_SPAN_F("round", TL_RT_FIELD(i64, "number", i));
        sum += leaf(i);
        TL_RT_COUNTER("sum", sum);
    }
    return sum > 0 ? 0 : 1;
}
"""


def recorded(folder):
    """Our recorder's output in its mode ctf, for a program with spans."""
    library, compiler = os.environ.get("TL_RT_LIBRARY", ""), shutil.which("gcc") or shutil.which("cc")
    if not os.path.exists(library) or not compiler:
        raise LookupError("a recording in CTF needs a C compiler, and the recorder, which is not built here")
    source, program = write(os.path.join(folder, "app.c"), PROGRAM.encode()), os.path.join(folder, "app")
    subprocess.run([compiler, "-O1", "-I", os.path.join(harness.SOURCE, "include"), "-finstrument-functions", source, "-o", program,
                    "-Wl,-u,tl_rt_life", "-Wl,-u,__cyg_profile_func_enter", library, "-lpthread", "-ldl"], check=True)
    subprocess.run([program], check=True, env=dict(os.environ, TRACELOOM="mode=ctf:out=" + os.path.join(folder, "app")))
    yield os.path.join(folder, "app.ctf"), []


KINDS = {kind.name: kind for kind in (
    Kind("xray-fdr", "XRay, flight data recorder", xray("fdr-v5-le-messy", "fdr-v2-be")),
    Kind("xray-basic", "XRay, basic mode", xray("basic-v3-le-messy", "basic-v1-be")),
    Kind("recording", "our recorder: `.xray`", recording),
    Kind("recording-ctf", "our recorder: `.ctf`", recorded),
    Kind("ctf-calls", "CTF with calls (LTTng's cyg-profile)", cyg_profile),
    Kind("ctf", "CTF without calls", ctf("ctf18-bytes-le", "ctf2-mixed-be", "ctf2010-type1-le")),
    Kind("tracelog", "TraceLog of .NET", tracelog("doc", "vs-small")),
    Kind("xtrace", "instructions, one thread", xtrace("small", "xinsndata")),
    Kind("xtrace-folder", "instructions, several threads, with snapshots", xtrace("threads", ".")),
    Kind("xtrace-shots", "snapshots alone", xtrace("small", "xsnapshot")),
    Kind("xray-profile", "XRay, profiling mode", xray("profile-le")),
    Kind("tlp", "`.tlp` of calls", profile_of(xray("fdr-v5-le-messy"))),
    Kind("tlp-live", "`.tlp.live`", live),
    Kind("tlp-samples", "`.tlp` of samples", profile_of(tracelog("doc"))),
)}
