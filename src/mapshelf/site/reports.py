"""Handle the moderation pages: report a map, and (for administrators) decide on reports.

Decisions are listed below the reports, each with a button that undoes it.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from mapshelf.accounts.audit import done_by, noted
from mapshelf.accounts.permissions import owns
from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.api.map_writing import permitted_store
from mapshelf.api.reports import find_reportable, read_report
from mapshelf.api.visible_maps import no_map, visible_map
from mapshelf.errors import AlreadyDecided, Conflict, InvalidParameter, NotFound, TooManyReports
from mapshelf.model import (
    LARGEST_ID,
    AuditEvent,
    Decision,
    DecisionKind,
    ReportedMap,
    User,
    Visibility,
    about_map,
    about_user,
    name_key,
)
from mapshelf.query import read_parameters
from mapshelf.site import collection_reports, report_form
from mapshelf.site.account_rows import Moment, moment
from mapshelf.site.addresses import Addresses
from mapshelf.site.collection_reports import ReportRow, row_of_report
from mapshelf.site.form_errors import FORM_ERRORS
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.responses import see_other
from mapshelf.store import Store

MAPS_SHOWN: Final = 50
"""Maximum number of reported maps, and of reported collections, on the page."""

DECISIONS_SHOWN: Final = 100
"""Maximum number of decisions on a page."""

EVENTS: Final = {
    DecisionKind.HIDE: AuditEvent.MAP_HIDDEN,
    DecisionKind.DELETE: AuditEvent.MAP_DELETED,
    DecisionKind.DISABLE: AuditEvent.USER_DISABLED,
    DecisionKind.DISMISS: AuditEvent.REPORTS_DISMISSED,
}
"""The audit event for each kind of decision."""

DONE: Final = (*DecisionKind, "undo", "changed", "gone", "collection.hide", "collection.dismiss")
"""Actions that the next page confirms, as named in its URL."""


@dataclass(frozen=True, slots=True)
class MapRow:
    """A reported map on the page.

    Attributes:
        title: its title.
        owner: the name of its owner.
        address: the URL of its page.
        hidden: whether it is hidden.
        choices: the possible decisions: for each its kind, and the value of its button.
        reports: the reports that are shown.
        more: the number of further reports.
    """

    title: str
    owner: str
    address: str
    hidden: bool
    choices: tuple[tuple[str, str], ...]
    reports: tuple[ReportRow, ...]
    more: int


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A decision on the page; ``address`` is empty if its map has been removed."""

    id: int
    kind: str
    title: str
    address: str
    user: str
    decided: Moment
    decided_by: str


class ReportPages:
    """Handlers of the pages for reporting maps and deciding on reports."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._addresses = personal.addresses

    def paths(self) -> Paths:
        """Return the handlers of these pages by path."""
        page_for, form_for = self._personal.page_for, self._personal.form_for
        report = "report a map"
        decide, page = "decide about reports", self._addresses.people.account("reports")
        return {
            "/report/{id}": (page_for(report, self._show_form), form_for(report, self._report, "")),
            "/account/reports": (
                page_for(decide, self._show_reports),
                form_for(decide, self._decide, page),
            ),
        }

    # -- reporting ------------------------------------------------------------------------

    async def _show_form(self, request: Request, session: Session) -> Response:
        return await self._form_page(request, session)

    async def _report(self, request: Request, session: Session, form: Form) -> Response:
        said = report_form.read(form)
        public_id, user = request.parts["id"], session.user
        address = self._personal.client(request).address
        entry = done_by(user, address, AuditEvent.MAP_REPORTED, about_map(public_id))

        def report(store: Store) -> None:
            found = find_reportable(store, public_id, user)
            permitted = permitted_store(store, found, user, own=False)
            permitted.report_map(found.file_id, user.id, *read_report(said))

        try:
            await self._personal.ask(request, partial(noted, entry, report))
        except (*FORM_ERRORS, TooManyReports) as error:
            return await self._form_page(request, session, said, error)
        return see_other(f"{self._addresses.people.report(public_id)}?done=reported")

    async def _form_page(
        self,
        request: Request,
        session: Session,
        said: report_form.Said | None = None,
        error: Exception | None = None,
    ) -> Response:
        public_id, user = request.parts["id"], session.user
        found = await self._personal.ask(request, lambda store: visible_map(store, public_id, user))
        about = {
            "of": "map",
            "title": found.title,
            "map": self._addresses.map(found.id, found.title),
            "action": self._addresses.people.report(found.id),
            "own": owns(found, user),
        }
        return await self._personal.page(report_form.page(request, about, said, error), session)

    # -- deciding -------------------------------------------------------------------------

    async def _show_reports(self, request: Request, session: Session) -> Response:
        before = _id(read_parameters(request.query_string, ("before",)).get("before", ""))
        found, count, decisions, collections, of_collections = await self._personal.ask(
            request,
            lambda store: (
                store.reported_maps(MAPS_SHOWN),
                store.count_reported_maps(),
                store.decisions(DECISIONS_SHOWN + 1, before or LARGEST_ID),
                store.reported_collections(MAPS_SHOWN),
                [] if before else store.collection_decisions(DECISIONS_SHOWN),
            ),
        )
        shown = decisions[:DECISIONS_SHOWN]
        page = self._addresses.people.account("reports")
        done = report_form.done_before(request)
        values = {
            "maps": [_row_of_map(one, session.user, self._addresses) for one in found],
            "more": count - len(found),
            "collections": [
                collection_reports.row_of_collection(one, self._addresses) for one in collections
            ],
            "of_collections": [
                collection_reports.row_of_decision(one, self._addresses) for one in of_collections
            ],
            "decisions": [_row_of_decision(one, self._addresses) for one in shown],
            "earlier": f"{page}?before={shown[-1].id}" if len(decisions) > len(shown) else "",
            "later": page if before else "",
            "done": f"reports.{done}" if done in DONE else "",
        }
        return await self._personal.page(Page("reports.html", values), session)

    async def _decide(self, request: Request, session: Session, form: Form) -> Response:
        user, undone = session.user, _id(form.text("undo"))
        address = self._personal.client(request).address
        about_collection, restored = form.text("collection"), form.text("restored")
        work: Callable[[Store], None]
        if restored:
            work, done = partial(collection_reports.undo, restored, user, address), "undo"
        elif about_collection:
            work = partial(collection_reports.decide, about_collection, user, address)
            done = f"collection.{about_collection.partition(':')[0]}"
        elif undone:
            work, done = partial(_undo, undone, user, address), "undo"
        else:
            kind, file_id = _choice(form.text("decide"))
            work, done = partial(_decide, kind, file_id, user, address), str(kind)
        try:
            await self._personal.ask(request, work)
        except NotFound:
            done = "gone"
        except (AlreadyDecided, Conflict):
            done = "changed"
        return see_other(f"{self._addresses.people.account('reports')}?done={done}")


def _decide(kind: DecisionKind, file_id: int, user: User, address: str, store: Store) -> None:
    found = next(iter(store.maps(file_id - 1, 1)), None)
    if found is None or found.file_id != file_id:
        raise no_map()
    target = about_map(found.id)
    if kind is DecisionKind.DISABLE:
        # The map comes first: an ID contains no comma, while a user name may contain one.
        target = f"{target}, {about_user(found.owner)}"
    with store.auditing(done_by(user, address, EVENTS[kind], target)):
        store.decide(file_id, kind, user.id)


def _undo(decision_id: int, user: User, address: str, store: Store) -> None:
    with suppress(NotFound), store.auditing(done_by(user, address, AuditEvent.DECISION_UNDONE)):
        store.undo_decision(decision_id)


def _choice(text: str) -> tuple[DecisionKind, int]:
    """Parse the value of a decision button: the kind of decision and the file id of the map.

    Raises:
        InvalidParameter: no button has this value.
    """
    kind, _, file_id = text.partition(":")
    if kind not in list(DecisionKind) or not _id(file_id):
        raise InvalidParameter("There is no such decision.")
    return DecisionKind(kind), _id(file_id)


def _row_of_map(one: ReportedMap, user: User, addresses: Addresses) -> MapRow:
    can_be_disabled = one.owner_can_be_disabled and name_key(one.map.owner) != name_key(user.name)
    possible = {
        DecisionKind.DISMISS: True,
        DecisionKind.HIDE: not one.hidden,
        DecisionKind.DELETE: True,
        DecisionKind.DISABLE: can_be_disabled,
    }
    return MapRow(
        title=one.map.title,
        owner=one.map.owner,
        address=addresses.map(one.map.id, one.map.title),
        hidden=one.hidden,
        choices=tuple(
            (str(kind), f"{kind}:{one.map.file_id}") for kind, may in possible.items() if may
        ),
        reports=tuple(map(row_of_report, one.reports)),
        more=one.count - len(one.reports),
    )


def _row_of_decision(one: Decision, addresses: Addresses) -> DecisionRow:
    there = one.map.visibility is not Visibility.REMOVED
    return DecisionRow(
        id=one.id,
        kind=str(one.kind),
        title=one.map.title,
        address=addresses.map(one.map.id, one.map.title) if there else "",
        user=one.user or "",
        decided=moment(one.decided),
        decided_by=one.decided_by,
    )


def _id(text: str) -> int:
    """Return an id from a form or a URL, at most ``LARGEST_ID``; 0 if it is not a number."""
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST_ID))
    return min(int(text), LARGEST_ID) if digits else 0
