"""Maps that are hard to show: wide formulas, thousands of topics or arrows, loops, odd shapes."""

from dataclasses import replace
from hashlib import sha256
from typing import Final

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import Boundary, Image, MapDraft, Outline, Relationship, Sheet, Topic
from tests.readers.illustrated import picture
from tests.site.shelves import encoded

LONG: Final = "+".join(f"\\frac{{a_{{{n:040}}}}}{{b_{{{n}}}}}" for n in range(20))
"""A formula several thousand pixels wide; long numbers keep the number of elements small."""

WIDE: Final = MapDraft(
    id="Wide0001",
    title="Wide formulas",
    owner="emmy",
    category="Science",
    outline=encode_outline(
        Outline(
            (
                Sheet(
                    Topic(
                        "Wide formulas",
                        "r",
                        children=[
                            Topic("", "alone", formula=LONG, children=[Topic("Below", "below")]),
                            Topic("Beside words", "beside", formula=LONG, note="Look at it."),
                            Topic("Short", "short", formula="x^2", note="It fits."),
                            Topic(
                                "Branch",
                                "branch",
                                children=[Topic("", "leaf", formula=LONG, note="A leaf.")],
                            ),
                        ],
                    )
                ),
            )
        )
    ),
)

LEVEL_COUNT: Final = 5_000
"""This many topics take about 20,000 elements, far more than may be drawn at once."""

LEVEL: Final = MapDraft(
    id="Level001",
    title="One level",
    owner="many",
    category="Science",
    outline=encode_outline(
        Outline(
            (
                Sheet(
                    Topic(
                        "One level",
                        "r",
                        children=[Topic(f"Topic {n}", f"t{n}") for n in range(LEVEL_COUNT)],
                    )
                ),
            )
        )
    ),
)

ARROW_COUNT: Final = 1_500
"""This many arrows with labels take more elements than may be drawn at once."""

ARROWS: Final = MapDraft(
    id="Arrows01",
    title="Arrows",
    owner="many",
    category="Science",
    outline=encode_outline(
        Outline(
            (
                Sheet(
                    Topic(
                        "Arrows",
                        "r",
                        children=[
                            Topic(
                                f"Branch {branch}",
                                f"b{branch}",
                                children=[Topic(f"Leaf {n}", f"l{branch}-{n}") for n in range(25)],
                            )
                            for branch in range(40)
                        ],
                    ),
                    relationships=tuple(
                        Relationship(
                            f"l{n % 40}-{n * 7 % 25}",
                            f"l{(n * 11 + 3) % 40}-{n * 3 % 25}",
                            f"Arrow number {n}",
                        )
                        for n in range(ARROW_COUNT)
                    ),
                    boundaries=tuple(
                        Boundary((f"b{branch}",), f"Around {branch}") for branch in range(40)
                    ),
                ),
            )
        )
    ),
)

LOOPS: Final = MapDraft(
    id="Loops001",
    title="Loops",
    owner="flora",
    category="Home",
    outline=encode_outline(
        Outline(
            (
                Sheet(
                    Topic(
                        "Loops",
                        "r",
                        children=[
                            Topic("Again", "again"),
                            Topic("Once", "once", children=[Topic("Inside", "inside")]),
                        ],
                    ),
                    relationships=(
                        Relationship("again", "again", "until it works", "#cc00cc"),
                        Relationship("r", "r", ""),
                        Relationship("inside", "once", "climbs"),
                    ),
                ),
            )
        )
    ),
)
"""Relationships from topics to themselves."""

TALL: Final = MapDraft(
    id="Tall0001",
    title="Tall",
    owner="many",
    category="Home",
    outline=encode_outline(
        Outline(
            (
                Sheet(
                    Topic(
                        "Tall",
                        "r",
                        children=[
                            Topic(
                                "A branch that holds all there is",
                                "b",
                                side="right",
                                children=[Topic(f"Leaf {n}", f"l{n}") for n in range(150)],
                            )
                        ],
                    )
                ),
            )
        )
    ),
)
"""A narrow map that takes several pages."""


def _chain(length: int) -> Topic:
    below: list[Topic] = []
    for number in reversed(range(length)):
        below = [Topic(f"Link {number} of a long chain", f"c{number}", children=below)]
    return below[0]


CORNERS: Final = MapDraft(
    id="Corners1",
    title="Corners",
    owner="many",
    category="Home",
    outline=encode_outline(
        Outline(
            (
                Sheet(
                    Topic(
                        "Corners",
                        "r",
                        children=[
                            Topic(
                                "High",
                                "b",
                                side="right",
                                children=[Topic(f"Leaf {n}", f"l{n}") for n in range(150)],
                            ),
                            replace(_chain(16), side="left"),
                        ],
                    )
                ),
            )
        )
    ),
)
"""A high branch on one side and a long one on the other, so that two corners are empty."""

_COLUMN: Final = picture("red", (200, 1600))
_COLUMN_DIGEST: Final = sha256(_COLUMN).hexdigest()
PICTURED: Final = MapDraft(
    id="Pictured",
    title="Pictured",
    owner="many",
    category="Home",
    outline=encoded(
        Topic(
            "Pictured",
            "r",
            children=[
                Topic(f"Column {n}", f"c{n}", images=(Image(_COLUMN_DIGEST, 200, 1600, "column"),))
                for n in range(4)
            ],
        )
    ),
    images={_COLUMN_DIGEST: _COLUMN},
)
"""Pictures that are higher than a page."""

_MARKED: Final = Topic(
    "a bold word, an italic one, run make",
    "marked",
    text_html="a <b>bold</b> word, an <i>italic</i> <u>one</u>, run <code>make</code>",
)
MARKED: Final = MapDraft(
    id="Marked01",
    title="Marked",
    owner="many",
    category="Home",
    outline=encoded(Topic("Marked", "r", children=[Topic("Branch", "b", children=[_MARKED])])),
)
"""A text with every kind of emphasis."""

_HEAVY: Final = "Z" + "\u0363\u0364\u0365\u0366\u0367\u0368\u030d\u030e\u0304" * 50

HEAVY: Final = MapDraft(
    id="Heavy001",
    title=_HEAVY,
    description=_HEAVY,
    owner="zed",
    category="Science",
    tags=(f"T{_HEAVY[1:24]}",),
    outline=encode_outline(
        Outline(
            (
                Sheet(
                    Topic(
                        _HEAVY,
                        "r",
                        children=[Topic(_HEAVY, "branch", children=[Topic(_HEAVY, "leaf")])],
                    )
                ),
            )
        )
    ),
)
"""A letter with hundreds of marks, which browsers do not wrap."""

DIFFICULT: Final = (WIDE, LEVEL, ARROWS, LOOPS, TALL, CORNERS, PICTURED, MARKED, HEAVY)
