"""What a draft makes of a map: the decision every store takes the same way, without I/O.

A store looks up what a draft refers to (owner, category, software), hands it over as
``References``, and writes the map that comes back.
"""

import secrets
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from mapshelf.model import Map, MapDraft, Named
from mapshelf.tokens import ALPHABET

T = TypeVar("T")

ID_LENGTH: Final = 8


@dataclass(frozen=True, slots=True)
class References:
    """The rows a map refers to, found or made for a draft.

    ``category`` is a pair as the map shows it, see ``Map.category``.
    """

    owner: str
    category: Named
    software: Named | None


def new_id() -> str:
    """Return a random public id; the store makes sure that no map ever had it."""
    return "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))


def created(
    draft: MapDraft, *, file_id: int, public_id: str, now: int, references: References
) -> Map:
    """Return the map that ``draft`` describes, with defaults for all it says nothing about."""
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
    )
    return updated(blank, draft, references)


def updated(existing: Map, draft: MapDraft, references: References) -> Map:
    """Return ``existing`` with everything ``draft`` says.

    Views and downloads are counted here, too, so a draft can only raise them: what was exported
    once and is imported again must not take back what was counted since.
    """
    software = references.software
    return replace(
        existing,
        title=_said(draft.title, existing.title),
        description=_said(draft.description, existing.description),
        thumbs_up=_said(draft.thumbs_up, existing.thumbs_up),
        thumbs_down=_said(draft.thumbs_down, existing.thumbs_down),
        views=max(_said(draft.views, 0), existing.views),
        downloads=max(_said(draft.downloads, 0), existing.downloads),
        thumbnail=_said(draft.thumbnail, existing.thumbnail),
        url=_said(draft.url, existing.url),
        category_id=references.category.id,
        category=references.category.name,
        date_added=_said(draft.date_added, existing.date_added),
        owner=references.owner,
        size=_said(draft.size, existing.size),
        copyright=_said(draft.copyright, existing.copyright),
        licence_type_id=_said(draft.licence_type_id, existing.licence_type_id),
        software_id=software.id if software else None,
        software=software.name if software else "",
        template=_said(draft.template, existing.template),
    )


def _said(new: T | None, old: T) -> T:
    return old if new is None else new
