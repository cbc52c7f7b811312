"""Handle forms for the details of maps: fill in current values, read and validate submitted ones.

Each value is validated separately, so that every invalid field gets its own message. The form is
shown again with the input preserved.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from mapshelf.api.forms import MULTIPART, Form, FormLimits
from mapshelf.api.http import BodyRule
from mapshelf.api.map_fields import (
    DESCRIPTION_LENGTH,
    FIELDS,
    NAMES,
    TITLE_LENGTH,
    VISIBILITIES,
    details_of,
)
from mapshelf.errors import InvalidParameter
from mapshelf.model import MOST_TAGS, TAG_LENGTH, Map, MapDetails, Named, Visibility, format_tags
from mapshelf.site.form_changes import entered_again
from mapshelf.site.messages import say
from mapshelf.store import Store

MOST_MAPS: Final = 10
"""Maximum number of maps in one form."""

LIMITS: Final = FormLimits(fields=MOST_MAPS * (len(NAMES) + 1) + 10, text=131_072)
BODY: Final = BodyRule(163_840, (MULTIPART,))
"""Limits of a form about maps: at most as much text as is kept in memory. It must be sent as
``multipart/form-data``, because URL encoding may take nine bytes per letter."""

FROM_FILES: Final = ("title", "template")
"""The fields that cannot be edited for a map in a folder, because its file determines them."""

Said = Mapping[str, str]
"""The submitted values about a map, by the names of ``FIELDS``."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a form about maps, and the length limits of its texts.

    Attributes:
        categories: all categories, A to Z.
        licences: all licence types, A to Z.
        visibilities: the visibilities that a user may choose.
        longest: the maximum lengths of a title and of a description, in characters.
    """

    categories: list[Named]
    licences: list[Named]
    visibilities: list[str] = field(default_factory=lambda: [one.value for one in VISIBILITIES])
    longest: tuple[int, int] = (TITLE_LENGTH, DESCRIPTION_LENGTH)


@dataclass(frozen=True, slots=True)
class MapForm:
    """The fields about one map.

    Attributes:
        prefix: the prefix of the field names; empty if the form is about one map only.
        said: the values of the fields.
        failures: the message for each invalid field.
        from_file: whether title and template come from a file in a folder.
        shown: the values that the form was opened with, for its hidden fields; empty if it saves
            all fields.
    """

    prefix: str
    said: Said
    failures: Mapping[str, str] = field(default_factory=dict)
    from_file: bool = False
    shown: Said = field(default_factory=dict)


def choices_of(store: Store) -> Choices:
    """Return the options of a form about maps.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    return Choices(_sorted(store.categories()), _sorted(store.licence_types()))


def form_of(found: Map, visibility: Visibility | None = None) -> Said:
    """Return the current details of a map as form values.

    Args:
        found: the map.
        visibility: the visibility to propose, ``None`` for the current one.
    """
    licence = found.licence_type_id
    return {
        "title": found.title,
        "description": found.description,
        "category": str(found.category_id),
        "licence": "" if licence is None else str(licence),
        "tags": format_tags(found.tags),
        "template": str(found.template).lower(),
        "visibility": (visibility or found.visibility).value,
    }


def names_in(*, from_file: bool) -> list[str]:
    """Return the names of the fields about a map; see ``said_in``."""
    left_out = FROM_FILES if from_file else ()
    return [name for name in NAMES if name not in left_out]


def said_in(form: Form, prefix: str = "", *, from_file: bool = False) -> Said:
    """Return the values that a submitted form contains about a map.

    Args:
        form: the submitted form.
        prefix: the prefix of the field names.
        from_file: whether to leave out the fields ``FROM_FILES``.

    Raises:
        InvalidParameter: a field is given twice.
    """
    said = {name: form.text(prefix + name) for name in names_in(from_file=from_file)}
    if "template" in said:
        said["template"] = said["template"] or "false"  # browsers do not send an unchecked box
    return said


def edit_form(found: Map, *, from_file: bool, outdated: Said | None = None) -> MapForm:
    """Return a form that saves what is changed in it, compared to the current details of a map.

    Args:
        found: the map.
        from_file: whether title and template come from a file in a folder.
        outdated: what was entered into an outdated form; see ``form_changes``.
    """
    current = form_of(found)
    shown = {name: current[name] for name in names_in(from_file=from_file)}
    said = entered_again(outdated, current) if outdated else current
    return MapForm("", said, from_file=from_file, shown=shown)


def checked(said: Said, store: Store) -> tuple[MapDetails, dict[str, str]]:
    """Validate form values: return the valid ones as details, and a message per invalid field.

    Raises:
        StoreUnavailable: the store cannot be reached.
    """
    details, failures = MapDetails(), {}
    for row in FIELDS:
        text = said.get(row.name)
        if text is None:
            continue
        try:
            found = details_of({row.name: text}, store)
        except InvalidParameter:
            failures[row.name] = _message(row.name)
        else:
            details = replace(details, **_given(found))
    return details, failures


def _given(details: MapDetails) -> dict[str, Any]:
    named = {one.name: getattr(details, one.name) for one in fields(details)}
    return {name: value for name, value in named.items() if value is not None}


def _message(name: str) -> str:
    limits = {"title": TITLE_LENGTH, "description": DESCRIPTION_LENGTH, "tags": MOST_TAGS}
    most = f"{limits.get(name, 0):,}"
    return say(f"failure.map.{name}", most=most, longest=TAG_LENGTH)


def _sorted(rows: list[Named]) -> list[Named]:
    return sorted(rows, key=lambda row: (row.name.casefold(), row.id))
