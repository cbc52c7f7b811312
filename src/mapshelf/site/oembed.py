"""``GET /oembed``: how to embed a map in another site (oembed.com, version 1.0)."""

import re
from typing import Final
from urllib.parse import parse_qs, urlsplit

import orjson

from mapshelf.errors import InvalidParameter, NotFound
from mapshelf.site.addresses import Addresses
from mapshelf.site.cards import Card
from mapshelf.site.map_page import embed_code
from mapshelf.site.messages import say

WIDTH: Final = 800
HEIGHT: Final = 600
"""Pixels of an embedded map, unless the client asks for less."""

_MAP: Final = re.compile(r"/mindmaps/([^/]+)(?:/[^/]*)?")


def asked_map(query_string: bytes, addresses: Addresses) -> str:
    """Return the public id of the map to embed.

    Raises:
        NotFound: the address is not that of a map here.
        InvalidParameter: another format than JSON is asked for.
    """
    values = parse_qs(query_string.decode("utf-8", "replace"))
    if values.get("format", ["json"])[0] != "json":
        raise InvalidParameter("The format value must be json.")
    url = values.get("url", [""])[0]
    ours, asked = urlsplit(addresses.base_url), _split(url)
    found = _MAP.fullmatch(asked[1].removeprefix(ours.path))
    if asked[0].lower() != ours.netloc.lower() or not found:
        raise NotFound("There is no map at this address.")
    return found[1]


def description(card: Card, query_string: bytes, addresses: Addresses) -> bytes:
    """Return how to embed a map."""
    values = parse_qs(query_string.decode("utf-8", "replace"))
    width = _at_most(values.get("maxwidth"), WIDTH)
    height = _at_most(values.get("maxheight"), HEIGHT)
    html = embed_code(addresses.absolute(card.address), card.title)
    html = html.replace(f'width="{WIDTH}" height="{HEIGHT}"', f'width="{width}" height="{height}"')
    return orjson.dumps(
        {
            "version": "1.0",
            "type": "rich",
            "title": card.title,
            "author_name": card.owner,
            "author_url": addresses.absolute(card.owner_address),
            "provider_name": say("site"),
            "provider_url": addresses.base_url,
            "thumbnail_url": addresses.absolute(card.large),
            "thumbnail_width": 640,
            "thumbnail_height": 480,
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
