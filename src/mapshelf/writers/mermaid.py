"""Write Mermaid mind maps: the keyword ``mindmap``, then one line per topic, indented by level.

Every text is quoted. Inside quotation marks Mermaid accepts all characters except its own special
ones, which are written as numeric entities. Its grammar requires text in every topic and a single
root: several sheets become branches of a topic that names them, floating topics become branches of
the central topic, and summaries follow the topics they summarise. The format has no field for ids,
notes, links or any other content.
"""

import re
from typing import Final

from mapshelf.model import Outline
from mapshelf.writers.nesting import under_one_root
from mapshelf.writers.plain import sound

_SIGNS: Final = re.compile(r"""["#%&<>`\\*_~]|\A[-+]|(?<=\A\d)[.)]|(?<=\A\d\d)[.)]""")
"""Special characters. The last three begin lists, which newer versions reject in labels."""

_STYLE: Final = re.compile("style|classDef")


def write(outline: Outline) -> bytes:
    """Return ``outline`` as a Mermaid diagram in UTF-8."""
    lines = ["mindmap\n"]
    for depth, topic in under_one_root(outline).walk():
        lines.append(f'{" " * (depth + 1)}["{_escaped(topic.text or topic.formula) or " "}"]\n')
    return "".join(lines).encode()


def _escaped(text: str) -> str:
    text = _SIGNS.sub(_entity, sound(text).strip())
    if _STYLE.search(text):
        # Mermaid searches the whole diagram for styles, and truncates an entity that follows text
        # that resembles a style.
        text = text.replace(":", "#58;")
    return text.replace("\n", "<br/>")


def _entity(sign: re.Match[str]) -> str:
    return f"#{ord(sign[0])};"
