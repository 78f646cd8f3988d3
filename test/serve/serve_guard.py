#!/usr/bin/env python3
"""Whom `serve` answers: each rule of docs/serve.md, each status, and what hostile clients do."""
import os
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serve_lib
from serve_lib import INPUT, Answer, Server, harness, need, read_answer

TRACE = os.path.join(INPUT, "fdr-v5-le.xray")
HEADERS = {"cross-origin-resource-policy": "same-origin", "cross-origin-opener-policy": "same-origin", "x-frame-options": "DENY",
           "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store"}
PLACES = ("", "q/meta", "q/table?by=func", "live", "q/nothing")
HOSTS = ("127.0.0.1", "127.0.0.1:1", "localhost", "localhost:9000", "[::1]", "[::1]:65535")
EVIL = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:80", "localhost:80.evil.example", "localhost:", "localhost:123456",
        "LOCALHOST.example", "127.0.0.2", "[::2]", "[::1].evil.example", "localhost@evil.example", "localhost:80@evil.example", "0.0.0.0", "127.1", "::1",
        "http://localhost", "localhost,evil.example", "localhost evil.example", "localhost\x80", "a" * 2000)


def hosts(checks, server):
    for host in HOSTS:
        checks.equal(server.get("", host=host).status, 200, "Host:", host)
    for host in EVIL:
        for place in PLACES[:3]:
            answer = server.get(place, host=host)
            checks.equal((answer.status, answer.code()), (421, "host"), "Host:", host[:60], place)
    for place in PLACES[:3]:
        path = server.base + place
        none = Answer(server.raw(("GET %s HTTP/1.0\r\n\r\n" % path).encode()))
        checks.equal(none.status, 421, "HTTP/1.0 without Host", place)
        none = Answer(server.raw(("GET %s HTTP/1.1\r\n\r\n" % path).encode()))
        checks.that(none.status in (400, 421), "no Host", place, none.status)
        for two in (("localhost", "evil.example"), ("evil.example", "localhost"), ("localhost", "localhost")):
            answer = Answer(server.raw(("GET %s HTTP/1.1\r\nHost: %s\r\nHost: %s\r\n\r\n" % (path, *two)).encode()))
            checks.equal(answer.status, 421, "two Hosts", two, place)


def tokens(checks, server):
    token = server.base.strip("/")
    checks.that(len(token) == 32 and set(token) <= set("0123456789abcdef"), "128 bits:", token)
    wrong = [token[:-1], token[:-1] + ("0" if token[-1] != "0" else "1"), ("0" if token[0] != "0" else "1") + token[1:], token.upper() + "x", "", token + "0",
             "0" * 32, "%" + token, token.replace(token[0], "%%%02x" % ord(token[0]), 1)]
    for path in ["/", "/favicon.ico", "//", "/" + token, "/" + token + "?x", "/x/" + token + "/", "/" + token + "//", "/" + token + "/../" + token + "/",
                 "/" + token + "/q", "/" + token + "/q/", "/" + token + "/q/table/", "/" + token + "/Q/meta", "/" + token + "/q/meta%00",
                 "/" + token + "/etc/passwd", "/" + token + "/../../etc/passwd", "http://evil.example/" + token + "/", "*"] + ["/%s/" % w for w in wrong]:
        answer = Answer(server.raw(server.request(path)))
        checks.equal((answer.status, answer.code()), (404, "missing"), path)
        checks.that(token.encode() not in answer.body, "an error has the token")


def methods(checks, server):
    for method in ("POST", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "CONNECT", "PATCH", "get", "XYZZY"):
        for place in PLACES[:2]:
            answer = server.get(place, method=method)
            checks.equal((answer.status, answer.header("allow")), (405, "GET"), method, place)
            checks.that(not answer.header("access-control-allow-origin"), "CORS")
    body = b"GET %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello" % server.base.encode()
    checks.equal(Answer(server.raw(body)).status, 413, "a body")
    body = b"GET %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" % server.base.encode()
    checks.equal(Answer(server.raw(body)).status, 413, "a chunked body")
    body = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 99999999\r\n\r\n--x" % server.base.encode()
    checks.equal(Answer(server.raw(body)).status, 405, "a form")


def sites(checks, server):
    for site in ("same-origin", "none"):
        for place in PLACES[:3]:
            checks.equal(server.get(place, headers=["Sec-Fetch-Site: " + site]).status, 200, site, place)
    for site in ("cross-site", "same-site", "xyzzy", "", "Same-Origin, none"):
        for place in PLACES[:4]:
            answer = server.get(place, headers=["Sec-Fetch-Site: " + site])
            checks.equal((answer.status, answer.code()), (403, "site"), site, place)
    checks.equal(server.get("q/meta", headers=["Sec-Fetch-Site: none", "Sec-Fetch-Site: none"]).status, 403, "two of them")
    link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
    checks.equal(server.get("", headers=link).status, 200, "a link to the page")
    checks.equal(server.get("q/meta", headers=link).status, 403, "a link to an answer")
    checks.equal(server.get("", headers=link[:2] + ["Sec-Fetch-Dest: iframe"]).status, 403, "a frame")
    checks.equal(server.get("", headers=link[:1] + ["Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"]).status, 403, "a picture")
    origin = server.get("q/meta", headers=["Origin: https://evil.example"])
    checks.that(not any(name.startswith("access-control") for name in origin.headers), "CORS headers")


def headers(checks, server):
    for place in PLACES[:3] + ("q/table", "nothing"):
        answer = server.get(place)
        for name, value in HEADERS.items():
            checks.equal(answer.header(name), value, name, "of", place or "the page")
        policy = answer.header("content-security-policy")
        checks.that("default-src 'none'" in policy and "frame-ancestors 'none'" in policy, "policy of", place, policy)
        checks.that("unsafe" not in policy and "*" not in policy, policy)
        checks.equal(answer.header("content-type"), "application/json; charset=utf-8" if place else "text/html; charset=utf-8", place)
    page = server.get("")
    checks.that("connect-src 'self'" in page.header("content-security-policy"), "the page may ask")
    meta = page.body.split(b'http-equiv="Content-Security-Policy" content="')[1].split(b'"')[0].decode()
    checks.equal(page.header("content-security-policy"), meta + "; frame-ancestors 'none'", "header and page have one policy")


def queries(checks, server):
    for query, word in (("q/table?by=func&by=func", "before"), ("q/table?by=func&x=1", "no such key"), ("q/table?by=func&", "key=value"), ("q/table?", "key=value"),
                        ("q/table?by", "key=value"), ("q/table?by=", "missing"), ("q/table?by=%zz", "hexadecimal"), ("q/table?by=%f", "hexadecimal"),
                        ("q/table?by=%", "hexadecimal"), ("q/table?by=%ff", "UTF-8"), ("q/table?by=fu%00nc", "control"), ("q/table?by=fu%0anc", "control"),
                        ("q/table?by=a+b", "percent-encoded"), ("q/table?by=func&sql=x", "no such key"), ("q/calls?n=0", "10000"), ("q/calls?n=10001", "10000"),
                        ("q/calls?n=-1", "whole number"), ("q/profile?fresh=2", "1 is expected"), ("q/table", "by=TABLE"), ("q/sql", "sql="),
                        ("q/meta?seq=1", "slot"), ("q/meta?slot=" + "a" * 65, "64 bytes"), ("?x=1", "no such key"), ("live?n=1", "no such key"),
                        ("q/table?by=func&sort=xyzzy", "sort"), ("q/table?by=func&top=-1", "top"), ("q/profile?t=xyzzy", "time"), ("q/profile?t=2s..1s", "time"),
                        ("q/table?by=--help", "expected one of"), ("q/table?by=func&seq=99999999999999999999&slot=a", "whole number")):
        answer = server.get(query)
        checks.equal(answer.status, 400, query)
        checks.that(answer.status == 400 and word in answer.json()["error"]["message"], query, answer.body)
    checks.equal(server.get("q/meta?slot=a&seq=1").status, 200, "slot and seq")
    checks.equal(server.get("q/table?by=gc").status, 404, "a table that the trace does not have")


def large(checks, server):
    path = server.base + "q/sql?sql=" + "a" * 16384
    checks.that(Answer(server.raw(server.request(path))).status in (413, 414), "a long address")
    many = [("X-%d: " % i) + "y" * 1000 for i in range(100)]
    checks.that(server.get("", headers=many).status in (413, 431), "large headers")
    checks.that(server.get("", headers=["X: " + "y" * 100000]).status in (0, 413, 431), "a large header")
    for garbage in (b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 5000 + b"\r\n\r\n",
                    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
        with server.connect() as s:
            try:
                s.sendall(garbage)
                s.shutdown(socket.SHUT_WR)
                data = read_answer(s)
            except OSError:
                data = b""
            checks.that(b" 200 " not in data.split(b"\r\n")[0], "garbage is answered", garbage[:20], data[:100])
    checks.equal(server.get("q/meta").status, 200, "after garbage")


def pipelined(checks, server):
    """What follows a refused request on its connection is not looked at."""
    good = b"GET %sq/meta HTTP/1.1\r\nHost: localhost\r\n\r\n" % server.base.encode()
    with server.connect() as s:
        s.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n" + good * 3)
        data = b""
        try:
            while more := s.recv(65536):
                data += more
        except ConnectionError:
            pass
        checks.equal((data.count(b"HTTP/1.1 "), data.count(b" 405 ")), (1, 1), "requests behind a refused one")
    with server.connect() as s:
        s.sendall(good)
        first = read_answer(s)
        s.sendall(good)
        second = read_answer(s)
        checks.that(b" 200 " in first[:20] and first[-50:] == second[-50:], "a connection is kept")


def slow(checks, server):
    """Others are answered while clients send byte by byte, or nothing."""
    open_ones = [server.connect() for _ in range(6)]
    for s in open_ones:
        s.sendall(b"GET / HTT")
    checks.equal(server.get("q/meta").status, 200, "beside slow clients")
    for s in open_ones:  # with --timeout 1s a connection lasts 11 s
        s.settimeout(60)
        try:
            data = s.recv(65536)
        except ConnectionError:
            data = b""
        checks.that(b" 200 " not in data, "a half request is closed", data[:60])
        s.close()


def seventeenth(checks, server):
    held = []

    def hold():
        """A connection that was answered, and stays: those of earlier tests may still be closing."""
        s = server.connect()
        s.sendall(b"GET %sq/meta HTTP/1.1\r\nHost: localhost\r\n\r\n" % server.base.encode())
        if b" 200 " in read_answer(s)[:20]:
            held.append(s)
            return True
        s.close()
        return False

    for _ in range(16):
        checks.that(serve_lib.until(hold), "one of 16")
    late = server.connect(3)
    late.sendall(b"GET %sq/meta HTTP/1.1\r\nHost: localhost\r\n\r\n" % server.base.encode())
    try:
        data = late.recv(100)
    except (TimeoutError, ConnectionError):
        data = b""
    checks.equal(data, b"", "the 17th is not answered")
    for s in held:
        s.close()
    late.close()
    checks.that(serve_lib.until(lambda: server.get("q/meta").status == 200), "after the others are gone")


def followers(checks, server):
    open_ones = []
    for i in range(8):
        s = server.connect()
        s.sendall(b"GET %slive HTTP/1.1\r\nHost: localhost\r\n\r\n" % server.base.encode())
        data = b""
        while b"data: " not in data:
            data += s.recv(4096)
        checks.that(b" 200 " in data[:20] and b"text/event-stream" in data, "follower", i, data)
        open_ones.append(s)
    checks.equal(server.get("live").status, 429, "the ninth")
    checks.equal(server.get("q/meta").status, 200, "others are answered")
    for s in open_ones:
        s.close()
    checks.that(serve_lib.until(lambda: first_bytes(server, "live").startswith(b"HTTP/1.1 200")), "places become free")


def first_bytes(server, place):
    with server.connect() as s:
        s.sendall(server.request(server.base + place))
        return s.recv(12)


def local(checks, server):
    """Nothing but this address is bound."""
    s = socket.socket()
    try:
        s.connect(("127.0.0.2", server.port))
        checks.that(False, "another address of this machine is bound")
    except OSError:
        checks.that(True)
    s.close()


def main():
    need()
    checks = harness.Checks()
    with Server(TRACE, "--timeout", "1s") as server:
        for part in (hosts, tokens, methods, sites, headers, queries, large, pipelined, seventeenth, followers, local, slow):
            part(checks, server)
        checks.equal(server.end(), 0, "^C")
    checks.end()


main()
