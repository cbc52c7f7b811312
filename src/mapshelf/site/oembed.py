"""Answer ``GET /oembed``: describe how other sites embed a map or a collection (oEmbed 1.0).

The specification is at oembed.com.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit

import orjson

from mapshelf.errors import InvalidParameter, NotFound
from mapshelf.site.addresses import Addresses
from mapshelf.site.map_page import embed_code
from mapshelf.site.messages import say

WIDTH: Final = 800
HEIGHT: Final = 600
"""The size of the embedded frame in pixels, unless the client asks for less."""

_PAGE: Final = re.compile(r"/(mindmaps|collected)/([^/]+)(?:/[^/]*)?")


@dataclass(frozen=True, slots=True)
class Embedded:
    """The object to embed.

    Attributes:
        title: its title.
        owner: the name of its owner.
        owner_address: the URL of the page of its owner.
        address: the URL of its page.
        picture: the URL of its picture.
        size: the width and height of the picture in pixels.
    """

    title: str
    owner: str
    owner_address: str
    address: str
    picture: str
    size: tuple[int, int] = (640, 480)


def asked_page(query_string: bytes, addresses: Addresses) -> tuple[str, str]:
    """Parse the page to embed: return its kind (``mindmaps`` or ``collected``) and its public ID.

    Raises:
        NotFound: the URL is not that of a map or a collection on this site.
        InvalidParameter: a format other than JSON is requested.
    """
    values = parse_qs(query_string.decode("utf-8", "replace"))
    if values.get("format", ["json"])[0] != "json":
        raise InvalidParameter("The format value must be json.")
    url = values.get("url", [""])[0]
    ours, asked = urlsplit(addresses.base_url), _split(url)
    found = _PAGE.fullmatch(asked[1].removeprefix(ours.path))
    if asked[0].lower() != ours.netloc.lower() or not found:
        raise NotFound("There is no map at this address.")
    return found[1], found[2]


def description(shown: Embedded, query_string: bytes, addresses: Addresses) -> bytes:
    """Return the oEmbed description of an object as JSON.

    Its size respects ``maxwidth`` and ``maxheight`` in the query string.
    """
    values = parse_qs(query_string.decode("utf-8", "replace"))
    width = _at_most(values.get("maxwidth"), WIDTH)
    height = _at_most(values.get("maxheight"), HEIGHT)
    html = embed_code(addresses.absolute(shown.address), shown.title)
    html = html.replace(f'width="{WIDTH}" height="{HEIGHT}"', f'width="{width}" height="{height}"')
    return orjson.dumps(
        {
            "version": "1.0",
            "type": "rich",
            "title": shown.title,
            "author_name": shown.owner,
            "author_url": addresses.absolute(shown.owner_address),
            "provider_name": say("site"),
            "provider_url": addresses.base_url,
            "thumbnail_url": addresses.absolute(shown.picture),
            "thumbnail_width": shown.size[0],
            "thumbnail_height": shown.size[1],
            "width": width,
            "height": height,
            "html": html,
        }
    )


def _split(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.netloc, parts.path


def _at_most(values: list[str] | None, usual: int) -> int:
    """Return ``usual``, or the client's maximum if that is less."""
    text = values[0] if values else ""
    digits = text.isascii() and text.isdigit() and 0 < len(text) < 6
    return max(1, min(usual, int(text))) if digits else usual
