"""Make an Atom feed (RFC 4287) of a list of maps, with the same parameters as the list.

The default order is by date, so that feed readers show new maps.

Feed entries are often shared. So even a feed at a secret URL contains no secrets: it includes
neither its own URL nor those of images, which would have to be accessible to everyone.
"""

from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from mapshelf.query import DEFAULT_ORDER, MapQuery
from mapshelf.site.addresses import Addresses
from mapshelf.site.cards import card
from mapshelf.site.messages import say
from mapshelf.snapshot.read import Snapshot
from mapshelf.writers.plain import sound

NEVER: Final = "1970-01-01T00:00:00Z"  # the last update of a feed without entries


def feed_values(snapshot: Snapshot, query: MapQuery, addresses: Addresses) -> dict[str, Any]:
    """Return the variables of the template of a feed."""
    if "order_by" not in dict(query.given):
        query = replace(query, order=DEFAULT_ORDER)
    hits = snapshot.search(replace(query, offset=0), b"", correct=False)
    cards = [card(record, addresses, []) for record in hits.records]
    given = dict(query.given)
    title = say("maps.for", text=query.text) if query.text else say("maps.all")
    return {
        "title": sound(f"{say('site')}: {title}"),
        "address": addresses.absolute(addresses.library(given)),
        "own": f"{addresses.base_url}/feed.atom" + (f"?{urlencode(given)}" if given else ""),
        "updated": max((entry.added for entry in cards), default=NEVER),
        "entries": [
            {
                # Without the title, which may change.
                "id": f"{addresses.base_url}/mindmaps/{entry.id}",
                "title": sound(entry.title),
                "address": addresses.absolute(entry.address),
                "picture": addresses.absolute(entry.large),
                "date": entry.added,
                "owner": sound(entry.owner),
                "category": sound(entry.category),
                "summary": sound(orjson.loads(record.body)["Description"]),
            }
            for entry, record in zip(cards, hits.records, strict=True)
        ],
    }
