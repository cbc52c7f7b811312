"""Load templates, and cache the compiled ones in memory and in ``__pycache__``.

Compiling the templates takes a third of a second, which every worker would otherwise spend at
startup. The cache files are in ``__pycache__``, so they are as trusted as Python's own bytecode. If
the folder is not writable, each process compiles the templates itself.
"""

import os
import pickle
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from threading import get_ident
from types import CodeType
from typing import Final

from jinja2 import BytecodeCache, Environment, PackageLoader
from jinja2.bccache import Bucket
from markupsafe import escape

from mapshelf.site.messages import ENGLISH

_UNREADABLE: Final = (OSError, EOFError, ValueError, TypeError, pickle.UnpicklingError)

_FIXED: Final = re.compile(r'\{\{ say\("([^"]+)"\) \}\}')
"""A message without values. A page has fifty of them: to look up and escape each of them again for
every page would take a tenth of the time to render a template."""


class TemplateLoader(PackageLoader):
    """The templates of the package, with their fixed messages already written in."""

    def __init__(self) -> None:
        super().__init__("mapshelf.site")

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool] | None]:
        """Return the source of a template, in which ``{{ say("key") }}`` is that message."""
        source, path, is_current = super().get_source(environment, template)
        return _FIXED.sub(_written, source), path, is_current


def _written(call: re.Match[str]) -> str:
    text = ENGLISH.get(call[1], "{")
    return call[0] if "{" in text else str(escape(text))


class CompiledTemplates(BytecodeCache):
    """Compiled templates in memory, and in the files of ``folder``."""

    def __init__(self, folder: Path) -> None:
        """Use ``folder`` for the files."""
        self._folder = folder
        self._made_by = f"{sys.implementation.cache_tag}-{version('jinja2')}"
        self._code: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the bytecode of a template, if cached and its source is unchanged."""
        place = self._name(bucket), bucket.checksum
        if place not in self._code:
            with suppress(*_UNREADABLE), (self._folder / self._name(bucket)).open("rb") as file:
                bucket.load_bytecode(file)
            if bucket.code is None:
                return
            self._code[place] = bucket.code
        bucket.code = self._code[place]

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store the bytecode of a compiled template."""
        assert bucket.code is not None
        self._code[self._name(bucket), bucket.checksum] = bucket.code
        if not sys.dont_write_bytecode:
            with suppress(OSError):  # a folder that cannot be written, a full disk
                self._write(bucket)

    def _write(self, bucket: Bucket) -> None:
        self._folder.mkdir(exist_ok=True)
        name = self._name(bucket)
        unfinished = self._folder / f"{name}.{os.getpid()}-{get_ident()}.unfinished"
        try:
            with unfinished.open("wb") as file:
                bucket.write_bytecode(file)
            unfinished.replace(self._folder / name)  # atomic
        finally:
            unfinished.unlink(missing_ok=True)

    def _name(self, bucket: Bucket) -> str:
        """Return the name of a cache file, which depends on versions and options."""
        options = bucket.environment.trim_blocks, bucket.environment.lstrip_blocks
        written = "".join("01"[option] for option in options)
        return f"{bucket.key}.{self._made_by}-{written}.template"


@cache
def compiled_templates() -> CompiledTemplates:
    """Return the bytecode cache of this process."""
    return CompiledTemplates(Path(cache_from_source(__file__)).parent)
