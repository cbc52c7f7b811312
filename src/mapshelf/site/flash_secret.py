"""Show a new secret once, on the page that follows the form that created it.

Forms redirect to a page, so that a reload does not repeat the action. A cookie carries the new
secret for at most a minute, and the page that shows it clears the cookie. A page shows only secrets
that the store confirms as its reader's, because the content of a cookie is untrusted.
"""

from typing import Final

from mapshelf.api.cookies import Cookie
from mapshelf.api.http import Headers, Request, Response
from mapshelf.site.responses import see_other
from mapshelf.tokens import is_well_formed

MADE: Final = "mapshelf_made"
"""The name of the cookie."""

SECONDS: Final = 60
"""The lifetime of the cookie."""


class FlashSecret:
    """Passes a new secret from a form to the page that shows it, in a cookie."""

    def __init__(self, base_url: str) -> None:
        """Use a cookie at ``base_url``."""
        self._cookie = Cookie(MADE, base_url)

    def on(self, address: str, secret: str) -> Response:
        """Return a redirect to the page at ``address``, which shows ``secret``."""
        return see_other(address, self._cookie.set(secret, SECONDS))

    def of(self, request: Request, prefix: str) -> str:
        """Return the secret in the cookie, empty if there is none with this prefix."""
        secret = self._cookie.read(request.sender.header(b"cookie"))
        return secret if is_well_formed(secret, prefix) else ""

    def cleared(self, secret: str) -> Headers:
        """Return the headers that clear the cookie; none if ``secret`` is empty."""
        return (self._cookie.clear(),) if secret else ()
