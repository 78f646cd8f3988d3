#!/usr/bin/env python3
"""ClickHouse servers on the loopback interface, for tests: two shards of one cluster, each a process with a folder and
ports of its own, without a password, and nothing of it installed as a service.

    with Cluster(folder) as cluster:
        cluster.shards[0].ask("SELECT 1")

Servers that are installed are used; else the packages are fetched and unpacked below the folder TL_CLICKHOUSE, which
leaves the machine as it is. Run as a program: starts a cluster, prints its addresses, and ends it with standard input."""
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

PACKAGES = ("clickhouse-server", "clickhouse-client", "clickhouse-common")
NAME = "traceloom_shards"  # of the cluster

CONFIG = """<yandex>
 <logger><level>warning</level><log>{folder}/server.log</log><errorlog>{folder}/error.log</errorlog></logger>
 <http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{inter}</interserver_http_port>
 <listen_host>127.0.0.1</listen_host>
 <path>{data}/</path><tmp_path>{data}/tmp/</tmp_path><user_files_path>{data}/user/</user_files_path>
 <users_config>users.xml</users_config><default_profile>default</default_profile>
 <default_database>default</default_database><timezone>UTC</timezone>
 <max_concurrent_queries>100</max_concurrent_queries><max_connections>200</max_connections>
 <uncompressed_cache_size>0</uncompressed_cache_size><mark_cache_size>67108864</mark_cache_size>
 <mlock_executable>false</mlock_executable>
 <compression><case><min_part_size>0</min_part_size><min_part_size_ratio>0</min_part_size_ratio><method>zstd</method></case></compression>
 <remote_servers><{name}>{shards}</{name}></remote_servers>
</yandex>
"""
SHARD = "<shard><replica><host>127.0.0.1</host><port>{tcp}</port></replica></shard>"
USERS = """<yandex>
 <profiles><default><max_memory_usage>4000000000</max_memory_usage><log_queries>0</log_queries></default></profiles>
 <users><default><password>{password}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
  <quota>default</quota></default></users>
 <quotas><default/></quotas>
</yandex>
"""


class ServerError(Exception):
    """What a server said."""


def unpacked(folder):
    """The server and its libraries, fetched and unpacked into `folder`; None: apt has them not."""
    root, done = os.path.join(folder, "root"), os.path.join(folder, "done")
    if not os.path.exists(done):
        depends = subprocess.run(["apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts",
                                  "--no-breaks", "--no-replaces", "--no-enhances", *PACKAGES],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
        names = sorted({line for line in depends.splitlines() if line and line[0] not in " |<"})
        missing = [name for name in names if name in PACKAGES or not is_installed(name)]
        if not missing or not set(PACKAGES) <= set(missing):
            return None
        os.makedirs(folder, exist_ok=True)
        if subprocess.run(["timeout", "240", "apt-get", "download", "-qq", *missing], cwd=folder, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            return None
        for package in glob.glob(os.path.join(folder, "*.deb")):
            subprocess.run(["dpkg", "-x", package, root], check=True)
            os.remove(package)
        open(done, "w").close()
    return root


def is_installed(name):
    said = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Abbrev}", name], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return said.startswith("ii")


def find(name):
    """A program of ClickHouse and the environment that it needs; None: there is none."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")
    if path:
        return path, dict(os.environ)
    folder = os.environ.get("TL_CLICKHOUSE")
    root = unpacked(folder) if folder and shutil.which("apt-get") else None
    if not root:
        return None
    libraries = sorted({os.path.dirname(p) for p in glob.glob(os.path.join(root, "usr/lib/**/*.so*"), recursive=True)})
    for place in ("usr/sbin", "usr/bin"):
        if os.path.exists(os.path.join(root, place, name)):
            return os.path.join(root, place, name), dict(os.environ, LD_LIBRARY_PATH=":".join(libraries))
    return None


def free_ports(n):
    """Ports that nobody listens at now."""
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Shard:
    def __init__(self, folder, ports, data=None, password=""):
        self.folder, self.data, self.password = folder, data or os.path.join(folder, "data"), password
        self.http, self.tcp, self.inter = ports
        self.address = "127.0.0.1:%d" % self.http
        self.url = "http://" + self.address
        self.process = None

    def configure(self, shards):
        for name in ("", "tmp", "user"):
            os.makedirs(os.path.join(self.data, name), exist_ok=True)
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, "config.xml"), "w", encoding="utf-8") as f:
            f.write(CONFIG.format(folder=self.folder, data=self.data, http=self.http, tcp=self.tcp, inter=self.inter, name=NAME,
                                  shards="".join(SHARD.format(tcp=s.tcp) for s in shards)))
        with open(os.path.join(self.folder, "users.xml"), "w", encoding="utf-8") as f:
            f.write(USERS.format(password=self.password))

    def command(self):
        path, environment = find("clickhouse-server")
        return [path, "--config-file=" + os.path.join(self.folder, "config.xml")], environment

    def start(self):
        words, environment = self.command()
        log = open(os.path.join(self.folder, "output.log"), "ab")
        self.process = subprocess.Popen(words, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(self.url + "/ping", timeout=5) as reply:
                    if reply.read().startswith(b"Ok"):
                        return
            except (OSError, urllib.error.URLError):
                pass
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise ServerError("the server does not start: see " + os.path.join(self.folder, "error.log"))

    def kill(self):
        """As a crash does it."""
        self.end(signal.SIGKILL)

    def end(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def ask(self, sql, database="default", body=None, timeout=120):
        """The server's answer as text; a ServerError if it refuses."""
        settings = {"database": database, "query": sql, "password": self.password}
        request = urllib.request.Request(self.url + "/?" + urllib.parse.urlencode(settings), data=body or b"")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as reply:
                return reply.read().decode("utf-8", "surrogateescape")
        except urllib.error.HTTPError as e:
            raise ServerError(e.read().decode("utf-8", "replace").strip()) from None

    def rows(self, sql, database="default"):
        """The rows of an answer, each a list of texts."""
        return [line.split("\t") for line in self.ask(sql + " FORMAT TabSeparated", database).splitlines()]


class EmbeddedShard(Shard):
    """A current engine, behind embedded.py."""

    @staticmethod
    def library():
        """None: it is not installed."""
        path = os.path.join(os.environ.get("TL_NODE_MODULES", ""), "@chdb", "lib-linux-x64-gnu", "libchdb.so")
        return path if os.path.exists(path) else None

    def configure(self, shards):
        os.makedirs(self.folder, exist_ok=True)

    def command(self):
        server = os.path.join(os.path.dirname(os.path.abspath(__file__)), "embedded.py")
        return [sys.executable, server, self.library(), self.data, str(self.http)], dict(os.environ)


class Cluster:
    """Shards in a folder, empty at first. data: folders for their data, in place of some below `folder`; kinds: of the
    shards, if they are not all the usual one."""

    def __init__(self, folder, shards=2, data=(), password="", kinds=None):
        shutil.rmtree(folder, ignore_errors=True)
        ports = free_ports(3 * shards)
        self.shards = [(kinds[i] if kinds else Shard)(os.path.join(folder, "shard%d" % i), ports[3 * i:3 * i + 3],
                             data[i] if i < len(data) else None, password) for i in range(shards)]

    def __enter__(self):
        for shard in self.shards:
            shard.configure(self.shards)
        try:
            for shard in self.shards:
                shard.start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *ignored):
        self.end()

    def end(self):
        for shard in self.shards:
            shard.end()

    def server(self, database):
        """What --server takes."""
        return "http://" + ",".join(shard.address for shard in self.shards) + "/" + database


def main():
    if not find("clickhouse-server"):
        sys.exit("no clickhouse-server: tools/install-deps.sh fleet installs it")
    with Cluster(sys.argv[1] if len(sys.argv) > 1 else "build-clickhouse") as cluster:
        print(cluster.server("default"), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
