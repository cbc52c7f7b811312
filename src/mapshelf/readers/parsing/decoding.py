"""Decode text whose declared encoding may be missing or wrong.

Parsers that decode input themselves refuse invalid bytes. But real maps are often saved in a legacy
encoding without a declaration, or wrongly declare UTF-8. Users expect them to open, even with a few
wrong characters. So text is decoded here, and decoding never fails.
"""

import codecs
import re
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is a prefix of it
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
"""Declared encoding → the superset that programs actually write."""

_ACCEPTED: Final = frozenset(
    {"utf-8", "gb18030", "cp932", "cp949", "big5", "big5hkscs", "euc_jp", "iso2022_jp"}
    | {"koi8-r", "koi8-u", "mac-roman", "cp437", "cp850", "cp866", "cp874"}
    | {f"cp{number}" for number in range(1250, 1259)}
    | {f"iso8859-{number}" for number in range(2, 17)}
)
"""Codecs a file may declare. Other codecs of Python (punycode, unicode_escape, utf-7 …) are slow
or yield lone surrogates, and a declaration that is readable as ASCII rules out UTF-16."""

_DECLARATION: Final = re.compile(
    rb"""\s*<\?xml[^>]{1,200}?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']"""
)


def decode(data: bytes) -> str:
    """Return ``data`` as text, without byte-order mark.

    The encoding is, in this order: that of the byte-order mark, UTF-16 if zero bytes indicate it,
    that of an XML declaration, UTF-8, and finally Windows-1252 (Latin-1 for bytes it leaves
    undefined).
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
