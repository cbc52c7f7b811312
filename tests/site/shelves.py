"""The maps for tests of the pages: ordinary ones, and hostile ones as an attacker makes them.

Every text of a hostile map tries to run a script. If one runs, it sets ``window.struck``.
"""

import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import (
    Attachment,
    Boundary,
    Image,
    MapDraft,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Source,
    Style,
    Topic,
    sheets_of,
)
from tests.render.tour import TOUR as TOUR_OUTLINE

STRIKES: Final = (
    "<script>window.struck=1</script>",
    '"><script>window.struck=1</script>',
    "'><img src=x onerror=window.struck=1>",
    '<img src=x onerror="window.struck=1">',
    "<svg onload=window.struck=1>",
    "<svg><animate onbegin=window.struck=1 attributeName=x dur=1s>",
    "</script><script>window.struck=1</script>",
    "</title><script>window.struck=1</script>",
    "</textarea><script>window.struck=1</script>",
    "</style><script>window.struck=1</script>",
    "<!--<script>window.struck=1//-->",
    "<details open ontoggle=window.struck=1>",
    "<iframe srcdoc='<script>parent.struck=1</script>'>",
    "<math><mtext></mtext><mglyph><style><img src onerror=window.struck=1>",
    "javascript:window.struck=1",
    '" onmouseover="window.struck=1" autofocus onfocus="window.struck=1" x="',
    "' onfocus=window.struck=1 autofocus '",
    "{{ 7*7 }}${7*7}<%= 7*7 %>#{7*7}",
    "{{ say.__globals__ }}",
    "\u2028\u2029window.struck=1//",
    "&lt;script&gt;window.struck=1&lt;/script&gt;",
    "&#60;script&#62;window.struck=1&#60;/script&#62;",
    "\\u003cscript\\u003ewindow.struck=1\\u003c/script\\u003e",
    "]]><script>window.struck=1</script>",
    "%3Cscript%3Ewindow.struck=1%3C/script%3E",
    "<a href=javascript:window.struck=1 id=stage name=query>x</a>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<form action=https://evil.example/><input name=query></form>",
    "\u202egnirts desrever",
)

LINKS: Final = (
    "javascript:window.struck=1",
    "JaVaScRiPt:window.struck=1",
    "java\tscript:window.struck=1",
    " javascript:window.struck=1",
    "\x01javascript:window.struck=1",
    "data:text/html,<script>opener.struck=1</script>",
    "vbscript:window.struck=1",
    "file:///etc/passwd",
    "https://example.org/harmless",
)


def topic(text: str, *children: Topic, note: str = "", links: tuple[str, ...] = ()) -> Topic:
    """Return a topic whose id is its text in lower case, with hyphens for spaces."""
    return Topic(
        text, text.lower().replace(" ", "-"), note=note, links=links, children=list(children)
    )


def encoded(*roots: Topic, language: str = "", **beside: Any) -> bytes:
    """Return an outline as the store keeps it, with the other parts of its sheets."""
    sheets = tuple(replace(sheet, **beside) for sheet in sheets_of(roots))
    return encode_outline(Outline(sheets=sheets, language=language))


GARDEN: Final = MapDraft(
    id="Garden01",
    title="A kitchen garden",
    description="What grows where, and when to sow it.",
    owner="flora",
    category="Home",
    software="FreeMind",
    copyright="© 2024 Flora",
    licence_type_id=1,
    date_added=1_700_000_000_000,
    views=1234,
    downloads=56,
    outline=encoded(
        topic(
            "A kitchen garden",
            topic(
                "Vegetables",
                topic("Carrots", topic("Sow in April")),
                topic("Beans", note="They climb.", links=("https://example.org/beans",)),
            ),
            topic("Herbs", topic("Thyme"), topic("Sage")),
            topic("Watering", topic("Early in the morning")),
        ),
        language="en",
    ),
    source=Source(b"/maps/Garden.mm", "Garden.mm", 5, 1, b"g" * 32),
    content=zlib.compress(b"<map>"),
)

CHINESE: Final = MapDraft(
    id="Chinese1",
    title="读书笔记方法",
    owner="li",
    category="Education",
    date_added=1_699_000_000_000,
    outline=encoded(
        topic("读书笔记方法", topic("读之前", topic("为什么读这本书")), topic("读之后")),
        language="zh",
    ),
)

ARABIC: Final = MapDraft(
    id="Arabic01",
    title="الحروف العربية",
    owner="amal",
    category="Education",
    date_added=1_698_000_000_000,
    outline=encoded(
        topic("الحروف العربية", topic("الحروف الشمسية", topic("تفاح")), topic("الحروف القمرية")),
        language="ar",
    ),
)

TOUR: Final = MapDraft(
    id="Tour0001",
    title="A tour",
    owner="flora",
    category="Home",
    date_added=1_697_000_000_000,
    outline=encode_outline(TOUR_OUTLINE),
)

FOLDED: Final = MapDraft(
    id="Folded01",
    title="Folded",
    owner="flora",
    category="Home",
    date_added=1_696_000_000_000,
    outline=encoded(
        Topic(
            "Folded",
            "r",
            children=[
                Topic(
                    f"Branch {branch}",
                    f"b{branch}",
                    folded=True,
                    children=[Topic(f"Leaf {leaf}", f"l{branch}{leaf}") for leaf in range(3)],
                )
                for branch in range(5)
            ],
        )
    ),
)
"""A map folded by its author so much that fewer than ten topics would be visible."""

_TABLE: Final = (
    "<p>Before the table.</p>\n\n<table><tr>"
    + "".join(f"<td>incomprehensibilities{n}</td>" for n in range(6))
    + "</tr></table>\n\n<p>After it.</p>"
)

NOTED: Final = MapDraft(
    id="Noted001",
    title="Notes",
    owner="flora",
    category="Home",
    date_added=1_695_000_000_000,
    outline=encode_outline(
        Outline(
            (
                Sheet(
                    Topic(
                        "Notes",
                        "r",
                        note="At the centre",
                        children=[
                            Topic(
                                f"Branch {branch} of the map",
                                f"b{branch}",
                                tags=("orchard",) if branch == 3 else (),
                                children=[
                                    Topic(
                                        f"Leaf {branch} {leaf}",
                                        f"l{branch}-{leaf}",
                                        note=f"Secret {branch} {leaf}. "
                                        + "And so on. " * 20 * leaf,
                                        note_html=_TABLE if (branch, leaf) == (0, 0) else "",
                                    )
                                    for leaf in range(6)
                                ],
                            )
                            for branch in range(8)
                        ],
                    ),
                    "First",
                    floating=(Topic("Far away", "far", position=(4000.0, 1500.0)),),
                    relationships=(Relationship("l0-0", "far", "far"),),
                ),
                *(Sheet(Topic(f"Sheet number {n}", f"s{n}"), f"Sheet {n}") for n in range(2, 40)),
            )
        )
    ),
)
"""A map with many sheets, where every topic has a note."""

BARE: Final = MapDraft(id="Bare0001", title="Only a title", owner="flora", category="Home")


def hostile() -> Iterator[MapDraft]:
    """Yield one map for each attack in ``STRIKES``, which has it in every text that pages show."""
    for number, strike in enumerate(STRIKES):
        one_line = " ".join(strike.split())
        yield MapDraft(
            id=f"Strike{number:02}",
            title=strike,
            description=strike,
            owner="".join(filter(str.isprintable, one_line))[:100].strip(),
            category=one_line,
            software=one_line,
            copyright=strike,
            url="javascript:window.struck=1",
            thumbnail="javascript:window.struck=1",
            outline=encoded(
                Topic(
                    strike,
                    strike,
                    note=strike,
                    links=(*LINKS, strike),
                    children=[
                        Topic(strike, f"{strike} 2", note_html=f"<p>{strike}</p>"),
                        Topic(
                            "struck",
                            "x",
                            note_html=f'<a href="{LINKS[0]}" onclick="window.struck=1">a</a>',
                        ),
                        Topic(
                            strike,
                            "y",
                            tags=(strike,),
                            markers=(Marker(f"other-{strike}", strike),),
                            attributes=((strike, strike),),
                            shown_attributes=(strike,),
                            details=strike,
                            number=strike,
                            attachments=(Attachment(strike),),
                            images=(Image("", alt=strike),),
                            style=Style(strike, strike, strike, strike, shape=strike),
                            formula=strike,
                        ),
                    ],
                ),
                language="en",
                relationships=(Relationship("x", "y", strike, strike),),
                boundaries=(Boundary(("x",), strike, strike),),
                background=strike,
            ),
        )


def filler(count: int) -> Iterator[MapDraft]:
    """Yield enough ordinary maps to fill several pages of a list."""
    for number in range(count):
        yield MapDraft(
            id=f"Filler{number:02}",
            title=f"Map number {number}",
            owner="many",
            category="Science" if number % 2 else "History",
            date_added=1_600_000_000_000 + number,
            outline=encoded(topic(f"Map number {number}", topic("One"), topic("Two"))),
        )


def deep() -> MapDraft:
    """Return a map with 150 levels."""
    root = Topic("The very bottom", "l150")
    for level in reversed(range(150)):
        root = Topic(f"Level {level}", f"l{level}", children=[root])
    return MapDraft(id="Deepest1", title="A deep map", owner="diver", outline=encoded(root))


def large() -> MapDraft:
    """Return a map with 11,000 topics."""
    topics = [Topic(f"Branch {number}", f"b{number}") for number in range(10)]
    for branch in list(topics):
        for twig in range(10):
            leaves = [Topic(f"Leaf {n}", f"{branch.id}-{twig}-{n}") for n in range(109)]
            branch.children.append(Topic(f"Twig {twig}", f"{branch.id}-{twig}", children=leaves))
    root = Topic("A very large map", "root", children=topics)
    return MapDraft(id="Large001", title="A very large map", owner="many", outline=encoded(root))
