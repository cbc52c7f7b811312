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

from mapshelf.cli.home_folders import expanded
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

_MOST_BITS: Final = 64
"""Bits of the largest numbers of TOML, with a sign."""


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

    def words(self, given: Sequence[str], parsed: argparse.Namespace) -> list[str]:
        """Return the options in the file as arguments, except those on the command line.

        Args:
            given: the command line.
            parsed: the same, parsed. Only this shows that a repeatable option is given under an
                abbreviated name; of other options, the last one counts anyway.

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
            elif (already := _given(parsed, key)) and isinstance(already, list):
                continue
            elif not any(word == option or word.startswith(f"{option}=") for word in given):
                words += [f"{option}={text}" for text in self._texts(key)]
        return words

    def folders(self) -> list[Path]:
        """Return the folders to serve.

        Raises:
            InvalidSetting: a value is not a string, is empty, or names the home of an unknown user.
        """
        names = list(self._texts(FOLDERS))
        if "" in names:
            raise InvalidSetting(f"{self.path}: a path in {FOLDERS} is empty")
        return [expanded(Path(name)) for name in names]

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

    def check_types(self, parsed: argparse.Namespace) -> None:
        """Check that each value has the type of its option, as in ``parsed`` options of ``serve``.

        Raises:
            InvalidSetting: a value has another type.
        """
        for key, value in self.values.items():
            kind = _given(parsed, key)
            if isinstance(kind, bool) and not isinstance(value, bool):
                raise InvalidSetting(f"{self.path}: {key} must be true or false")
            if isinstance(value, bool) and not isinstance(kind, bool):
                raise InvalidSetting(f"{self.path}: {key} needs a value, not true or false")
            if isinstance(value, list) and not isinstance(kind, list):
                raise InvalidSetting(f"{self.path}: {key} must be one value, not a list")

    def _texts(self, key: str) -> Iterator[str]:
        value = self.values.get(key, [])
        if key in VARIABLES and not (isinstance(value, str) and value):
            raise InvalidSetting(f"{self.path}: {key} must be a non-empty string")
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, bool) or not isinstance(one, str | int):
                raise InvalidSetting(
                    f"{self.path}: {key} must be a string, a whole number or a list of these"
                )
            yield self._text(key, one)

    def _text(self, key: str, value: str | int) -> str:
        # A number in hexadecimal may be too long for Python to write it in decimal.
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise InvalidSetting(f"{self.path}: {key} is too large a number")
        text = str(value)
        if "\0" in text:  # no argument, variable or path can contain it
            raise InvalidSetting(f"{self.path}: {key} must not contain a NUL character")
        return text


def _given(parsed: argparse.Namespace, key: str) -> object:
    return getattr(parsed, key.replace("-", "_"))


def known_keys(given: argparse.Namespace) -> set[str]:
    """Return the keys that the file may have, from parsed options of ``serve``."""
    return {name.replace("_", "-") for name in vars(given).keys() - {"run", "version", "config"}}


def find_config(arguments: Sequence[str]) -> ConfigFile:
    """Return the file that the command line or the environment names, or an empty one.

    This searches the command line before it is parsed, because the file adds arguments to it.

    Raises:
        InvalidSetting: its name is empty, it cannot be read, or it is not TOML.
    """
    found = os.environ.get(VARIABLE) or ""
    for place, word in enumerate(arguments):
        if word == "--":
            break
        name, separate, value = word.partition("=")
        # argparse accepts an abbreviated name, too, unless it is ambiguous.
        if len(name) > len("--") and _OPTION.startswith(name):
            found = value if separate else "".join(arguments[place + 1 : place + 2])
            if not found and (separate or arguments[place + 1 :]):
                raise InvalidSetting("the name of the configuration file is empty")
    if not found:
        return ConfigFile()
    path = Path(found)
    try:
        return ConfigFile(path, tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        raise InvalidSetting(f"{path}: {error.strerror}") from error
    except ValueError as error:  # not UTF-8, not TOML, or a number with thousands of digits
        raise InvalidSetting(f"{path} is not TOML: {error}") from error
    except RecursionError as error:
        raise InvalidSetting(f"{path} is not TOML: its values are nested too deeply") from error
