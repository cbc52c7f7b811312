"""``GET /maps/{ID}`` and what lies below it: one map, its outline in any format, its file.

The map itself comes from the snapshot like every list. Outline and file come from the store, which
alone has them; they are read and made in a thread, since a large one takes a second.
"""

import zlib

import xxhash

from mapshelf.api.attachments import attachment, split_name
from mapshelf.api.catalogue import Edition
from mapshelf.api.http import CHECKED_EACH_TIME, Response, body_response, json_response
from mapshelf.errors import NotFound, StoreDamaged
from mapshelf.outlines import decode_outline
from mapshelf.snapshot import Record
from mapshelf.store import Store
from mapshelf.writers import Writer


def find_map(edition: Edition, public_id: str, base_url: bytes) -> Record:
    """Return the map with this ID.

    Raises:
        NotFound: there is none.
    """
    record = edition.snapshot.find(public_id, base_url)
    if record is None:
        raise NotFound("There is no map with this ID.")
    return record


def show_map(record: Record) -> Response:
    """Return the Map object of ``record``, the same as in lists."""
    return json_response(200, record.body, [_etag(record.body), *CHECKED_EACH_TIME])


def export_outline(store: Store, record: Record, writer: Writer) -> Response:
    """Return the outline of a map as a file of another format.

    Raises:
        NotFound: the map has no outline.
        StoreDamaged: the outline cannot be read.
    """
    outline = store.outline(record.file_id)
    if outline is None:
        raise NotFound("This map has no outline.")
    body = writer.write(decode_outline(outline))
    disposition = attachment(record.title, writer.suffix)
    headers = ((b"content-disposition", disposition), _etag(body), *CHECKED_EACH_TIME)
    return body_response(200, writer.media_type.encode(), body, headers)


def original_file(store: Store, record: Record) -> Response:
    """Return the file a map was read from, as it was.

    Raises:
        NotFound: it is not kept.
        StoreDamaged: it cannot be unpacked.
    """
    kept = store.content(record.file_id)
    if kept is None:
        raise NotFound("The file of this map is not kept here.")
    try:
        body = zlib.decompress(kept.content)
    except zlib.error as error:
        raise StoreDamaged("a file in the store cannot be unpacked") from error
    stem, suffix = split_name(kept.name)
    disposition = attachment(stem or record.title, suffix)
    etag = (b"etag", f'"{kept.digest.hex()}"'.encode())
    headers = ((b"content-disposition", disposition), etag, *CHECKED_EACH_TIME)
    return body_response(200, b"application/octet-stream", body, headers)


def _etag(body: bytes) -> tuple[bytes, bytes]:
    return b"etag", f'"{xxhash.xxh3_128_hexdigest(body)}"'.encode()
