"""The store: the catalogue's source of truth, in SQLite or PostgreSQL.

Open it with ``open_store`` and use it only through ``store.contract``.
"""

from pathlib import Path
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

from mapshelf.errors import InvalidSetting
from mapshelf.settings import without_password
from mapshelf.store.contract import Store

__all__ = ["Store", "open_store", "sqlite_path"]


def open_store(url: str, *, create: bool = True) -> Store:
    """Open the database at ``url`` and bring its schema up to date.

    Args:
        url: ``sqlite:///absolute/path``, or a libpq URL like ``postgresql://host/database``.
        create: whether to create a catalogue if there is none.

    Raises:
        InvalidSetting: the URL is not valid, or its scheme is not supported.
        StoreMissing: there is no catalogue, and ``create`` is not set.
        StoreUnavailable: the database cannot be opened now.
        StoreDamaged: the database is not a catalogue, or its schema is of a newer or a development
            version.
    """
    path = sqlite_path(url)
    # Each is imported only if needed: some processes read options without opening the store.
    if path is not None:
        from mapshelf.store.sqlite.sqlite_store import SQLiteStore  # noqa: PLC0415

        return SQLiteStore(path, create=create)
    if url.startswith(("postgresql://", "postgres://")):
        from mapshelf.store.postgres.postgres_store import PostgresStore  # noqa: PLC0415

        return PostgresStore(url, create=create)
    raise InvalidSetting("a database URL must begin with sqlite:/// or postgresql://")


def sqlite_path(url: str) -> Path | None:
    """Return the path of a SQLite database, ``None`` for other kinds of URL.

    Raises:
        InvalidSetting: the URL is not valid.
    """
    parts = _parts(url)
    if parts.scheme != "sqlite":
        return None
    plain = not (parts.netloc or parts.query or parts.fragment)
    if not plain or not parts.path.startswith("/") or not parts.path.strip("/"):
        raise InvalidSetting(
            f"a SQLite database URL must be like sqlite:///path, not {without_password(url)!r}"
        )
    return _path(parts.path)


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise InvalidSetting("the database URL is invalid") from error  # it may quote a password


def _path(quoted: str) -> Path:
    path = unquote_to_bytes(quoted)
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidSetting(f"the path of a database must be UTF-8, not {path!r}") from error
    if "\0" in text:
        raise InvalidSetting("the path of a database cannot contain a NUL character")
    return Path(text)
