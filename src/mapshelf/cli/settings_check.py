"""What ``serve`` would refuse in the configuration file and the environment.

``serve`` itself checks the values in the file first, because errors of the command line do not say
that a value comes from a file. ``check`` does not know the command line of ``serve``.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from mapshelf.cli import serve
from mapshelf.cli.config_file import ConfigFile, known_keys
from mapshelf.errors import InvalidSetting


def faults_of_settings(file: ConfigFile, data: Path, database: str) -> list[str]:
    """Return all unknown keys, and the first other fault that ``serve`` would report."""
    known = keys_of_serve()
    faults = file.faults_of_keys(known)
    sound = ConfigFile(file.path, {key: file.values[key] for key in file.values if key in known})
    try:
        given = check_values(sound)
        given.data, given.database, given.folders = data, database, sound.folders()
        serve.checked_options(given)
    except InvalidSetting as error:
        faults.append(str(error))
    return faults


def keys_of_serve() -> set[str]:
    """Return the keys that a configuration file may have."""
    return known_keys(_parser().parse_args([]))


def check_values(file: ConfigFile, command_line: Sequence[str] = ()) -> argparse.Namespace:
    """Parse the options in a file whose keys are known, except those on the command line.

    Raises:
        InvalidSetting: a value is wrong; the message names the file.
    """
    parser = _parser()
    defaults = parser.parse_args([])
    file.check_types(defaults)
    words = file.words(command_line, defaults)
    try:
        return parser.parse_args(words)
    except InvalidSetting as error:
        raise InvalidSetting(f"{file.path}: {error}") from error


def _parser() -> argparse.ArgumentParser:
    parser = _RaisingParser(prog="mapshelf serve")
    serve.define(parser)
    return parser


class _RaisingParser(argparse.ArgumentParser):
    """Raises an error of ours, where argparse would end the process."""

    def error(self, message: str) -> NoReturn:
        raise InvalidSetting(message)
