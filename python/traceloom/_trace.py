"""Traces: sessions of the library over some files."""
import os
import re
from collections.abc import Mapping as MappingType
from ctypes import POINTER, byref, c_char_p, c_void_p
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from ._columns import Batch, release
from ._events import Class, Event, Reader
from ._library import (GET, ArrowArray, ArrowArrayStream, ArrowOptions, CError, Code, Error, OpenOptions, QueryOptions, SqlValue, Want, check, did_you_mean, encoded, lib, text)
from ._rows import ALL, Rows

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Parameters = Union[Mapping[str, Any], Sequence[Any], None]
_GROUP = 4096  # events that are read at once, to be handed out one by one
_INTEGER, _REAL, _TEXT, _BLOB = 1, 2, 3, 4


class _Session:
    """A session of the library and its sources, closed when nothing refers to it; streams keep what they need."""

    def __init__(self, paths: Sequence[PathLike], options: OpenOptions, query: QueryOptions) -> None:
        self._lib = lib
        self.query = c_void_p()
        self._sources: List[c_void_p] = []
        for path in paths:
            source, e = c_void_p(), CError()
            check(lib.tl_source_open(byref(source), encoded(path), byref(options), byref(e)), e, os.fsdecode(path))
            self._sources.append(source)
        sources, e = (c_void_p * len(paths))(*self._sources), CError()
        check(lib.tl_query_open(byref(self.query), sources, len(paths), byref(query), byref(e)), e)

    def interrupt(self) -> None:
        """Ends what another thread reads."""
        self._lib.tl_query_interrupt(self.query)

    def settle(self) -> None:
        """Forgets an interruption that came too late: it would end the next statement."""
        statement, stream, array, e = c_void_p(), ArrowArrayStream(), ArrowArray(), CError()
        if lib.tl_query_prepare(byref(statement), self.query, b"SELECT count(*) FROM tables", None, byref(e)) < 0:  # reads a table: there interruptions are noticed
            return
        if lib.tl_query_arrow(byref(stream), statement, byref(ArrowOptions()), byref(e)) < 0:
            lib.tl_statement_close(statement)
            return
        GET(stream.get_next)(byref(stream), byref(array))
        release(array)
        release(stream)

    def __del__(self) -> None:
        self._lib.tl_query_close(self.query)
        for source in self._sources:
            self._lib.tl_source_close(source)


def _value(value: Any) -> SqlValue:
    """A parameter, with the bytes that it points to."""
    if value is None:
        return SqlValue()
    if isinstance(value, float):
        return SqlValue(kind=_REAL, real=value)
    if isinstance(value, (str, bytes, bytearray)):
        data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
        return SqlValue(kind=_TEXT if isinstance(value, str) else _BLOB, text=data, size=len(data))
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError("a parameter of SQL is a number, text, bytes or None, not %s" % type(value).__name__) from None
    if not -2**63 <= number < 2**63:
        raise OverflowError("a whole number of SQL has 64 bits")
    return SqlValue(kind=_INTEGER, i64=number)


def _bind(statement: c_void_p, parameters: Parameters) -> None:
    count, e = lib.tl_statement_parameters(statement), CError()
    if not isinstance(parameters, MappingType) and len(parameters or ()) != count:
        raise ValueError("the SQL has %d parameters, and there are %d values" % (count, len(parameters or ())))
    for i in range(count):
        if isinstance(parameters, MappingType):
            name = lib.tl_statement_parameter(statement, i)
            if name is None or text(name) not in parameters:
                raise ValueError("the parameter %s has no value" % (text(name) if name else i + 1))
            value = parameters[text(name)]
        else:
            value = parameters[i]  # type: ignore[index]
        check(lib.tl_statement_bind(statement, i, byref(_value(value)), byref(e)), e)


class Trace:
    """One trace, or several as one: its events, tables, and answers of SQL. Made by open().

    It is for one thread at a time: a method that another thread disturbs raises Error with Code.INVALID. Rows, events and arrays that were made of it
    may be used after close()."""

    def __init__(self, session: _Session, paths: Sequence[str]) -> None:
        self._open: Optional[_Session] = session
        self.paths = list(paths)
        names = []
        for i in range(lib.tl_query_tables(session.query)):
            names.append(text(lib.tl_query_table(session.query, i).contents.name))
        self._tables = names
        self._classes: Dict[int, Class] = {}
        self._fields: Optional[Dict[str, tuple]] = None

    def __repr__(self) -> str:
        return "<traceloom.Trace %s>" % ", ".join(self.paths)

    def __enter__(self) -> "Trace":
        self._session()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends it. Its files are closed when nothing that was made of it is left."""
        self._open = None

    def _session(self) -> _Session:
        if self._open is None:
            raise ValueError("the trace is closed")
        return self._open

    def interrupt(self) -> None:
        """Ends what another thread reads, with Code.LIMIT."""
        self._session().interrupt()

    # -- tables and SQL

    @property
    def tables(self) -> List[str]:
        """The names of all tables; docs/schema.md has them, but those of this trace's classes (event_...)."""
        return list(self._tables)

    def table(self, name: str, columns: Optional[Sequence[str]] = None, ordered: bool = False) -> Rows:
        """A table, or these columns of it. It is read without SQL, much faster than SELECT does.

        ordered: by time, of tables of events of one trace; otherwise rows come in the order of the streams."""
        session = self._session()
        table = encoded(name, "a name")
        wanted = None if columns is None else [encoded(c, "a name") for c in columns]

        def opened(rows: int, struct: ArrowArrayStream) -> None:
            e, options = CError(), ArrowOptions(rows=rows, ordered=ordered)
            if wanted is not None:
                options.column, options.ncolumn = (c_char_p * max(len(wanted), 1))(*wanted), len(wanted)
            check(lib.tl_query_table_arrow(byref(struct), session.query, table, byref(options), byref(e)), e)

        try:
            return Rows(name, opened, session)
        except Error as error:
            if not str(error).startswith("no such table"):
                raise
            raise Error("%s%s" % (error, did_you_mean(name, self._tables)), error.code) from None

    def query(self, sql: str, parameters: Parameters = None) -> Rows:
        """The rows of one SELECT; it is run anew each time that the rows are read.

        parameters: values of ? in their order, or of :name by name: numbers, text, bytes, None."""
        session = self._session()
        data = encoded(sql, "SQL")
        values = dict(parameters) if isinstance(parameters, MappingType) else list(parameters or ())

        def opened(rows: int, struct: ArrowArrayStream) -> None:
            e, statement, rest = CError(), c_void_p(), c_void_p()
            keep = c_char_p(data)
            check(lib.tl_query_prepare(byref(statement), session.query, keep, byref(rest), byref(e)), e)
            if not statement:
                raise Error("there is no statement in the SQL", Code.SYNTAX)
            try:
                _bind(statement, values)
                check(lib.tl_query_arrow(byref(struct), statement, byref(ArrowOptions(rows=rows)), byref(e)), e)
            except BaseException:
                lib.tl_statement_close(statement)
                raise

        return Rows("query", opened, session)

    def recipe(self, name: str, /, **parameters: Any) -> Rows:
        """The rows of a recipe, recipes() has their names: SQL for a question that many have."""
        sql = lib.tl_recipe_sql(encoded(name, "a name"))
        if sql is None:
            raise Error("no such recipe: %s%s" % (name, did_you_mean(name, recipes())), Code.SYNTAX)
        values = _defaults(text(sql))
        unknown = set(parameters) - set(values)
        if unknown:
            raise ValueError("recipe %s has no parameter %s" % (name, ", ".join(sorted(unknown))))
        values.update(parameters)
        missing = [key for key, value in values.items() if value is _NONE]
        if missing:
            raise ValueError("recipe %s needs the parameter %s" % (name, ", ".join(missing)))
        return self.query(text(sql), values)

    # -- events

    def _reader(self, ordered: bool, rows: int) -> Reader:
        session = self._session()
        if self._fields is None:  # table -> (name of its class, {column: (name of the field, is it an unsigned number of 64 bits?)})
            fields: Dict[str, tuple] = {table: (name, {}) for table, name in self.query("SELECT table_name, name FROM classes WHERE table_name IS NOT NULL")}
            for table, column, name, kind, bits in self.query("""SELECT table_name, column_name, fields.name, type, bits
                    FROM fields JOIN classes USING (trace, class_id) WHERE column_name IS NOT NULL AND table_name IS NOT NULL"""):
                known = fields[table][1].get(column, (name, False))
                fields[table][1][column] = (known[0], known[1] or (kind == "u64" and bits > 63))
            self._fields = fields
        return Reader(session, ordered, rows, self._class_of)

    def _class_of(self, table: int) -> Class:
        if table not in self._classes:
            name = self._tables[table]
            known = (self._fields or {}).get(name, (name, {}))
            self._classes[table] = Class(known[0], self.table(name).columns, known[1])
        return self._classes[table]

    def events(self, ordered: Optional[bool] = None) -> Iterator[Event]:
        """All events, one by one; `for event in trace` is the same.

        ordered: by time; None: by time if it is one trace, else trace by trace, in the order of the streams. Each stream keeps its own order, even where it
        goes back in time."""
        try:
            return iter(self._reader(True if ordered is None else ordered, _GROUP))
        except Error as error:
            if ordered is not None or error.code != Code.UNSUPPORTED:
                raise
            return iter(self._reader(False, _GROUP))

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def columns(self) -> Dict[str, Batch]:
        """All events as columns, in one pass: the name of each class that has events -> a batch of them, in the order of the streams."""
        group = self._reader(False, ALL).read()
        return {part.cls.name: part.batch for part in group[1].values()} if group else {}

    # -- profiles

    def profile(self) -> "Profile":
        """Where the time went: functions, and stacks as a tree."""
        return Profile(self)


class Profile:
    """Functions and places (stacks) with their calls and times."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __repr__(self) -> str:
        return "<traceloom.Profile of %s>" % ", ".join(self._trace.paths)

    @property
    def functions(self) -> Rows:
        """A row for each function: calls, total, self, percentiles."""
        return self._trace.table("function_stats")

    @property
    def places(self) -> Rows:
        """A row for each stack."""
        return self._trace.table("places")

    def tree(self) -> List[Dict[str, Any]]:
        """The outermost calls: dicts with the columns of `places`, and "children", the heaviest first."""
        rows = self.places
        nodes = {}
        for row in rows:
            node: Dict[str, Any] = dict(zip(rows.names, row), children=[])
            nodes[node["trace"], node["place_id"]] = node
        outermost = []
        for node in nodes.values():
            parent = nodes.get((node["trace"], node["parent_id"]))
            (parent["children"] if parent is not None else outermost).append(node)
        for node in nodes.values():
            node["children"].sort(key=_weight)
        return sorted(outermost, key=_weight)


def _weight(node: Dict[str, Any]) -> tuple:
    return -(node.get("total") or 0), node["place_id"]


_NONE = object()
_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}


def _defaults(sql: str) -> Dict[str, Any]:
    """The parameters of a recipe: name -> value, _NONE if it has to be given. "-- :step 1min the length of a step"."""
    out: Dict[str, Any] = {}
    for name, word in re.findall(r"^-- :(\w+) ('[^'\n]*'|\S+)", sql, re.M):
        number = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s|min|h)?", word)
        if word.startswith("'"):
            out[name] = word[1:-1]
        elif number:
            value = float(number[1]) * _UNITS.get(number[2] or "", 1)
            out[name] = int(value) if value == int(value) else value
        else:
            out[name] = _NONE
    return out


def recipes() -> List[str]:
    """The names of all recipes."""
    return [text(lib.tl_recipe_name(i)) for i in range(lib.tl_recipes())]


def open(paths: Union[PathLike, Sequence[PathLike]], *, executable: Optional[PathLike] = None, threads: int = 1, memory: int = 0,  # pylint: disable=redefined-builtin
         timeout: float = 0, strict: bool = False, names: bool = True) -> Trace:
    """Opens a trace: a path to a file or a folder; or several, which are traces 1, 2, ... of the tables.

    executable: the traced program, for the names of its functions. threads: to read with. memory: bytes for SQL, 0: 256 MiB. timeout: seconds for each
    query, 0: none. strict: damage is an error; otherwise it is skipped, and table("damage") has it. names=False: no program that the trace names is
    read.

    Raises Error, whose `code` says what is wrong: Code.IO, Code.FORMAT (unrecognised), Code.DAMAGED."""
    many = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
    if not many:
        raise ValueError("there is no path")
    if threads < 0 or memory < 0 or timeout < 0:
        raise ValueError("threads, memory and timeout are not negative")
    options = OpenOptions(exe=None if executable is None else encoded(executable), no_names=not names,
                          want=Want(fields=True, cpu=True, strict=strict, threads=threads))
    query = QueryOptions(threads=threads, memory=memory, timeout_ns=int(timeout * 1e9))
    return Trace(_Session(many, options, query), [os.fsdecode(p) for p in many])
