"""Plain text, a line for each topic, a tab for each level.

Nothing but the topics' texts: this is the form in which mind map programs, outliners and
spreadsheets take a tree from the clipboard, and each would take a note for a topic. A topic of
several lines is written on one.
"""

from mapshelf.model import Outline
from mapshelf.writers.plain import one_line


def write(outline: Outline) -> bytes:
    """Return the texts of ``outline`` as indented lines in UTF-8."""
    lines = ("\t" * depth + one_line(topic.text) + "\n" for depth, topic in outline.topics())
    return "".join(lines).encode()
