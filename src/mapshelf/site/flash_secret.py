"""A flash message with a secret: shown once, on the page after the form that made it.

The form leads on to a page, as every form does, so that loading the page again makes nothing. What
was made goes along in a cookie, for a minute at most, and the page that shows it clears the cookie.
A page shows only what the store knows as its reader's: what is in a cookie may be anybody's.
"""

from typing import Final

from mapshelf.api.cookies import Cookie
from mapshelf.api.http import Headers, Request, Response
from mapshelf.site.responses import see_other
from mapshelf.tokens import is_well_formed

MADE: Final = "mapshelf_made"
"""The cookie."""

SECONDS: Final = 60


class FlashSecret:
    """Takes a new secret from a form to the page that shows it."""

    def __init__(self, base_url: str) -> None:
        """Use a cookie at ``base_url``."""
        self._cookie = Cookie(MADE, base_url)

    def on(self, address: str, secret: str) -> Response:
        """Lead on to the page at ``address``, which shows ``secret``."""
        return see_other(address, self._cookie.set(secret, SECONDS))

    def of(self, request: Request, prefix: str) -> str:
        """Return the secret that a page is to show, empty if none with this prefix was made."""
        secret = self._cookie.read(request.sender.header(b"cookie"))
        return secret if is_well_formed(secret, prefix) else ""

    def cleared(self, secret: str) -> Headers:
        """Return the headers of a page that shows ``secret``, if that is one."""
        return (self._cookie.clear(),) if secret else ()
