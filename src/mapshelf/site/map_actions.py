"""Handle the pages for actions on one map: rate, edit, replace the file, remove.

Their URLs are below that of the map's page. ``part`` renders the actions that the map's page itself
offers to its reader (``signed_in.py``).
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.permissions import may_change, owns
from mapshelf.api.browser_sessions import Session
from mapshelf.api.content_disposition import attachment
from mapshelf.api.documents import Kind
from mapshelf.api.forms import MULTIPART, Form, FormLimits
from mapshelf.api.http import NO_STORE, BodyRule, Request, Response
from mapshelf.api.map_writing import Change, change_map, noted_change, only_owner
from mapshelf.api.quotas import check_uploads
from mapshelf.api.uploads import LARGEST_FILE, Publisher, SentFile, no_version
from mapshelf.api.visible_maps import until_hidden, visible_map
from mapshelf.api.votes import VOTES, set_vote
from mapshelf.api.work_queue import WorkQueue
from mapshelf.errors import FormOutdated, InvalidParameter, NotFound
from mapshelf.formats.file_names import split_name
from mapshelf.model import AuditEvent, KeptFile, Map, MapDetails, User, Version
from mapshelf.query import read_parameters
from mapshelf.site.account_rows import Moment, moment
from mapshelf.site.addresses import Addresses
from mapshelf.site.form_changes import changed, shown_in, tags_after
from mapshelf.site.form_errors import ALL_FORM_ERRORS
from mapshelf.site.map_forms import (
    BODY,
    LIMITS,
    Choices,
    MapForm,
    checked,
    choices_of,
    edit_form,
    names_in,
    said_in,
)
from mapshelf.site.personal import FormKind, Page, Paths, Personal
from mapshelf.site.responses import see_other
from mapshelf.site.signed_in import Part
from mapshelf.store import Store

T = TypeVar("T")

AT: Final = "/mindmaps/{id}/{slug}"

DONE: Final = "published"
"""Actions that the page of a map confirms to its owner."""

FILE: Final = "map"
"""The form field for a file."""

FILE_LIMITS: Final = FormLimits(fields=5, text=4096, files=(FILE,), file=LARGEST_FILE)
FILE_BODY: Final = BodyRule(LARGEST_FILE + 16_384, (MULTIPART,))

KILOBYTE: Final = 1024


@dataclass(frozen=True, slots=True)
class Standing:
    """A user's permissions on a map.

    Attributes:
        found: the map.
        address: its page.
        own: whether the user owns it.
        may_change: whether the user may change it.
        hidden: whether the user may change it, but an administrator has hidden it.
        uploaded: whether it was uploaded, so that its file can be replaced.
        vote: the user's vote.
    """

    found: Map
    address: str
    own: bool
    may_change: bool
    hidden: bool
    uploaded: bool
    vote: str


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version of a map in a list."""

    number: int
    name: str
    size: str
    created: Moment
    created_by: str
    current: bool
    address: str


class MapActionPages:
    """The pages for actions on one map."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._addresses = personal.addresses
        self._context = personal.context
        self._templates = personal.templates

    def paths(self) -> Paths:
        """Return the handlers of these pages by path."""
        page_for, form_for = self._personal.page_for, self._personal.form_for
        details = FormKind(LIMITS, BODY, self._refuse_details)
        file = FormKind(FILE_LIMITS, FILE_BODY, self._refuse_file)
        return {
            f"{AT}/vote": (page_for("vote", self._show_vote), form_for("vote", self._vote, "")),
            f"{AT}/edit": (
                page_for("change a map", self._show_details),
                form_for("change a map", self._edit, "", details),
            ),
            f"{AT}/versions": (
                page_for("list versions", self._show_versions),
                form_for("replace a file", self._replace, "", file),
            ),
            f"{AT}/versions/{{number}}": (
                page_for("list versions", self._download),
                form_for("restore a version", self._restore, ""),
            ),
            f"{AT}/remove": (
                page_for("remove a map", self._show_removal),
                form_for("remove a map", self._remove, ""),
            ),
        }

    # -- on the page of the map -----------------------------------------------------------

    async def part(self, request: Request, session: Session) -> Part | None:
        """Return the part of a map's page for a signed-in user."""
        try:
            standing = await self._standing(request, session)
        except NotFound:
            return None
        given = read_parameters(request.query_string, ("done",)).get("done")
        done = given if given == DONE and standing.own else ""
        values = {"standing": standing, "form_token": session.form_token(), "done": done}
        make = partial(self._templates.text, "_standing.html", values)
        text = await self._context.queues.accounts.result(
            object(), make, request.disconnection, owner=request.owner
        )
        return Part(text.encode(), f"{session.token.id} {standing} {done}".encode())

    # -- rating ---------------------------------------------------------------------------

    async def _show_vote(self, request: Request, session: Session) -> Response:
        standing = await self._standing(request, session)
        return await self._page("vote.html", standing, session)

    async def _vote(self, request: Request, session: Session, form: Form) -> Response:
        vote = VOTES.get(form.text("vote"))
        if vote is None:
            raise InvalidParameter("There is no such vote.")
        found = await self._changed(
            request, session, self._context.queues.writing, partial(set_vote, vote), event=None
        )
        return see_other(self._addresses.map(found.id, found.title))

    # -- details --------------------------------------------------------------------------

    async def _show_details(self, request: Request, session: Session) -> Response:
        return await self._details(request, session)

    async def _refuse_details(
        self, request: Request, session: Session, error: Exception
    ) -> Response:
        return await self._details(request, session, error=error)

    async def _edit(self, request: Request, session: Session, form: Form) -> Response:
        standing = await self._standing(request, session, own=True)
        from_file = not standing.uploaded
        said = said_in(form, from_file=from_file)
        try:
            shown = shown_in(form, names_in(from_file=from_file))
        except FormOutdated as outdated:
            form_again = edit_form(standing.found, from_file=from_file, outdated=said)
            return await self._details(request, session, form_again, outdated)
        form_again = MapForm("", said, from_file=from_file, shown=shown)
        changes = changed(said, shown)
        try:
            details, failures = await self._personal.ask(request, partial(checked, changes))
            if failures:
                invalid = InvalidParameter("Something in the form cannot be taken.")
                form_again = replace(form_again, failures=failures)
                return await self._details(request, session, form_again, invalid)
            found = standing.found
            if changes:
                save = partial(_saved, details, shown["tags"])
                queue, event = self._context.queues.writing, AuditEvent.MAP_CHANGED
                found = await self._changed(request, session, queue, save, event=event)
        except ALL_FORM_ERRORS as error:
            return await self._details(request, session, form_again, error)
        return see_other(self._addresses.map(found.id, found.title))

    async def _details(
        self,
        request: Request,
        session: Session,
        form: MapForm | None = None,
        error: Exception | None = None,
    ) -> Response:
        standing = await self._standing(request, session, own=True)
        choices: Choices = await self._personal.ask(request, choices_of)
        form = form or edit_form(standing.found, from_file=not standing.uploaded)
        values = {"form": form, "choices": choices}
        return await self._page("edit_map.html", standing, session, values, error)

    # -- files ----------------------------------------------------------------------------

    async def _show_versions(self, request: Request, session: Session) -> Response:
        return await self._versions(request, session)

    async def _refuse_file(self, request: Request, session: Session, error: Exception) -> Response:
        return await self._versions(request, session, error)

    async def _versions(
        self, request: Request, session: Session, error: Exception | None = None
    ) -> Response:
        look = partial(_versions_of, self._addresses, request.parts["id"], session.user)
        standing, versions = await self._personal.ask(request, look)
        values = {
            "versions": [_row(version, standing.address) for version in versions],
            "megabytes": LARGEST_FILE >> 20,
            "uploads": self._context.settings.uploads,
        }
        return await self._page("versions.html", standing, session, values, error)

    async def _replace(self, request: Request, session: Session, form: Form) -> Response:
        check_uploads(self._context.settings)
        upload = form.upload(FILE)
        if upload is None:
            raise InvalidParameter("Choose a file.")
        await until_hidden(self._context, request)
        context = self._context
        publisher = Publisher(context.store_for(request), context.settings, context.upload_reader)
        replace = partial(publisher.replace, SentFile(upload.name, upload.content))
        event = AuditEvent.MAP_REPLACED
        found = await self._changed(request, session, context.queues.uploads, replace, event=event)
        return see_other(self._addresses.map(found.id, found.title))

    async def _restore(self, request: Request, session: Session, form: Form) -> Response:
        context = self._context
        publisher = Publisher(context.store_for(request), context.settings, context.upload_reader)
        restore = partial(publisher.restore, int(request.parts["number"]))
        queue, event = context.queues.uploads, AuditEvent.MAP_REPLACED
        try:
            await until_hidden(context, request)
            found = await self._changed(request, session, queue, restore, event=event)
        except ALL_FORM_ERRORS as error:
            return await self._versions(request, session, error)
        return see_other(self._addresses.map(found.id, found.title))

    async def _download(self, request: Request, session: Session) -> Response:
        wanted = request.parts["id"], int(request.parts["number"])
        read = partial(self._file_of, self._context.store.get(), wanted, session.user)
        queue = self._context.queues.files
        return await queue.result(object(), read, request.disconnection, owner=request.owner)

    def _file_of(self, store: Store, wanted: tuple[str, int], user: User) -> Response:
        public_id, number = wanted
        kept = store.version_file(_own_map(store, public_id, user).file_id, number)
        if kept is None:
            raise no_version()
        _own_map(store, public_id, user)  # the next owner may have replaced the file meanwhile
        stem, suffix = split_name(kept.name)
        disposition = attachment(f"{stem} ({number})", suffix)
        headers = ((b"content-disposition", disposition), *NO_STORE)
        file = KeptFile(kept.name, kept.digest, len(kept.content))
        kind = Kind(b"application/octet-stream", headers)
        return self._context.documents.of_file(
            file, lambda start, count: kept.content[start : start + count], kind
        )

    # -- removing -------------------------------------------------------------------------

    async def _show_removal(self, request: Request, session: Session) -> Response:
        standing = await self._standing(request, session, own=True)
        return await self._page("remove_map.html", standing, session)

    async def _remove(self, request: Request, session: Session, form: Form) -> Response:
        await self._changed(
            request,
            session,
            self._context.queues.writing,
            lambda store, found, user: store.remove_map(found.file_id, user.id),
            event=AuditEvent.MAP_REMOVED,
        )
        return see_other(f"{self._addresses.people.account('maps')}?done=removed")

    # -- common ---------------------------------------------------------------------------

    async def _changed(
        self,
        request: Request,
        session: Session,
        queue: WorkQueue,
        work: Change[T],
        *,
        event: AuditEvent | None,
    ) -> T:
        """Run a change of a map in a queue, and return its result.

        Args:
            request: the request, with the map in its path.
            session: the session of the user.
            queue: the queue that runs the change.
            work: the change.
            event: the audit event; ``None`` for actions that are allowed on other users' maps.
        """
        user, own = session.user, event is not None
        if event is not None:
            work = noted_change(done_by(user, self._personal.client(request).address, event), work)
        store = self._context.store_for(request)
        change = partial(change_map, store, request.parts["id"], user, work, own)
        return await queue.result(object(), change, owner=request.owner)

    async def _standing(self, request: Request, session: Session, *, own: bool = False) -> Standing:
        """Return a user's permissions on the map in the path of a request.

        Raises:
            NotFound: the map does not exist or the user may not see it.
            Forbidden: ``own`` is set, and the user may not change it.
        """
        look = partial(_standing_of, self._addresses, request.parts["id"], session.user, own)
        return await self._personal.ask(request, look)

    async def _page(
        self,
        template: str,
        standing: Standing,
        session: Session,
        values: dict[str, object] | None = None,
        error: Exception | None = None,
    ) -> Response:
        given = {"standing": standing, "done": "", **(values or {})}
        page = Page(template, given, error, invalid="failure.fields")
        return await self._personal.page(page, session)


def _standing_of(
    addresses: Addresses, public_id: str, user: User, own: bool, store: Store
) -> Standing:
    found = _own_map(store, public_id, user) if own else visible_map(store, public_id, user)
    may = may_change(found, user)
    return Standing(
        found=found,
        address=addresses.map(found.id, found.title),
        own=owns(found, user),
        may_change=may,
        hidden=may and store.is_hidden(found.file_id),
        uploaded=may and bool(store.versions(found.file_id)),
        vote=store.vote_of(found.file_id, user.id).name.lower(),
    )


def _own_map(store: Store, public_id: str, user: User) -> Map:
    """Return a map that a user may change; see ``MapActionPages._standing``."""
    found = visible_map(store, public_id, user)
    if not may_change(found, user):
        raise only_owner()
    return found


def _versions_of(
    addresses: Addresses, public_id: str, user: User, store: Store
) -> tuple[Standing, list[Version]]:
    standing = _standing_of(addresses, public_id, user, True, store)
    versions = store.versions(standing.found.file_id)
    _own_map(store, public_id, user)  # the next owner may have added versions meanwhile
    return standing, versions


def _saved(details: MapDetails, shown_tags: str, store: Store, found: Map, user: User) -> Map:
    """Save what was changed in a form that was opened with the tags ``shown_tags``."""
    if details.tags is None:
        return store.edit_map(found.file_id, details)
    change_tags = partial(tags_after, shown=shown_tags, said=details.tags)
    return store.edit_map(found.file_id, replace(details, tags=None), change_tags)


def _row(version: Version, address: str) -> VersionRow:
    return VersionRow(
        number=version.number,
        name=version.name,
        size=f"{version.size / KILOBYTE:,.1f}",
        created=moment(version.created),
        created_by=version.created_by,
        current=version.current,
        address=f"{address}/versions/{version.number}",
    )
