"""Write plain text: one line per topic, indented with one tab per level.

Mind map programs, outliners and spreadsheets accept a tree in this form from the clipboard. It
contains only the texts of topics, because a note would be read as a topic. The lines of a topic are
joined. Floating topics become branches of the central topic, and summaries follow the topics they
summarise.
"""

from mapshelf.model import Outline
from mapshelf.writers.nesting import gathered
from mapshelf.writers.plain import one_line


def write(outline: Outline) -> bytes:
    """Return the texts of ``outline`` as indented lines in UTF-8."""
    lines = (
        "\t" * depth + one_line(topic.text or topic.formula) + "\n"
        for sheet in outline.sheets
        for depth, topic in gathered(sheet).root.walk()
    )
    return "".join(lines).encode()
