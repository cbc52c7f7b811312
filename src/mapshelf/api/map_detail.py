"""``GET /maps/{ID}`` and the paths below it: a map, its outline in any format, its file.

Published maps come from the snapshot, like every list (``visible_maps``). Outlines and files are
only in the store; they are read and converted in a thread. Large maps, and those with pictures, are
handled as described in ``documents``, because encoding pictures is slow.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, Self

import orjson

from mapshelf.api.content_disposition import attachment
from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import Deferred
from mapshelf.api.documents import Documents, Kind, MapOutline
from mapshelf.api.feedback_queue import must_be_quick
from mapshelf.api.http import (
    CHECKED_EACH_TIME,
    Request,
    Response,
    body_response,
    etag,
    json_response,
    provisional,
    with_missing_pictures,
)
from mapshelf.api.map_links import linked_maps
from mapshelf.api.topic_pictures import MOST_PICTURES, PICTURE_SECONDS, TopicPictures
from mapshelf.api.visible_maps import find_map
from mapshelf.errors import NotFound
from mapshelf.formats.file_names import split_name
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.formats.outline_size import is_large
from mapshelf.render.image_worker import LARGEST_SIDE, ImageWorker
from mapshelf.render.render_request import Pictures
from mapshelf.snapshot.read import Record, Snapshot
from mapshelf.store.contract import Links, Maps
from mapshelf.writers import WRITERS, Writer
from mapshelf.writers.pictures import MOST_PICTURE_BYTES

FORMATS: Final = {writer.suffix: writer for writer in WRITERS}
"""The writers of outlines, by path suffix."""


async def show_map(context: Context, request: Request) -> Response:
    """Return the Map object of a map, the same as in lists."""
    found = await find_map(context, request)
    body = found.record.body
    response = json_response(200, body, [etag(body), *CHECKED_EACH_TIME])
    if found.is_cached and not request.query_string:
        found.current.cache((request.path, b""), response)
    return found.guarded(response)


async def show_outline(context: Context, request: Request) -> Response:
    """Return the outline of a map as a file of another format."""
    found = await find_map(context, request)
    writer = FORMATS[request.parts["format"]]
    export = Export.within(context, writer, found.snapshot)
    make = partial(export_outline, context.store.get(), found.record, export)
    return await found.response(request, context.queues.files, make, query_string=b"")


async def show_file(context: Context, request: Request) -> Response:
    """Return the original file of a map."""
    found = await find_map(context, request)
    make = partial(original_file, context.store.get(), found.record, context.documents)
    return await found.response(request, context.queues.files, make, query_string=b"")


class ReadMaps(Maps, Links, Protocol):
    """The parts of the store that exporting an outline needs."""


@dataclass(frozen=True, slots=True)
class Export:
    """How to export an outline.

    Attributes:
        writer: writes the file.
        documents: makes the files of large maps.
        image_worker: converts the pictures in them.
        base_url: the public address of the service.
        snapshot: the snapshot with the maps that links may point to.
    """

    writer: Writer
    documents: Documents
    image_worker: ImageWorker
    base_url: bytes
    snapshot: Snapshot

    @classmethod
    def within(cls, context: Context, writer: Writer, snapshot: Snapshot) -> Self:
        """Return the export settings for ``writer`` and the maps in ``snapshot``."""
        return cls(writer, context.documents, context.image_worker, context.base_url, snapshot)

    def facts(self, store: ReadMaps, record: Record) -> tuple[object, ...]:
        """Return what the writer needs in addition to the outline."""
        if self.writer.embeds_pictures:
            pictures = TopicPictures(store, self.image_worker)
            made = pictures.of_map(
                record,
                store.image_digests(record.file_id),
                quick=must_be_quick(),
                most=MOST_PICTURES,
                width=LARGEST_SIDE,
                most_bytes=MOST_PICTURE_BYTES,
                seconds=PICTURE_SECONDS,
            )
            return (made,)
        if not self.writer.refers_to_catalogue:
            return ()
        public_id = orjson.loads(record.body)["ID"]
        linked = linked_maps(store, self.snapshot, record.file_id)
        maps = {link: found.id for link, found in linked.items()}
        return (f"{self.base_url.decode()}/maps/{public_id}/images/", maps)


def export_outline(store: ReadMaps, record: Record, export: Export) -> Response | Deferred:
    """Return the outline of a map as a file of another format.

    Slow work, for maps that are large or have pictures, is deferred.

    Raises:
        NotFound: the map has no outline.
        StoreDamaged: the outline cannot be decoded.
    """
    outline = encoded_outline(store, record)
    illustrated = export.writer.embeds_pictures and store.image_digests(record.file_id)
    if illustrated or is_large(outline):
        make = partial(_deferred_outline, store, record, export)
        return Deferred(export.documents.queue, make, lasting=True)
    kind = _export_kind(record, export.writer)
    body = export.writer.write(decode_outline(outline), *export.facts(store, record))
    return body_response(200, kind.media_type, body, (*kind.headers, etag(body)))


def encoded_outline(store: Maps, record: Record) -> bytes:
    """Return the encoded outline of a map.

    Raises:
        NotFound: it has none.
    """
    outline = store.outline(record.file_id)
    if outline is None:
        raise NotFound("This map has no outline.")
    return outline


def original_file(store: Maps, record: Record, documents: Documents) -> Response:
    """Return the original file of a map.

    Raises:
        NotFound: there is none.
        Overloaded: it was replaced meanwhile.
        StoreDamaged: it cannot be decompressed.
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


def _deferred_outline(store: ReadMaps, record: Record, export: Export) -> Response:
    # Read it again: holding it would use memory while the request waits in the queue.
    outline = MapOutline(encoded_outline(store, record), record.owner)
    writer, facts = export.writer, export.facts(store, record)
    kind = _export_kind(record, writer)
    response = export.documents.of_outline(writer.write, outline, facts, kind)
    # A later response includes the pictures that there was no time for.
    for pictures in (fact for fact in facts if isinstance(fact, Pictures)):
        response = with_missing_pictures(response, pictures.missing)
        if not pictures.complete:
            response = provisional(response)
    return response


def _export_kind(record: Record, writer: Writer) -> Kind:
    disposition = attachment(record.title, writer.suffix)
    headers = ((b"content-disposition", disposition), *CHECKED_EACH_TIME)
    return Kind(writer.media_type.encode(), headers)
