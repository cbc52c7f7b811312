"""Hypothesis strategies for outlines with everything that an outline can contain."""

from typing import Any, Final

from hypothesis import strategies as st

from mapshelf.model import (
    TASK_STATES,
    Attachment,
    Boundary,
    Image,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Task,
    Topic,
    TopicKind,
)

TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBER: Final = st.floats(-1e6, 1e6, allow_nan=False)
COLOUR: Final = st.sampled_from(["", "#ff0000", "#012abc"])


def several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Return tuples of none to two values."""
    return st.lists(strategy, max_size=2).map(tuple)


TASKS: Final = st.builds(
    Task,
    state=st.sampled_from(["", *TASK_STATES]),
    progress=st.none() | st.integers(0, 100),
    priority=st.none() | st.integers(1, 9),
    start=st.sampled_from(["", "2026-01-31"]),
    due=st.sampled_from(["", "2026-01-31T09:30"]),
    resources=several(TEXT),
)
STYLES: Final = st.builds(
    Style,
    text=COLOUR,
    fill=COLOUR,
    line=COLOUR,
    border=COLOUR,
    bold=st.booleans(),
    italic=st.booleans(),
    size=st.sampled_from([0.0, 12.5]),
    shape=st.sampled_from(["", "ellipse"]),
    line_width=st.sampled_from([0.0, 2.0]),
    line_hidden=st.booleans(),
)
FIELDS: Final[dict[str, Any]] = {
    "text": TEXT,
    "id": TEXT,
    "note": TEXT,
    "note_html": TEXT,
    "links": several(TEXT),
    "text_html": TEXT,
    "kind": st.sampled_from(TopicKind),
    "markers": several(st.builds(Marker, TEXT, TEXT)),
    "tags": several(TEXT),
    "task": st.none() | TASKS,
    "attributes": several(st.tuples(TEXT, TEXT)),
    "images": several(st.builds(Image, TEXT, NUMBER, NUMBER, TEXT, st.booleans())),
    "attachments": several(st.builds(Attachment, TEXT, st.integers(0, 2**40))),
    "formula": TEXT,
    "style": st.none() | STYLES,
    "folded": st.booleans(),
    "side": st.sampled_from(["", "left", "right"]),
    "position": st.none() | st.tuples(NUMBER, NUMBER),
    "number": st.sampled_from(["", "2.1"]),
    "details": TEXT,
    "shown_attributes": several(TEXT),
}
PLAIN: Final = st.builds(Topic, **{name: FIELDS[name] for name in ("text", "id", "note", "links")})
TOPICS: Final = st.recursive(
    PLAIN | st.builds(Topic, **FIELDS),
    lambda below: st.builds(Topic, **FIELDS, children=st.lists(below, max_size=4)),
    max_leaves=8,
)
SHEETS: Final = st.builds(
    Sheet,
    root=TOPICS,
    title=TEXT,
    floating=several(TOPICS),
    relationships=several(
        st.builds(
            *(Relationship, TEXT, TEXT, TEXT, COLOUR),
            point=st.none() | st.tuples(NUMBER, NUMBER),
            heads=st.sampled_from(["end", "start", "both", "none"]),
        )
    ),
    boundaries=several(st.builds(Boundary, several(TEXT), TEXT, COLOUR)),
    summaries=several(st.builds(Summary, several(TEXT), TOPICS)),
    background=COLOUR,
)
OUTLINES: Final = st.builds(
    Outline,
    sheets=st.lists(SHEETS, min_size=1, max_size=2).map(tuple),
    software=TEXT,
    software_version=TEXT,
    template=st.booleans(),
    author=TEXT,
    copyright=TEXT,
    created=st.none() | st.integers(-(2**53), 2**53),
    modified=st.none() | st.integers(-(2**53), 2**53),
    language=st.sampled_from(["", "en", "zh"]),
)
