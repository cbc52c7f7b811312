"""Cleans and checks the texts that people give to their maps, collections and saved searches."""

from mapshelf.errors import InvalidParameter
from mapshelf.readers.parsing.text_cleaning import clean, is_visible, one_line


def read_line(name: str, text: str, longest: int) -> str:
    """Return ``text``, cleaned and on one line.

    Args:
        name: the name of the value, for the message.
        text: the text.
        longest: the most characters that it may have.

    Raises:
        InvalidParameter: it is too long, or has no visible character.
    """
    line = one_line(clean(text))
    if not is_visible(line) or len(line) > longest:
        raise InvalidParameter(f"The {name} value must be a text of 1 to {longest} characters.")
    return line


def read_lines(name: str, text: str, longest: int) -> str:
    """Return ``text``, cleaned; see ``read_line``. It may be empty, and have several lines.

    Raises:
        InvalidParameter: it is too long.
    """
    lines = clean(text.replace("\r\n", "\n"))
    if len(lines) > longest:
        raise InvalidParameter(f"The {name} value must be a text of up to {longest} characters.")
    return lines
