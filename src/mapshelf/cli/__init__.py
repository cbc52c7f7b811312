"""The command line: what the operator says becomes settings here, and goes down from here.

One module a command. The exit code is 0 when all was done, 1 when something was not (with the
reason on the standard error stream), 2 when the command was used wrongly.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from platformdirs import user_data_path

from mapshelf import __version__
from mapshelf.cli import check, export, imports, serve, token, user
from mapshelf.errors import InvalidSetting, MapshelfError
from mapshelf.settings import sqlite_url

COMMANDS: Final = (serve, imports, export, user, token, check)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that ``arguments`` spell, by default those of the process."""
    given = _parser().parse_args(arguments)
    try:
        given.data = (given.data or _default_data()).expanduser()
        given.database = (
            given.database or os.environ.get("MAPSHELF_DATABASE") or sqlite_url(given.data)
        )
        code: int = given.run(given)
    except InvalidSetting as error:
        return _fail(error, 2)
    except MapshelfError as error:
        return _fail(error, 1)
    except BrokenPipeError:
        # Whoever read our output has enough. Python would complain when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def _fail(error: MapshelfError, code: int) -> int:
    print(f"mapshelf: {error}", file=sys.stderr)
    return code


def _default_data() -> Path:
    configured = os.environ.get("MAPSHELF_DATA")
    return Path(configured) if configured else user_data_path("mapshelf", appauthor=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mapshelf", description="A self-hosted catalogue of mind maps."
    )
    parser.add_argument("--version", action="version", version=f"mapshelf {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in COMMANDS:
        module.register(commands, _where())
    return parser


def _where() -> argparse.ArgumentParser:
    """Return the options that every command takes: where the catalogue is."""
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument(
        "--data",
        metavar="DIR",
        type=Path,
        help="folder of the catalogue (or MAPSHELF_DATA; default: your data folder)",
    )
    where.add_argument(
        "--database",
        metavar="URL",
        help="database of the catalogue (or MAPSHELF_DATABASE; default: SQLite in --data)",
    )
    return where
