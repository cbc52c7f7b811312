"""A pair of stores in two kinds of databases, between which tests move catalogues."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store

Stores = tuple[Store, Store]


@contextmanager
def two_databases(
    first: str, folder: Path, new_catalogue: Callable[[int], str]
) -> Iterator[Stores]:
    """Yield two empty catalogues, of which the ``first`` is in this kind of database."""
    urls = [sqlite_url(folder / "data"), new_catalogue(0)]
    if first == "postgres":
        urls.reverse()
    with closing(open_store(urls[0])) as origin, closing(open_store(urls[1])) as there:
        yield origin, there
