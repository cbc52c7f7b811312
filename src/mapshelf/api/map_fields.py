"""The editable fields of a map, parsed from forms or JSON with the same names and meaning.

``FIELDS`` has a row for each field. JSON may also use numbers, booleans and arrays where they are
the natural type of a value.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mapshelf.api.forms import Form
from mapshelf.api.json_bodies import parse_object
from mapshelf.api.text_values import read_line, read_lines
from mapshelf.errors import InvalidParameter
from mapshelf.model import (
    MOST_TAGS,
    TAG_LENGTH,
    MapDetails,
    Named,
    Visibility,
    name_key,
    parse_tags,
)
from mapshelf.readers.parsing.text_cleaning import clean
from mapshelf.store.contract import Maps

TITLE_LENGTH: Final = 500
DESCRIPTION_LENGTH: Final = 10_000
"""Most characters of titles and descriptions."""

VISIBILITIES: Final = (Visibility.PUBLISHED, Visibility.UNLISTED, Visibility.PRIVATE)
"""The visibilities that people may choose."""


@dataclass(frozen=True, slots=True)
class Field:
    """An editable field of a map.

    Attributes:
        name: its name in forms and in JSON.
        meaning: describes its values, for messages and for the OpenAPI document.
        read: converts its text into fields of ``MapDetails``; if the text is invalid, raises
            ``ValueError``, or ``InvalidParameter`` with the message. References are looked up in a
            store.
        blank: whether an empty text is a value.
        schema: the JSON Schema of its values.
    """

    name: str
    meaning: str
    read: Callable[[str, Maps], dict[str, Any]]
    schema: Mapping[str, Any]
    blank: bool = False


def read_form(form: Form) -> dict[str, str]:
    """Return the fields in a form by name. Empty fields are omitted.

    Raises:
        InvalidParameter: a field occurs twice.
    """
    texts = {row.name: form.text(row.name) for row in FIELDS if row.name in form.fields}
    blank = {row.name for row in FIELDS if row.blank}
    return {name: text for name, text in texts.items() if text or name in blank}


def read_json(body: bytes) -> dict[str, str]:
    """Return the fields in a JSON object by name.

    Raises:
        MalformedRequest: the body is not a JSON object.
        InvalidParameter: it has an unknown key, or a value of the wrong type.
    """
    values = parse_object(body, NAMES)
    return {name: _as_text(name, value) for name, value in values.items()}


def details_of(said: Mapping[str, str], store: Maps) -> MapDetails:
    """Convert the result of ``read_form`` or ``read_json`` for the store.

    Raises:
        InvalidParameter: a value is invalid.
        StoreUnavailable: the store cannot be reached.
    """
    details: dict[str, Any] = {}
    for row in FIELDS:
        text = said.get(row.name)
        if text is None:
            continue
        if "\0" in text:
            raise InvalidParameter(f"The {row.name} value must not contain a NUL character.")
        try:
            details |= row.read(text, store)
        except ValueError as error:
            raise InvalidParameter(f"The {row.name} value must be {row.meaning}.") from error
    return MapDetails(**details)


def _as_text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if name == "licence" and value is None:
        return ""
    if name == "template" and isinstance(value, bool):
        return str(value).lower()
    if name in ("category", "licence") and type(value) is int:
        return str(value)
    if name == "tags" and isinstance(value, list):
        if all(isinstance(tag, str) and "," not in tag for tag in value):
            return ",".join(value)
        raise InvalidParameter("The tags value must have texts without commas in them.")
    raise InvalidParameter(f"The {name} value is of a wrong type.")


def _title(text: str, store: Maps) -> dict[str, Any]:
    return {"title": read_line("title", text, TITLE_LENGTH)}


def _description(text: str, store: Maps) -> dict[str, Any]:
    return {"description": read_lines("description", text, DESCRIPTION_LENGTH)}


def _category(text: str, store: Maps) -> dict[str, Any]:
    return {"category_id": _id_in(store.categories(), text)}


def _licence(text: str, store: Maps) -> dict[str, Any]:
    if not text.strip():
        return {"no_licence": True}
    return {"licence_type_id": _id_in(store.licence_types(), text)}


def _tags(text: str, store: Maps) -> dict[str, Any]:
    return {"tags": parse_tags(clean(text))}


def _template(text: str, store: Maps) -> dict[str, Any]:
    choice = text.strip().lower()
    if choice not in ("true", "1", "false", "0"):
        raise ValueError
    return {"template": choice in ("true", "1")}


def _visibility(text: str, store: Maps) -> dict[str, Any]:
    visibility = Visibility(text.strip().lower())
    if visibility not in VISIBILITIES:
        raise ValueError
    return {"visibility": visibility}


def _id_in(rows: Sequence[Named], text: str) -> int:
    """Return the id of the row with this id, or with this name in any case."""
    key = name_key(text)
    for row in rows:
        if key in (str(row.id), name_key(row.name)):
            return row.id
    raise ValueError


_TEXT: Final = {"type": "string"}
_ID_OR_NAME: Final = {"type": ["string", "integer"]}
_ID_OR_NAME_OR_NONE: Final = {"type": ["string", "integer", "null"]}

FIELDS: Final = (
    Field(
        "title",
        f"a text of 1 to {TITLE_LENGTH} characters",
        _title,
        {**_TEXT, "maxLength": TITLE_LENGTH},
    ),
    Field(
        "description",
        f"a text of up to {DESCRIPTION_LENGTH} characters",
        _description,
        {**_TEXT, "maxLength": DESCRIPTION_LENGTH},
        blank=True,
    ),
    Field("category", "the id or the name of a category", _category, _ID_OR_NAME),
    Field(
        "licence",
        "the id or the name of a licence type, or empty",
        _licence,
        _ID_OR_NAME_OR_NONE,
        blank=True,
    ),
    Field(
        "tags",
        f"up to {MOST_TAGS} tags with commas between them, each printable and of up to {TAG_LENGTH}"
        " characters",
        _tags,
        {"type": ["string", "array"], "items": _TEXT},
        blank=True,
    ),
    Field("template", "true or false", _template, {"type": ["boolean", "string"]}),
    Field(
        "visibility",
        "published, unlisted or private",
        _visibility,
        {**_TEXT, "enum": [one.value for one in VISIBILITIES]},
    ),
)

NAMES: Final = tuple(row.name for row in FIELDS)
