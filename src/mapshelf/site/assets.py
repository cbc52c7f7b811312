"""Serve static files: style sheets, scripts, icon and fonts.

Their URLs contain a digest of all files. So browsers can cache them for a year and still load new
files with the first page of a new version. The fonts are those of ``render``, so text on the page
of a map fits its measured boxes. The API reference uses two files of Swagger UI.
"""

from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import xxhash

from mapshelf.api.compression import also_compressed
from mapshelf.api.http import Response, body_response
from mapshelf.errors import NotFound
from mapshelf.render.fonts import FILES
from mapshelf.site.responses import FRESH

_MEDIA_TYPES: Final = {
    "css": b"text/css; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "svg": b"image/svg+xml",
    "ttf": b"font/ttf",
}
_FOREVER: Final = (b"cache-control", b"public, max-age=31536000, immutable")
_HARMLESS: Final = (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'")

_FACES: Final = ("regular.ttf", "bold.ttf", "italic.ttf", "bold-italic.ttf")
"""The file names under which the font faces are served, in the order of ``FILES``."""

_VIEWER: Final = {"swagger.css": "swagger_style.css", "swagger.js": "swagger_bundle.js"}
"""Files of Swagger UI: the name under which each is served → its name in the package ``offapi``."""


@dataclass(frozen=True, slots=True)
class Assets:
    """All files by name, and the digest (``edition``) in their URLs."""

    bodies: dict[str, bytes]
    edition: str
    _made: dict[tuple[str, bool], Response] = field(default_factory=dict)

    def is_made(self, edition: str, name: str) -> bool:
        """Return whether the response for a file is already cached."""
        return (name, edition == self.edition) in self._made or name not in self.bodies

    def response(self, edition: str, name: str) -> Response:
        """Return a file. A URL with an old digest gets the current file, without long caching.

        Raises:
            NotFound: there is no such file.
        """
        if name not in self.bodies:
            raise NotFound("There is nothing at this address.")
        current = edition == self.edition
        made = self._made.get((name, current))
        if made is None:
            media_type = _MEDIA_TYPES[name.rpartition(".")[2]]
            caching = _FOREVER if current else FRESH
            made = body_response(200, media_type, self.bodies[name], (caching, _HARMLESS))
            made = self._made[name, current] = also_compressed(made)
        return made


def load_assets() -> Assets:
    """Read the files."""
    bodies = {
        entry.name: entry.read_bytes()
        for entry in files("mapshelf.site").joinpath("static").iterdir()
        if entry.name.rpartition(".")[2] in _MEDIA_TYPES
    }
    for name, path in zip(_FACES, FILES, strict=True):
        bodies[name] = Path(path).read_bytes()
    for name, path in _VIEWER.items():
        bodies[name] = (_viewer_folder() / path).read_bytes()
    digest = xxhash.xxh3_64(b"".join(bodies[name] for name in sorted(bodies)))
    return Assets(bodies, digest.hexdigest())


def _viewer_folder() -> Path:
    """Return the folder of Swagger UI, without importing its package, which renders templates."""
    spec = find_spec("offapi")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])
