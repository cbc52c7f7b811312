"""``POST /maps`` and ``PUT /maps/{ID}/file``: uploading map files.

A file is parsed as in an import (``upload_reader``). Uploading the same file again returns the
existing map: programs repeat a request if the connection is lost before they get the response.
"""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
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
from mapshelf.api.upload_reader import PatientReader, digest_of
from mapshelf.api.visible_maps import until_hidden
from mapshelf.clock import milliseconds
from mapshelf.errors import Conflict, InvalidParameter, NotFound, UnreadableFile
from mapshelf.model import AuditEvent, Map, Role, UploadedFile, Usage, User
from mapshelf.readers.parsing.limits import Limits
from mapshelf.settings import Settings
from mapshelf.store import Store
from mapshelf.store.contract import Uploads

FILE: Final = "map"
"""The form field with the file."""

LARGEST_FILE: Final = Limits().file
LONGEST_FIELDS: Final = 65_536
"""Maximum size in bytes of an uploaded file, and of all other fields together."""

LIMITS: Final = FormLimits(fields=20, text=LONGEST_FIELDS, files=(FILE,), file=LARGEST_FILE)

PUBLISHING: Final = BodyRule(LARGEST_FILE + 2 * LONGEST_FIELDS, (MULTIPART,))
REPLACING: Final = BodyRule(PUBLISHING.most, (MULTIPART, "application/octet-stream"))
"""The body rules of the operations."""

_KEY: Final = re.compile("[!-~]{1,255}")


@dataclass(frozen=True, slots=True)
class SentFile:
    """An uploaded file: its name, which may be empty, and its content."""

    name: str
    content: BinaryIO

    def read(self) -> bytes:
        """Return the content, also if it has been read before."""
        self.content.seek(0)
        return self.content.read()


async def publish_map(context: Context, request: Request) -> Response:
    """Publish the map in an uploaded file."""
    key = idempotency_key(request)
    check_uploads(context.settings)
    context.queues.uploads.check_room(request.owner)
    async with context.bodies.form(request, LIMITS) as form:
        file, said = _chosen(form.upload(FILE)), read_form(form)
        publisher = Publisher(context.store_for(request), context.settings, context.upload_reader)
        user, address = signed(request), sender_address(context, request)
        publish = partial(publisher.publish, file, said, user, key, address=address)
        found, new = await context.queues.uploads.result(object(), publish, owner=request.owner)
    return published_response(found, context.base_url, new=new)


async def replace_map_file(context: Context, request: Request) -> Response:
    """Replace the file of a map."""
    check_uploads(context.settings)
    context.queues.uploads.check_room(request.owner)
    async with _sent_file(context, request) as file:
        await until_hidden(context, request)
        publisher = Publisher(context.store_for(request), context.settings, context.upload_reader)
        replace_file = partial(publisher.replace, file)
        event = AuditEvent.MAP_REPLACED
        found = await with_map(context, request, context.queues.uploads, replace_file, event=event)
    return map_response(found, context.base_url)


def idempotency_key(request: Request) -> bytes | None:
    """Return the digest of the client's Idempotency-Key, ``None`` if there is none.

    Raises:
        InvalidParameter: the key is invalid.
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
    """Parses and publishes files, in a thread."""

    def __init__(self, store: Store, settings: Settings, reader: PatientReader) -> None:
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
        """Publish the map in a file; return it, and whether it is new.

        Args:
            file: the file.
            said: the details from its author, by field.
            user: its author.
            key: see ``idempotency_key``.
            address: the address of the client, for the audit log.

        Raises:
            InvalidParameter: a field is invalid.
            UnreadableFile: the file is refused.
            Forbidden: the upload would exceed the user's quota.
            TooManyUploads: the user reached the hourly limit on uploads.
            StoreUnavailable: the store cannot be reached.
        """
        details = details_of(said, self._store)
        content = file.read()
        known = self._store.uploaded(digest_of(content), user.id, key)
        if known is not None:
            return known, False
        upload = self._read(file.name, content, user)
        check = self._quotas(user, upload.kept, new=True)
        with self._store.auditing(done_by(user, address, AuditEvent.MAP_PUBLISHED)):
            return self._store.publish(upload, details, user.id, key, check)

    def replace(self, file: SentFile, store: Store, found: Map, user: User) -> Map:
        """Replace the file of a map; return the map.

        Raises:
            Conflict: the map is not an upload.
            UnreadableFile: the file is refused.
            Forbidden: the upload would exceed the user's quota.
            TooManyUploads: the user reached the hourly limit on uploads.
        """
        versions = store.versions(found.file_id)
        if not versions:
            raise Conflict("This map was not uploaded: its file belongs to a folder.")
        return self._replaced(file.name or versions[0].name, file.read(), store, found, user)

    def restore(self, number: int, store: Store, found: Map, user: User) -> Map:
        """Restore the file of an earlier version of a map, and return the map.

        It is parsed again, since newer parsers may find more in it, and so counts as an upload.

        Raises:
            NotFound: the map has no such version.
            UnreadableFile: the file can no longer be parsed.
            Forbidden: the upload would exceed the user's quota.
            TooManyUploads: the user reached the hourly limit on uploads.
            StoreDamaged: the file cannot be decompressed.
        """
        name, content = version_content(store, found.file_id, number)
        return self._replaced(name, content, store, found, user)

    def _replaced(self, name: str, content: bytes, store: Store, found: Map, user: User) -> Map:
        versions = store.versions(found.file_id)
        if any(one.current and one.digest == digest_of(content) for one in versions):
            return found
        upload = self._read(name, content, user, found.file_id)
        check = self._quotas(user, upload.kept, new=False)
        # Reading takes seconds: this store checks again whether the map is still the user's.
        return store.replace_file(found.file_id, upload, user.id, check)

    def _read(self, name: str, content: bytes, user: User, replacing: int = 0) -> UploadedFile:
        """Parse a file, unless the user's quota is used up.

        The size of its pictures is known only afterwards, and is checked when the file is stored.
        """
        usage = self._store.usage(user.id, replacing)
        self._quotas(user, len(content), new=not replacing)(usage)
        try:
            return self._reader.read(name, content)
        except UnreadableFile:
            self._store.note_refused_upload(user.id)
            raise

    def _quotas(self, user: User, size: int, *, new: bool) -> Callable[[Usage], None]:
        """Return a function that checks the quotas for a file of this size, given the usage."""

        def check(usage: Usage) -> None:
            if user.role is not Role.ADMINISTRATOR:
                check_quotas(self._settings, usage, size, milliseconds(), new=new)

        return check


def version_content(store: Uploads, file_id: int, number: int) -> tuple[str, bytes]:
    """Return name and content of the file of a version of a map.

    Raises:
        NotFound: the map has no such version.
        StoreDamaged: the file cannot be decompressed.
    """
    kept = store.version_file(file_id, number)
    if kept is None:
        raise no_version()
    return kept.name, kept.decompressed()


def no_version() -> NotFound:
    """Return the error for a version that does not exist, or that the client may not see."""
    return NotFound("This map has no such version.")


def _chosen(upload: Upload | None) -> SentFile:
    if upload is None:
        raise InvalidParameter(f"The {FILE} field must have a file.")
    return SentFile(upload.name, upload.content)


@asynccontextmanager
async def _sent_file(context: Context, request: Request) -> AsyncIterator[SentFile]:
    """Yield the file in a body: a field of a form, or the whole body."""
    check_body(request)
    media_type = request.sender.header(b"content-type").partition(b";")[0].strip().lower()
    if request.body is None or media_type == MULTIPART.encode():
        async with context.bodies.form(request, LIMITS) as form:
            yield _chosen(form.upload(FILE))
        return
    async with context.bodies.file(request) as content:
        disposition = request.sender.header(b"content-disposition")
        yield SentFile(sent_name(disposition), content)
