"""The table of the API: every path, and the operation that answers it."""

from collections.abc import Mapping

from mapshelf.api.facets import show_categories, show_facets, show_software
from mapshelf.api.health import show_health, show_readiness
from mapshelf.api.images import show_image
from mapshelf.api.links import show_links
from mapshelf.api.map_detail import show_file, show_map, show_outline
from mapshelf.api.maps import list_maps
from mapshelf.api.openapi import show_openapi
from mapshelf.api.routes import Route
from mapshelf.api.search import search_maps, suggest
from mapshelf.api.thumbnails import show_thumbnail
from mapshelf.api.users import show_profile


def api_routes(*, private: bool) -> Mapping[str, Route]:
    """Return the routes of the API; if ``private``, pictures need a token too."""
    return {
        "/maps": Route(list_maps, cached=True),
        "/search": Route(search_maps, cached=True),
        "/suggest": Route(suggest, cached=True),
        "/facets": Route(show_facets, cached=True),
        "/categories": Route(show_categories),
        "/software": Route(show_software),
        "/maps/{id}": Route(show_map),
        "/maps/{id}/outline.{format}": Route(show_outline, cached=True),
        "/maps/{id}/file": Route(show_file, cached=True),
        "/maps/{id}/links": Route(show_links, cached=True),
        "/maps/{id}/images/{digest}.png": Route(show_image, public=not private, cached=True),
        "/thumbnails/{id}.{picture}": Route(show_thumbnail, public=not private, cached=True),
        "/users/me": Route(show_profile),
        "/openapi.json": Route(show_openapi, public=True),
        "/healthz": Route(show_health, public=True),
        "/readyz": Route(show_readiness, public=True),
    }
