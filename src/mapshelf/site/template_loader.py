"""Load templates with their fixed messages already written in.

A page has fifty messages without values. Looking up and escaping each of them again for every page
would take a tenth of the time to render a template.
"""

import re
from collections.abc import Callable
from typing import Final

from jinja2 import Environment, PackageLoader
from markupsafe import escape

from mapshelf.site.messages import ENGLISH

_FIXED: Final = re.compile(r'\{\{ say\("([^"]+)"\) \}\}')


class TemplateLoader(PackageLoader):
    """The templates of the package, as ``environment`` compiles them."""

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
