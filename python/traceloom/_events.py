"""Events one by one: objects that point into columns, which become lists when somebody looks at them."""
from ctypes import byref, c_uint32, c_void_p
from dataclasses import replace
from typing import Any, Callable, Dict, Iterator, List, Optional

from ._columns import Batch, Column, memory
from ._library import ArrowArray, ArrowOptions, CError, check, lib, waiting

HEAD = ("trace", "id", "ts", "utc", "track_id", "thread", "cpu")  # columns that all tables of classes begin with


class Class:
    """A class of events: its name, the columns of its table, and which of them each field is."""

    def __init__(self, name: str, columns: List[Column], fields: Dict[str, tuple]) -> None:
        """fields: column -> (name of the field, whether it is an unsigned number of 64 bits)"""
        self.name = name
        self.columns = [replace(c, unsigned=c.unsigned or fields.get(c.name, ("", False))[1]) for c in columns]
        self.fields = {fields[c.name][0]: i for i, c in enumerate(columns) if i >= len(HEAD) and c.name in fields}
        self.keys = {c.name: i for i, c in enumerate(columns) if i >= len(HEAD)}
        self.keys.update(self.fields)
        self.function = next((i for i, c in enumerate(columns) if c.name == "function_name" and c.name not in fields), None)


class _Part(Dict[Any, List[Any]]):
    """The rows of one class: name of a field, or the number of a column -> its values, made when it is first asked for."""

    def __init__(self, cls: Class, batch: Batch) -> None:
        super().__init__()
        self.cls, self.batch = cls, batch

    def __missing__(self, key: Any) -> List[Any]:
        values = self[key] = self.batch.json(self.cls.keys[key] if isinstance(key, str) else key)
        return values


class Event:
    """An event: event["field"] is the value of a field, None if the event does not have it; KeyError if its class does not. Members of structs are
    fields "outer.inner", and the labels of an enumeration are in "field_label".

    Events may be kept: each keeps the few thousand that were read with it."""

    __slots__ = ("_part", "_row")

    def __init__(self, part: _Part, row: int) -> None:
        self._part, self._row = part, row

    @property
    def name(self) -> str:
        """The name of its class, such as "sched_switch"."""
        return self._part.cls.name

    @property
    def trace(self) -> int:
        """The number of its trace, from 1."""
        return self._part[0][self._row]

    @property
    def id(self) -> int:
        """Its number, as in the tables: that of its stream times 2^40, plus that in the stream."""
        return self._part[1][self._row]

    @property
    def ts(self) -> Optional[int]:
        """When it happened: ns from the begin of the trace (ticks if its clock has no frequency)."""
        return self._part[2][self._row]

    @property
    def utc(self) -> Optional[int]:
        """The time of day: ns since 1970, None if it is not known."""
        return self._part[3][self._row]

    @property
    def thread(self) -> Optional[str]:
        """Its thread, processor or other track."""
        return self._part[5][self._row]

    @property
    def cpu(self) -> Optional[int]:
        """The processor, None if it is not known."""
        return self._part[6][self._row]

    @property
    def function(self) -> Optional[str]:
        """The function that it enters or leaves; None if it has none, or one without a known name, whose number is in event["function_id"]."""
        part = self._part
        return None if part.cls.function is None else part[part.cls.function][self._row]

    @property
    def fields(self) -> Dict[str, Any]:
        """The fields that it has: name -> value."""
        part, row = self._part, self._row
        return {name: part[name][row] for name in part.cls.fields if part[name][row] is not None}

    def __getitem__(self, name: str) -> Any:
        return self._part[name][self._row]

    def __contains__(self, name: str) -> bool:
        return name in self._part.cls.keys

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a field, or the default if its class does not have it."""
        return self._part[name][self._row] if name in self._part.cls.keys else default

    def __repr__(self) -> str:
        function = self.function
        return "<traceloom.Event %s%s at %s: %r>" % (self.name, "" if function is None else " " + function, self.ts, self.fields)


class Reader:
    """Groups of events of all classes: the table of each event, and the rows of each table."""

    def __init__(self, session: Any, ordered: bool, rows: int, class_of: Callable[[int], Class]) -> None:
        self._class_of = class_of
        self._session = session
        self._close = lib.tl_arrow_events_close
        self._events = c_void_p()
        e = CError()
        check(lib.tl_arrow_events_open(byref(self._events), session.query, byref(ArrowOptions(rows=rows, ordered=ordered)), byref(e)), e)

    def __del__(self) -> None:
        if self._events:
            self._close(self._events)

    def read(self) -> Optional[tuple]:
        """(the table of each event, {table: its rows}); None at the end. Other threads run meanwhile."""
        order, n, table, e = c_void_p(), c_uint32(), c_uint32(), CError()
        if check(waiting(lambda: lib.tl_arrow_events_next(self._events, byref(order), byref(n), byref(e)), self._session), e) == 0:
            return None
        tables = memory(order.value, 4 * n.value).cast("I").tolist()
        parts = {}
        while True:
            array = ArrowArray()
            if check(lib.tl_arrow_events_take(self._events, byref(table), byref(array), byref(e)), e) == 0:
                return tables, parts
            cls = self._class_of(table.value)
            parts[table.value] = _Part(cls, Batch(cls.columns, array))

    def __iter__(self) -> Iterator[Event]:
        while True:
            group = self.read()
            if group is None:
                return
            tables, parts = group
            if len(parts) == 1:
                part, = parts.values()
                for row in range(len(tables)):
                    yield Event(part, row)
                continue
            rows = {table: iter([Event(part, row) for row in range(len(part.batch))]) for table, part in parts.items()}
            del group, parts
            for table in tables:
                yield next(rows[table])
