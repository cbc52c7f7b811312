"""Extract the text of the simple RTF that macOS writes for short texts.

Old Mac programs store titles only as RTF. Font and colour tables are in nested groups, so only the
text directly in the outermost group is extracted.
"""

import re
from typing import Final

_TOKENS: Final = (
    r"\\u(?P<code>-?\d{1,6}) ?%s|\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<word>[a-z]{1,32})-?\d{0,9} ?"
    r"|\\(?P<sign>[^a-z])|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)"
)
_RTF: Final = re.compile(_TOKENS % r"(?:\?|\\'[0-9a-fA-F]{2})?")
_RTF_WITHOUT_FALLBACKS: Final = re.compile(_TOKENS % "")
_NO_FALLBACKS: Final = "\\uc0"
"""In files with this control word, as macOS writes it, no replacement follows a Unicode escape."""

_BREAKS: Final = frozenset({"par", "line"})
_CODE_PAGE: Final = re.compile(r"\\ansicpg(\d{3,5})")


def is_rtf(text: str) -> bool:
    """Return whether ``text`` is RTF."""
    return text.startswith("{\\rtf")


def rtf_to_text(rtf: str) -> str:
    """Return the plain text of ``rtf``."""
    page = _CODE_PAGE.search(rtf)
    codec = f"cp{page[1]}" if page and page[1] in {"932", "936", "949", "950"} else "cp1252"
    texts, pieces = [], bytearray()
    depth = 0
    tokens = _RTF_WITHOUT_FALLBACKS if _NO_FALLBACKS in rtf else _RTF
    for token in tokens.finditer(rtf):
        if token["brace"]:
            depth += 1 if token["brace"] == "{" else -1
        elif depth == 1:  # nested groups contain fonts and colours
            if token["code"]:  # UTF-16, whatever the code page is
                texts += [pieces.decode(codec, "replace"), chr(int(token["code"]) % 0x10000)]
                pieces.clear()
            else:
                pieces += _piece(token, codec)
    texts.append(pieces.decode(codec, "replace"))
    return "".join(texts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _piece(token: re.Match[str], codec: str) -> bytes:
    if token["byte"]:
        return bytes.fromhex(token["byte"])
    if token["word"]:
        return b"\n" if token["word"] in _BREAKS else b""
    return (token["text"] or token["sign"].strip("*~")).encode(codec, "replace")
