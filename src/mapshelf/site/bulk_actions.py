"""Perform bulk actions on maps selected in a list: download them as a zip, or tag them.

Lists send the IDs of selected maps in the URL of the next page, so the selection needs no
server-side state. ``own_collections.py`` adds selected maps to a collection.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Final
from urllib.parse import parse_qsl
from zipfile import ZIP_DEFLATED, ZipFile

import xxhash

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.data_export import LEVEL, PieceSink
from mapshelf.accounts.permissions import may_change, may_see
from mapshelf.api.browser_sessions import Session, is_late
from mapshelf.api.content_disposition import attachment
from mapshelf.api.forms import Form
from mapshelf.api.http import NO_STORE, Request, Response
from mapshelf.api.map_writing import only_owner, permitted_store
from mapshelf.api.visible_maps import no_map, require_no_takeover, user_if_any
from mapshelf.cached_file import CachedFile
from mapshelf.errors import Forbidden, InvalidParameter, Overloaded, StoreDamaged
from mapshelf.formats.file_names import file_name, split_name
from mapshelf.model import (
    AuditEvent,
    Map,
    MapDetails,
    User,
    VisitKind,
    about_map,
    is_public_id,
    name_key,
    parse_tags,
)
from mapshelf.query import read_parameters
from mapshelf.readers.parsing.text_cleaning import clean
from mapshelf.site.collections_shown import cards_of
from mapshelf.site.form_errors import ALL_FORM_ERRORS
from mapshelf.site.messages import say
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.responses import STRICT, see_other
from mapshelf.store import Store

MOST_SELECTED: Final = 100
"""Maximum number of selected maps."""

MOST_BYTES: Final = 64 << 20
"""Maximum total size of the files in a zip, in bytes. Further files are omitted and listed in the
zip.
"""

LEFT_OUT: Final = "left-out.txt"
"""Name of the file in a zip that lists the omitted files."""

DONE: Final = "tagged"


def asked_ids(request: Request) -> list[str]:
    """Return the ids of the selected maps in the URL of a request.

    Raises:
        InvalidParameter: there are no valid IDs, or too many.
    """
    pairs = parse_qsl(request.query_string.decode("latin-1"))
    return selected_ids([value for name, value in pairs if name == "map"])


def selected_ids(texts: Sequence[str]) -> list[str]:
    """Return the IDs among these texts; see ``asked_ids``."""
    known = list(dict.fromkeys(text for text in texts if is_public_id(text)))
    if not known:
        raise InvalidParameter("Choose at least one map.")
    if len(known) > MOST_SELECTED:
        raise InvalidParameter(f"At most {MOST_SELECTED} maps can be chosen at once.")
    return known


class BulkActionPages:
    """The pages for bulk actions."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._addresses = personal.addresses
        self._context = personal.context

    def paths(self) -> Paths:
        """Return the handlers of the pages for signed-in users by path."""
        page_for, form_for = self._personal.page_for, self._personal.form_for
        change = "change a map"
        return {"/tag": (page_for(change, self._show_tags), form_for(change, self._tag, ""))}

    # -- downloading ----------------------------------------------------------------------

    async def download(self, request: Request) -> Response:
        """Respond with a zip of the files of the selected maps."""
        context, ids = self._context, asked_ids(request)
        user, began = await user_if_any(context.sessions, request), perf_counter()
        await context.sessions.authenticator()  # wait until the store is open
        make = partial(self._made, context.store.get(), ids, user)
        key = ("chosen", tuple(ids), user)
        maps, file = await context.queues.selections.result(
            key, make, request.disconnection, owner=request.owner
        )
        if user and is_late(began) and await user_if_any(context.sessions, request) is None:
            # The session or token has ended meanwhile: send what everybody may have.
            return await self.download(request)
        if file is None:
            raise Overloaded("the zip cannot be written")
        for one in maps:
            context.note_visit(request, one.file_id, VisitKind.DOWNLOAD)
        headers = (
            (b"content-type", b"application/zip"),
            (b"content-length", str(file.size).encode()),
            (b"content-disposition", attachment(say("several.file"), "zip")),
            *NO_STORE,
            *STRICT,
        )
        return Response(200, headers, file=file)

    def _made(
        self, store: Store, ids: Sequence[str], user: User | None
    ) -> tuple[list[Map], CachedFile | None]:
        maps = seen_maps(store, ids, user)
        files = [(one, store.kept_file(one.file_id)) for one in maps]
        facts = [(one.title, one.file_id, kept and kept.digest) for one, kept in files]
        key = xxhash.xxh3_128_hexdigest(repr(facts).encode("utf-8", "replace"))
        size = min(MOST_BYTES, sum(kept.size for _, kept in files if kept))
        file = self._context.exports.selection(key, zipped(store, maps, user), size)
        return [one for one, kept in files if kept], file

    # -- tagging --------------------------------------------------------------------------

    async def _show_tags(self, request: Request, session: Session) -> Response:
        return await self._tag_page(request, session, asked_ids(request))

    async def _tag(self, request: Request, session: Session, form: Form) -> Response:
        ids = selected_ids(form.text("maps").split(","))
        said = {name: form.text(name) for name in ("add", "remove")}
        address = self._personal.client(request).address
        try:
            change = _read_tags(said["add"], said["remove"])
            work = partial(_tagged, ids, change, session.user, address)
            await self._personal.ask(request, work)
        except ALL_FORM_ERRORS as error:
            if isinstance(error, Forbidden):
                raise
            return await self._tag_page(request, session, ids, said, error)
        return see_other(f"{self._addresses.people.tag(ids)}&done={DONE}")

    async def _tag_page(
        self,
        request: Request,
        session: Session,
        ids: list[str],
        said: dict[str, str] | None = None,
        error: Exception | None = None,
    ) -> Response:
        look = partial(_changeable, ids, session.user)
        maps, others = await self._personal.ask(request, look)
        done = read_parameters(request.query_string, ("done",)).get("done", "")
        cards = cards_of(maps, self._addresses, self._context.snapshot.get().snapshot)
        values = {
            "maps": [(card, one.tags) for card, one in zip(cards, maps, strict=True)],
            "ids": ",".join(one.id for one in maps),
            "others": others,
            "said": said or {"add": "", "remove": ""},
            "done": DONE if done == DONE else "",
        }
        page = Page("tag.html", values, error, invalid="failure.tags")
        return await self._personal.page(page, session)


def seen_maps(store: Store, ids: Sequence[str], user: User | None) -> list[Map]:
    """Return the maps with these ids that a user may see.

    Raises:
        NotFound: there are no such maps.
    """
    maps = [one for one in store.maps_with_ids(ids) if may_see(one, user)]
    if not maps:
        raise no_map()
    return maps


def zipped(store: Store, maps: Sequence[Map], user: User | None) -> Iterator[bytes]:
    """Yield a zip with the files of maps, one of them in memory at a time.

    This may take a while, so a map that ``user`` may no longer see is left out. This is checked
    after its file is read: whoever hides a map may then upload a confidential file.

    Raises:
        StoreUnavailable: the store cannot be reached, or another server took over meanwhile.
    """
    sink, names, left_out, room = PieceSink(), _Names(), [], MOST_BYTES
    with ZipFile(sink, "w", ZIP_DEFLATED, compresslevel=LEVEL) as packed:
        for one in maps:
            takeovers = store.takeovers()
            kept = store.content(one.file_id)
            content = None
            with suppress(StoreDamaged):  # damaged: still send the others
                content = kept.decompressed() if kept else None
            now = store.find_map(one.id)
            if now is None or not may_see(now, user):
                content = None
            require_no_takeover(store, takeovers)
            if kept is None or content is None or len(content) > room:
                left_out.append(one.title)
                continue
            room -= len(content)
            packed.writestr(names.free(one.title, split_name(kept.name)[1]), content)
            yield sink.taken()
        if left_out:
            lines = (say("several.left_out"), "", *left_out, "")
            packed.writestr(names.free(*split_name(LEFT_OUT)), "\n".join(lines))
    yield sink.taken()


@dataclass(slots=True)
class _Change:
    """Tags to add to maps, and tags to remove."""

    added: tuple[str, ...]
    removed: frozenset[str]

    def of(self, tags: Sequence[str]) -> tuple[str, ...]:
        """Return the changed tags of a map.

        Raises:
            InvalidParameter: there would be too many.
        """
        kept = [one for one in tags if name_key(one) not in self.removed]
        known = {name_key(one) for one in kept}
        tags = (*kept, *(one for one in self.added if name_key(one) not in known))
        try:
            parse_tags(", ".join(tags))
        except ValueError as error:
            raise InvalidParameter("A map would have too many tags.") from error
        return tags


class _Names:
    """Chooses unique names for the files in a zip, ignoring case."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def free(self, stem: str, suffix: str) -> str:
        """Return a name that is not used yet."""
        number, name = 1, file_name(stem, suffix)
        while name.casefold() in self._taken:
            number += 1
            name = file_name(f"{stem[:100]} ({number})", suffix)
        self._taken.add(name.casefold())
        return name


def _read_tags(added: str, removed: str) -> _Change:
    try:
        change = _Change(parse_tags(clean(added)), frozenset())
        change.removed = frozenset(name_key(one) for one in parse_tags(clean(removed)))
    except ValueError as error:
        raise InvalidParameter("These are no tags.") from error
    if not change.added and not change.removed:
        raise InvalidParameter("There is no tag.")
    return change


def _changeable(ids: Sequence[str], user: User, store: Store) -> tuple[list[Map], int]:
    """Return the maps that a user may change, and the number of others that the user may see.

    Raises:
        NotFound: the user may see none of them.
        Forbidden: the user may change none of them.
    """
    seen = seen_maps(store, ids, user)
    own = [one for one in seen if may_change(one, user)]
    if not own:
        raise only_owner()
    return own, len(seen) - len(own)


def _tagged(ids: Sequence[str], change: _Change, user: User, address: str, store: Store) -> None:
    maps, _ = _changeable(ids, user, store)
    for one in maps:
        change.of(one.tags)  # all are checked before any is changed
    for one in maps:
        entry = done_by(user, address, AuditEvent.MAP_CHANGED, about_map(one.id))
        with store.auditing(entry):
            permitted_store(store, one, user).edit_map(one.file_id, MapDetails(), change.of)
