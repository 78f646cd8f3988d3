#!/usr/bin/env python3
"""traceloom load where something fails in the middle: fleet_failures.py TRACELOOM CASE

A loader that is killed at fixed places of a body, a shard without room, several files at once, sums that are made anew.
The cases of fleet.py kill at random times."""
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet  # noqa: E402
from cluster import Shard  # noqa: E402
from fleet import DATABASE, INPUT, TRACES, Listener, big_trace, compare_sums, harness, nothing_is_visible, run, wait_until  # noqa: E402

FEW = [word for table in ("traces", "functions", "calls", "events") for word in ("--table", table)]
# Where a body is cut: its share, and bytes more.
PLACES = {"before the first byte": (0, 0), "in the head of the block": (0, 7), "in its first column": (0, 2000), "in the middle": (0.5, 0),
          "before its last byte": (1, -1), "before the reply": (1, 0)}


class Cut(Listener):
    """Between loader and shard: hands requests on until so much of a chunk's body was there, then calls at_cut()."""

    def __init__(self, port, place, at_cut):
        super().__init__()
        self.port, self.place, self.at_cut, self.is_cut, self.lock = port, place, at_cut, False, threading.Lock()

    def limit_of(self, head):
        """How many bytes of this request may pass, from its first on; None: all."""
        if not head.startswith(b"POST /?query=INSERT") or b"query_id=traceloom-chunk" not in head or b"events" not in head.split(b" HTTP")[0]:
            return None
        size = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        share, more = self.place
        return head.index(b"\r\n\r\n") + 4 + int(share * size) + more

    def serve(self, client):
        server = fleet.socket.create_connection(("127.0.0.1", self.port))

        def up():
            head, passed, limit = b"", 0, None
            try:
                while data := client.recv(1 << 16):
                    if data.startswith(b"POST "):
                        head, passed, limit = b"", 0, None
                    if head is not None:
                        head += data
                        if b"\r\n\r\n" not in head:
                            continue
                        data, limit, head = head, self.limit_of(head), None
                    passed += len(data)
                    if limit is not None and passed >= limit:
                        server.sendall(data[:len(data) - (passed - limit)])
                        self.cut(client, server)
                        return
                    server.sendall(data)
                server.shutdown(fleet.socket.SHUT_WR)
            except OSError:
                pass

        threading.Thread(target=up, daemon=True).start()
        try:
            while (data := server.recv(1 << 16)) and not self.is_cut:
                client.sendall(data)
        except OSError:
            pass
        client.close()
        server.close()

    def cut(self, client, server):
        with self.lock:
            first, self.is_cut = not self.is_cut, True
        if first:
            self.at_cut()
        if self.place == PLACES["before the reply"]:
            time.sleep(0.3)  # the server works on it meanwhile
        for end in (client, server):
            try:
                end.shutdown(fleet.socket.SHUT_RDWR)
            except OSError:
                pass


def case_cut_body(f, work, seed):
    """The loader is killed at fixed places of a chunk: the chunk is there as a whole or not at all, and nothing can be
    seen. Then the same command does the rest."""
    f.create()
    for number, (name, place) in enumerate(PLACES.items()):
        path = big_trace(work, 10 * seed + number, 20000 if harness.THOROUGH else 3000)
        loader = []
        proxies = [Cut(s.http, place, lambda: loader[0].kill()) for s in f.cluster.shards]
        for proxy in proxies:
            proxy.start()
        server = "http://%s/%s" % (",".join(p.address for p in proxies), DATABASE)
        before = f.rows("SELECT count() FROM loaded")
        loader.append(subprocess.Popen([*harness.command_words(f.command), "load", "--server", server, *FEW, path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        loader[0].wait(120)
        f.checks.that(loader[0].returncode == -signal.SIGKILL, name, "the loader was not killed:", loader[0].returncode)
        wait_until(lambda: all(s.ask("SELECT count() FROM system.processes WHERE query_id LIKE 'traceloom%'") == "0\n" for s in f.cluster.shards))
        f.checks.that(f.rows("SELECT count() FROM loaded") == before, name, "the trace can be seen")
        parts = [r for shard in (0, 1) for r in f.rows("SELECT trace, chunk, count(), max(seq) - min(seq) + 1 FROM events_local GROUP BY trace, chunk", shard)]
        f.checks.that(all(r[2] == r[3] for r in parts), name, "a part of a chunk:", parts)
        f.checks.that(len(parts) <= number + 1, name, "more chunks than were sent:", parts)
        for proxy in proxies:
            proxy.listener.close()
        f.load(*FEW, path)
        done = f.load("--verify", *FEW, path, check=False)
        f.checks.that("are there, once" in done.stdout, name, "--verify says", done.stdout)
        compare_sums(f, path)


class SmallShard(Shard):
    """A shard whose data are on a small file system of its own, which only the server and /proc see."""
    SIZE = "64m"

    def command(self):
        words, environment = super().command()
        script = "mount -t tmpfs -o size=%s none '%s' && mkdir '%s/tmp' '%s/user' && exec \"$@\"" % (self.SIZE, *3 * (self.data,))
        return ["unshare", "-Urm", "sh", "-c", script, "sh", *words], environment

    def inside(self):
        return "/proc/%d/root%s" % (self.process.pid, os.path.abspath(self.data))


def fill(path):
    """Takes all that is left of a file system."""
    with open(path, "wb", buffering=0) as file:
        size = 1 << 20
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2


def can_mount(work):
    place = os.path.join(work, "mount")
    os.makedirs(place)
    return subprocess.run(["unshare", "-Urm", "mount", "-t", "tmpfs", "-o", "size=1m", "none", place], stderr=subprocess.DEVNULL, check=False).returncode == 0


def case_full_disk(f, work, seed):
    """Shards without room for a chunk: a refusal that names one, and nothing can be seen; with room, the rest is done."""
    f.create()
    path = big_trace(work, seed, 5000)
    fillers = [os.path.join(shard.inside(), "filler") for shard in f.cluster.shards]
    for filler in fillers:
        fill(filler)
        f.checks.that(os.statvfs(filler).f_bavail == 0, "there is room:", filler)
    done = f.load(path, check=False)
    named = [shard.address for shard in f.cluster.shards if shard.address in done.stdout]
    f.checks.that(done.returncode == 3 and named and "errno: 28" in done.stdout, "a full disk:", done.returncode, done.stdout)
    nothing_is_visible(f, 0)
    for filler in fillers:
        os.remove(filler)
    f.load(path)
    f.whole(path)
    compare_sums(f, path)


def case_jobs(f, work, seed):
    """Several files at once: the same as one after the other; the worst status counts, and each file has its message."""
    f.create()
    files = [os.path.join(INPUT, t) for t in TRACES] + [big_trace(work, n, 500) for n in (1, 2, 3)]
    twin = os.path.join(work, "twin.xray")
    shutil.copyfile(files[-1], twin)  # the same trace: two processes want it
    absent = os.path.join(work, "absent.xray")
    done = f.load("--jobs", "4", *files, twin, absent, check=False)
    f.checks.that(done.returncode == 3 or done.returncode == 2, "status", done.returncode, done.stdout)
    for path in [*files, absent]:
        f.checks.that(os.path.basename(path) in done.stdout, path, "is not in", done.stdout)
    f.checks.that(f.count("traces") == len(files), "traces:", f.count("traces"), "of", len(files))
    done = f.load("--jobs", "3", "--verify", *files, check=False)
    f.checks.that(done.stdout.count("are there, once") == len(files), "--verify --jobs:", done.stdout)
    f.compare(files[0], ["events", "profile"])


def rolled_up(f, shard=0):
    columns = "day, ifNull(app, ''), ifNull(host, ''), path_hash, path, bucket, low, high, calls, total, self, traces"
    return sorted(f.rows("SELECT %s FROM profile_days" % columns, shard))


def sums_of(f):
    """The same, from the rows of the traces."""
    return sorted(f.rows("SELECT day, ifNull(app, '') AS a, ifNull(host, '') AS h, path_hash, any(path), bucket, low, high, sum(calls), sum(total), sum(self), uniqExact(trace) "
                         "FROM (SELECT * FROM profile_all WHERE trace GLOBAL IN (SELECT trace FROM loaded WHERE tbl = 'profile')) AS p "
                         "ANY LEFT JOIN (SELECT trace, place_id, path FROM places) AS n USING (trace, place_id) GROUP BY day, a, h, path_hash, bucket, low, high"))


def case_rollup(f, work, seed):
    """Sums of all profiles: on each server, the same the second time, and the old ones until the new ones are whole."""
    f.create()
    last = len(f.cluster.shards) - 1
    files = [os.path.join(INPUT, t) for t in ("fdr-v5-le.xray", "rec-done.xray", "profile-le.xray", "live-done.tlp.live")]
    said = f.load(*files[:2], check=False).stdout
    f.checks.that(f.count("profile_days") == 0, "there are sums at first")
    done = run(f.command, "load", "--server", f.server, "--rollup")
    first = rolled_up(f)
    f.checks.that(len(first) > 100 and first == sums_of(f), "sums:", fleet.first_difference(first, sums_of(f)))
    f.checks.that("profile_days has" in done.stdout, done.stdout)
    f.checks.that(any(row[1] == "program.elf" for row in first), "no row has its program:", said)
    # Again: the same, and no rows are left of the first run.
    run(f.command, "load", "--server", f.server, "--rollup")
    f.checks.that(first == rolled_up(f) == rolled_up(f, last), "the second time they differ")
    wait_until(lambda: f.rows("SELECT uniqExact(rollup) FROM profile_days_local") == [["1"]])
    f.checks.that(f.rows("SELECT uniqExact(rollup) FROM profile_days_local") == [["1"]], "old rows are left")
    # What a run that was killed leaves cannot be seen: rows of another number, on one server.
    f.cluster.shards[0].ask("INSERT INTO profile_days_local SELECT rollup + 1 AS rollup, day, app, host, path_hash, path, bucket, low, high, calls, total, self, traces FROM profile_days_local", DATABASE)
    f.checks.that(first == rolled_up(f), "rows of a run that did not end can be seen")
    # A loader and a server that are killed while they work.
    for victim in ("loader", "server"):
        loader = subprocess.Popen([*harness.command_words(f.command), "load", "--server", f.server, "--rollup"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.02 * seed + 0.05)
        if victim == "loader":
            loader.kill()
        else:
            f.cluster.shards[last].kill()
        loader.wait(60)
        if victim == "server":
            f.cluster.shards[last].start()
        for shard in {0, last}:
            f.checks.that(first == rolled_up(f, shard), "after the", victim, "was killed they differ")
    # With another file, in one command.
    f.load("--rollup", *files[2:], check=False)
    run(f.command, "load", "--server", f.server, "--rollup")
    f.checks.that(rolled_up(f) == sums_of(f) != first, "with more traces:", fleet.first_difference(rolled_up(f), sums_of(f)))
    down = f.cluster.shards[last]
    down.kill()
    done = run(f.command, "load", "--server", f.server, "--rollup", check=False)
    f.checks.that(done.returncode == 3 and down.address in done.stdout, "a shard is down:", done.returncode, done.stdout)


def case_durable(f, work, seed):
    """Old servers refuse it, and say what to do; others flush from then on."""
    f.create()
    path = os.path.join(INPUT, "basic-v3-le.xray")
    done = f.load("--durable", path, check=False)
    if len(f.cluster.shards) == 2:
        f.checks.that(done.returncode == 2 and "release 18.16" in done.stdout and "load without it" in done.stdout, done.returncode, done.stdout)
        f.checks.that(f.count("loaded") == 0, "it was loaded all the same")
        return
    f.checks.that(done.returncode == 0, done.returncode, done.stdout)
    tables = f.rows("SELECT name, position(engine_full, 'fsync_after_insert = 1') > 0 FROM system.tables WHERE database = '%s' AND engine LIKE '%%MergeTree' AND name != 'rollups'" % DATABASE)
    f.checks.that(len(tables) > 20 and all(row[1] == "1" for row in tables), "tables that do not flush:", [row[0] for row in tables if row[1] != "1"])
    f.load("--durable", os.path.join(INPUT, "fdr-v5-le.xray"))  # again: nothing to change
    f.whole(path)


CASES = {name[5:]: call for name, call in globals().items() if name.startswith("case_")}


def main():
    if sys.argv[2] == "full_disk":
        work = os.path.join(os.environ["TL_WORK"], "fleet", "full_disk_try")
        shutil.rmtree(work, ignore_errors=True)
        if not can_mount(work):
            harness.skip("a file system cannot be mounted here (unshare -Urm)")
        shutil.rmtree(work)
        fleet.KINDS["full_disk"] = {"kinds": [SmallShard, SmallShard]}
    fleet.main(CASES)


if __name__ == "__main__":
    main()
