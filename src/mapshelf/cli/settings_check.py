"""What ``serve`` would refuse in the configuration file and the environment, for ``check``.

The options on the command line of ``serve`` are unknown here.
"""

import argparse
from pathlib import Path
from typing import NoReturn

from mapshelf.cli import serve
from mapshelf.cli.config_file import ConfigFile, known_keys
from mapshelf.errors import InvalidSetting


def faults_of_settings(file: ConfigFile, data: Path, database: str) -> list[str]:
    """Return all unknown keys, and the first other fault that ``serve`` would report."""
    parser = _RaisingParser(prog="mapshelf serve")
    serve.define(parser)
    known = known_keys(parser.parse_args([]))
    faults = file.faults_of_keys(known)
    sound = ConfigFile(file.path, {key: file.values[key] for key in file.values if key in known})
    try:
        given = parser.parse_args(sound.words([]))
        given.data, given.database, given.folders = data, database, sound.folders()
        serve.checked_options(given)
    except InvalidSetting as error:
        faults.append(str(error))
    return faults


class _RaisingParser(argparse.ArgumentParser):
    """Raises an error of ours, where argparse would end the process."""

    def error(self, message: str) -> NoReturn:
        raise InvalidSetting(message)
