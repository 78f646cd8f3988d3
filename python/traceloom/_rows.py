"""Rows of a table or of a query, read when they are asked for."""
import ctypes
from ctypes import byref, c_char_p, c_void_p, py_object, pythonapi
from typing import Any, Callable, Dict, Iterator, List, Optional

from ._columns import Batch, Column, columns_of, release
from ._library import GET, ArrowArray, ArrowArrayStream, ArrowSchema, error_of, lib, waiting

USUAL, ALL = 0, 2**63  # rows of a batch


def _failed(stream: ArrowArrayStream) -> Exception:
    return error_of(lib.tl_arrow_error(byref(stream)).contents)


class _Stream:
    """A stream of the library, released when nothing refers to it."""

    def __init__(self, session: Any = None) -> None:
        self.struct = ArrowArrayStream()
        self._session = session
        self._release = release

    def __del__(self) -> None:
        self._release(self.struct)

    def schema(self) -> ArrowSchema:
        """Its schema, the caller's to release."""
        out = ArrowSchema()
        if GET(self.struct.get_schema)(byref(self.struct), byref(out)):
            raise _failed(self.struct)
        return out

    def columns(self) -> List[Column]:
        schema = self.schema()
        try:
            return columns_of(schema)
        finally:
            release(schema)

    def next(self, columns: List[Column]) -> Optional[Batch]:
        """The next batch, None at the end. Other threads run meanwhile."""
        array = ArrowArray()
        if waiting(lambda: GET(self.struct.get_next)(byref(self.struct), byref(array)), self._session):
            raise _failed(self.struct)
        return Batch(columns, array) if array.release else None


# -- capsules: how libraries of Python hand over structs of Arrow -------------------------------------------------------

_new = pythonapi.PyCapsule_New
_new.restype, _new.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", pythonapi))
_kept: Dict[int, Any] = {}  # address of a struct -> the struct, until its capsule is gone


def _destructor(name: bytes) -> Any:
    def destroy(capsule: int, _pointer: Any = _pointer, _kept: Any = _kept, _release: Any = release) -> None:
        struct = _kept.pop(_pointer(capsule, name), None)
        if struct is not None:
            _release(struct)

    callback = ctypes.PYFUNCTYPE(None, c_void_p)(destroy)
    pythonapi.Py_IncRef(py_object(callback))  # capsules may be destroyed after this module
    return callback


_SCHEMA, _STREAM = b"arrow_schema", b"arrow_array_stream"
_destructors = {name: _destructor(name) for name in (_SCHEMA, _STREAM)}


def _capsule(name: bytes, struct: Any) -> Any:
    """A capsule that owns a struct, which whoever takes it over marks as released."""
    address = ctypes.addressof(struct)
    _kept[address] = struct
    return _new(address, name, ctypes.cast(_destructors[name], c_void_p))


class Rows:
    """Rows with named columns: `for row in rows` gives tuples, and each of the methods below reads the rows anew.

    Libraries that know Arrow take it as it is: pyarrow.table(rows), polars.from_arrow(rows), duckdb."""

    def __init__(self, name: str, opened: Callable[[int, ArrowArrayStream], None], session: Any) -> None:
        self.name = name
        self._opened = opened
        self._session = session
        self._first: Optional[_Stream]
        self.columns: List[Column]
        self._first, self.columns = waiting(self._begin, session)  # SQL has types of columns only with its first rows

    def _begin(self) -> tuple:
        stream = _Stream(self._session)
        self._opened(USUAL, stream.struct)
        return stream, stream.columns()

    def __repr__(self) -> str:
        return "<traceloom.Rows %s: %s>" % (self.name, ", ".join(self.names))

    @property
    def names(self) -> List[str]:
        """The names of the columns."""
        return [c.name for c in self.columns]

    def _open(self, rows: int) -> _Stream:
        stream = _Stream(self._session)
        waiting(lambda: self._opened(rows, stream.struct), self._session)
        return stream

    def _stream(self, rows: int) -> _Stream:
        first, self._first = self._first, None
        return first if first is not None and rows == USUAL else self._open(rows)

    def batches(self, rows: int = USUAL) -> Iterator[Batch]:
        """The rows as batches, of about so many rows; 0: 65,536, or fewer that have much text."""
        stream = self._stream(rows)
        while True:
            batch = stream.next(self.columns)
            if batch is None:
                return
            yield batch

    def __iter__(self) -> Iterator[tuple]:
        for batch in self.batches():
            yield from batch

    def first(self) -> Optional[tuple]:
        """The first row, None if there is none."""
        return next(iter(self), None)

    def _whole(self) -> List[Batch]:
        """All rows: one batch, unless a column has more than 2 GiB of text."""
        return list(self.batches(ALL))

    def lists(self) -> Dict[str, List[Any]]:
        """Columns as lists, None where a row has no value."""
        batches = self._whole()
        return {name: [v for b in batches for v in b.list(i)] for i, name in enumerate(self.names)}

    def numpy(self) -> Dict[str, Any]:
        """Columns as NumPy arrays: whole numbers, numbers and times of day are not copied. See Batch.numpy()."""
        import numpy  # pylint: disable=import-outside-toplevel
        batches = self._whole()
        if len(batches) == 1:
            return {name: batches[0].numpy(i) for i, name in enumerate(self.names)}
        batches = batches or [Batch(self.columns, _no_rows(len(self.columns)))]
        return {name: numpy.ma.concatenate(parts) if any(numpy.ma.isMaskedArray(p) for p in parts) else numpy.concatenate(parts)
                for i, name in enumerate(self.names) for parts in [[b.numpy(i) for b in batches]]}

    def to_pandas(self) -> Any:
        """A data frame of pandas. Whole numbers and truth values with missing ones are Int64 and boolean, times of day are datetime64 in UTC."""
        import numpy  # pylint: disable=import-outside-toplevel
        import pandas  # pylint: disable=import-outside-toplevel
        out = {}
        for column, (name, values) in zip(self.columns, self.numpy().items()):
            mask = numpy.ma.getmaskarray(values) if numpy.ma.isMaskedArray(values) else None
            data = values if mask is None else values.data
            if column.format == "tsn:UTC":
                if mask is not None:
                    data = numpy.where(mask, numpy.datetime64("NaT", "ns"), data)
                out[name] = pandas.Series(data).dt.tz_localize("UTC")
            elif mask is not None and column.type == "int":
                out[name] = pandas.arrays.IntegerArray(data, mask)
            elif mask is not None and column.type == "bool":
                out[name] = pandas.arrays.BooleanArray(data, mask)
            elif mask is not None:
                out[name] = numpy.where(mask, numpy.nan, data)
            else:
                out[name] = data
        return pandas.DataFrame(out, copy=False)

    def __arrow_c_schema__(self) -> Any:
        """A capsule with an ArrowSchema."""
        first, self._first = self._first, None
        self._first = first if first is not None else self._open(USUAL)
        return _capsule(_SCHEMA, self._first.schema())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with an ArrowArrayStream of the rows. Other schemas than its own are not made."""
        del requested_schema
        struct = ArrowArrayStream()
        self._opened(USUAL, struct)
        return _capsule(_STREAM, struct)


def _no_rows(n: int) -> ArrowArray:
    """An array of n columns without rows, which owns nothing but itself."""
    children = [ArrowArray(n_buffers=3, buffers=(c_void_p * 3)()) for _ in range(n)]
    array = ArrowArray(n_children=n, children=(ctypes.POINTER(ArrowArray) * max(n, 1))(*[ctypes.pointer(c) for c in children]))
    array.kept = children
    return array
