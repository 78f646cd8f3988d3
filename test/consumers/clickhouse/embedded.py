#!/usr/bin/env python3
"""A current ClickHouse as a server: the engine of npm's package chdb (a library), with as much of HTTP before it as
`traceloom load` and `query --server` use. Tables, types, statements and FORMAT Native are the engine's; connections,
names of statements and system.processes are ours. One host: there is no second one to distribute to.

    embedded.py LIBRARY FOLDER PORT"""
import ctypes
import http.server
import os
import re
import sys
import tempfile
import threading
import urllib.parse

POINTER = ctypes.c_void_p
FUNCTIONS = (("chdb_connect", POINTER, (ctypes.c_int, POINTER)),
             ("chdb_query_n", POINTER, (POINTER, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)),
             ("chdb_result_buffer", POINTER, (POINTER,)), ("chdb_result_length", ctypes.c_size_t, (POINTER,)),
             ("chdb_result_error", ctypes.c_char_p, (POINTER,)), ("chdb_destroy_query_result", None, (POINTER,)))


INSERT = b" FORMAT Native"


class Refused(Exception):
    """What the engine said."""


class Engine:
    """Statements one after the other, as the library wants them."""

    def __init__(self, library, folder):
        self.lib = ctypes.CDLL(library)
        for name, result, arguments in FUNCTIONS:
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, arguments
        words = (ctypes.c_char_p * 2)(b"clickhouse", b"--path=" + folder.encode())
        self.connection = ctypes.cast(self.lib.chdb_connect(2, words), ctypes.POINTER(POINTER)).contents.value
        self.lock = threading.Lock()

    def ask(self, statement, form):
        with self.lock:
            result = self.lib.chdb_query_n(self.connection, statement, len(statement), form, len(form))
            error = self.lib.chdb_result_error(result)
            answer = b"" if error else ctypes.string_at(self.lib.chdb_result_buffer(result), self.lib.chdb_result_length(result))
            self.lib.chdb_destroy_query_result(result)
        if error:
            raise Refused(error.decode("utf-8", "replace"))
        return answer


class Processes:
    """The statements that are being worked on, by name, as a server knows them."""

    def __init__(self):
        self.lock, self.running, self.unnamed = threading.Lock(), {}, 0

    def begin(self, name, statement):
        with self.lock:
            if not name:
                self.unnamed += 1
                name = "unnamed-%d" % self.unnamed
            if name in self.running:
                raise Refused("Code: 216, e.displayText() = DB::Exception: Query with id = %s is already running." % name)
            self.running[name] = statement
        return name

    def end(self, name):
        with self.lock:
            self.running.pop(name, None)

    def table(self):
        """SQL in place of the name system.processes."""
        with self.lock:
            rows = list(self.running.items())
        quoted = ["SELECT %s AS query_id, %s AS query" % (quote(n), quote(s[:500])) for n, s in rows]
        return "(%s)" % " UNION ALL ".join(quoted)


def quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine, processes = None, Processes()

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            size = int(self.headers.get("Content-Length") or 0)
            data = self.rfile.read(size)
            if len(data) < size:
                raise ConnectionError
            return data
        parts = []
        while True:
            line = self.rfile.readline()
            if not line:
                raise ConnectionError
            size = int(line.split(b";")[0], 16)
            part = self.rfile.read(size + 2)
            if len(part) < size + 2:
                raise ConnectionError
            if size == 0:
                return b"".join(parts)
            parts.append(part[:-2])

    def do_GET(self):
        self.reply(200, b"Ok.\n")

    def do_POST(self):
        words = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))
        name = None
        try:
            name = self.processes.begin(words.get("query_id"), words.get("query", ""))
            body = self.body()
            statement = words.get("query", "").encode("utf-8", "surrogateescape")
            self.reply(200, self.insert(words, statement, body) if statement.endswith(INSERT) and body else
                       self.run(words, statement + (b"\n" if statement else b"") + body))
        except Refused as e:
            self.close_connection = True
            self.reply(500, str(e).encode())
        except ConnectionError:
            self.close_connection = True
        finally:
            if name:
                self.processes.end(name)

    def insert(self, words, statement, body):
        """Rows from a file: the library takes text behind a statement, but cuts binary data off."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(body)
            file.flush()
            return self.run(words, statement.removesuffix(INSERT) + (" SELECT * FROM file('%s', Native)" % file.name).encode())

    def run(self, words, statement):
        if re.match(rb"\s*(SELECT|WITH)\b", statement) and b"system.processes" in statement:
            statement = statement.replace(b"system.processes", self.processes.table().encode())
        database = words.get("database")
        if database:
            self.engine.ask(b"USE " + database.encode(), b"Null")
        if "join_use_nulls" in words:
            self.engine.ask(b"SET join_use_nulls = " + words["join_use_nulls"].encode(), b"Null")
        return self.engine.ask(statement, words.get("default_format", "TabSeparated").encode())

    def reply(self, status, content):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *ignored):
        pass


def main():
    library, folder, port = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    Handler.engine = Engine(library, folder)
    http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main()
