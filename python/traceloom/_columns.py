"""Columns of Arrow: a batch owns the buffers, which lists are made of and NumPy arrays point to."""
import json
import sys
from ctypes import byref, c_int, c_int32, c_ssize_t, c_void_p, py_object, pythonapi, string_at
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence

from ._library import RELEASE, ArrowArray, ArrowSchema, text

_view = pythonapi.PyMemoryView_FromMemory
_view.restype, _view.argtypes = py_object, [c_void_p, c_ssize_t, c_int]
_READ = 0x100
_TYPES = {"l": "int", "g": "float", "b": "bool", "u": "str", "z": "bytes", "tsn:UTC": "int"}
_ORDER = "<" if sys.byteorder == "little" else ">"
_RUN = 8  # rows of equal text, on average, from which on looking for them is worth it
_ITEMS = {"l": ("q", _ORDER + "i8"), "tsn:UTC": ("q", _ORDER + "M8[ns]"), "g": ("d", _ORDER + "f8")}


@dataclass(frozen=True)
class Column:
    """What a column is: its name, type ("int", "float", "bool", "str", "bytes") and unit ("ns", "ticks", "utc", "hex", "bytes", "bool", "json"
    or None)."""

    name: str
    type: str
    unit: Optional[str]
    format: str  # of the Arrow C data interface
    unsigned: bool = False  # numbers are 64 bits without a sign here, and negative from 2^63 on in SQL


def _metadata(address: Optional[int]) -> Dict[str, str]:
    """Pairs, each length a number of 32 bits in the order of the host."""
    if not address:
        return {}

    def number() -> int:
        nonlocal at
        at += 4
        return c_int32.from_address(at - 4).value

    def word() -> str:
        nonlocal at
        size = number()
        at += size
        return text(string_at(at - size, size))

    at = address
    return {word(): word() for _ in range(number())}


def columns_of(schema: ArrowSchema) -> List[Column]:
    """The members of a schema."""
    children = [schema.children[i].contents for i in range(schema.n_children)]
    units = [_metadata(c.metadata).get("traceloom.unit") for c in children]
    return [Column(text(c.name), _TYPES[text(c.format)], unit, text(c.format), unit == "hex") for c, unit in zip(children, units)]


def release(struct: Any, _release: Any = RELEASE, _reference: Any = byref) -> None:
    """Calls the callback of a struct of Arrow, once."""
    if struct.release:
        _release(struct.release)(_reference(struct))


def memory(address: Optional[int], size: int) -> memoryview:
    """Bytes of a buffer, which do not own it."""
    return _view(address, size, _READ) if address and size else memoryview(b"")


class _Buffer:
    """What NumPy points to: it keeps the batch."""

    def __init__(self, batch: "Batch", address: Optional[int], count: int, kind: str) -> None:
        self.batch = batch
        self.__array_interface__ = {"version": 3, "shape": (count,), "typestr": kind, "data": (address or 0, True)}


class Batch:
    """Rows: some columns, whose buffers belong to the library until nothing refers to them."""

    def __init__(self, columns: Sequence[Column], array: ArrowArray) -> None:
        self.columns = columns
        self._array = array
        self._release = release
        self._lists: Dict[int, List[Any]] = {}

    def __del__(self) -> None:
        if getattr(self, "_array", None) is not None:
            self._release(self._array)

    def __len__(self) -> int:
        return self._array.length

    def __repr__(self) -> str:
        return "<traceloom.Batch of %d rows: %s>" % (len(self), ", ".join(c.name for c in self.columns))

    def __iter__(self) -> Iterator[tuple]:
        return zip(*(self.list(i) for i in range(len(self.columns)))) if self.columns else iter([()] * len(self))

    def _child(self, i: int) -> ArrowArray:
        return self._array.children[i].contents

    def bits(self, i: int, buffer: int) -> str:
        """A buffer of bits as text of 0 and 1, the first row first; of that of valid rows, "": all are."""
        child = self._child(i)
        if not child.buffers[buffer] or (buffer == 0 and child.null_count == 0):
            return ""
        data = bytes(memory(child.buffers[buffer], (child.length + 7) // 8))
        return bin(int.from_bytes(data, "little") | 1 << 8 * len(data))[:2:-1][:child.length]

    def list(self, i: int) -> List[Any]:
        """The values of a column, None where there is none."""
        if i not in self._lists:
            self._lists[i] = self._make_list(i)
        return self._lists[i]

    def _make_list(self, i: int) -> List[Any]:
        child, column = self._child(i), self.columns[i]
        n, kind = child.length, column.format
        if child.null_count == n:
            return [None] * n
        if kind in _ITEMS:
            values = memory(child.buffers[1], 8 * n).cast("Q" if column.unsigned else _ITEMS[kind][0]).tolist()
        elif kind == "b":
            values = [bit == "1" for bit in self.bits(i, 1)]
        else:
            values = self._texts(child, kind == "u")
        valid = self.bits(i, 0)
        return [v if bit == "1" else None for v, bit in zip(values, valid)] if valid else values

    @staticmethod
    def _texts(child: ArrowArray, is_text: bool) -> List[Any]:
        ends = memory(child.buffers[1], 4 * (child.length + 1)).cast("i").tolist()
        data = bytes(memory(child.buffers[2], ends[-1]))
        first = data[:ends[1]]
        if ends[-1] == len(first) * child.length and data == first * child.length and ends == list(range(0, ends[-1] + 1, len(first) or 1)):
            return [first.decode("utf-8", "replace") if is_text else first] * child.length  # one thread, one label
        starts, ends = ends[:-1], ends[1:]
        if not is_text:
            return [data[a:b] for a, b in zip(starts, ends)]
        if data.isascii():
            whole = data.decode("ascii")
            return [whole[a:b] for a, b in zip(starts, ends)]
        return [data[a:b].decode("utf-8", "replace") for a, b in zip(starts, ends)]

    def json(self, i: int) -> List[Any]:
        """The same, but lists and objects in place of their JSON text."""
        values = self.list(i)
        return [None if v is None else json.loads(v) for v in values] if self.columns[i].unit == "json" else values

    def numpy(self, i: int, valid: bool = False) -> Any:
        """A column as a NumPy array. Numbers, and times of day, are not copied: the array keeps the batch. Truth values are copied, text is objects.
        Where rows have no value it is a masked array, and text is None."""
        import numpy  # pylint: disable=import-outside-toplevel
        child, column = self._child(i), self.columns[i]
        n = child.length
        if column.format in _ITEMS:
            kind = _ORDER + "u8" if column.unsigned else _ITEMS[column.format][1]
            values = numpy.asarray(_Buffer(self, child.buffers[1], n, kind)) if n else numpy.empty(0, kind)
        elif column.format == "b":
            values = self._bools(numpy, child.buffers[1], n)
        else:
            return self._objects(numpy, i)
        if not child.null_count or not child.buffers[0]:
            return values
        return numpy.ma.MaskedArray(values, ~self._bools(numpy, child.buffers[0], n))

    def arrays(self) -> Dict[str, Any]:
        """All columns as NumPy arrays: name -> array. See numpy()."""
        return {column.name: self.numpy(i) for i, column in enumerate(self.columns)}

    def _objects(self, numpy: Any, i: int) -> Any:
        """Text: one object for each run of equal ones, such as names of threads, if runs are long."""
        values = numpy.empty(len(self), object)
        if i in self._lists or not self._put_runs(numpy, i, values):
            values[:] = self.list(i)
        return values

    def _put_runs(self, numpy: Any, i: int, values: Any) -> bool:
        child, n = self._child(i), len(self)
        if n < 2 * _RUN or child.null_count or self.columns[i].format != "u":
            return False
        ends = numpy.asarray(_Buffer(self, child.buffers[1], n + 1, _ORDER + "i4"))
        sizes = numpy.diff(ends)
        begins = numpy.flatnonzero(numpy.diff(sizes, prepend=-1))
        if len(begins) > n // _RUN or not ends[-1]:
            return False
        data = numpy.asarray(_Buffer(self, child.buffers[2], int(ends[-1]), "|u1"))
        for begin, end in zip(begins.tolist(), [*begins.tolist()[1:], n]):  # rows whose texts have the same length
            size = int(sizes[begin])
            texts = data[ends[begin]:ends[end]].view("V%d" % size) if size else numpy.zeros(end - begin, "V1")
            runs = numpy.flatnonzero(texts[1:] != texts[:-1]) + begin + 1
            if len(runs) > (end - begin) // _RUN + 1:
                return False
            runs = [begin, *runs.tolist(), end]
            for a, b in zip(runs, runs[1:]):
                values[a:b] = data[ends[a]:ends[a + 1]].tobytes().decode("utf-8", "replace")
        return True

    @staticmethod
    def _bools(numpy: Any, address: Optional[int], n: int) -> Any:
        data = numpy.frombuffer(bytes(memory(address, (n + 7) // 8)), numpy.uint8)
        return numpy.unpackbits(data, count=n, bitorder="little").astype(bool)
