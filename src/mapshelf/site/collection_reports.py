"""Report a collection, and handle administrators' decisions about reported collections.

``reports.py`` has the page of reports and the code shared with maps.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from mapshelf.accounts.audit import done_by, noted
from mapshelf.accounts.permissions import owns
from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.api.reports import add_collection_report, read_report
from mapshelf.api.visible_collections import visible_collection
from mapshelf.errors import InvalidParameter, NotFound, TooManyReports
from mapshelf.model import (
    AuditEvent,
    CollectionDecision,
    DecisionKind,
    Report,
    ReportedCollection,
    User,
    about_collection,
    is_public_id,
)
from mapshelf.site import report_form
from mapshelf.site.account_rows import Moment, moment
from mapshelf.site.addresses import Addresses
from mapshelf.site.form_errors import FORM_ERRORS
from mapshelf.site.personal import Paths, Personal
from mapshelf.site.responses import see_other
from mapshelf.store import Store

AT: Final = "/collected/{id}/{slug}/report"

EVENTS: Final = {
    DecisionKind.HIDE: AuditEvent.COLLECTION_HIDDEN,
    DecisionKind.DISMISS: AuditEvent.REPORTS_DISMISSED,
}
"""The decisions about collections, with their audit events."""


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A report on the page."""

    reason: str
    note: str
    created: Moment
    reporter: str


@dataclass(frozen=True, slots=True)
class CollectionRow:
    """A reported collection on the page; see ``reports.MapRow``."""

    title: str
    owner: str
    address: str
    hidden: bool
    choices: tuple[tuple[str, str], ...]
    reports: tuple[ReportRow, ...]
    more: int


@dataclass(frozen=True, slots=True)
class CollectionDecisionRow:
    """A decision about a collection on the page."""

    id: str
    kind: str
    title: str
    address: str
    decided: Moment
    decided_by: str


class CollectionReportPages:
    """The page for reporting a collection."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._addresses = personal.addresses

    def paths(self) -> Paths:
        """Return the handlers of this page by path."""
        page_for, form_for = self._personal.page_for, self._personal.form_for
        report = "report a collection"
        return {AT: (page_for(report, self._show), form_for(report, self._report, ""))}

    async def _show(self, request: Request, session: Session) -> Response:
        return await self._page(request, session)

    async def _report(self, request: Request, session: Session, form: Form) -> Response:
        said = report_form.read(form)
        public_id, user = request.parts["id"], session.user
        address = self._personal.client(request).address
        entry = done_by(user, address, AuditEvent.COLLECTION_REPORTED, about_collection(public_id))

        def report(store: Store) -> None:
            add_collection_report(public_id, user, *read_report(said), store)

        try:
            await self._personal.ask(request, partial(noted, entry, report))
        except (*FORM_ERRORS, TooManyReports) as error:
            return await self._page(request, session, said, error)
        return see_other(f"{self._addresses.people.of(request).partition('?')[0]}?done=reported")

    async def _page(
        self,
        request: Request,
        session: Session,
        said: report_form.Said | None = None,
        error: Exception | None = None,
    ) -> Response:
        public_id, user = request.parts["id"], session.user
        found = await self._personal.ask(
            request, lambda store: visible_collection(store, public_id, user)
        )
        address = self._addresses.collection(found.id, found.title)
        about = {
            "of": "collection",
            "title": found.title,
            "map": address,
            "action": f"{address}/report",
            "own": owns(found, user),
        }
        return await self._personal.page(report_form.page(request, about, said, error), session)


def row_of_report(report: Report) -> ReportRow:
    """Return the row of a report on the page."""
    return ReportRow(str(report.reason), report.note, moment(report.created), report.reporter or "")


def row_of_collection(one: ReportedCollection, addresses: Addresses) -> CollectionRow:
    """Return the row of a reported collection on the page."""
    found = one.collection
    possible = {DecisionKind.DISMISS: True, DecisionKind.HIDE: not one.hidden}
    return CollectionRow(
        title=found.title,
        owner=found.owner,
        address=addresses.collection(found.id, found.title),
        hidden=one.hidden,
        choices=tuple((str(kind), f"{kind}:{found.id}") for kind, may in possible.items() if may),
        reports=tuple(map(row_of_report, one.reports)),
        more=one.count - len(one.reports),
    )


def row_of_decision(one: CollectionDecision, addresses: Addresses) -> CollectionDecisionRow:
    """Return the row of a decision about a collection on the page."""
    return CollectionDecisionRow(
        id=one.id,
        kind=str(one.kind),
        title=one.collection.title,
        address=addresses.collection(one.collection.id, one.collection.title),
        decided=moment(one.decided),
        decided_by=one.decided_by,
    )


def decide(text: str, user: User, address: str, store: Store) -> None:
    """Carry out a decision about a reported collection.

    Args:
        text: the value of the button: the kind of decision, and the ID of the collection.
        user: the administrator.
        address: the IP address of the client, for the audit log.
        store: the store.

    Raises:
        InvalidParameter: no button has this value.
        NotFound: the collection no longer exists.
        AlreadyDecided: another administrator has already decided.
    """
    kind, _, public_id = text.partition(":")
    if kind not in [str(one) for one in EVENTS] or not is_public_id(public_id):
        raise InvalidParameter("There is no such decision.")
    event = EVENTS[DecisionKind(kind)]
    with store.auditing(done_by(user, address, event, about_collection(public_id))):
        store.decide_about_collection(public_id, DecisionKind(kind), user.id)


def undo(decision_id: str, user: User, address: str, store: Store) -> None:
    """Undo a decision about a collection; do nothing if the decision no longer exists."""
    entry = done_by(user, address, AuditEvent.DECISION_UNDONE)
    with suppress(NotFound), store.auditing(entry):
        store.undo_collection_decision(decision_id)
