"""Handle the pages for creating, editing and removing collections, and for pinning them.

Only administrators pin collections. Every step works without a script: buttons move a map by one
position, or to either end, and return to it on the page.
"""

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.permissions import is_shown, may_see
from mapshelf.api.browser_sessions import Session
from mapshelf.api.collection_editing import (
    DETAILS,
    Change,
    added,
    change_collection,
    changeable_collection,
    collected,
    read_details,
    taken_out,
)
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.api.visible_maps import no_map
from mapshelf.errors import InvalidParameter, NotFound
from mapshelf.model import (
    COLLECTION_TEXT_LENGTH,
    COLLECTION_TITLE_LENGTH,
    MOST_COLLECTED,
    AuditEvent,
    Collection,
    CollectionDetails,
    Map,
    User,
    about_collection,
)
from mapshelf.query import read_parameters
from mapshelf.site.addresses import Addresses
from mapshelf.site.bulk_actions import asked_ids, selected_ids
from mapshelf.site.cards import Card
from mapshelf.site.collections_shown import cards_of, collection_card
from mapshelf.site.form_changes import Entered, changed, entered_again, shown_in
from mapshelf.site.form_errors import ALL_FORM_ERRORS
from mapshelf.site.map_forms import BODY, LIMITS
from mapshelf.site.personal import FormKind, Page, Paths, Personal
from mapshelf.site.pinned import PinnedCollections
from mapshelf.site.responses import see_other
from mapshelf.store import Store

T = TypeVar("T")

AT: Final = "/collected/{id}/{slug}"
OWN: Final = "collections"

PLACES: Final = {"up": -1, "down": 1, "first": -MOST_COLLECTED, "last": MOST_COLLECTED}
"""The buttons beside a map, each with the number of positions by which it moves the map."""

DONE: Final = ("removed",)
"""Actions that the next page confirms, as named in its URL."""

_MAP: Final = re.compile(r"(?:.*/mindmaps/)?([0-9A-Za-z]{1,32})(?:/[^/]*)?")


@dataclass(frozen=True, slots=True)
class Edited:
    """A collection that the user may change.

    Attributes:
        found: the collection.
        cards: the maps in it that the user may see.
        hidden: the number of its other maps.
        is_hidden: whether an administrator has hidden the collection.
    """

    found: Collection
    cards: list[Card]
    hidden: int
    is_hidden: bool


class OwnCollectionPages:
    """The collection pages for signed-in users."""

    def __init__(self, personal: Personal, pinned: PinnedCollections) -> None:
        """Create the handlers on top of ``personal``.

        When a collection is pinned, unpinned or removed, ``pinned`` drops its cached HTML.
        """
        self._personal = personal
        self._pinned = pinned
        self._addresses = personal.addresses

    def paths(self) -> Paths:
        """Return the handlers of these pages by path."""
        page_for, form_for = self._personal.page_for, self._personal.form_for
        own = self._addresses.people.account(OWN)
        make, change = "make a collection", "change a collection"
        remove, pin = "remove a collection", "pin a collection"
        kind = FormKind(LIMITS, BODY)
        return {
            f"/account/{OWN}": (page_for(make, self._show_own), form_for(make, self._make, own)),
            "/collect": (page_for(change, self._show_chosen), form_for(change, self._collect, "")),
            f"{AT}/edit": (page_for(change, self._show), form_for(change, self._edit, "", kind)),
            f"{AT}/remove": (
                page_for(remove, self._show_removal),
                form_for(remove, self._remove, ""),
            ),
            f"{AT}/pin": (page_for(pin, self._show_pin), form_for(pin, self._pin, "")),
        }

    # -- the user's collections -----------------------------------------------------------

    async def _show_own(self, request: Request, session: Session) -> Response:
        return await self._own(request, session)

    async def _make(self, request: Request, session: Session, form: Form) -> Response:
        try:
            found = await self._made(request, session, form.text("title"), [])
        except ALL_FORM_ERRORS as error:
            return await self._own(request, session, form.text("title"), error)
        return see_other(self._page_of(found, "edit"))

    async def _made(
        self, request: Request, session: Session, title: str, ids: list[str]
    ) -> Collection:
        details = read_details({"title": title})
        address = self._personal.client(request).address
        entry = done_by(session.user, address, AuditEvent.COLLECTION_MADE)
        work = partial(added, details, ids, session.user, entry)
        return await self._personal.ask(request, work)

    async def _own(
        self,
        request: Request,
        session: Session,
        title: str = "",
        error: Exception | None = None,
    ) -> Response:
        user_id = session.user.id
        found = await self._personal.ask(request, lambda store: store.collections_of(user_id))
        done = read_parameters(request.query_string, ("done",)).get("done", "")
        values = {
            "collections": [collection_card(one, self._addresses) for one in found],
            "title": title,
            "longest": COLLECTION_TITLE_LENGTH,
            "done": f"collection.{done}" if done in DONE else "",
        }
        return await self._page("own_collections.html", values, session, error)

    # -- adding maps to a collection ------------------------------------------------------

    async def _show_chosen(self, request: Request, session: Session) -> Response:
        return await self._chosen(request, session, asked_ids(request))

    async def _collect(self, request: Request, session: Session, form: Form) -> Response:
        ids = selected_ids(form.text("maps").split(","))
        try:
            if form.text("collection"):
                work = partial(collected, ids)
                found = await self._changed(request, session, form.text("collection"), work)
            else:
                found = await self._made(request, session, form.text("title"), ids)
        except (*ALL_FORM_ERRORS, NotFound) as error:
            return await self._chosen(request, session, ids, form.text("title"), error)
        return see_other(self._page_of(found))

    async def _chosen(
        self,
        request: Request,
        session: Session,
        ids: list[str],
        title: str = "",
        error: Exception | None = None,
    ) -> Response:
        user = session.user

        def look(store: Store) -> tuple[list[Map], list[Collection]]:
            maps = [one for one in store.maps_with_ids(ids) if may_see(one, user)]
            return maps, store.collections_of(user.id)

        maps, own = await self._personal.ask(request, look)
        if not maps and error is None:
            raise no_map()
        values = {
            "maps": self._cards(maps),
            "ids": ",".join(one.id for one in maps),
            "collections": own,
            "title": title,
            "longest": COLLECTION_TITLE_LENGTH,
        }
        return await self._page("collect.html", values, session, error)

    # -- editing a collection -------------------------------------------------------------

    async def _show(self, request: Request, session: Session) -> Response:
        return await self._edited(request, session)

    async def _edit(self, request: Request, session: Session, form: Form) -> Response:
        """Perform the action of the submitted form; its fields tell which form of the page it is.

        The forms move a map, take a map out, remove all hidden maps, add a map, or change the
        details.
        """
        public_id, moved = request.parts["id"], ""
        try:
            if form.text("move"):
                place, _, moved = form.text("move").partition(":")
                work: Change[Collection] = partial(_moved, place, moved)
            elif form.text("out"):
                work = partial(taken_out, form.text("out"))
            elif form.text("hidden"):
                work = _cleared
            elif "map" in form.fields:
                work = partial(collected, [_id_in(form.text("map"), self._addresses)])
            else:
                return await self._edit_details(request, session, form)
            found = await self._changed(request, session, public_id, work)
        except ALL_FORM_ERRORS as error:
            return await self._edited(request, session, error, adding="map" in form.fields)
        return see_other(f"{self._page_of(found, 'edit')}#{f'm-{moved}' if moved else 'maps'}")

    async def _edit_details(self, request: Request, session: Session, form: Form) -> Response:
        """Save the details that were changed in the submitted form."""
        entered = Entered({name: form.text(name) for name in DETAILS})
        try:
            entered = replace(entered, opened=shown_in(form, DETAILS))
            changes = changed(entered.said, entered.opened)
            if changes:
                work = partial(_said, read_details(changes))
                found = await self._changed(request, session, request.parts["id"], work)
            else:
                found = await self._own_one(request, session)
        except ALL_FORM_ERRORS as error:
            return await self._edited(request, session, error, entered)
        return see_other(self._page_of(found))

    def _edited_by(self, public_id: str, user: User, store: Store) -> Edited:
        found = changeable_collection(store, public_id, user)
        maps = store.collected_maps(public_id)
        shown = [one for one in maps if is_shown(one, found, user)]
        cards, is_hidden = self._cards(shown), store.is_collection_hidden(public_id)
        return Edited(found, cards, len(maps) - len(shown), is_hidden)

    def _cards(self, maps: list[Map]) -> list[Card]:
        return cards_of(maps, self._addresses, self._personal.context.snapshot.get().snapshot)

    async def _edited(
        self,
        request: Request,
        session: Session,
        error: Exception | None = None,
        entered: Entered | None = None,
        *,
        adding: bool = False,
    ) -> Response:
        edited = await self._personal.ask(
            request, partial(self._edited_by, request.parts["id"], session.user)
        )
        found = edited.found
        was = {"title": found.title, "text": found.text, "visibility": found.visibility.value}
        said, opened = (entered.said, entered.opened) if entered else (was, was)
        values = {
            "edited": edited,
            "said": said if opened else entered_again(said, was),
            "opened": opened or was,
            "longest": (COLLECTION_TITLE_LENGTH, COLLECTION_TEXT_LENGTH),
        }
        shown = {"collection": collection_card(found, self._addresses), **values}
        invalid = "failure.collection.map" if adding else "failure.collection"
        page = Page("edit_collection.html", shown, error, invalid=invalid)
        return await self._personal.page(page, session)

    # -- removing and pinning -------------------------------------------------------------

    async def _show_removal(self, request: Request, session: Session) -> Response:
        found = await self._own_one(request, session)
        return await self._about(found, "remove_collection.html", {}, session)

    async def _remove(self, request: Request, session: Session, form: Form) -> Response:
        event, public_id = AuditEvent.COLLECTION_REMOVED, request.parts["id"]
        await self._changed(request, session, public_id, _removed, event)
        self._pinned.forget()
        return see_other(f"{self._addresses.people.account(OWN)}?done=removed")

    async def _show_pin(self, request: Request, session: Session) -> Response:
        found = await self._own_one(request, session)
        return await self._about(found, "pin_collection.html", {}, session)

    async def _pin(self, request: Request, session: Session, form: Form) -> Response:
        pinned, public_id = form.text("pinned") == "true", request.parts["id"]
        event = AuditEvent.COLLECTION_PINNED if pinned else AuditEvent.COLLECTION_UNPINNED
        work = partial(_pinned, pinned)
        try:
            found = await self._changed(request, session, public_id, work, event)
        except ALL_FORM_ERRORS as error:
            found = await self._own_one(request, session)
            return await self._about(found, "pin_collection.html", {}, session, error)
        self._pinned.forget()
        return see_other(self._page_of(found))

    # -- common ---------------------------------------------------------------------------

    async def _changed(
        self,
        request: Request,
        session: Session,
        public_id: str,
        work: Change[T],
        event: AuditEvent = AuditEvent.COLLECTION_CHANGED,
    ) -> T:
        address, user = self._personal.client(request).address, session.user
        entry = done_by(user, address, event, about_collection(public_id))

        def change(store: Store) -> T:
            return change_collection(store, public_id, user, work, entry)

        return await self._personal.ask(request, change)

    async def _own_one(self, request: Request, session: Session) -> Collection:
        public_id, user = request.parts["id"], session.user
        return await self._personal.ask(
            request, lambda store: changeable_collection(store, public_id, user)
        )

    def _page_of(self, found: Collection, page: str = "") -> str:
        address = self._addresses.collection(found.id, found.title)
        return f"{address}/{page}" if page else address

    async def _about(
        self,
        found: Collection,
        template: str,
        values: dict[str, Any],
        session: Session,
        error: Exception | None = None,
    ) -> Response:
        given = {"collection": collection_card(found, self._addresses), **values}
        return await self._page(template, given, session, error)

    async def _page(
        self,
        template: str,
        values: dict[str, Any],
        session: Session,
        error: Exception | None = None,
    ) -> Response:
        page = Page(template, values, error, invalid="failure.collection")
        return await self._personal.page(page, session)


def _said(details: CollectionDetails, store: Store, found: Collection, user: User) -> Collection:
    return store.edit_collection(found.id, details)


def _moved(place: str, public_id: str, store: Store, found: Collection, user: User) -> Collection:
    maps = store.maps_with_ids([public_id])
    if place not in PLACES or not maps:
        raise InvalidParameter("There is no such map or place.")
    return store.move_collected(found.id, maps[0].file_id, PLACES[place])


def _cleared(store: Store, found: Collection, user: User) -> Collection:
    maps = store.collected_maps(found.id)
    hidden = [one.file_id for one in maps if not is_shown(one, found, user)]
    return store.take_out(found.id, hidden)


def _removed(store: Store, found: Collection, user: User) -> None:
    store.remove_collection(found.id)


def _pinned(pinned: bool, store: Store, found: Collection, user: User) -> Collection:
    return store.pin_collection(found.id, pinned=pinned)


def _id_in(text: str, addresses: Addresses) -> str:
    """Return the ID of a map from user input: an ID or the URL of its page.

    Raises:
        InvalidParameter: the text is neither.
    """
    try:
        path = urlsplit(text.strip()).path
    except ValueError:
        path = ""
    named = _MAP.fullmatch(path)
    if not named:
        raise InvalidParameter("This is not the address of a map.")
    return named[1]
