"""All addresses on pages are made here.

Links on pages have no host, so that they work under any host name of the service. Addresses for
other programs (feeds, link previews, embeds) have the configured base URL. Each list has one
canonical address: that of an owner is ``/owners/…``, not ``/?owner=…``.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from mapshelf.snapshot.format.records import slug

SAFE_SCHEMES: Final = frozenset({"http", "https", "mailto"})
"""Schemes of links in maps that can be followed; other links are shown as text."""


class Addresses:
    """The addresses of one installation."""

    def __init__(self, base_url: str) -> None:
        self.base_url: Final = base_url
        self.root: Final = urlsplit(base_url).path
        """The prefix of every path."""

    def absolute(self, address: str) -> str:
        """Return one of our addresses with the base URL."""
        return self.base_url + address.removeprefix(self.root)

    def map(self, public_id: str, title: str) -> str:
        """Return the page of a map."""
        return f"{self.root}/mindmaps/{public_id}/{quote(slug(title))}"

    def topic(self, public_id: str, title: str, topic_id: str) -> str:
        """Return the page of a map, opened at a topic if there is one."""
        return self.map(public_id, title) + (f"#t={quote(topic_id)}" if topic_id else "")

    def thumbnail(self, public_id: str, width: int, kind: str = "png", theme: str = "") -> str:
        """Return a picture of a map."""
        colours = f"&theme={theme}" if theme else ""
        return f"{self.root}/thumbnails/{public_id}.{kind}?w={width}{colours}"

    def preview(self, public_id: str, width: int) -> str:
        """Return the preview in the file of a map."""
        return f"{self.root}/thumbnails/{public_id}.png?source=file&w={width}"

    def map_data(self, public_id: str) -> str:
        """Return the data from which the script draws a map."""
        return f"{self.root}/site/maps/{public_id}.json"

    def images(self, public_id: str) -> str:
        """Return where the pictures in the topics of a map are, each by its digest."""
        return f"{self.root}/maps/{public_id}/images"

    def library(self, given: Mapping[str, str], offset: int = 0) -> str:
        """Return the list of maps that these parameters of ``GET /maps`` select."""
        place, rest = self._place(given)
        if offset:
            rest["offset"] = str(offset)
        return self.root + place + (f"?{urlencode(rest)}" if rest else "")

    def feed(self, given: Mapping[str, str]) -> str:
        """Return the feed of a list."""
        return f"{self.root}/feed.atom" + (f"?{urlencode(given)}" if given else "")

    def oembed(self, page: str) -> str:
        """Return what describes how to embed a page."""
        return f"{self.base_url}/oembed?{urlencode({'url': page, 'format': 'json'})}"

    @staticmethod
    def _place(given: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        rest = dict(given)
        # A path of dots alone would mean a parent folder.
        if "owner" in rest and rest["owner"].strip("."):
            return f"/owners/{quote(rest.pop('owner'), safe='')}", rest
        if "category" in rest:
            return f"/categories/{rest.pop('category')}", rest
        return "/", rest


def safe_link(link: str) -> str | None:
    """Return a link of a map if it leads to a page or a mailbox, ``None`` if it must not be one."""
    # Browsers ignore these characters everywhere, so "java\nscript:" is a scheme too.
    plain = "".join(character for character in link if character.isprintable()).strip()
    scheme, colon, rest = plain.partition(":")
    if not colon or scheme.lower() not in SAFE_SCHEMES or not rest.strip("/"):
        return None
    return plain
