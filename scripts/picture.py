"""Draws ``docs/demo.svg``, the picture in the README, from a real response of a running demo.

    make demo                                   # in one terminal
    python scripts/picture.py TOKEN             # in another, with the token it printed

The picture refers to no fonts or files, so it has the reader's own terminal font.
"""

import json
import sys
from io import StringIO
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

from rich.console import Console
from rich.text import Text

PICTURE: Final = Path(__file__).resolve().parent.parent / "docs" / "demo.svg"
QUERY: Final = "query=water&limit=3"
SHOWN: Final = ("Title", "Description", "Category", "Software")
FORMAT: Final = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace;
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> None:
    """Send a request to the demo and draw the response."""
    token, *rest = sys.argv[1:]
    url = rest[0] if rest else "http://127.0.0.1:8000"
    request = Request(f"{url}/maps?{QUERY}", headers={"Authorization": f"Bearer {token}"})  # noqa: S310
    with urlopen(request, timeout=5) as answer:  # noqa: S310
        found = json.load(answer)
    console = Console(record=True, width=92, file=StringIO(), highlight=False)
    console.print(Text("$ curl -H 'Authorization: Bearer msh_…' \\", "bold"))
    console.print(Text(f"       '{url}/maps?{QUERY}'", "bold"))
    console.print()
    for one in found:
        shown = {key: one[key] if len(one[key]) < 62 else one[key][:60] + "…" for key in SHOWN}
        console.print_json(json.dumps(shown, ensure_ascii=False))
    console.save_svg(str(PICTURE), title="Mapshelf", code_format=FORMAT, unique_id="demo")


if __name__ == "__main__":
    main()
