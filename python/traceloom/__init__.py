"""Reads traces of many formats: events, tables and answers of SQL.

    import traceloom

    with traceloom.open("lttng-trace") as trace:
        for event in trace:
            print(event.ts, event.thread, event.name, event.fields)
        calls = trace.table("calls", ["ts", "dur", "name"]).to_pandas()
        top = trace.query("SELECT name, count(*) AS n FROM events GROUP BY name").numpy()

docs/python.md says more; docs/schema.md has all tables."""
from ._columns import Batch, Column
from ._library import Code, Error, FileError, MissingFileError, version
from ._events import Event
from ._rows import Rows
from ._trace import Profile, Trace, open, recipes  # pylint: disable=redefined-builtin

__all__ = ["Batch", "Code", "Column", "Error", "Event", "FileError", "MissingFileError", "Profile", "Rows", "Trace", "open", "recipes", "version"]
__version__ = "0.1.0"

for _kind in (Batch, Code, Column, Error, Event, FileError, MissingFileError, Profile, Rows, Trace):
    _kind.__module__ = __name__  # tracebacks and help name what users import
del _kind
