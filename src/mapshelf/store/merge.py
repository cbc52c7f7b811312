"""Merge a draft into a map, without I/O, so that every store applies the same rules.

A store looks up the rows that a draft refers to (owner, category, software), passes them as
``References``, and writes the returned map.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from mapshelf.model import (
    LARGEST_COUNT,
    SETTABLE,
    Map,
    MapDraft,
    Named,
    Visibility,
    Votes,
    name_key,
)
from mapshelf.tokens import ALPHABET

T = TypeVar("T")

ID_LENGTH: Final = 8

NO_VOTES: Final = Votes()


@dataclass(frozen=True, slots=True)
class References:
    """The rows that a map refers to, found or added for a draft.

    ``votes`` are the votes cast in this catalogue.
    """

    owner: str
    category: Named
    software: Named | None
    votes: Votes = NO_VOTES


def new_id() -> str:
    """Return a random public id; the store ensures that it was never used."""
    return "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))


def created(
    draft: MapDraft, *, file_id: int, public_id: str, now: int, references: References
) -> Map:
    """Return the map that ``draft`` describes, with defaults for missing fields."""
    blank = Map(
        file_id=file_id,
        id=public_id,
        title="",
        description="",
        thumbs_up=0,
        thumbs_down=0,
        views=0,
        downloads=0,
        thumbnail=None,
        url=None,
        category_id=references.category.id,
        category=references.category.name,
        date_added=now,
        owner=references.owner,
        size=None,
        copyright="",
        licence_type_id=None,
        software_id=None,
        software="",
        template=False,
        visibility=draft.initial_visibility or Visibility.PUBLISHED,
    )
    return updated(blank, draft, references)


def without_settled(draft: MapDraft, existing: Map) -> MapDraft:
    """Return ``draft`` without the fields that it must not change in ``existing``.

    Values set by users take precedence over files and records. A removed map stays removed until
    a user undoes the removal.
    """
    settled = [name for key in existing.set_by_people for name in SETTABLE.get(key, ())]
    if existing.visibility is Visibility.REMOVED:
        settled.append("visibility")
    nothing: dict[str, Any] = {name: None for name in settled if getattr(draft, name) is not None}
    return replace(draft, **nothing) if nothing else draft


def updated(existing: Map, draft: MapDraft, references: References) -> Map:
    """Return ``existing`` updated with the fields of ``draft``.

    A draft can only raise views and downloads: re-importing an export must not lose visits counted
    since.
    """
    software = references.software
    return replace(
        existing,
        title=_given(draft.title, existing.title),
        description=_given(draft.description, existing.description),
        thumbs_up=_thumbs(draft.thumbs_up, existing.thumbs_up, references.votes.up),
        thumbs_down=_thumbs(draft.thumbs_down, existing.thumbs_down, references.votes.down),
        views=max(_given(draft.views, 0), existing.views),
        downloads=max(_given(draft.downloads, 0), existing.downloads),
        thumbnail=_given(draft.thumbnail, existing.thumbnail),
        url=_given(draft.url, existing.url),
        category_id=references.category.id,
        category=references.category.name,
        date_added=_given(draft.date_added, existing.date_added),
        owner=references.owner,
        size=_given(draft.size, existing.size),
        copyright=_given(draft.copyright, existing.copyright),
        licence_type_id=_given(draft.licence_type_id, existing.licence_type_id),
        software_id=software.id if software else None,
        software=software.name if software else "",
        template=_given(draft.template, existing.template),
        tags=_given(draft.tags, existing.tags),
        visibility=_given(draft.visibility, existing.visibility),
    )


def current_tags(tags: Sequence[str], renamed: Mapping[str, str]) -> tuple[str, ...]:
    """Return the current names of tags, without duplicates."""
    if not renamed:
        return tuple(tags)
    names: dict[str, str] = {}
    for tag in tags:
        name = renamed.get(name_key(tag), tag)
        names.setdefault(name_key(name), name)
    return tuple(names.values())


def _thumbs(new: int | None, shown: int, votes: int) -> int:
    """Return the count to show. An exported count already includes the votes."""
    return shown if new is None or new == shown else min(LARGEST_COUNT, new + votes)


def _given(new: T | None, old: T) -> T:
    return old if new is None else new
