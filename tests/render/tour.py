"""A map with every feature that is drawn, as an author might have made it."""

from typing import Any, Final

from mapshelf.model import (
    Attachment,
    Boundary,
    Image,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Task,
    Topic,
    TopicKind,
)
from mapshelf.model.markers import marker

PICTURE: Final = "a" * 64
OTHER_PICTURE: Final = "b" * 64


def topic(text: str, *children: Topic, marks: str = "", **rest: Any) -> Topic:
    """Return a topic; its id is its text in lower case with hyphens. ``marks`` are markers."""
    markers = tuple(marker(name, name) for name in marks.split())
    name = rest.pop("id", text.lower().replace(" ", "-"))
    return Topic(text, name, children=list(children), markers=markers, **rest)


BARE: Final = Style(line_hidden=True)

ROOT: Final = topic(
    "A tour",
    topic(
        "Icons",
        topic("Urgent", marks="priority-1 flag-red star"),
        topic("Begun", marks="progress-50 face-happy month-3"),
        topic("Planned", task=Task("done", 100, 2)),
        topic("Other", marks="emoji-1f680 other-x"),
        topic(
            "Beside",
            note="Some words.",
            links=("https://example.org/",),
            tags=("home", "garden work"),
            attachments=(Attachment("plan.pdf", 1234),),
            attributes=(("Cost", "12"), ("Secret", "hidden"), ("Where", "a <b>far</b> away " * 20)),
            shown_attributes=("Cost", "Where"),
        ),
        topic("Numbered", number="1.1", note="In short\nand at length", details="In short"),
        marks="idea warning",
        side="right",
        number="1",
    ),
    topic(
        "Pictures",
        topic("A flower", images=(Image(PICTURE, 120, 90, "A daisy"),)),
        topic("", id="bare-picture", images=(Image(OTHER_PICTURE, 0, 0, "Sunset.png"),)),
        topic("Lost", images=(Image("", 10, 10, "gone.png"),)),
        side="right",
    ),
    topic(
        "Formulas",
        topic("Area", formula="r^2"),
        topic("", id="root", formula=r"\sqrt{\frac{a}{b}}", marks="idea"),
        topic("$x_1$", formula="x_1"),
        topic("Unknown", formula=r"\unknown{x}"),
        side="right",
    ),
    topic(
        "Groups",
        topic("One"),
        topic("Two", topic("Two a"), topic("Two b")),
        topic("Three"),
        topic("Four", topic("Deep", topic("Deeper")), folded=True),
        side="left",
    ),
    topic(
        "Styles",
        topic("Red words", style=Style(text="#ff0000", bold=True)),
        topic("Yellow box", style=Style(fill="#ffff88", border="#aa8800", text="#ffee00")),
        topic("Hexagon", style=Style(fill="#113355", shape="hexagon")),
        topic("Pale line", topic("Inherits"), style=Style(line="#cceeff", italic=True)),
        topic("No line", topic("Nor here", style=BARE), style=BARE),
        topic("A remark", kind=TopicKind.CALLOUT),
        topic(
            "Placed",
            topic("Beside it"),
            topic("On top", kind=TopicKind.CALLOUT, position=(5.0, -60.0)),
            kind=TopicKind.CALLOUT,
            position=(-150.0, 160.0),
            style=BARE,
        ),
        side="left",
        style=Style(text="#1122cc"),
    ),
)

SHEET: Final = Sheet(
    ROOT,
    "Tour",
    floating=(
        topic(
            "Far away",
            topic("Its child", topic("On it", kind=TopicKind.CALLOUT, position=(-9.0, -50.0))),
            kind=TopicKind.FLOATING,
            position=(-140.0, -320.0),
        ),
        topic("In the way", kind=TopicKind.FLOATING, position=(8.0, 3.0)),
        topic("Anywhere", kind=TopicKind.FLOATING),
    ),
    relationships=(
        Relationship("one", "urgent", "depends on"),
        Relationship("deeper", "yellow-box", "", "#cc00cc"),
        Relationship("deep", "deeper", "within a folded branch"),
        Relationship("far-away", "a-tour", "about", heads="both"),
        Relationship("placed", "placed", "", "#0000cc", point=(-60.0, 30.0)),
    ),
    boundaries=(
        Boundary(("two", "three"), "Some of them", "#22aa44"),
        Boundary(("pictures",), "A whole branch"),
        Boundary(("far-away",), "Around a floating one"),
    ),
    summaries=(
        Summary(("one", "two"), topic("In short", topic("More of it"), kind=TopicKind.SUMMARY)),
    ),
)

TOUR: Final = Outline((SHEET, Sheet(topic("Second canvas", topic("Only this")), "Another")))
