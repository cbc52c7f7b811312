"""What several commands need of the command line."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mapshelf.model import is_user_name
from mapshelf.store import Store, open_store


def catalogue_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that every command takes: where the catalogue is."""
    parser.add_argument(
        "--data",
        metavar="DIR",
        type=_folder,
        help="folder of the catalogue (or MAPSHELF_DATA; default: your data folder)",
    )
    parser.add_argument(
        "--database",
        metavar="URL",
        help="database of the catalogue (default: SQLite in --data, else MAPSHELF_DATABASE)",
    )


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("a folder must have a name")
    return Path(text)


@contextmanager
def opened(given: argparse.Namespace, *, create: bool = False) -> Iterator[Store]:
    """Open the store that the options name, and close it again.

    A new catalogue is made for commands that fill one (``create``). Others would hide that the
    folder is mistyped.
    """
    store = open_store(given.database, create=create)
    try:
        yield store
    finally:
        store.close()


def user_name(text: str) -> str:
    """Read a username, for argparse."""
    if not is_user_name(text):
        raise argparse.ArgumentTypeError("a username is one printable line without outer blanks")
    return text


def one_line(text: str) -> str:
    """Read a text for a table, for argparse."""
    if not text.isprintable():
        raise argparse.ArgumentTypeError("must be one printable line")
    return text


def whole_number(most: int) -> Callable[[str], int]:
    """Return what reads a whole number from 1 to ``most``, for argparse."""

    def read(text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(most))
        if not (digits and 0 < int(text) <= most):
            raise argparse.ArgumentTypeError(f"must be a number from 1 to {most}, not {text!r}")
        return int(text)

    return read


def table_line(*values: object) -> str:
    """Return values as a line that people can read and programs can cut at the tabs."""
    return "\t".join("" if value is None else str(value) for value in values)
