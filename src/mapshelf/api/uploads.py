"""``POST /maps`` and ``PUT /maps/{ID}/file``: map files that people upload.

A file is read as an import reads it (``upload_reader``). Uploading the same again gives the map
that is there: programs send a request again when a connection breaks, and never learn that it
arrived.
"""

import re
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import BinaryIO, Final

from mapshelf.accounts.audit import done_by
from mapshelf.api.bodies import check_body
from mapshelf.api.content_disposition import sent_name
from mapshelf.api.context import Context
from mapshelf.api.forms import MULTIPART, FormLimits, Upload
from mapshelf.api.http import BodyRule, Request, Response
from mapshelf.api.map_fields import details_of, read_form
from mapshelf.api.map_writing import (
    map_response,
    published_response,
    sender_address,
    signed,
    with_map,
)
from mapshelf.api.quotas import check_quotas, check_uploads
from mapshelf.api.upload_reader import ReadUpload, UploadReader, digest_of
from mapshelf.api.visible_maps import until_hidden
from mapshelf.clock import milliseconds
from mapshelf.errors import Conflict, InvalidParameter, NotFound, StoreDamaged, UnreadableFile
from mapshelf.model import AuditEvent, Map, MapDetails, Role, Usage, User
from mapshelf.readers.parsing.limits import Limits
from mapshelf.settings import Settings
from mapshelf.store import Store
from mapshelf.store.contract import Uploads

FILE: Final = "map"
"""The field of a form that has the file."""

LARGEST_FILE: Final = Limits().file
LONGEST_FIELDS: Final = 65_536
"""Bytes of an uploaded file, and of all other fields together."""

LIMITS: Final = FormLimits(fields=20, text=LONGEST_FIELDS, files=(FILE,), file=LARGEST_FILE)

PUBLISHING: Final = BodyRule(LARGEST_FILE + 2 * LONGEST_FIELDS, (MULTIPART,))
REPLACING: Final = BodyRule(PUBLISHING.most, (MULTIPART, "application/octet-stream"))
"""The bodies of the operations."""

_KEY: Final = re.compile("[!-~]{1,255}")


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that was sent: its name, which may be empty, and its content."""

    name: str
    content: BinaryIO


async def publish_map(context: Context, request: Request) -> Response:
    """Publish the map of an uploaded file."""
    key = idempotency_key(request)
    check_uploads(context.settings)
    async with context.bodies.form(request, LIMITS) as form:
        file, said = _chosen(form.upload(FILE)), read_form(form)
        publisher = Publisher(context.store.get(), context.settings, context.upload_reader)
        user, address = signed(request), sender_address(context, request)
        publish = partial(publisher.publish, file, said, user, key, address=address)
        found, new = await context.queues.uploads.result(object(), publish, owner=user.id)
    return published_response(found, context.base_url, new=new)


async def replace_map_file(context: Context, request: Request) -> Response:
    """Give a map another file."""
    check_uploads(context.settings)
    async with _sent_file(context, request) as file:
        await until_hidden(context, request)
        publisher = Publisher(context.store.get(), context.settings, context.upload_reader)
        replace_file = partial(publisher.replace, file)
        event = AuditEvent.MAP_REPLACED
        found = await with_map(context, request, context.queues.uploads, replace_file, event=event)
    return map_response(found, context.base_url)


def idempotency_key(request: Request) -> bytes | None:
    """Return the digest of what the client calls its upload, ``None`` if it gives it no name.

    Raises:
        InvalidParameter: it is no name.
    """
    sent = request.sender.header(b"idempotency-key").decode("latin-1")
    if not sent:
        return None
    if not _KEY.fullmatch(sent):
        raise InvalidParameter(
            "The Idempotency-Key header must be 1 to 255 printable characters of ASCII."
        )
    return digest_of(sent.encode())


class Publisher:
    """Reads and publishes files, in a thread."""

    def __init__(self, store: Store, settings: Settings, reader: UploadReader) -> None:
        self._store = store
        self._settings = settings
        self._reader = reader

    def publish(
        self,
        file: SentFile,
        said: dict[str, str],
        user: User,
        key: bytes | None,
        *,
        address: str = "",
    ) -> tuple[Map, bool]:
        """Publish the map of a file; return it, and whether it is new.

        Args:
            file: the file.
            said: what its author says about it, by field.
            user: its author.
            key: see ``idempotency_key``.
            address: of the client, for the audit log.

        Raises:
            InvalidParameter: a field is not valid.
            UnreadableFile: the file is refused.
            Forbidden: the user has uploaded too much.
            TooManyUploads: the user uploads too fast.
            StoreUnavailable: the store cannot be reached.
        """
        details = details_of(said, self._store)
        content = file.content.read()
        known = self._store.uploaded(digest_of(content), user.id, key)
        if known is not None:
            return known, False
        upload = self._read(file.name, content, user)
        check = self._quotas(user, upload.file.kept, new=True)
        details = _with_facts(details, upload)
        with self._store.auditing(done_by(user, address, AuditEvent.MAP_PUBLISHED)):
            return self._store.publish(upload.file, details, user.id, key, check)

    def replace(self, file: SentFile, store: Store, found: Map, user: User) -> Map:
        """Give a map another file; return the map.

        Raises:
            Conflict: the map was not uploaded.
            UnreadableFile: the file is refused.
            Forbidden: the user has uploaded too much.
            TooManyUploads: the user uploads too fast.
        """
        versions = store.versions(found.file_id)
        if not versions:
            raise Conflict("This map was not uploaded: its file belongs to a folder.")
        return self._replaced(file.name or versions[0].name, file.content.read(), found, user)

    def restore(self, number: int, store: Store, found: Map, user: User) -> Map:
        """Give a map the file of a version that it had, and return the map.

        It is read again, so it counts as an upload: what was read from it then may have been less
        than is found today.

        Raises:
            NotFound: it has no such version.
            UnreadableFile: the file is refused by now.
            Forbidden: the user has uploaded too much.
            TooManyUploads: the user uploads too fast.
            StoreDamaged: it cannot be unpacked.
        """
        name, content = version_content(store, found.file_id, number)
        return self._replaced(name, content, found, user)

    def _replaced(self, name: str, content: bytes, found: Map, user: User) -> Map:
        versions = self._store.versions(found.file_id)
        if any(one.current and one.digest == digest_of(content) for one in versions):
            return found
        upload = self._read(name, content, user, found.file_id)
        check = self._quotas(user, upload.file.kept, new=False)
        return self._store.replace_file(found.file_id, upload.file, user.id, check)

    def _read(self, name: str, content: bytes, user: User, replacing: int = 0) -> ReadUpload:
        """Read a file, unless the user has uploaded too much already.

        How much its pictures take is known only after that, and is checked when it is stored.
        """
        usage = self._store.usage(user.id, replacing)
        self._quotas(user, len(content), new=not replacing)(usage)
        try:
            return self._reader.read(name, content)
        except UnreadableFile:
            self._store.note_refused_upload(user.id)
            raise

    def _quotas(self, user: User, size: int, *, new: bool) -> Callable[[Usage], None]:
        """Return what refuses a file of this size, given what the user has uploaded already."""

        def check(usage: Usage) -> None:
            if user.role is not Role.ADMINISTRATOR:
                check_quotas(self._settings, usage, size, milliseconds(), new=new)

        return check


def version_content(store: Uploads, file_id: int, number: int) -> tuple[str, bytes]:
    """Return name and content of a file that a map had.

    Raises:
        NotFound: it has no such version.
        StoreDamaged: it cannot be unpacked.
    """
    kept = store.version_file(file_id, number)
    if kept is None:
        raise no_version()
    try:
        return kept.name, zlib.decompress(kept.content)
    except zlib.error as error:
        raise StoreDamaged("a file in the store cannot be unpacked") from error


def no_version() -> NotFound:
    """Return the error for a version that is not there for whoever asks."""
    return NotFound("This map has no such version.")


def _chosen(upload: Upload | None) -> SentFile:
    if upload is None:
        raise InvalidParameter(f"The {FILE} field must have a file.")
    return SentFile(upload.name, upload.content)


@asynccontextmanager
async def _sent_file(context: Context, request: Request) -> AsyncIterator[SentFile]:
    """Yield the file in a body: in a form, or all of the body."""
    check_body(request)
    media_type = request.sender.header(b"content-type").partition(b";")[0].strip().lower()
    if request.body is None or media_type == MULTIPART.encode():
        async with context.bodies.form(request, LIMITS) as form:
            yield _chosen(form.upload(FILE))
        return
    async with context.bodies.file(request) as content:
        disposition = request.sender.header(b"content-disposition")
        yield SentFile(sent_name(disposition), content)


def _with_facts(details: MapDetails, upload: ReadUpload) -> MapDetails:
    """Return details with what a file says where its author says nothing."""
    return replace(
        details,
        title=upload.title if details.title is None else details.title,
        description=upload.description if details.description is None else details.description,
        template=upload.template if details.template is None else details.template,
    )
