"""Handle the page of a user's saved searches: save, rename and delete them.

A list links here with its own parameters, which the page offers to save. Each saved search is
described with the same words as on the list pages.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.feed_addresses import feed_address
from mapshelf.api.browser_sessions import Session
from mapshelf.api.facets import shown_programs
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.api.saved_searches import no_search, read_name, read_search
from mapshelf.errors import InvalidParameter, NotFound
from mapshelf.model import SEARCH_NAME_LENGTH, AuditEvent, SavedSearch, about_search
from mapshelf.query import parse_query, read_parameters
from mapshelf.site.account_rows import Moment, moment
from mapshelf.site.addresses import Addresses
from mapshelf.site.facets import KEYWORD_FILTERS, language_name
from mapshelf.site.form_errors import ALL_FORM_ERRORS
from mapshelf.site.messages import ENGLISH, say
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.responses import see_other
from mapshelf.snapshot.read import Snapshot
from mapshelf.store import Store

PLACE: Final = "searches"
"""The path of this page below ``/account/``."""

DONE: Final = ("saved", "renamed", "removed")
"""Actions that the next page confirms, as named in its URL."""

Names = dict[tuple[str, str], str]
"""The names of categories and programs, by parameter and value (the id)."""


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A saved search on the page.

    Attributes:
        id: its public ID.
        name: the name that its owner gave it.
        said: a description of its parameters in words.
        address: the URL of its list.
        feed: the URL of its feed; in a private catalogue, an example of the secret feed URL.
        changed: when it was last changed.
    """

    id: str
    name: str
    said: list[str]
    address: str
    feed: str
    changed: Moment


class SavedSearchPages:
    """Handlers of the page of saved searches."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._addresses = personal.addresses
        self._address = personal.addresses.people.account(PLACE)
        self._private = personal.context.settings.private

    def paths(self) -> Paths:
        """Return the handlers of this page by path."""
        return {
            f"/account/{PLACE}": (
                self._personal.page_for("list saved searches", self._show),
                self._personal.form_for("save a search", self._change, self._address),
            )
        }

    async def _show(self, request: Request, session: Session) -> Response:
        parameters = read_search(request.query_string)
        return await self._page(request, session, parameters)

    async def _change(self, request: Request, session: Session, form: Form) -> Response:
        asked = form.text("search").encode("utf-8", "replace")
        try:
            done = await self._changed(request, session, form)
        except (*ALL_FORM_ERRORS, NotFound) as error:
            try:
                parameters = read_search(asked)
            except InvalidParameter:
                parameters = ""
            return await self._page(request, session, parameters, form.text("name"), error)
        return see_other(f"{self._address}?done={done}")

    async def _changed(self, request: Request, session: Session, form: Form) -> str:
        """Perform the action of the submitted form, and return its name in ``DONE``."""
        user, client = session.user, self._personal.client(request).address
        renamed, removed = form.text("rename"), form.text("remove")
        if removed:
            event, target, done = AuditEvent.SEARCH_REMOVED, about_search(removed), "removed"
            work = partial(_removed, user.id, removed)
        elif renamed:
            event, target, done = AuditEvent.SEARCH_CHANGED, about_search(renamed), "renamed"
            work = partial(_renamed, user.id, renamed, read_name(form.text("name")))
        else:
            event, target, done = AuditEvent.SEARCH_SAVED, "", "saved"
            asked = form.text("search").encode("utf-8", "replace")
            work = partial(_saved, user.id, read_name(form.text("name")), read_search(asked))
        entry = done_by(user, client, event, target)

        def change(store: Store) -> None:
            with store.auditing(entry):
                work(store)

        await self._personal.ask(request, change)
        return done

    async def _page(
        self,
        request: Request,
        session: Session,
        parameters: str,
        name: str = "",
        error: Exception | None = None,
    ) -> Response:
        user_id, snapshot = session.user.id, self._personal.context.snapshot.get().snapshot

        def look(store: Store) -> tuple[list[SavedSearch], Names]:
            return store.saved_searches_of(user_id), _names(store, snapshot)

        found, names = await self._personal.ask(request, look)
        said = said_of(parameters, names)
        done = read_parameters(request.query_string, ("done",)).get("done", "")
        values = {
            "searches": [self._row(one, names) for one in found],
            "parameters": parameters,
            "said": said,
            "name": name or " · ".join(said)[:SEARCH_NAME_LENGTH],
            "longest": SEARCH_NAME_LENGTH,
            "private": self._private,
            "done": f"search.{done}" if done in DONE else "",
        }
        page = Page("saved_searches.html", values, error, invalid="failure.search")
        return await self._personal.page(page, session)

    def _row(self, found: SavedSearch, names: Names) -> SearchRow:
        feed = self._addresses.saved_feed(found.id)
        if self._private:
            feed = feed_address(self._addresses.base_url, "…", f"/saved/{found.id}")
        return SearchRow(
            id=found.id,
            name=found.name,
            said=said_of(found.parameters, names),
            address=list_of(found, self._addresses),
            feed=feed,
            changed=moment(found.changed),
        )


def list_of(found: SavedSearch, addresses: Addresses) -> str:
    """Return the URL of the list with the parameters of a saved search."""
    return addresses.library(dict(parse_query(found.parameters.encode()).given))


def said_of(parameters: str, names: Names) -> list[str]:
    """Return descriptions, in words, of the parameters of a list.

    Args:
        parameters: the query string of the list.
        names: the names of categories and programs.
    """
    said = []
    for name, value in parse_query(parameters.encode()).given:
        key = f"{name}.{value.lower()}"
        if name == "query":
            said.append(f"“{value}”")
        elif name == "order_by":
            said.append(say(f"order.{value}"))
        elif name == "language":
            said.append(language_name(value.lower()))
        elif name in ("only_templates", "title_only"):
            said += [say(f"{name}.on")] if value.lower() in ("1", "true") else []
        elif name in KEYWORD_FILTERS:
            said += [say(key)] if key in ENGLISH else []
        else:
            said.append(names.get((name, value), value))
    return said


def _names(store: Store, snapshot: Snapshot) -> Names:
    return {
        **{("category", str(one.id)): one.name for one in store.categories()},
        **{("software", str(one.id)): one.name for one in shown_programs(snapshot, store)},
    }


def _saved(user_id: int, name: str, parameters: str, store: Store) -> None:
    store.save_search(user_id, name, parameters)


def _renamed(user_id: int, public_id: str, name: str, store: Store) -> None:
    try:
        store.edit_saved_search(user_id, public_id, name, None)
    except NotFound as error:
        raise no_search() from error


def _removed(user_id: int, public_id: str, store: Store) -> None:
    try:
        store.remove_saved_search(user_id, public_id)
    except NotFound as error:
        raise no_search() from error
