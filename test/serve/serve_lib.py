"""Starts `traceloom serve`, and talks HTTP with it over raw sockets: nothing between the test and the bytes."""
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
LIMIT = 60  # seconds for anything


def need():
    if not harness.built_with("libmicrohttpd"):
        harness.skip("built without libmicrohttpd")


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0].startswith("HTTP/") else 0
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers.setdefault(name.lower(), []).append(value.strip())

    def header(self, name):
        return ", ".join(self.headers.get(name.lower(), []))

    def json(self):
        return json.loads(self.body)

    def code(self):
        return self.json()["error"]["code"]


class NotStarted(RuntimeError):
    """It ended without an address; `server` has its status and its messages."""

    def __init__(self, server):
        super().__init__("no address: " + server.err.decode())
        self.server = server


class Server:
    """One server, which is ended at the end of a `with`, whatever happens."""

    def __init__(self, *words, which="TL_BINARY", cwd=INPUT, env=None):
        self.process = subprocess.Popen(harness.binary(which) + ["serve", *[str(w) for w in words]], cwd=cwd, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, **(env or {})))
        self.path, self.err = None, b""
        ready, _, _ = select.select([self.process.stdout], [], [], LIMIT)
        self.line = self.process.stdout.readline().decode().strip() if ready else ""
        if not self.line:
            until(lambda: self.process.poll() is not None, LIMIT if ready else 0)
            self.end(signal.SIGKILL)
            raise NotStarted(self)
        url = urllib.parse.urlsplit(self.line.split()[0])
        self.url, self.host, self.port, self.base = self.line.split()[0], url.hostname, url.port, url.path
        if " at " in self.line:
            self.path = os.path.join(cwd, self.line.split(" at ", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)

    def connect(self, timeout=LIMIT):
        if self.path:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(timeout)
            s.connect(self.path)
            return s
        return socket.create_connection((self.host, self.port), timeout=timeout)

    def raw(self, request, timeout=LIMIT):
        """All bytes that come back until the server closes, or one whole answer with a length."""
        with self.connect(timeout) as s:
            try:
                s.sendall(request)
            except OSError:
                pass  # it may answer, and close, before it has read all
            return read_answer(s)

    def request(self, path, method="GET", headers=(), host=None):
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: %s" % (host or "127.0.0.1:%s" % self.port), *headers, "Connection: close"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def get(self, path, method="GET", headers=(), host=None, timeout=LIMIT):
        return Answer(self.raw(self.request(self.base + path, method, headers, host), timeout))

    def ask(self, question, **keys):
        pairs = "&".join("%s=%s" % (k, urllib.parse.quote(str(v), safe="-_.!~*'()")) for k, v in keys.items())
        return self.get("q/" + question + ("?" + pairs if pairs else ""))

    def end(self, number=signal.SIGINT):
        """The exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            _, self.err = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            return None
        return self.process.returncode


def read_answer(s):
    data = b""
    while True:
        head, mark, body = data.partition(b"\r\n\r\n")
        if mark:
            length = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            if length and len(body) >= int(length[0]):
                return data
        try:
            more = s.recv(65536)
        except ConnectionError:
            return data
        if not more:
            return data
        data += more


def until(condition, seconds=LIMIT):
    """Waits for a condition; no assertion about how long it takes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False
