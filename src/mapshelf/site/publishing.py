"""Handle the pages for publishing maps: upload files, review their content, add details, publish.

Between upload and publication, a file is a private map of its owner. It is in the store, so every
node finds it, it counts towards the quota, and it is rendered like any map. Closing the browser
loses nothing: the map stays among the user's maps until it is published or removed. Uploads are
stored nowhere else.

Without a script, a form sends all files. With one (``publish.js``), each file is sent separately,
and the response is JSON.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import orjson

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.permissions import may_change
from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import MULTIPART, Form, FormLimits, Upload
from mapshelf.api.http import BodyRule, Request, Response, json_response
from mapshelf.api.map_writing import permitted_store
from mapshelf.api.quotas import check_uploads
from mapshelf.api.uploads import LARGEST_FILE, Publisher, SentFile
from mapshelf.errors import InvalidParameter, MapHidden, NotFound
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.formats.outline_size import is_large
from mapshelf.model import AuditEntry, AuditEvent, Map, User, Visibility, about_map
from mapshelf.query import read_parameters
from mapshelf.readers.parsing.limits import MIB
from mapshelf.site.cards import Card, card
from mapshelf.site.form_changes import PREFIX, entered_again
from mapshelf.site.form_errors import ALL_FORM_ERRORS, failure
from mapshelf.site.map_actions import DONE
from mapshelf.site.map_forms import (
    BODY,
    LIMITS,
    MOST_MAPS,
    Choices,
    MapForm,
    Said,
    checked,
    choices_of,
    form_of,
    said_in,
)
from mapshelf.site.messages import counted, say
from mapshelf.site.messages.scripts import PUBLISH_ENGLISH
from mapshelf.site.personal import FormKind, Page, Paths, Personal
from mapshelf.site.responses import PERSONAL, see_other
from mapshelf.snapshot.format.records import encode_record, with_base_url
from mapshelf.snapshot.read import Record
from mapshelf.store import Store

FILES: Final = "map"
"""The form field for the files."""

TOGETHER: Final = 2 * LARGEST_FILE
"""Maximum total size of the files in one form, in bytes."""

FILES_LIMITS: Final = FormLimits(fields=MOST_MAPS + 5, text=4096, files=(FILES,), file=LARGEST_FILE)
FILES_BODY: Final = BodyRule(TOGETHER + 16_384, (MULTIPART,))

_IDS: Final = re.compile("[0-9A-Za-z]{1,32}")

_STATE: Final = "state"
"""The hidden field that tells whether a map has changed since its form was opened."""


@dataclass(frozen=True, slots=True)
class RefusedUpload:
    """A file that was refused.

    Attributes:
        name: the file name.
        reason: the reason, written for the uploader.
        error: the exception.
    """

    name: str
    reason: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Uploaded:
    """An uploaded map on the review page.

    Attributes:
        card: the map's card, as in lists.
        contents: a summary of its contents in words.
        form: the form for its details.
        visibility: its current visibility.
    """

    card: Card
    contents: str
    form: MapForm
    visibility: Visibility


@dataclass(frozen=True, slots=True)
class _Said:
    """A submitted form with its user and client."""

    user: User
    address: str
    form: Form

    def entry(self, event: AuditEvent, found: Map) -> AuditEntry:
        """Return the audit log entry for a map in the form."""
        return done_by(self.user, self.address, event, about_map(found.id))


class PublishPages:
    """The pages for publishing maps."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._addresses = personal.addresses
        self._context = personal.context
        self._settings = personal.context.settings

    def paths(self) -> Paths:
        """Return the handlers of these pages by path."""
        page_for, form_for = self._personal.page_for, self._personal.form_for
        address = self._addresses.people.publish()
        publish = "publish a map"
        files = FormKind(FILES_LIMITS, FILES_BODY, self._refuse_files)
        said = FormKind(LIMITS, BODY)
        return {
            "/publish": (
                page_for(publish, self._show_choice),
                form_for(publish, self._take_files, address, files),
            ),
            "/publish/preview": (
                page_for(publish, self._show_preview),
                form_for(publish, self._publish, address, said),
            ),
            "/publish/published": (page_for(publish, self._show_published), None),
        }

    # -- files ----------------------------------------------------------------------------

    async def _show_choice(self, request: Request, session: Session) -> Response:
        return await self._choice(session)

    async def _choice(
        self,
        session: Session,
        error: Exception | None = None,
        refused: Sequence[RefusedUpload] = (),
    ) -> Response:
        values = {
            "publish_messages": dict(PUBLISH_ENGLISH),
            "uploads": self._settings.uploads,
            "most": MOST_MAPS,
            "megabytes": LARGEST_FILE // MIB,
            "together": TOGETHER // MIB,
            "largest": LARGEST_FILE,
            "refused": refused,
            "mine": self._addresses.people.account("maps"),
        }
        if refused and error is None:
            error = refused[0].error
        page = Page("publish.html", values, error, invalid="failure.files")
        return await self._personal.page(page, session)

    async def _refuse_files(self, request: Request, session: Session, error: Exception) -> Response:
        if _is_script(request):
            return _told([], [_refusal("", error)])
        return await self._choice(session, error)

    async def _take_files(self, request: Request, session: Session, form: Form) -> Response:
        check_uploads(self._settings)
        files = form.files.get(FILES, ())
        if not files:
            raise InvalidParameter("Choose a file.")
        taken: list[Map] = []
        refused: list[RefusedUpload] = []
        for file in files:
            result = await self._draft(request, session.user, file)
            if isinstance(result, Map):
                taken.append(result)
            else:
                refused.append(result)
        public_ids = list(dict.fromkeys(found.id for found in taken))
        if _is_script(request):
            return _told(public_ids, refused)
        if not taken:
            return await self._choice(session, refused=refused)
        if not refused:
            return see_other(self._addresses.people.uploads(public_ids))
        return await self._preview(request, session, public_ids, refused=refused)

    async def _draft(self, request: Request, user: User, file: Upload) -> Map | RefusedUpload:
        """Return the private map of an uploaded file, or the refusal."""
        publisher = Publisher(
            self._context.store_for(request), self._settings, self._context.upload_reader
        )
        sent = SentFile(file.name, file.content)
        address = self._personal.client(request).address
        work = partial(publisher.publish, sent, DRAFT, user, None, address=address)
        try:
            found, _ = await self._context.queues.uploads.result(
                object(), work, owner=request.owner
            )
        except ALL_FORM_ERRORS as error:
            return _refusal(file.name, error)
        return found

    # -- preview --------------------------------------------------------------------------

    async def _show_preview(self, request: Request, session: Session) -> Response:
        return await self._preview(request, session, _asked(request))

    async def _preview(
        self,
        request: Request,
        session: Session,
        public_ids: Sequence[str],
        forms: dict[str, MapForm] | None = None,
        refused: Sequence[RefusedUpload] = (),
    ) -> Response:
        look = partial(self._look, session.user, public_ids, forms or {})
        maps, choices = await self._personal.ask(request, look)
        if not maps and not refused:
            return see_other(self._addresses.people.publish())
        drafts = [one for one in maps if one.visibility is Visibility.PRIVATE]
        values = {
            "drafts": drafts,
            "others": [one for one in maps if one.visibility is not Visibility.PRIVATE],
            "choices": choices,
            "maps": ",".join(one.card.id for one in drafts),
            "refused": refused,
        }
        wrong = any(one.form.failures for one in drafts)
        error = InvalidParameter("Something in the form cannot be taken.") if wrong else None
        page = Page("preview.html", values, error, invalid="failure.fields")
        return await self._personal.page(page, session)

    def _look(
        self, user: User, public_ids: Sequence[str], forms: dict[str, MapForm], store: Store
    ) -> tuple[list[Uploaded], Choices]:
        maps = []
        for public_id in public_ids:
            state, found = _state(public_id, store), store.find_map(public_id)
            if found is None or not may_change(found, user):
                continue
            said = form_of(found, Visibility.PUBLISHED)
            form = forms.get(public_id) or _form(public_id, said, {}, state)
            record = Record(found.file_id, with_base_url(encode_record(found), b""))
            maps.append(
                Uploaded(
                    card(record, self._addresses, []),
                    contents_of(store, found),
                    form,
                    found.visibility,
                )
            )
        return maps, choices_of(store)

    # -- publishing -----------------------------------------------------------------------

    async def _publish(self, request: Request, session: Session, form: Form) -> Response:
        public_ids = _ids(form.text("maps"))
        discarded = form.text("discard")
        said = _Said(session.user, self._personal.client(request).address, form)
        work = partial(self._save, said, public_ids, discarded)
        forms, left = await self._personal.ask(request, work)
        if discarded and left:
            return await self._preview(request, session, left, forms)
        if discarded:
            return see_other(self._addresses.people.publish())
        if any(one.failures for one in forms.values()):
            return await self._preview(request, session, public_ids, forms)
        if len(left) == 1:
            address = await self._personal.ask(request, partial(self._page_of, left[0]))
            return see_other(address)
        return see_other(self._addresses.people.uploads(left, published=True))

    def _save(
        self, said: "_Said", public_ids: Sequence[str], discarded: str, store: Store
    ) -> tuple[dict[str, MapForm], list[str]]:
        """Publish or discard the maps in a form; return their forms and the IDs of those left.

        All are checked before any is published. If one is discarded, none is published.
        """
        forms: dict[str, MapForm] = {}
        ready, left = [], []
        for public_id in public_ids:
            current, found = _state(public_id, store), store.find_map(public_id)
            if found is None or not may_change(found, said.user):
                continue  # removed meanwhile
            prefix = _prefix(public_id)
            fields, state = said_in(said.form, prefix), said.form.text(f"{prefix}{PREFIX}{_STATE}")
            hidden = not discarded and store.is_hidden(found.file_id)  # refused below, and says so
            if not hidden and state != current:  # it may have been published since
                if found.visibility is Visibility.PRIVATE:
                    failures = {"visibility": say("failure.outdated")}
                    again = entered_again(fields, form_of(found))
                    forms[public_id] = _form(public_id, again, failures, current)
                left.append(public_id)
                continue
            if public_id == discarded:
                with store.auditing(said.entry(AuditEvent.MAP_REMOVED, found)):
                    permitted = permitted_store(store, found, said.user)
                    permitted.remove_map(found.file_id, said.user.id)
                continue
            details, failures = checked(fields, store)
            failures = {} if discarded else failures
            forms[public_id] = MapForm(prefix, fields, failures, shown={_STATE: state})
            ready.append((found, details))
            left.append(public_id)
        if not discarded and not any(one.failures for one in forms.values()):
            for found, details in ready:
                try:
                    with store.auditing(said.entry(AuditEvent.MAP_CHANGED, found)):
                        permitted = permitted_store(store, found, said.user)
                        permitted.edit_map(found.file_id, details)
                    shown = {_STATE: _state(found.id, store)}
                    forms[found.id] = replace(forms[found.id], shown=shown)
                except MapHidden as error:
                    failures = {"visibility": failure(error, "failure.fields")}
                    forms[found.id] = replace(forms[found.id], failures=failures)
        return forms, left

    def _page_of(self, public_id: str, store: Store) -> str:
        found = store.find_map(public_id)
        if found is None:
            raise NotFound("This map was removed.")
        return f"{self._addresses.map(found.id, found.title)}?done={DONE}"

    async def _show_published(self, request: Request, session: Session) -> Response:
        look = partial(self._look, session.user, _asked(request), {})
        maps, _ = await self._personal.ask(request, look)
        if not maps:
            return see_other(self._addresses.people.account("maps"))
        return await self._personal.page(Page("published.html", {"maps": maps}), session)


DRAFT: Final = {"visibility": Visibility.PRIVATE.value}
"""Initial details of an uploaded map."""


def contents_of(store: Store, found: Map) -> str:
    """Summarise the contents of a map; empty if unknown or expensive to determine."""
    encoded = store.outline(found.file_id)
    if not encoded:
        return ""
    if is_large(encoded):
        return say("contents.large")
    outline = decode_outline(encoded)
    return f"{counted('topics', outline.topic_count)}, {counted('levels', outline.depth)}"


def _state(public_id: str, store: Store) -> str:
    """Return what a form must have been opened with, so that it may change a map.

    Read it before the map: then a form never shows less than its state says.
    """
    return str(store.map_revision(public_id))


def _form(public_id: str, said: Said, failures: Mapping[str, str], state: str) -> MapForm:
    return MapForm(_prefix(public_id), said, failures, shown={_STATE: state})


def _prefix(public_id: str) -> str:
    return f"{public_id}-"


def _asked(request: Request) -> list[str]:
    return _ids(read_parameters(request.query_string, ("maps",)).get("maps", ""))


def _ids(text: str) -> list[str]:
    found = [part for part in text.split(",") if _IDS.fullmatch(part)]
    return list(dict.fromkeys(found))[:MOST_MAPS]


def _is_script(request: Request) -> bool:
    return request.sender.header(b"accept").startswith(b"application/json")


def _refusal(name: str, error: Exception) -> RefusedUpload:
    return RefusedUpload(name, failure(error, "failure.files"), error)


def _told(public_ids: list[str], refused: Sequence[RefusedUpload]) -> Response:
    """Return the results of an upload as data for the script."""
    told = [{"name": one.name, "reason": one.reason} for one in refused]
    body = orjson.dumps({"maps": public_ids, "refused": told})
    caching = [header for header in PERSONAL if header[0] == b"cache-control"]
    return json_response(200, body, caching)
