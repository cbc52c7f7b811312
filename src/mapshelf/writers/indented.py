"""Plain text: a line for each topic, a tab for each level.

It contains only the texts of topics: mind map programs, outliners and spreadsheets accept a tree in
this form from the clipboard, and would read a note as a topic. A topic of several lines is written
on one.
"""

from mapshelf.model import Outline
from mapshelf.writers.plain import one_line


def write(outline: Outline) -> bytes:
    """Return the texts of ``outline`` as indented lines in UTF-8."""
    lines = ("\t" * depth + one_line(topic.text) + "\n" for depth, topic in outline.topics())
    return "".join(lines).encode()
