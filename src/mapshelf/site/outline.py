"""Render all topics of a map as HTML, for browsers without scripts, screen readers and crawlers.

This uses neither recursion nor a template, because maps are deep and large. Topics deeper than
``DEEPEST`` are put into the list of their ancestor at that level, because browsers truncate deeper
nesting. Floating topics, summaries, boundaries and relationships follow the main branches.
``topic_details`` renders the content of each topic.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Final

from markupsafe import Markup, escape

from mapshelf.model import Outline, Sheet, Topic
from mapshelf.render.direction import reads_leftwards
from mapshelf.render.formulas import Mathml
from mapshelf.site.long_words import with_breaks
from mapshelf.site.messages import say
from mapshelf.site.topic_details import Details, PageLink, anchor, topic_link

DEEPEST: Final = 100  # maximum depth of nested lists; browsers nest up to 512 elements

INDENTED: Final = 8
"""Number of levels below a main topic that are fully indented; more would not fit."""

FOLDED_ABOVE: Final = 600  # topics; in a larger map, the main branches are folded at first


_MOST_NAMED: Final = 20  # maximum number of topics named for a boundary or a summary
_MOST_BESIDE: Final = 2000  # maximum number of boundaries, and of relationships, listed


def outline_html(
    outline: Outline,
    images: str = "",
    maps: Mapping[str, PageLink] = MappingProxyType({}),
    formulas: Mathml = MappingProxyType({}),
    *,
    apart: bool = False,
) -> Markup:
    """Return every topic of every sheet, as nested lists.

    Args:
        outline: the map.
        images: the base URL of its images, to which the digest of an image is appended.
        maps: the page to link to for each link to another map.
        formulas: its formulas as MathML, by their LaTeX.
        apart: whether links to other maps open in a new window.
    """
    topics = [topic for _, topic in outline.topics()]
    known = {topic.id: topic for topic in topics}
    details = Details(known, images, maps, formulas, apart=apart)
    opened = "" if len(topics) > FOLDED_ABOVE else " open"
    titled = len(outline.sheets) > 1
    pieces: list[str] = []
    for sheet in outline.sheets:
        root = sheet.root
        # Not "auto", with which browsers would determine the direction of each topic again.
        direction = "rtl" if reads_leftwards(root) else "ltr"
        pieces.append(f'<div class="sheet" dir="{direction}">')
        title = sheet.title.strip()
        if titled and title and title != root.text.strip():
            pieces.append(f'<p class="canvas" dir="auto">{escape(title)}</p>')
        pieces.append(f'<header id="{anchor(root)}"><p class="root">{details.text(root)}</p>')
        pieces.append(f"{details.beside(root)}</header>")
        for main in root.children:
            pieces.extend(_main(main, details, opened))
        pieces.extend(_alone(sheet, known, details, opened))
        pieces.append("</div>\n")
    return Markup(with_breaks("".join(pieces)))  # noqa: S704 - every text in it is escaped or cleaned


def _alone(
    sheet: Sheet, known: Mapping[str, Topic], details: Details, opened: str
) -> Iterable[str]:
    """Yield everything outside the main tree of a sheet.

    These are floating topics, summaries, boundaries and relationships.
    """
    if sheet.floating:
        yield f'<p class="alone">{escape(say("map.floating"))}</p>'
    for topic in sheet.floating:
        yield from _main(topic, details, opened)
    for summary in sheet.summaries:
        about = _names(summary.topics, known)
        yield f'<p class="alone">{escape(say("map.summary"))}{": " if about else ""}{about}</p>'
        yield from _main(summary.topic, details, opened)
    boundaries = [one for one in sheet.boundaries[:_MOST_BESIDE] if one.text.strip()]
    if boundaries:
        yield f'<p class="alone">{escape(say("map.boundaries"))}</p><ul class="more">'
        for boundary in boundaries:
            label = escape(boundary.text.strip())
            about = _names(boundary.topics, known)
            yield f'<li><span dir="auto">{label}</span>{": " if about else ""}{about}</li>'
        yield "</ul>"
    relationships = sheet.relationships[:_MOST_BESIDE]
    arrows = [one for one in relationships if {one.start, one.end} <= known.keys()]
    arrows = [one for one in arrows if one.text.strip() or not one.point]
    if arrows:
        yield f'<p class="alone">{escape(say("map.relationships"))}</p><ul class="more">'
        for arrow in arrows:
            start, end = (topic_link(known[one]) for one in (arrow.start, arrow.end))
            text = arrow.text.strip()
            words = f': <span dir="auto">{escape(text)}</span>' if text else ""
            yield f"<li>{start} → {end}{words}</li>"
        yield "</ul>"


def _names(ids: Iterable[str], known: Mapping[str, Topic]) -> str:
    """Return links to topics; an ellipsis stands for those beyond ``_MOST_NAMED``."""
    found = [known[one] for one in islice(ids, _MOST_NAMED + 1) if one in known]
    links = [topic_link(topic) for topic in found[:_MOST_NAMED]]
    return ", ".join([*links, "…"] if len(found) > _MOST_NAMED else links)


def _main(main: Topic, details: Details, opened: str) -> Iterable[str]:
    """Yield a main branch, as a foldable element if it has children."""
    own = f"{details.text(main)}"
    if not main.children:
        yield f'<div class="main" id="{anchor(main)}"><p>{own}</p>{details.beside(main)}</div>\n'
        return
    yield f'<details class="main" id="{anchor(main)}"{opened}><summary>{own}</summary>'
    yield details.beside(main)
    depth = 0
    for level, topic in main.walk():
        if level == 0:
            continue
        wanted = min(level, DEEPEST)
        if wanted > depth:
            yield "<ul>" if wanted <= INDENTED else '<ul class="deep">'
        else:
            yield "</li>\n" + "</ul></li>\n" * (depth - wanted)
        depth = wanted
        yield details.element(topic)
    yield "</li></ul>" * depth + "</details>\n"
