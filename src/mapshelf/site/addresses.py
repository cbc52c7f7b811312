"""Where everything on the pages is: the one place that puts addresses together.

Links on pages have no host, so that they work under any name the service is reached by; what other
people's programs get (feeds, previews, embeds) has the configured one. Each list has one address,
whichever way it was found: that of an owner is ``/owners/…``, not ``/?owner=…``.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from mapshelf.snapshot.format.records import slug

SAFE_SCHEMES: Final = frozenset({"http", "https", "mailto"})
"""Of links in maps that can be followed; all others are shown as text."""


class Addresses:
    """The addresses of one installation."""

    def __init__(self, base_url: str) -> None:
        self.base_url: Final = base_url
        self.root: Final = urlsplit(base_url).path
        """What comes before every path."""

    def absolute(self, address: str) -> str:
        """Return an address of ours for use anywhere."""
        return self.base_url + address.removeprefix(self.root)

    def map(self, public_id: str, title: str) -> str:
        """Return the page of a map."""
        return f"{self.root}/mindmaps/{public_id}/{quote(slug(title))}"

    def topic(self, public_id: str, title: str, topic_id: str) -> str:
        """Return the page of a map, opened at a topic."""
        return f"{self.map(public_id, title)}#t={quote(topic_id)}"

    def thumbnail(self, public_id: str, width: int, kind: str = "png", theme: str = "") -> str:
        """Return a picture of a map."""
        colours = f"&theme={theme}" if theme else ""
        return f"{self.root}/thumbnails/{public_id}.{kind}?w={width}{colours}"

    def carried(self, public_id: str, width: int) -> str:
        """Return the picture that the file of a map carries."""
        return f"{self.root}/thumbnails/{public_id}.png?source=file&w={width}"

    def drawing(self, public_id: str) -> str:
        """Return what the script draws a map from."""
        return f"{self.root}/site/maps/{public_id}.json"

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
        # A path of dots alone would be taken for a way up.
        if "owner" in rest and rest["owner"].strip("."):
            return f"/owners/{quote(rest.pop('owner'), safe='')}", rest
        if "category" in rest:
            return f"/categories/{rest.pop('category')}", rest
        return "/", rest


def safe_link(link: str) -> str | None:
    """Return a link of a map if it leads to a page or a mailbox, ``None`` if it must not be one."""
    # Browsers leave out these characters wherever they stand, so "java\nscript:" is a scheme too.
    plain = "".join(character for character in link if character.isprintable()).strip()
    scheme, colon, rest = plain.partition(":")
    if not colon or scheme.lower() not in SAFE_SCHEMES or not rest.strip("/"):
        return None
    return plain
