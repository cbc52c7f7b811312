"""Drafts for tests: complete ones, and Hypothesis strategies for any valid draft."""

from typing import Any

from hypothesis import strategies as st

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import (
    LARGEST_COUNT,
    Map,
    MapDraft,
    MapLink,
    Outline,
    Source,
    Topic,
    UploadedFile,
    Visibility,
    sheets_of,
)

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
NAMES = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=8)
COUNTS = st.integers(0, 20) | st.integers(0, LARGEST_COUNT)
DATES = st.integers(-62_135_596_800_000, 253_402_300_799_999)
URLS = NAMES.map("https://example.org/{}".format)

DRAFTS = st.builds(
    MapDraft,
    title=TEXTS,
    description=TEXTS,
    thumbs_up=COUNTS,
    thumbs_down=COUNTS,
    views=COUNTS,
    downloads=COUNTS,
    thumbnail=st.none() | URLS,
    url=st.none() | URLS,
    category_id=st.none() | st.integers(0, 30),
    category=st.none() | NAMES,
    date_added=st.none() | DATES,
    owner=st.none() | NAMES,
    size=st.none() | st.integers(0, 10**13),
    copyright=TEXTS,
    licence_type_id=st.none() | st.integers(0, 2**53),
    software=st.none() | NAMES,
    template=st.booleans(),
    tags=st.none() | st.sampled_from([(), ("plan",), ("Year 2024", "予定")]),
    visibility=st.none() | st.sampled_from(Visibility).filter(lambda one: one != "removed"),
)
"""Drafts of new maps, without identity."""


PICTURE = bytes(range(32)).hex()
LINK = MapLink("topic", "other.mm", "other.mm")
"""What is in ``upload``."""


def complete(**changes: Any) -> MapDraft:
    """Return a draft that sets every field of a map."""
    fields: dict[str, Any] = {
        "id": "Complete",
        "file_id": 77,
        "title": "A title",
        "description": "Some\ntext",
        "thumbs_up": 9,
        "thumbs_down": 1,
        "views": 500,
        "downloads": 40,
        "thumbnail": "https://example.org/t.png",
        "url": "https://example.org/page",
        "category_id": 4,
        "category": "Business",
        "date_added": 1_600_000_000_000,
        "owner": "ann",
        "size": 1234,
        "copyright": "CC",
        "licence_type_id": 3,
        "software": "FreeMind",
        "template": True,
        "tags": ("plan", "Year 2024"),
        "visibility": Visibility.PUBLISHED,
        "outline": outline("root", "leaf"),
    }
    return MapDraft(**{**fields, **changes})


def outline(*texts: str) -> bytes:
    """Return the encoded outline of a map whose topics say ``texts``, the first at the root."""
    first, *others = texts
    return encode_outline(
        Outline(sheets_of((Topic(first, children=[Topic(text) for text in others]),)))
    )


def source(name: str = "a.mm", **changes: Any) -> Source:
    """Return a source; by default, its digest is that of its name."""
    fields: dict[str, Any] = {
        "path": b"/maps/" + name.encode(),
        "name": name,
        "size": 100,
        "modified": 1,
        "digest": name.encode().ljust(32, b"."),
    }
    return Source(**{**fields, **changes})


def as_draft(found: Map, **changes: Any) -> MapDraft:
    """Return a draft with the present values of a map."""
    names = set(Map.__slots__) - {"software_id", "set_by_people"}
    fields = {name: getattr(found, name) for name in names}
    return MapDraft(**{**fields, **changes})


def upload(name: str = "plan.mm", **changes: Any) -> UploadedFile:
    """Return an uploaded file; by default, its digest and content come from its name."""
    fields: dict[str, Any] = {
        "name": name,
        "digest": name.encode().ljust(32, b"."),
        "size": 2048,
        "content": b"packed " + name.encode(),
        "outline": outline("root", name),
        "images": {PICTURE: b"picture of " + name.encode()},
        "links": [LINK],
        "software": "FreeMind",
    }
    return UploadedFile(**{**fields, **changes})
