"""Build all URLs on pages, together with ``people_addresses.py``.

Links on pages have no host, so that they work under any host name of the service. URLs for other
programs (feeds, link previews, embeds) use the configured base URL. Each list has one canonical
URL: that of an owner is ``/owners/…``, not ``/?owner=…``.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import quote, quote_plus, urlsplit

from mapshelf.site.people_addresses import PeopleAddresses
from mapshelf.snapshot.format.records import slug

SAFE_SCHEMES: Final = frozenset({"http", "https", "mailto"})
"""URL schemes that links in maps may use; other links are shown as text."""

MOST_NAMES: Final = 2048
"""Maximum number of cached names in paths, and of cached parameters."""

LONGEST_CACHED: Final = 64
"""Maximum length of a cached name or parameter in characters, so that the caches stay small."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_.~/ -]*")
"""Values in which only slashes and spaces need quoting."""


class Addresses:
    """Builds the URLs of one installation.

    Attributes:
        people: URLs of pages about users or for signed-in users.
    """

    def __init__(self, base_url: str) -> None:
        self.base_url: Final = base_url
        self.root: Final = urlsplit(base_url).path
        """The prefix of every path."""
        self.people: Final = PeopleAddresses(self.root)

    def absolute(self, address: str) -> str:
        """Return the absolute URL of a path, by adding the base URL."""
        return self.base_url + address.removeprefix(self.root)

    def map(self, public_id: str, title: str) -> str:
        """Return the URL of the page of a map."""
        words = slug(title)  # letters, digits and hyphens
        return f"{self.root}/mindmaps/{public_id}/{words if words.isascii() else quote(words)}"

    def of_map(self, public_id: str, title: str, page: str) -> str:
        """Return the URL of a page below that of a map, such as ``edit``."""
        return f"{self.map(public_id, title)}/{page}"

    def topic(self, public_id: str, title: str, topic_id: str) -> str:
        """Return the URL of the page of a map, with the topic as fragment if an id is given."""
        return self.map(public_id, title) + (f"#t={quote(topic_id)}" if topic_id else "")

    def thumbnail(self, public_id: str, width: int, kind: str = "png", theme: str = "") -> str:
        """Return the URL of a thumbnail of a map."""
        colours = f"&theme={theme}" if theme else ""
        return f"{self.root}/thumbnails/{public_id}.{kind}?w={width}{colours}"

    def preview(self, public_id: str, width: int) -> str:
        """Return the URL of the preview picture that the file of a map contains."""
        return f"{self.root}/thumbnails/{public_id}.png?source=file&w={width}"

    def drawing(self, public_id: str, drawing_format: str) -> str:
        """Return the URL of the drawing of a whole map."""
        return f"{self.root}/maps/{public_id}/drawing.{drawing_format}"

    def map_data(self, public_id: str) -> str:
        """Return the URL of the data from which the script draws a map."""
        return f"{self.root}/site/maps/{public_id}.json"

    def images(self, public_id: str) -> str:
        """Return the base URL of the images in the topics of a map; each digest is appended."""
        return f"{self.root}/maps/{public_id}/images"

    def library(self, given: Mapping[str, str], offset: int = 0) -> str:
        """Return the URL of the list of maps with these parameters of ``GET /maps``."""
        place, rest = self._place(given)
        if offset:
            rest["offset"] = str(offset)
        return self.root + place + (f"?{_encoded(rest)}" if rest else "")

    def list_of(self, name: str, value: str) -> str:
        """Return the URL of the list of maps with one parameter, faster than ``library``."""
        if name == "owner" and _may_be_in_path(value):
            return f"{self.root}/owners/{_in_path(value)}"
        if name == "category":
            return f"{self.root}/categories/{value}"
        return f"{self.root}/?{name}={_quoted(value)}"

    def narrowed(self, given: Mapping[str, str], name: str) -> Callable[[str], str]:
        """Return a function that builds the URL of a list for each value of parameter ``name``.

        The URLs equal those of ``library``. A page has a hundred such links that differ only in
        the value, so only the value is quoted for each.
        """
        # No parameter contains NUL, so it serves as a placeholder that is quoted like any value.
        whole = self.library({**given, name: "\0"})
        hole = "%00" if "%00" in whole else "\0"
        before, _, after = whole.partition(hole)
        in_path = "?" not in before
        if name == "owner" and in_path:
            return lambda value: (
                f"{before}{_in_path(value)}{after}"
                if _may_be_in_path(value)
                else self.library({**given, name: value})
            )
        if in_path:  # a category
            return lambda value: f"{before}{value}{after}"
        return lambda value: f"{before}{_quoted(value)}{after}"

    def feed(self, given: Mapping[str, str]) -> str:
        """Return the URL of the feed of a list."""
        return f"{self.root}/feed.atom" + (f"?{_encoded(given)}" if given else "")

    def collections(self, given: Mapping[str, str]) -> str:
        """Return the URL of the list of published collections with these parameters."""
        return f"{self.root}/collected" + (f"?{_encoded(given)}" if given else "")

    def collection(self, public_id: str, title: str) -> str:
        """Return the URL of the page of a collection."""
        return f"{self.root}/collected/{public_id}/{quote(slug(title))}"

    def collection_feed(self, public_id: str) -> str:
        """Return the URL of the feed of a collection; it does not depend on the title."""
        return f"{self.root}/collected/{public_id}/feed.atom"

    def saved_feed(self, public_id: str) -> str:
        """Return the URL of the feed of a saved search; it does not depend on the name."""
        return f"{self.root}/saved/{public_id}/feed.atom"

    def folders(self, below: str = "", offset: int = 0) -> str:
        """Return the URL of the page of all direct subfolders of a folder."""
        given = {
            **({"below": below} if below else {}),
            **({"offset": str(offset)} if offset else {}),
        }
        return f"{self.root}/browse/folders" + (f"?{_encoded(given)}" if given else "")

    def collection_picture(self, public_id: str, width: int, theme: str = "") -> str:
        """Return the URL of the picture of a collection."""
        colours = f"&theme={theme}" if theme else ""
        return f"{self.root}/collections/{public_id}/picture.png?w={width}{colours}"

    def oembed(self, page: str) -> str:
        """Return the oEmbed URL of a page."""
        return f"{self.base_url}/oembed?{_encoded({'url': page, 'format': 'json'})}"

    @staticmethod
    def _place(given: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        rest = dict(given)
        if "owner" in rest and _may_be_in_path(rest["owner"]):
            return f"/owners/{_in_path(rest.pop('owner'))}", rest
        if "category" in rest:
            return f"/categories/{rest.pop('category')}", rest
        return "/", rest


def _encoded(given: Mapping[str, str]) -> str:
    """Return parameters as a query string, like ``urllib.parse.urlencode``."""
    return "&".join(
        [
            _known_pair(name, value) if len(value) <= LONGEST_CACHED else _pair(name, value)
            for name, value in given.items()
        ]
    )


def _may_be_in_path(value: str) -> bool:
    """Return whether a value can be a path segment: one has no slash, and ``..`` would go up."""
    return "/" not in value and bool(value.strip("."))


def _quoted(value: str) -> str:
    """Quote the value of a parameter like ``quote_plus``, but simple values twice as fast."""
    if _PLAIN.fullmatch(value):
        return value.replace("/", "%2F").replace(" ", "+")
    return quote_plus(value)


def _pair(name: str, value: str) -> str:
    return f"{_quoted(name)}={_quoted(value)}"


_known_pair = lru_cache(MOST_NAMES)(_pair)
"""``_pair`` with a cache: the links of a page differ in one parameter at most."""


def _in_path(name: str) -> str:
    """Quote a name as a path segment; cached because most pages show the same few owners."""
    return _known_segment(name) if len(name) <= LONGEST_CACHED else _segment(name)


def _segment(name: str) -> str:
    return quote(name, safe="")


_known_segment = lru_cache(MOST_NAMES)(_segment)


def safe_link(link: str) -> str | None:
    """Return a link in a map if its scheme is safe, otherwise ``None``."""
    # Browsers ignore these characters everywhere, so "java\nscript:" is a scheme too.
    plain = "".join(character for character in link if character.isprintable()).strip()
    scheme, colon, rest = plain.partition(":")
    if not colon or scheme.lower() not in SAFE_SCHEMES or not rest.strip("/"):
        return None
    return plain
