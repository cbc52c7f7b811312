"""Datasette, which provides a JSON API for a SQLite file: the database of the peer FTS5.

Its table pages search with ``?_search=`` and return JSON with the number of matches. They can
filter and order by any column. The default order is by key; ranking would need a custom query.
Spelling is not corrected. We declare the file immutable, raise the time limit from one second to
ours, switch off suggested facets, and set the same page cache as for the other service. Datasette
uses the SQLite of its Python.
"""

from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import orjson

from benchmarks.peers.database import TIME_LIMIT
from benchmarks.peers.questions import Question
from benchmarks.peers.searchtext import parse
from benchmarks.peers.sqlite import CACHE_KIB, match
from benchmarks.processes import python

_SETTINGS: Final = {
    "sql_time_limit_ms": TIME_LIMIT * 1000,
    "suggest_facets": "off",
    "cache_size_kb": CACHE_KIB,
}


def command(database: Path, port: int) -> list[str]:
    """Return the command that serves the maps of a database."""
    tables = {"maps": {"fts_table": "maps_fts", "fts_pk": "file_id"}}
    metadata = database.with_name("metadata.json")
    metadata.write_bytes(orjson.dumps({"databases": {database.stem: {"tables": tables}}}))
    settings = [
        part for name, value in _SETTINGS.items() for part in ("--setting", name, str(value))
    ]
    serve = python("datasette", "serve", "--immutable", str(database), "--port", str(port))
    return [*serve, "--metadata", str(metadata), *settings]


def path(database: Path, question: Question | None, spelling: int, number: int) -> str:
    """Return the URL path of a search, or of the list of all maps."""
    parameters = {"_shape": "objects", "_size": "20", "_number": str(number)}
    if question is None or question.by_views:
        parameters["_sort_desc"] = "views"
    if question is not None:
        found = match(parse(question.text(spelling)))
        parameters |= {"_search": found, "_searchmode": "raw"}
        if question.category is not None:
            parameters["category_id"] = str(question.category)
    return f"/{database.stem}/maps.json?{urlencode(parameters)}"
