"""Find out what somebody changed in a form, so that only this is saved.

A form can be open for hours. If it saved all its fields, it would undo what others, or the same
person in another tab, have changed meanwhile: a map made private would become public again. So each
field has a hidden field ``shown-…`` with the value that the form was opened with. Only fields that
differ from it are saved, and a form without changes saves nothing. If a form is refused and shown
again, its hidden fields stay as they were. Where a field was changed both in the form and
elsewhere, the form wins, as it was sent last; of tags, both changes are kept.

Values are compared by what would be saved, because browsers change them: they send line ends as
CRLF, drop them from one-line fields, and do not send unchecked boxes.

A form without these hidden fields was opened before an update, and cannot tell what was changed in
it. It saves nothing: ``FormOutdated`` is raised, and the form is shown again with all that was
typed, except who can see the map or collection, which is what is now saved. Sent once more, it
saves what differs from what is saved now.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mapshelf.api.forms import Form
from mapshelf.errors import FormOutdated, InvalidParameter
from mapshelf.model import name_key, parse_tags
from mapshelf.readers.parsing.text_cleaning import clean, one_line

PREFIX: Final = "shown-"
"""Begins the name of a hidden field, after the prefix of the form."""

_SEVERAL_LINES: Final = frozenset({"description", "text"})
_TAGS: Final = "tags"
_VISIBILITY: Final = "visibility"


@dataclass(frozen=True, slots=True)
class Entered:
    """What was entered into a form.

    Attributes:
        said: the submitted values.
        opened: the values that the form was opened with; empty if it is outdated.
    """

    said: Mapping[str, str]
    opened: Mapping[str, str] = field(default_factory=dict)


def shown_in(form: Form, names: Iterable[str], prefix: str = "") -> dict[str, str]:
    """Return the values that a form was opened with.

    Args:
        form: the submitted form.
        names: the names of its fields.
        prefix: the prefix of these names.

    Raises:
        FormOutdated: it has no hidden field for one of them.
        InvalidParameter: a hidden field is given twice.
    """
    fields = {name: f"{prefix}{PREFIX}{name}" for name in names}
    if any(field not in form.fields for field in fields.values()):
        raise FormOutdated("This form does not say what was changed in it.")
    return {name: form.text(field) for name, field in fields.items()}


def changed(said: Mapping[str, str], shown: Mapping[str, str]) -> dict[str, str]:
    """Return the submitted values that differ from those that the form was opened with."""
    return {
        name: text for name, text in said.items() if _saved(name, text) != _saved(name, shown[name])
    }


def entered_again(said: Mapping[str, str], current: Mapping[str, str]) -> dict[str, str]:
    """Return the values with which to show a form again that was outdated.

    Args:
        said: what was entered.
        current: what is saved.
    """
    return {**said, _VISIBILITY: current[_VISIBILITY]}


def tags_after(current: Sequence[str], shown: str, said: Sequence[str]) -> tuple[str, ...]:
    """Return the tags of a map after a form that added or removed some.

    Args:
        current: the present tags of the map.
        shown: the tags that the form was opened with.
        said: the submitted tags.

    Raises:
        InvalidParameter: there would be too many.
    """
    before = _tags(shown)
    if tuple(current) == before:
        return tuple(said)  # perhaps in another order
    kept, known = {name_key(one) for one in said}, {name_key(one) for one in before}
    present = {name_key(one) for one in current}
    ours = [one for one in said if name_key(one) in present or name_key(one) not in known]
    theirs = [one for one in current if name_key(one) not in known | kept]
    try:
        return parse_tags(",".join([*ours, *theirs]))
    except ValueError as error:
        raise InvalidParameter("The map would have too many tags.") from error


def _saved(name: str, text: str) -> str | tuple[str, ...]:
    """Return a value in the form in which it would be saved."""
    if name == _TAGS:
        return _tags(text)
    return clean(text) if name in _SEVERAL_LINES else _line(text)


def _tags(text: str) -> tuple[str, ...]:
    line = _line(text)
    try:
        return parse_tags(line)
    except ValueError:
        return (line,)


def _line(text: str) -> str:
    return one_line(clean(text.replace("\r", "").replace("\n", "")))
