"""Handle the page for creating, renewing and revoking a user's secret feed URL."""

from typing import Final

from mapshelf.accounts.feed_addresses import (
    feed_address,
    feed_token,
    new_feed_secret,
    opens_feeds,
    withdraw_feed_address,
)
from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.clock import milliseconds
from mapshelf.query import read_parameters
from mapshelf.site.account_rows import row_of_token
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.responses import PERSONAL, see_other
from mapshelf.tokens import FEED_PREFIX

PLACE: Final = "feeds"
"""The path of this page below ``/account/``."""

DONE: Final = "feeds"
"""The value of the URL parameter ``done`` that makes the page confirm the revocation."""


class FeedAddressPage:
    """Handlers of the page of the secret feed URL."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._address = personal.addresses.people.account(PLACE)
        self._base_url = personal.context.settings.base_url

    def paths(self) -> Paths:
        """Return the handlers of this page by path."""
        operation = "make and withdraw the address of feeds"
        return {
            f"/account/{PLACE}": (
                self._personal.page_for(operation, self._show),
                self._personal.form_for(operation, self._change, self._address),
            )
        }

    async def _show(self, request: Request, session: Session) -> Response:
        user, made = session.user, self._personal.made
        secret = await self._personal.own_secret(request, session, FEED_PREFIX, opens_feeds)
        token = await self._personal.ask(request, lambda store: feed_token(store, user))
        done = read_parameters(request.query_string, ("done",)).get("done", "")
        values = {
            "present": row_of_token(token, milliseconds()) if token else None,
            "address": feed_address(self._base_url, secret) if secret else "",
            "example": feed_address(self._base_url, "…"),
            "collection": feed_address(self._base_url, "…", "/collected/ID"),
            "search": feed_address(self._base_url, "…", "/saved/ID"),
            "private": self._personal.context.settings.private,
            "done": done if done == DONE else "",
        }
        page = Page("feeds.html", values, headers=(*PERSONAL, *made.cleared(secret)))
        return await self._personal.page(page, session)

    async def _change(self, request: Request, session: Session, form: Form) -> Response:
        user, client = session.user, self._personal.client(request).address
        if form.text("withdraw"):
            await self._personal.ask(
                request, lambda store: withdraw_feed_address(store, user, client)
            )
            return see_other(f"{self._address}?done={DONE}")
        secret = await self._personal.ask(
            request, lambda store: new_feed_secret(store, user, client)
        )
        return self._personal.made.on(self._address, secret)
