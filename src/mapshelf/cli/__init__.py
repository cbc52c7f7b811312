"""The command line: it turns options and environment variables into settings, and passes them on.

Each command is a module, imported only when the command runs, so that the processes of ``serve``,
which import this package, start faster. The exit code is 0 if everything was done, 1 if something
failed (standard error says why), and 2 if the usage was wrong.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from mapshelf.cli.config_file import VARIABLES, ConfigFile, find_config, known_keys
from mapshelf.cli.home_folders import expanded
from mapshelf.errors import InvalidSetting, MapshelfError
from mapshelf.settings import sqlite_url

COMMANDS: Final = {
    "serve": ("serve", "serve the catalogue and import the given folders"),
    "import": ("import_command", "import maps; maps that are already there are updated"),
    "export": ("export", "write all maps as NDJSON, one JSON object per line"),
    "user": ("user", "add and list users, and change their roles"),
    "token": ("token", "create, list and revoke access tokens"),
    "client": ("client", "register, list and remove OAuth programs"),
    "audit": ("audit", "show the audit log"),
    "backup": ("backup", "back up the catalogue to one file, even while serve runs"),
    "restore": ("restore", "replace the catalogue with a backup; the old one is kept"),
    "migrate": ("migrate", "copy the catalogue to another database"),
    "status": ("status", "show the state of the service and the catalogue"),
    "config": ("config", "show the settings in force and where each comes from"),
    "check": ("check", "verify the database, the snapshot and the settings"),
}
"""Each command with its module and its help text."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; ``arguments`` default to those of the process."""
    _open_closed_streams()
    # Nothing here uses the threads that NumPy starts for linear algebra: they cost 0.1 s a process.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # For child processes: with one arena for all threads, glibc reuses the memory of large arrays.
    # With one for each thread, a worker with a million maps keeps 40 MB more, and is not faster.
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")
    try:
        given = _parse(sys.argv[1:] if arguments is None else arguments)
        _resolve_catalogue(given)
        code: int = given.run(given)
    except InvalidSetting as error:
        return _fail(error, 2)
    except MapshelfError as error:
        return _fail(error, 1)
    except BrokenPipeError:  # whoever reads our output has closed it
        _discard_output()
        return 1
    except OSError as error:  # such as a full disk or a deleted file: no traceback
        _discard_output()
        return _fail(_translated(error), 1)
    except KeyboardInterrupt:
        return 130
    return code


def _open_closed_streams() -> None:
    """Open the standard streams that are closed, or the next files would get their numbers.

    Whatever is written to a stream would then be written into such a file.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 it stays open
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def _discard_output() -> None:
    """Discard output that cannot be written; otherwise Python would report an error at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _translated(error: OSError) -> MapshelfError:
    where = f"{error.filename}: " if error.filename is not None else ""
    return MapshelfError(f"{where}{error.strerror or error}")


def _fail(error: MapshelfError, code: int) -> int:
    print(f"mapshelf: {error}", file=sys.stderr)
    return code


def _resolve_catalogue(given: argparse.Namespace) -> None:
    """Fill in the catalogue's folder and database if the command has these options."""
    if "database" not in given:
        return
    if ignored := _ignored_database(given):
        print(
            f"mapshelf: the database in {ignored} is ignored because of --data: this command uses"
            f" SQLite in {given.data}. Give --database, or {VARIABLES['data']} instead of --data.",
            file=sys.stderr,
        )
    given.data, given.database = _catalogue(given.data, given.database)


def _ignored_database(given: argparse.Namespace) -> str:
    """Return where the database is set that ``--data`` overrides, empty if nowhere.

    ``--data`` alone names a catalogue in SQLite, as scripts expect that were written without these
    settings. Somebody who wants another folder for snapshots may not expect it.
    """
    database = os.environ.get(VARIABLES["database"])
    if given.data is None or given.database is not None or not database:
        return ""
    if database == sqlite_url(_checked_folder(given.data)):
        return ""
    by_file = VARIABLES["database"] not in given.variables
    return str(given.config_file.path) if by_file else VARIABLES["database"]


def _catalogue(data: Path | None, database: str | None) -> tuple[Path, str]:
    """Return the folder and database of the catalogue; options override the environment."""
    if database is None and data is None:
        database = os.environ.get(VARIABLES["database"]) or None
    folder = _checked_folder(data or _default_data())
    return folder, sqlite_url(folder) if database is None else database


def _default_data() -> Path:
    configured = os.environ.get(VARIABLES["data"])
    if configured:
        return Path(configured)
    from platformdirs import user_data_path  # noqa: PLC0415 - takes a tenth of the time of most commands

    return user_data_path("mapshelf", appauthor=False)


def _checked_folder(folder: Path) -> Path:
    found = expanded(folder)
    try:
        str(found).encode()
    except UnicodeEncodeError as error:
        raise InvalidSetting(f"the data folder needs a UTF-8 name, not {str(folder)!r}") from error
    return found


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mapshelf", description="A self-hosted catalogue of mind maps."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (module, purpose) in COMMANDS.items():
        command = commands.add_parser(name, help=purpose, description=f"Mapshelf: {purpose}.")
        if name in arguments[:1]:
            import_module(f"mapshelf.cli.{module}").define(command)
    return _with_file(parser, list(arguments))


def _with_file(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """Parse the command line, with the options that the configuration file adds."""
    variables = {name for name in VARIABLES.values() if os.environ.get(name)}
    file = find_config(arguments)
    file.set_variables()
    command, own = arguments[:1], arguments[1:]
    if command not in (["serve"], ["config"]):
        given = parser.parse_args(arguments)
        if file.path and command != ["check"]:  # which reports all of them
            _check_keys(file)
        given.config_file, given.variables = file, variables
        return given
    parsed = parser.parse_args(arguments)
    file.check_keys(known_keys(parsed))
    _check_values(file, own)
    given = parser.parse_args([*command, *file.words(own, parsed), *own])
    given.folders = given.folders or file.folders()
    given.config_file, given.variables, given.command_line = file, variables, own
    return given


def _check_keys(file: ConfigFile) -> None:
    """Refuse unknown keys: a mistyped ``database`` would be a catalogue elsewhere."""
    from mapshelf.cli.settings_check import keys_of_serve  # noqa: PLC0415 - imports all of serve

    file.check_keys(keys_of_serve())


def _check_values(file: ConfigFile, command_line: list[str]) -> None:
    from mapshelf.cli.settings_check import check_values  # noqa: PLC0415 - imports all of serve

    check_values(file, command_line)


class _Version(argparse.Action):
    """Shows the version. Reading it takes time, which other commands need not spend."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata  # noqa: PLC0415

        print(f"mapshelf {metadata.version('mapshelf')}")
        parser.exit()
