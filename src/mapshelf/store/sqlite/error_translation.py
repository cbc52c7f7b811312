"""Translate exceptions of ``apsw`` into our own errors."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from mapshelf.errors import StoreDamaged, StoreError, StoreUnavailable


@contextmanager
def translated() -> Iterator[None]:
    """Translate exceptions of ``apsw`` raised in the context."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamaged(f"the SQLite database is damaged: {error}") from error
    except UnicodeDecodeError as error:  # SQLite accepts any bytes as text
        raise StoreDamaged("the SQLite database is damaged: a text in it is not UTF-8") from error
    except (
        apsw.BusyError,
        apsw.LockedError,
        apsw.ProtocolError,
        apsw.FullError,
        apsw.IOError,
        apsw.CantOpenError,
        apsw.ReadOnlyError,
    ) as error:
        raise StoreUnavailable(f"the SQLite database cannot be used now: {error}") from error
    except apsw.Error as error:
        raise StoreError(f"the SQLite database refused: {error}") from error
