"""Handle the page of a user's own maps: all of them, whatever their visibility, and removed ones.

The list is the same as that of ``GET /users/me/maps``. A removed map can be restored for 30 days.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from mapshelf.accounts.permissions import may_undo
from mapshelf.api.browser_sessions import Session
from mapshelf.api.editing import removed_maps, undo_removal
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.api.map_fields import VISIBILITIES
from mapshelf.api.own_maps import VISIBILITY, OwnMaps, read_visibility
from mapshelf.clock import milliseconds
from mapshelf.model import RemovedMap, User, Visibility, name_key
from mapshelf.query import MapQuery, parse_query, read_parameters
from mapshelf.site.account_rows import Moment, moment
from mapshelf.site.cards import Card, card
from mapshelf.site.choices import Choice
from mapshelf.site.form_errors import ALL_FORM_ERRORS
from mapshelf.site.library import PAGE_SIZE
from mapshelf.site.messages import say
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.responses import see_other
from mapshelf.snapshot.format.records import record_ids
from mapshelf.snapshot.read import Record, Snapshot
from mapshelf.store import Store

REMOVED: Final = "removed"
"""Actions that the page confirms, as named in its URL."""

PAGE: Final = "maps"


@dataclass(frozen=True, slots=True)
class OwnMap:
    """A map of the user in the list."""

    card: Card
    visibility: Visibility


@dataclass(frozen=True, slots=True)
class RemovedRow:
    """A removed map in the list; ``removed_by`` is empty if its owner removed it."""

    id: str
    title: str
    removed: Moment
    removed_by: str
    undoable: bool


@dataclass(frozen=True, slots=True)
class OwnList:
    """A page of the list of a user's own maps.

    Attributes:
        maps: the maps of this page.
        total: the number of maps on all pages.
        choices: links that limit the list to one visibility.
        page: the number of this page, from 1.
        pages: the number of pages.
        previous: the URL of the previous page, empty on the first.
        following: the URL of the next page, empty on the last.
        removed: the removed maps; only on the first page of all visibilities.
    """

    maps: list[OwnMap]
    total: int
    choices: list[Choice]
    page: int
    pages: int
    previous: str
    following: str
    removed: list[RemovedRow]


class OwnMapsPages:
    """Handlers of the page of the user's own maps."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._addresses = personal.addresses
        self._context = personal.context

    def paths(self) -> Paths:
        """Return the handlers of these pages by path."""
        address = self._addresses.people.account(PAGE)
        return {
            f"/account/{PAGE}": (
                self._personal.page_for("list one's own maps", self._show),
                self._personal.form_for("undo a removal", self._undo, address),
            )
        }

    async def _show(self, request: Request, session: Session) -> Response:
        return await self._list(request, session)

    async def _undo(self, request: Request, session: Session, form: Form) -> Response:
        undo = partial(
            undo_removal,
            public_id=form.text("restore"),
            user=session.user,
            address=self._personal.client(request).address,
            settings=self._context.settings,
        )
        try:
            found = await self._personal.ask(request, undo)
            self._context.map_finder.forget(found.id)
        except ALL_FORM_ERRORS as error:
            return await self._list(request, session, error)
        return see_other(self._addresses.map(found.id, found.title))  # available at once

    async def _list(
        self, request: Request, session: Session, error: Exception | None = None
    ) -> Response:
        query = parse_query(request.query_string)
        query = replace(
            query,
            limit=PAGE_SIZE,
            offset=query.offset // PAGE_SIZE * PAGE_SIZE,
            order=query.order or ("date" if not query.text else None),
        )
        wanted = read_visibility(request.query_string)
        snapshot = self._context.snapshot.get().snapshot
        look = partial(self._own_list, snapshot, session.user, query, wanted)
        found = await self._personal.search_own_maps(request, look)
        done = read_parameters(request.query_string, ("done",)).get("done", "")
        values = {"list": found, "done": done if done == REMOVED else ""}
        return await self._personal.page(Page("own_maps.html", values, error), session)

    def _own_list(
        self,
        snapshot: Snapshot,
        user: User,
        query: MapQuery,
        wanted: Visibility | None,
        store: Store,
    ) -> OwnList:
        own = OwnMaps(store, snapshot, user, self._context.base_url)
        bodies, total, _ = own.bodies(query, wanted)
        now = milliseconds()
        removed = removed_maps(store, user, now, own=True)
        gone = {one.map.id for one in removed}
        shown = [record_ids(body)[0] for body in bodies]
        seen_by = {one.id: one.visibility for one in store.unpublished_maps(user.id, shown)}
        cards = [card(Record(0, body), self._addresses, []) for body in bodies]
        # The snapshot may be slightly out of date, and still contain maps just removed.
        maps = [
            OwnMap(one, seen_by.get(one.id, Visibility.PUBLISHED))
            for one in cards
            if one.id not in gone
        ]
        start = query.offset
        return OwnList(
            maps=maps,
            total=total - len(cards) + len(maps),
            choices=self._choices(wanted),
            page=start // PAGE_SIZE + 1,
            pages=max(1, -(-total // PAGE_SIZE)),
            previous=self._page(wanted, max(0, start - PAGE_SIZE)) if start else "",
            following=self._page(wanted, start + PAGE_SIZE) if start + PAGE_SIZE < total else "",
            removed=[] if start or wanted else [_row(one, user, now) for one in removed],
        )

    def _choices(self, wanted: Visibility | None) -> list[Choice]:
        every = Choice(say("visibility.every"), self._page(None, 0), chosen=wanted is None)
        return [every] + [
            Choice(say(f"visibility.{one}"), self._page(one, 0), chosen=wanted is one)
            for one in VISIBILITIES
        ]

    def _page(self, wanted: Visibility | None, offset: int) -> str:
        given = {VISIBILITY: wanted.value} if wanted else {}
        given |= {"offset": str(offset)} if offset else {}
        return self._addresses.people.own_maps(given)


def _row(removed: RemovedMap, user: User, now: int) -> RemovedRow:
    by_owner = name_key(removed.removed_by) == name_key(user.name)
    return RemovedRow(
        id=removed.map.id,
        title=removed.map.title,
        removed=moment(removed.removed),
        removed_by="" if by_owner else removed.removed_by,
        undoable=may_undo(removed, user, now),
    )
