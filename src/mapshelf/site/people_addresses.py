"""Build the URLs of personal pages, and check the URLs to return to after signing in."""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote, unquote, urlencode

from mapshelf.api.http import Request

_PATH: Final = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*", re.ASCII)
"""A path with an optional query, as browsers send it.

It must not start with two slashes, after which browsers expect a host name. Backslashes are not
allowed, because browsers treat them as slashes.
"""

_STRAY_PERCENT: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
"""A percent sign that starts no escape sequence; parsers of query strings take it literally."""

LONGEST_RETURN: Final = 2000
"""Maximum length of a URL to return to after signing in, in characters."""


class PeopleAddresses:
    """Builds the URLs of personal pages; see ``Addresses.people``."""

    def __init__(self, root: str) -> None:
        """Build URLs with paths that start with ``root``."""
        self._root = root

    def account(self, page: str = "") -> str:
        """Return the URL of the account page, or of a page below it such as ``tokens``."""
        return f"{self._root}/account" + (f"/{page}" if page else "")

    def report(self, public_id: str) -> str:
        """Return the URL of the page for reporting a map."""
        return f"{self._root}/report/{public_id}"

    def own_maps(self, given: Mapping[str, str]) -> str:
        """Return the URL of the list of the user's own maps with these parameters."""
        return self.account("maps") + (f"?{urlencode(given)}" if given else "")

    def publish(self) -> str:
        """Return the URL of the page for uploading files to publish."""
        return f"{self._root}/publish"

    def uploads(self, public_ids: Sequence[str], *, published: bool = False) -> str:
        """Return the URL of the preview of uploaded maps, or of the page after publishing them."""
        page = "published" if published else "preview"
        return f"{self.publish()}/{page}?{urlencode({'maps': ','.join(public_ids)}, safe=',')}"

    def register(self) -> str:
        """Return the URL of the registration page, which exists if registration is open."""
        return f"{self._root}/register"

    def of(self, request: Request) -> str:
        """Return the URL of a request, without scheme and host."""
        address = self._root + quote(request.path, safe="/:@!$&'()*+,;=~")
        query = quoted_query(request.query_string)
        return f"{address}?{query}" if query else address

    def sign_in(self, returning: str = "") -> str:
        """Return the URL of the sign-in page.

        After signing in, the browser returns to ``returning`` if that is a URL of this site.
        """
        own = self.own(returning)
        return f"{self._root}/signin" + (f"?{urlencode({'next': own})}" if own else "")

    def after(self, returning: str) -> str:
        """Return the URL to go to after signing in.

        This is ``returning`` if that is a URL of this site, otherwise the library.
        """
        return self.own(returning) or f"{self._root}/"

    def by_provider(self, returning: str) -> str:
        """Return the URL that starts signing in with the OpenID provider; see ``sign_in``."""
        own = self.own(returning)
        return f"{self._root}/signin/provider" + (f"?{urlencode({'next': own})}" if own else "")

    def own(self, address: str) -> str:
        """Return ``address``, which is untrusted; empty unless it is a path on this site.

        The paths below ``/signin`` would begin another sign-in, again and again.
        """
        if len(address) > LONGEST_RETURN or not _PATH.fullmatch(address):
            return ""
        path = unquote(address.partition("?")[0])
        if not path.startswith(f"{self._root}/") or {".", ".."} & set(path.split("/")):
            return ""
        if path.startswith(f"{self._root}/signin/"):
            return ""
        return address

    def collect(self, public_ids: Sequence[str]) -> str:
        """Return the URL of the page for adding maps to a collection."""
        return f"{self._root}/collect?{urlencode([('map', one) for one in public_ids])}"

    def tag(self, public_ids: Sequence[str]) -> str:
        """Return the URL of the page for tagging several maps."""
        return f"{self._root}/tag?{urlencode([('map', one) for one in public_ids])}"

    def save_search(self, given: Mapping[str, str]) -> str:
        """Return the URL of the page for saving a search with these list parameters."""
        return self.account("searches") + f"?{urlencode(given)}"


def quoted_query(query_string: bytes) -> str:
    """Return an equivalent query string with only the characters of RFC 3986, section 3.4.

    Clients may send any bytes, some of which would end the header that the result is used in.
    """
    return quote(_STRAY_PERCENT.sub(b"%25", query_string), safe="%!$&'()*+,;=:@/?")
