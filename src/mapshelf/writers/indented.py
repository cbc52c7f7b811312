"""Plain text: a line for each topic, a tab for each level.

It contains only the texts of topics: mind map programs, outliners and spreadsheets accept a tree in
this form from the clipboard, and would read a note as a topic. A topic of several lines is written
on one. Floating topics are attached to the central one, and summaries follow what they sum up.
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
