"""Encode and decode records: maps as the JSON bytes that are sent to clients.

A page of maps is made by joining records, without any encoding. All records are in one append-only
file, each followed by the details of its map. The columns of a snapshot hold the offset and the
lengths of both. The bytes of a replaced record, which older snapshots may still serve, remain until
the builder rewrites the file.

In place of the base URL, records contain a control character, which JSON text cannot contain
otherwise. So one snapshot works with any base URL.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import orjson

from mapshelf.formats.ndjson_records import format_date, format_id, format_size
from mapshelf.model import ListedMap, Map, file_of, folder_of
from mapshelf.text.normalize import normalize

BASE_URL: Final = b"\x01"
"""The placeholder for the base URL in an encoded record."""

SLUG_LENGTH: Final = 60
"""Maximum length of a slug in characters."""

_SEPARATORS: Final = re.compile(r"[\W_]+")


def encode_record(record: Map) -> bytes:
    """Return the Map object of ``record`` (``docs/api.md``) as JSON.

    URLs that Mapshelf serves start with the placeholder ``BASE_URL``.
    """
    return b"".join(
        (
            b'{"File_ID":"%d","ID":"%s","Title":' % (record.file_id, record.id.encode()),
            orjson.dumps(record.title),
            b',"Description":',
            orjson.dumps(record.description),
            b',"ThumbsUp":"%d","ThumbsDown":"%d","Views":"%d","Downloads":"%d","Thumbnail":'
            % (record.thumbs_up, record.thumbs_down, record.views, record.downloads),
            _url(record.thumbnail, thumbnail_path(record)),
            b',"URL":',
            _url(record.url, page_path(record)),
            b',"Category":',
            orjson.dumps(record.category),
            b',"CategoryID":"%d","DateAdded":"%s","Owner":'
            % (record.category_id, format_date(record.date_added).encode()),
            orjson.dumps(record.owner),
            b',"Size":"%s","Copyright":' % format_size(record.size).encode(),
            orjson.dumps(record.copyright),
            b',"LicenceTypeID":"%s","Software":' % format_id(record.licence_type_id).encode(),
            orjson.dumps(record.software),
            b"}",
        )
    )


def encode_details(listed: ListedMap) -> bytes:
    """Return the further data that lists show of a map, as JSON; it follows the record."""
    return orjson.dumps(
        {
            "source": listed.source,
            "edited": listed.edited,
            "language": listed.language,
            "tags": listed.map.tags,
            "topics": listed.topics,
        }
    )


@dataclass(frozen=True, slots=True)
class Details:
    """Data of a map for lists, in addition to its Map object; see ``ListedMap``."""

    source: str = ""
    edited: int | None = None
    language: str = ""
    tags: tuple[str, ...] = ()
    topics: int = 0

    @property
    def folder(self) -> str:
        """The path of the folder that contains its file, empty if there is none."""
        return folder_of(self.source)

    @property
    def file(self) -> str:
        """The name of its file, empty if unknown."""
        return file_of(self.source)


def decode_details(data: bytes) -> Details:
    """Decode the result of ``encode_details``."""
    values = orjson.loads(data)
    return Details(**{**values, "tags": tuple(values["tags"])})


def record_ids(record: bytes) -> tuple[int, str]:
    """Return the file id and the public id in an encoded record."""
    _, _, _, file_id, _, _, _, public_id, _ = record.split(b'"', 8)
    return int(file_id), public_id.decode()


def record_title(record: bytes) -> str:
    """Return the title in an encoded record."""
    # Quotes inside JSON strings are escaped, so these keys cannot occur inside a value.
    start = record.index(b'"Title":') + len(b'"Title":')
    title: str = orjson.loads(record[start : record.index(b',"Description":', start)])
    return title


def record_owner(record: bytes) -> str:
    """Return the owner in an encoded record."""
    start = record.rindex(b',"Owner":') + len(b',"Owner":')
    owner: str = orjson.loads(record[start : record.rindex(b',"Size":')])
    return owner


def with_base_url(page: bytes, base_url: bytes) -> bytes:
    """Return encoded records with the placeholder replaced by the base URL."""
    return page.replace(BASE_URL, base_url)


def thumbnail_path(record: Map) -> str:
    """Return the path of a map's thumbnail."""
    return f"/thumbnails/{record.id}.png"


def page_path(record: Map) -> str:
    """Return the path of a map's page."""
    return f"/mindmaps/{record.id}/{quote(slug(record.title))}"


def slug(title: str) -> str:
    """Return the words of ``title`` joined by hyphens, for a readable URL."""
    words = _SEPARATORS.sub("-", normalize(title[: 4 * SLUG_LENGTH])).strip("-")
    return words[:SLUG_LENGTH].rstrip("-") or "map"


def _url(own: str | None, path: str) -> bytes:
    return orjson.dumps(own) if own else b'"' + BASE_URL + path.encode() + b'"'
