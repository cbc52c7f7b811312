"""Expands ``~`` in paths, because files and variables have no shell that does it."""

from pathlib import Path

from mapshelf.errors import InvalidSetting


def expanded(path: Path) -> Path:
    """Return a path with the home folder instead of ``~`` or ``~user`` at its beginning.

    Raises:
        InvalidSetting: there is no such user.
    """
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise InvalidSetting(f"the home folder in {str(path)!r} does not exist") from error
