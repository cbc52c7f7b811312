"""All topics of a map as HTML, for browsers without scripts, screen readers and search engines.

It uses neither recursion nor a template, because maps are deep and large. Topics deeper than
``DEEPEST`` are in the list of their ancestor, because browsers cut deeper nesting off. Notes were
cleaned when the file was read. They are cleaned again here, because the store is not trusted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple
from urllib.parse import quote

import nh3
from markupsafe import Markup, escape

from mapshelf.model import Outline, Topic
from mapshelf.render.direction import reads_leftwards
from mapshelf.site.addresses import SAFE_SCHEMES, safe_link
from mapshelf.site.messages import say

DEEPEST: Final = 100  # levels of lists; browsers nest up to 512 elements

INDENTED: Final = 8
"""Levels below a main topic that are fully indented; more would not fit."""

FOLDED_ABOVE: Final = 600  # topics; in a larger map, the main branches are folded at first

RELATION: Final = "nofollow noopener noreferrer"
"""The ``rel`` of links in untrusted maps."""

_SHOWN: Final = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "hr", "i", "li", "ol"),
    *("p", "pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr"),
    *("u", "ul"),
}
"""Elements kept in notes. Headings are removed: those of the page must stay in order."""


class PageLink(NamedTuple):
    """A link to a page of ours: the address, and the title of what is there."""

    address: str
    title: str


@dataclass(frozen=True, slots=True)
class _Known:
    """What links may lead to: topics of the map, and other maps, by link.

    ``apart`` is whether pages of other maps are opened apart from this one.
    """

    topics: set[str]
    maps: Mapping[str, PageLink]
    apart: bool


def outline_html(
    outline: Outline, maps: Mapping[str, PageLink] = MappingProxyType({}), *, apart: bool = False
) -> Markup:
    """Return every topic of every sheet, as nested lists.

    Args:
        outline: the topics.
        maps: where links to other maps lead.
        apart: whether those are opened in a window of their own.
    """
    known = _Known({topic.id for _, topic in outline.topics()}, maps, apart)
    opened = "" if outline.topic_count > FOLDED_ABOVE else " open"
    pieces: list[str] = []
    for root in outline.roots:
        # Not "auto": browsers would determine it again for each of ten thousand topics.
        direction = "rtl" if reads_leftwards(root) else "ltr"
        pieces.append(f'<div class="sheet" id="{_anchor(root)}" dir="{direction}">')
        pieces.append(f'<p class="root">{_text(root)}</p>{_beside(root, known)}')
        for main in root.children:
            pieces.extend(_main(main, known, opened))
        pieces.append("</div>\n")
    return Markup("".join(pieces))  # noqa: S704 - every text in it is escaped or cleaned


def _main(main: Topic, known: _Known, opened: str) -> Iterable[str]:
    """Yield a main branch; it can be folded if it has children."""
    own = f"{_text(main)}"
    if not main.children:
        yield f'<div class="main" id="{_anchor(main)}"><p>{own}</p>{_beside(main, known)}</div>\n'
        return
    yield f'<details class="main" id="{_anchor(main)}"{opened}><summary>{own}</summary>'
    yield _beside(main, known)
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
        yield f'<li id="{_anchor(topic)}">{_text(topic)}{_beside(topic, known)}'
    yield "</li></ul>" * depth + "</details>\n"


def _anchor(topic: Topic) -> Markup:
    return escape(f"t={topic.id}")


def _text(topic: Topic) -> str:
    text = topic.text.strip()
    if not text:
        return f'<span class="t none">{escape(say("map.untitled"))}</span>'
    return f'<span class="t" dir="auto">{escape(text)}</span>'


def _beside(topic: Topic, known: _Known) -> str:
    """Return the note and the links of a topic."""
    note = _note(topic)
    links = "".join(f"<li>{_link(link, known)}</li>" for link in topic.links)
    if links:
        links = f'<ul class="links" aria-label="{escape(say("links"))}">{links}</ul>'
    return note + links


def _note(topic: Topic) -> str:
    if topic.note_html:
        inside = nh3.clean(
            topic.note_html,
            tags=_SHOWN,
            attributes={"a": {"href"}},
            url_schemes=set(SAFE_SCHEMES),
            link_rel=RELATION,
            attribute_filter=_followed,
        )
    elif topic.note.strip():
        inside = f"<p>{escape(topic.note.strip())}</p>"
    else:
        return ""
    return f'<div class="note" dir="auto">{inside}</div>'


def _followed(element: str, attribute: str, value: str) -> str | None:
    """Return the address of a link in a note, ``None`` if it is relative.

    Relative links refer to the author's disk; here they would lead to our own addresses.
    """
    return safe_link(value)


def _link(link: str, known: _Known) -> str:
    if link.startswith("#") and link[1:] in known.topics:
        return f'<a href="#t={quote(link[1:])}" dir="auto">{escape(link)}</a>'
    found = known.maps.get(link)
    if found:
        new = ' target="_blank" rel="noopener"' if known.apart else ""
        return (
            f'<a href="{escape(found.address)}" title="{escape(link)}"{new} dir="auto">'
            f"{escape(found.title)}</a>"
        )
    address = safe_link(link)
    if address is None:
        return f'<span dir="auto">{escape(link)}</span>'
    return f'<a href="{escape(address)}" rel="{RELATION}" dir="auto">{escape(link)}</a>'
