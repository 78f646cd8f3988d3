#!/usr/bin/env python3
"""Loading into ClickHouse: `traceloom load` beside `clickhouse-client`, which gets the same rows as files that are ready
to be sent (format Native), into two servers on this machine.

    load.py [--folder DIR] [--repeat N] [--write] [--quick]

Makes the log if it is not there (calls_gen.c). Every load is into tables that are empty."""
import os
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request

from bench_tools import BAR_HEAD, TOP, Command, arguments, bar_line, build, finish, introduction, table

sys.path.insert(0, os.path.join(TOP, "test", "consumers", "clickhouse"))
from cluster import Cluster, find  # noqa: E402

SEED, MOST_ROWS = 1, 500000


def made_log(folder, calls):
    path = os.path.join(folder, "calls-%d.xray" % calls)
    if not os.path.exists(path):
        with open(path, "wb") as file:
            subprocess.run([build(folder, "calls_gen"), str(calls), str(SEED)], stdout=file, check=True)
    return path


class Servers:
    """What is done to both, between the commands that are measured."""

    def __init__(self, args, cluster):
        self.args, self.cluster, self.turns = args, cluster, 0
        self.tables, self.files = [], []  # files: (shard, table, path)

    def create(self):
        """A database that is empty; its name."""
        self.turns += 1
        name = "turn%d" % self.turns
        made = subprocess.run([self.args.traceloom, "load", "--server", self.cluster.server(name), "--print-ddl"], stdout=subprocess.PIPE, text=True, check=True)
        for shard in self.cluster.shards:
            for statement in filter(str.strip, made.stdout.split(";\n")):
                shard.ask(statement)
        return name

    def drop(self, name):
        for shard in self.cluster.shards:
            shard.ask("DROP DATABASE " + name)

    def export(self, name, folder):
        """Files of the rows that were loaded, with blocks as large as those that load sends."""
        self.tables = [r[0] for r in self.cluster.shards[0].rows("SELECT DISTINCT tbl FROM %s.loaded ORDER BY tbl" % name)]
        for i, shard in enumerate(self.cluster.shards):
            for one in self.tables:
                sql = "SELECT * FROM %s.%s_local ORDER BY seq FORMAT Native" % (name, one)
                query = urllib.parse.urlencode({"query": sql, "max_block_size": MOST_ROWS})
                path = os.path.join(folder, "%d.%s.native" % (i, one))
                with urllib.request.urlopen(shard.url + "/?" + query, data=b"") as reply, open(path, "wb") as file:
                    shutil.copyfileobj(reply, file)
                if os.path.getsize(path):
                    self.files.append((shard, one, path))

    def count(self, name):
        return sum(int(shard.rows("SELECT count() FROM %s.%s_local" % (name, one))[0][0]) for shard in self.cluster.shards for one in self.tables)

    def client(self, name):
        """A script that sends all files, one after the other."""
        client = find("clickhouse-client")[0]
        return "\n".join("%s --port %d --query 'INSERT INTO %s.%s_local FORMAT Native' < '%s' || exit" % (client, shard.tcp, name, one, path)
                         for shard, one, path in self.files)


def run_turn(servers, measure, rows, log):
    load, client, again, verify = rows
    name = servers.create()
    words = [servers.args.traceloom, "load", "-q", "--server", servers.cluster.server(name), log]
    for row in (load, again):
        row.arguments = words
        row.run(measure)
    verify.arguments = words + ["--verify"]
    verify.run(measure)
    if not servers.files:
        servers.export(name, servers.args.folder)
    counts = [servers.count(name)]
    servers.drop(name)
    name = servers.create()
    client.arguments = ["sh", "-c", servers.client(name)]
    client.run(measure)
    counts.append(servers.count(name))
    servers.drop(name)
    return counts


def main():
    args = arguments(__doc__, "load", 5, "a tenth of the calls, twice")
    args.traceloom = os.path.abspath(args.traceloom)
    if not find("clickhouse-server"):
        print("NOT MEASURED: there is no clickhouse-server; tools/install-deps.sh fleet installs it", file=sys.stderr)
        return 0
    measure, calls, wrong = build(args.folder, "measure"), 40000 if args.quick else 400000, []
    log = made_log(args.folder, calls)
    rows = [Command(name, []) for name in ("load", "clickhouse-client, files of the same rows", "load, all of it is there", "load --verify")]
    with Cluster(os.path.join(args.folder, "servers")) as cluster:
        servers = Servers(args, cluster)
        for _ in range(args.repeat):
            counts = run_turn(servers, measure, rows, log)
            if counts[0] != counts[1]:
                wrong.append("DIFFERENT COUNTS: load has stored %d rows, and clickhouse-client %d" % tuple(counts))
    size = sum(os.path.getsize(path) for _, _, path in servers.files)
    for row in rows:
        row.count = counts[0]
    lines = introduction(args) + ["", "### %d calls and their tables: %.1f million rows, %.0f MB as sent to two servers" % (calls, counts[0] / 1e6, size / 1e6), ""]
    lines += table(rows, size, None, "row") + [""] + BAR_HEAD
    ratio = rows[0].best() / rows[1].best()
    lines.append(bar_line("load / clickhouse-client", "%.2f" % ratio, "", "<= 1.3", ratio <= 1.3))
    lines += [""] + (wrong or ["Both have stored as many rows. The servers' own work is not in the processor time; that of the client does not include making the rows."])
    for _, _, path in servers.files:
        os.remove(path)
    return finish(args, "load", lines, wrong)


if __name__ == "__main__":
    sys.exit(main())
