"""Decode text whose declared encoding may be missing or wrong.

Parsers that decode by themselves refuse what they cannot decode. But real maps are often saved in
a national encoding without a declaration, or declare UTF-8 wrongly. People expect them to open, if
with a few wrong letters. So decoding is done here, and never fails.
"""

import codecs
import re
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_UNMARKED_UTF16: Final = (
    (re.compile(rb"[\s<{\[]\x00[^\x00]"), "utf-16-le"),
    (re.compile(rb"\x00[\s<{\[]\x00"), "utf-16-be"),
)

_SUPERSETS: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "ascii": "utf-8",
}
"""Declared encoding → the larger one programs write under its name."""

_ACCEPTED: Final = frozenset(
    {"utf-8", "gb18030", "cp932", "cp949", "big5", "big5hkscs", "euc_jp", "iso2022_jp"}
    | {"koi8-r", "koi8-u", "mac-roman", "cp437", "cp850", "cp866", "cp874"}
    | {f"cp{number}" for number in range(1250, 1259)}
    | {f"iso8859-{number}" for number in range(2, 17)}
)
"""Codecs a file may choose. Python has others (punycode, unicode_escape, utf-7 …) that are slow
or yield lone surrogates, and UTF-16 is not possible where the declaration is readable as ASCII."""

_DECLARATION: Final = re.compile(
    rb"""\s*<\?xml[^>]{1,200}?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']"""
)


def decode(data: bytes) -> str:
    """Return ``data`` as text, without byte-order mark.

    In this order: the byte-order mark, UTF-16 seen from its zero bytes, the encoding an XML
    declaration names, UTF-8, and last Windows-1252 (Latin-1 where that has no character).
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, "replace")
    for pattern, codec in _UNMARKED_UTF16:
        if pattern.match(data):
            return data.decode(codec, "replace")
    for codec in (_declared(data), "utf-8", "cp1252"):
        try:
            return data.decode(codec)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _declared(data: bytes) -> str:
    declaration = _DECLARATION.match(data[:400])
    if declaration is None:
        return "utf-8"
    try:
        name = codecs.lookup(declaration[1].decode("ascii")).name
    except LookupError:
        return "utf-8"
    name = _SUPERSETS.get(name, name)
    return name if name in _ACCEPTED else "utf-8"
