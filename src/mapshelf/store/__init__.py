"""The store: the one place of truth. Callers open it here and know only its contract."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from mapshelf.errors import InvalidSetting
from mapshelf.store.contract import Store
from mapshelf.store.sqlite import SQLiteStore

__all__ = ["Store", "open_store"]


def open_store(url: str) -> Store:
    """Open the database at ``url``, bringing its schema up to date.

    Args:
        url: ``sqlite:///absolute/path``.

    Raises:
        InvalidSetting: no store answers to this kind of URL.
        StoreUnavailable: the database cannot be opened now.
        StoreDamaged: the database is not one of ours, or of a newer version.
    """
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        if parts.netloc or not parts.path.startswith("/"):
            raise InvalidSetting(f"a SQLite database URL must be like sqlite:///path, not {url}")
        return SQLiteStore(Path(unquote(parts.path)))
    raise InvalidSetting(f"no store answers to a database URL that begins with {parts.scheme}:")
