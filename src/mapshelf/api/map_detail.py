"""``GET /maps/{ID}`` and the paths below it: a map, its outline in any format, its file.

The map itself comes from the snapshot, like every list. Outlines and files are only in the store;
they are read and made in a thread, those of large maps as described in ``documents``.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

import orjson

from mapshelf.api.content_disposition import attachment, split_name
from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import CachedSnapshot, Deferred
from mapshelf.api.documents import Documents, Kind
from mapshelf.api.http import (
    CHECKED_EACH_TIME,
    Request,
    Response,
    body_response,
    etag,
    json_response,
)
from mapshelf.api.map_links import linked_maps
from mapshelf.errors import NotFound
from mapshelf.formats.outline_codec import decode_outline, is_large
from mapshelf.snapshot.read import Record, Snapshot
from mapshelf.store.contract import Links, Maps
from mapshelf.writers import WRITERS, Writer

FORMATS: Final = {writer.suffix: writer for writer in WRITERS}
"""The writers of outlines, by the end of the path."""


async def show_map(context: Context, request: Request) -> Response:
    """Return the Map object of a map, the same as in lists."""
    record = find_map(context.snapshot.get(), request.parts["id"], context.base_url)
    return json_response(200, record.body, [etag(record.body), *CHECKED_EACH_TIME])


async def show_outline(context: Context, request: Request) -> Response:
    """Return the outline of a map as a file of another format."""
    current = context.snapshot.get()
    record = find_map(current, request.parts["id"], context.base_url)
    writer = FORMATS[request.parts["format"]]
    export = Export(writer, context.documents, context.base_url, current.snapshot)
    make = partial(export_outline, context.store.get(), record, export)
    return await current.response(request, context.queues.files, make, query_string=b"")


async def show_file(context: Context, request: Request) -> Response:
    """Return the original file of a map."""
    current = context.snapshot.get()
    record = find_map(current, request.parts["id"], context.base_url)
    make = partial(original_file, context.store.get(), record, context.documents)
    return await current.response(request, context.queues.files, make, query_string=b"")


def find_map(current: CachedSnapshot, public_id: str, base_url: bytes) -> Record:
    """Return the map with this ID.

    Raises:
        NotFound: there is none.
    """
    record = current.snapshot.find(public_id, base_url)
    if record is None:
        raise NotFound("There is no map with this ID.")
    return record


class ReadMaps(Maps, Links, Protocol):
    """What exporting an outline needs of a store."""


@dataclass(frozen=True, slots=True)
class Export:
    """How an outline is exported.

    Attributes:
        writer: writes the file.
        documents: makes the files of large maps.
        base_url: where clients reach the service.
        snapshot: has the maps that links may lead to.
    """

    writer: Writer
    documents: Documents
    base_url: bytes
    snapshot: Snapshot

    def facts(self, store: ReadMaps, record: Record) -> tuple[object, ...]:
        """Return what the writer needs besides the outline."""
        if not self.writer.refers_to_catalogue:
            return ()
        public_id = orjson.loads(record.body)["ID"]
        linked = linked_maps(store, self.snapshot, record.file_id)
        maps = {link: found.id for link, found in linked.items()}
        return (f"{self.base_url.decode()}/maps/{public_id}/images/", maps)


def export_outline(store: ReadMaps, record: Record, export: Export) -> Response | Deferred:
    """Return the outline of a map as a file of another format; for a large map, deferred.

    Raises:
        NotFound: the map has no outline.
        StoreDamaged: the outline cannot be read.
    """
    outline = _outline(store, record)
    if is_large(outline):
        make = partial(_large_outline, store, record, export)
        return Deferred(export.documents.queue, make, lasting=True)
    kind = _export_kind(record, export.writer)
    body = export.writer.write(decode_outline(outline), *export.facts(store, record))
    return body_response(200, kind.media_type, body, (*kind.headers, etag(body)))


def original_file(store: Maps, record: Record, documents: Documents) -> Response:
    """Return the original file of a map.

    Raises:
        NotFound: there is none.
        Overloaded: it was replaced meanwhile.
        StoreDamaged: it cannot be unpacked.
    """
    kept = store.kept_file(record.file_id)
    if kept is None:
        raise NotFound("The file of this map is not kept here.")
    stem, suffix = split_name(kept.name)
    disposition = attachment(stem or record.title, suffix)
    etag = (b"etag", f'"{kept.digest.hex()}"'.encode())
    headers = ((b"content-disposition", disposition), etag, *CHECKED_EACH_TIME)
    content = partial(store.content_piece, record.file_id, kept.digest)
    return documents.of_file(kept, content, Kind(b"application/octet-stream", headers))


def _outline(store: Maps, record: Record) -> bytes:
    outline = store.outline(record.file_id)
    if outline is None:
        raise NotFound("This map has no outline.")
    return outline


def _large_outline(store: ReadMaps, record: Record, export: Export) -> Response:
    # Read again, so that it does not take memory while the request waits in the queue.
    outline = _outline(store, record)
    writer, facts = export.writer, export.facts(store, record)
    return export.documents.of_outline(writer.write, outline, facts, _export_kind(record, writer))


def _export_kind(record: Record, writer: Writer) -> Kind:
    disposition = attachment(record.title, writer.suffix)
    headers = ((b"content-disposition", disposition), *CHECKED_EACH_TIME)
    return Kind(writer.media_type.encode(), headers)
