"""The configuration file: options of ``mapshelf serve`` in a file instead of on the command line.

A key is an option without its dashes (``base-url = "https://maps.example.org"``), and ``folders``
lists the folders to serve. The file is turned into arguments of the command line, so both accept
the same values and give the same errors. The environment overrides the file, and the command line
overrides both.
"""

import argparse
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mapshelf.errors import InvalidSetting

VARIABLE: Final = "MAPSHELF_CONFIG"

VARIABLES: Final = {
    "data": "MAPSHELF_DATA",
    "database": "MAPSHELF_DATABASE",
    "base-url": "MAPSHELF_BASE_URL",
}
"""Options that can also be set as variables: in the file, these apply to every command."""

FOLDERS: Final = "folders"
_OPTION: Final = "--config"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A configuration file.

    Attributes:
        path: where the file is; ``None`` without a file.
        values: its values by key.
    """

    path: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def set_variables(self) -> None:
        """Set the environment variables that are not set yet.

        Raises:
            InvalidSetting: a value is not a string.
        """
        for key, variable in VARIABLES.items():
            # An empty variable counts as unset everywhere.
            if key in self.values and not os.environ.get(variable):
                (os.environ[variable],) = self._texts(key)

    def words(self, given: Sequence[str]) -> list[str]:
        """Return the options in the file as arguments, except those in ``given``, the command line.

        Raises:
            InvalidSetting: a value has a type that no option has.
        """
        words: list[str] = []
        for key, value in self.values.items():
            option = f"--{key}"
            if key in VARIABLES or key == FOLDERS:
                continue
            if isinstance(value, bool):
                words += [option] if value else []
            elif not any(word == option or word.startswith(f"{option}=") for word in given):
                words += [f"{option}={text}" for text in self._texts(key)]
        return words

    def folders(self) -> list[Path]:
        """Return the folders to serve.

        Raises:
            InvalidSetting: a value is not a string.
        """
        return [Path(text).expanduser() for text in self._texts(FOLDERS)]

    def check_keys(self, known: set[str]) -> None:
        """Check that all keys are in ``known``.

        Raises:
            InvalidSetting: a key is not in it.
        """
        for fault in self.faults_of_keys(known):
            raise InvalidSetting(fault)

    def faults_of_keys(self, known: set[str]) -> list[str]:
        """Return a message for each key that is none of ``known``."""
        unknown = (key for key in self.values if key not in known)
        return [f"{self.path}: there is no option {key!r}" for key in unknown]

    def _texts(self, key: str) -> Iterator[str]:
        value = self.values.get(key, [])
        if key in VARIABLES and not (isinstance(value, str) and value):
            raise InvalidSetting(f"{self.path}: {key} must be a non-empty string")
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, bool) or not isinstance(one, str | int):
                raise InvalidSetting(
                    f"{self.path}: {key} must be a string, a whole number or a list of these"
                )
            yield str(one)


def known_keys(given: argparse.Namespace) -> set[str]:
    """Return the keys that the file may have, from parsed options of ``serve``."""
    return {name.replace("_", "-") for name in vars(given).keys() - {"run", "version", "config"}}


def find_config(arguments: Sequence[str]) -> ConfigFile:
    """Return the file that the command line or the environment names, or an empty one.

    This searches the command line before it is parsed, because the file adds arguments to it.

    Raises:
        InvalidSetting: the file cannot be read, or is not TOML.
    """
    found = os.environ.get(VARIABLE) or ""
    for place, word in enumerate(arguments):
        if word == "--":
            break
        if word == _OPTION:
            found = "".join(arguments[place + 1 : place + 2])
        elif word.startswith(f"{_OPTION}="):
            found = word.removeprefix(f"{_OPTION}=")
    if not found:
        return ConfigFile()
    path = Path(found)
    try:
        return ConfigFile(path, tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        raise InvalidSetting(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidSetting(f"{path} is not TOML: {error}") from error
