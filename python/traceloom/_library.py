"""libtraceloom: its functions and structs, and its errors as exceptions."""
import ctypes
import difflib
import enum
import errno
import os
import threading
from _thread import start_new_thread
from ctypes import CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, List, Optional, Sequence

SONAME = "libtraceloom.so.0"
NO_OFFSET = 2**64 - 1


class Code(enum.IntEnum):
    """What an error is: tl_code of <traceloom/error.h>."""

    OK = 0
    NO_MEMORY = -1
    IO = -2
    FORMAT = -3
    DAMAGED = -4
    UNSUPPORTED = -5
    INVALID = -6
    EXISTS = -7
    NO_MATCH = -8
    LIMIT = -9
    SYNTAX = -10


class Error(Exception):
    """An error of the library.

    code: what it is; file: the trace that was opened, or None; offset: the byte of the trace, or of the SQL, or None."""

    def __init__(self, message: str, code: Code = Code.INVALID, file: Optional[str] = None, offset: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code
        self.file = file
        self.offset = offset


class FileError(Error, OSError):
    """A file that cannot be read, also an OSError."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that does not exist, also a FileNotFoundError."""


class CError(Structure):
    _fields_ = [("code", c_int), ("sys_errno", c_int), ("offset", c_uint64), ("message", c_char * 232)]


class Want(Structure):
    _fields_ = [(name, c_bool) for name in ("fields", "cpu", "packets", "late", "strict", "resync", "companions", "calls")] + [("threads", c_uint)]


class OpenOptions(Structure):
    _fields_ = [("from_", c_char_p), ("exe", c_char_p), ("object", c_void_p), ("nobject", c_size_t), ("no_names", c_bool), ("no_demangle", c_bool),
                ("no_lines", c_bool), ("want", Want), ("follow", c_bool), ("progress", c_void_p)]


class QueryOptions(Structure):
    _fields_ = [("select", c_void_p), ("threads", c_uint), ("memory", c_uint64), ("timeout_ns", c_uint64), ("temporary", c_bool)]


class TableInfo(Structure):
    _fields_ = [("name", c_char_p), ("summary", c_char_p), ("needs", c_char_p)]


class SqlValue(Structure):
    _fields_ = [("kind", c_int), ("i64", c_int64), ("real", c_double), ("text", c_char_p), ("size", c_size_t)]


class ArrowOptions(Structure):
    _fields_ = [("column", POINTER(c_char_p)), ("ncolumn", c_uint32), ("rows", c_uint64), ("ordered", c_bool)]


class ArrowSchema(Structure):
    pass


ArrowSchema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64), ("n_children", c_int64),
                        ("children", POINTER(POINTER(ArrowSchema))), ("dictionary", POINTER(ArrowSchema)), ("release", c_void_p), ("private_data", c_void_p)]


class ArrowArray(Structure):
    pass


ArrowArray._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
                       ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(ArrowArray))), ("dictionary", POINTER(ArrowArray)),
                       ("release", c_void_p), ("private_data", c_void_p)]


class ArrowArrayStream(Structure):
    _fields_ = [("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p), ("release", c_void_p), ("private_data", c_void_p)]


STRUCTS = {"tl_error": CError, "tl_want": Want, "tl_open_options": OpenOptions, "tl_query_options": QueryOptions, "tl_table_info": TableInfo,
           "tl_sql_value": SqlValue, "tl_arrow_options": ArrowOptions, "struct ArrowSchema": ArrowSchema, "struct ArrowArray": ArrowArray,
           "struct ArrowArrayStream": ArrowArrayStream}  # a test compares them with the headers

# Callbacks of these structs.
RELEASE = CFUNCTYPE(None, c_void_p)
GET = CFUNCTYPE(c_int, c_void_p, c_void_p)

# (name, result, arguments)
FUNCTIONS = [
    ("tl_version", c_char_p, []),
    ("tl_source_open", c_int, [POINTER(c_void_p), c_char_p, POINTER(OpenOptions), POINTER(CError)]),
    ("tl_source_close", None, [c_void_p]),
    ("tl_query_open", c_int, [POINTER(c_void_p), POINTER(c_void_p), c_uint32, POINTER(QueryOptions), POINTER(CError)]),
    ("tl_query_close", None, [c_void_p]),
    ("tl_query_interrupt", None, [c_void_p]),
    ("tl_query_tables", c_uint32, [c_void_p]),
    ("tl_query_table", POINTER(TableInfo), [c_void_p, c_uint32]),
    ("tl_query_prepare", c_int, [POINTER(c_void_p), c_void_p, c_char_p, POINTER(c_void_p), POINTER(CError)]),
    ("tl_statement_close", None, [c_void_p]),
    ("tl_statement_parameters", c_uint32, [c_void_p]),
    ("tl_statement_parameter", c_char_p, [c_void_p, c_uint32]),
    ("tl_statement_bind", c_int, [c_void_p, c_uint32, POINTER(SqlValue), POINTER(CError)]),
    ("tl_query_arrow", c_int, [POINTER(ArrowArrayStream), c_void_p, POINTER(ArrowOptions), POINTER(CError)]),
    ("tl_query_table_arrow", c_int, [POINTER(ArrowArrayStream), c_void_p, c_char_p, POINTER(ArrowOptions), POINTER(CError)]),
    ("tl_arrow_error", POINTER(CError), [POINTER(ArrowArrayStream)]),
    ("tl_arrow_events_open", c_int, [POINTER(c_void_p), c_void_p, POINTER(ArrowOptions), POINTER(CError)]),
    ("tl_arrow_events_next", c_int, [c_void_p, POINTER(c_void_p), POINTER(c_uint32), POINTER(CError)]),
    ("tl_arrow_events_take", c_int, [c_void_p, POINTER(c_uint32), POINTER(ArrowArray), POINTER(CError)]),
    ("tl_arrow_events_close", None, [c_void_p]),
    ("tl_recipes", c_uint32, []),
    ("tl_recipe_name", c_char_p, [c_uint32]),
    ("tl_recipe_sql", c_char_p, [c_char_p]),
]


def _load() -> ctypes.CDLL:
    """The library of TRACELOOM_LIBRARY, else the one in this package, else the system's."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), SONAME)
    path = os.environ.get("TRACELOOM_LIBRARY") or (own if os.path.exists(own) else SONAME)
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError("%s cannot be loaded: install the package libtraceloom0, or set TRACELOOM_LIBRARY to its path (%s)" % (path, error)) from error
    for name, result, arguments in FUNCTIONS:
        try:
            function = getattr(library, name)
        except AttributeError as error:
            raise ImportError("%s is too old for this module: it has no %s" % (path, name)) from error
        function.restype, function.argtypes = result, arguments
    return library


lib: Any = _load()


def version() -> str:
    """The version of the library."""
    return text(lib.tl_version())


def text(data: Optional[bytes]) -> str:
    return (data or b"").decode("utf-8", "replace")


def encoded(path: Any, what: str = "a path") -> bytes:
    data = os.fsencode(path) if not isinstance(path, str) or what == "a path" else path.encode("utf-8", "surrogateescape")
    if b"\0" in data:
        raise ValueError("%s cannot contain a NUL" % what)
    return data


def error_of(e: CError, file: Optional[str] = None) -> Exception:
    """The exception of an error."""
    message = text(e.message)
    try:
        code = Code(e.code)
    except ValueError:  # of a newer library
        code = Code.INVALID
    kind = Error if not e.sys_errno or code != Code.IO else MissingFileError if e.sys_errno == errno.ENOENT else FileError
    error = kind(message, code, file, None if e.offset == NO_OFFSET else e.offset)
    if isinstance(error, OSError):
        error.errno = e.sys_errno
    return error


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """What to add to a message about an unknown name."""
    near = difflib.get_close_matches(name, known, 1)
    return "; did you mean %s?" % near[0] if near else ""


def waiting(call: Callable[[], Any], session: Any) -> Any:
    """call(), which may take long. Python handles signals in its main thread only, and only between two steps of it: so that Ctrl-C need not wait for the
    library, another thread makes the call for the main one, which waits, and interrupts the session when a handler raises."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    results: List[Any] = []
    done = threading.Lock()
    done.acquire()

    def run() -> None:
        try:
            results.append((call(), None))
        except BaseException as error:  # pylint: disable=broad-exception-caught
            results.append((None, error))
        done.release()

    raised: Optional[BaseException] = None
    try:
        start_new_thread(run, ())
        while not results:
            done.acquire(timeout=1)  # pylint: disable=consider-using-with
    except BaseException as error:  # pylint: disable=broad-exception-caught
        if isinstance(error, RuntimeError) and "new thread" in str(error):  # there can be no more, or Python is about to end
            return call()
        raised = error
        while not results:
            session.interrupt()
            done.acquire(timeout=0.1)  # pylint: disable=consider-using-with
    if raised is not None:
        session.settle()
    result, failure = results[0]
    try:
        if raised is not None:
            raise raised
        if failure is not None:
            raise failure
        return result
    finally:  # exceptions refer to this frame
        raised = failure = None
        results.clear()


def check(status: int, e: CError, file: Optional[str] = None) -> int:
    """The status of a function, or its exception."""
    if status < 0:
        raise error_of(e, file)
    return status
