"""The addresses of pages about people, and where people return to after signing in."""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote, unquote, urlencode

from mapshelf.api.http import Request
from mapshelf.site.responses import quoted_query

_PATH: Final = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*", re.ASCII)
"""A path with a query, as browsers send it. Two slashes would begin the name of a host, and
browsers take a backslash for a slash."""

LONGEST_RETURN: Final = 2000
"""Most characters of an address to return to after signing in."""


class PeopleAddresses:
    """The addresses of pages about people; see ``Addresses.people``."""

    def __init__(self, root: str) -> None:
        """Make addresses whose paths begin with ``root``."""
        self._root = root

    def account(self, page: str = "") -> str:
        """Return a page of one's account: the first, or one such as ``tokens``."""
        return f"{self._root}/account" + (f"/{page}" if page else "")

    def report(self, public_id: str) -> str:
        """Return where a map is reported."""
        return f"{self._root}/report/{public_id}"

    def own_maps(self, given: Mapping[str, str]) -> str:
        """Return the list of one's own maps that these parameters select."""
        return self.account("maps") + (f"?{urlencode(given)}" if given else "")

    def publish(self) -> str:
        """Return where people choose files to publish."""
        return f"{self._root}/publish"

    def uploads(self, public_ids: Sequence[str], *, published: bool = False) -> str:
        """Return where uploaded maps are looked at before they are published, or afterwards."""
        page = "published" if published else "preview"
        return f"{self.publish()}/{page}?{urlencode({'maps': ','.join(public_ids)}, safe=',')}"

    def register(self) -> str:
        """Return where anybody registers, if that is open."""
        return f"{self._root}/register"

    def of(self, request: Request) -> str:
        """Return the address of a request."""
        address = self._root + quote(request.path, safe="/:@!$&'()*+,;=~")
        query = quoted_query(request.query_string)
        return f"{address}?{query}" if query else address

    def sign_in(self, returning: str = "") -> str:
        """Return where to sign in; afterwards one returns to one of our addresses, if given."""
        own = self.own(returning)
        return f"{self._root}/signin" + (f"?{urlencode({'next': own})}" if own else "")

    def after(self, returning: str) -> str:
        """Return where to go after signing in: an address of ours if given, or else the library."""
        return self.own(returning) or f"{self._root}/"

    def by_provider(self, returning: str) -> str:
        """Return where signing in by the OpenID provider begins; see ``sign_in``."""
        own = self.own(returning)
        return f"{self._root}/signin/provider" + (f"?{urlencode({'next': own})}" if own else "")

    def own(self, address: str) -> str:
        """Return an address that somebody gave us, empty if it may lead away from here."""
        if len(address) > LONGEST_RETURN or not _PATH.fullmatch(address):
            return ""
        path = unquote(address.partition("?")[0])
        if not path.startswith(f"{self._root}/") or {".", ".."} & set(path.split("/")):
            return ""
        return address

    def collect(self, public_ids: Sequence[str]) -> str:
        """Return where somebody puts maps into a collection."""
        return f"{self._root}/collect?{urlencode([('map', one) for one in public_ids])}"

    def tag(self, public_ids: Sequence[str]) -> str:
        """Return where somebody tags several maps."""
        return f"{self._root}/tag?{urlencode([('map', one) for one in public_ids])}"

    def save_search(self, given: Mapping[str, str]) -> str:
        """Return where somebody saves the search that these parameters of a list make."""
        return self.account("searches") + f"?{urlencode(given)}"
