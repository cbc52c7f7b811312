"""The routing table of the API: every path, its operations, and the permissions they need.

The requirements of each operation are in ``PERMISSIONS``.
"""

from collections.abc import Mapping

from mapshelf.accounts.permissions import PERMISSIONS, Permission
from mapshelf.api.browsing import show_folders, show_tags
from mapshelf.api.collection_editing import (
    COLLECTED,
    COLLECTION,
    arrange_collection,
    collect_maps,
    edit_collection,
    make_collection,
    remove_collection,
    take_map_out,
)
from mapshelf.api.collection_pictures import show_collection_picture
from mapshelf.api.comparing import show_diff
from mapshelf.api.drawings import show_drawing
from mapshelf.api.editing import CHANGES, edit_map, remove_map, restore_map
from mapshelf.api.facets import show_categories, show_facets, show_software
from mapshelf.api.health import show_health, show_readiness
from mapshelf.api.http import BodyRule
from mapshelf.api.images import show_image
from mapshelf.api.links import show_links
from mapshelf.api.map_collections import list_collections, show_collection
from mapshelf.api.map_detail import show_file, show_map, show_outline
from mapshelf.api.maps import list_maps
from mapshelf.api.openapi import show_openapi
from mapshelf.api.own_maps import list_own_maps
from mapshelf.api.reports import REPORT, report_collection, report_map
from mapshelf.api.routes import Method, Operation, Route
from mapshelf.api.saved_searches import (
    SEARCH,
    edit_saved_search,
    list_saved_searches,
    remove_saved_search,
    save_search,
)
from mapshelf.api.search import search_maps, suggest
from mapshelf.api.thumbnails import show_thumbnail
from mapshelf.api.uploads import PUBLISHING, REPLACING, publish_map, replace_map_file
from mapshelf.api.users import show_profile
from mapshelf.api.versions import list_versions, restore_version
from mapshelf.api.votes import VOTE, vote_for_map
from mapshelf.settings import Budget


def api_routes(*, private: bool) -> Mapping[str, Route]:
    """Return the routes of the API; if ``private``, pictures need a token too."""
    pictures = "read a map" if private else "see a picture"
    return {
        "/maps": _route(
            "list maps",
            list_maps,
            cached=True,
            queue="searches",
            queued=b"query=",
            POST=_method("publish a map", publish_map, PUBLISHING),
        ),
        "/search": _route("search maps", search_maps, cached=True, queue="searches"),
        "/suggest": _route("search maps", suggest, cached=True, queue="searches"),
        "/facets": _route("search maps", show_facets, cached=True, queue="searches"),
        "/categories": _route("list maps", show_categories),
        "/software": _route("list maps", show_software),
        "/folders": _route("list maps", show_folders, cached=True),
        "/tags": _route("list maps", show_tags, cached=True),
        "/maps/{id}": _route(
            "read a map",
            show_map,
            cached=True,
            PATCH=_method("change a map", edit_map, CHANGES),
            DELETE=_method("remove a map", remove_map),
        ),
        "/maps/{id}/restore": Route(POST=_method("undo a removal", restore_map)),
        "/maps/{id}/outline.{format}": _route("read a map", show_outline, cached=True),
        "/maps/{id}/drawing.{drawing}": _picture(pictures, show_drawing),
        "/maps/{id}/file": _route(
            "read a map",
            show_file,
            cached=True,
            PUT=_method("replace a file", replace_map_file, REPLACING),
        ),
        "/maps/{id}/vote": Route(PUT=_method("vote", vote_for_map, VOTE)),
        "/maps/{id}/reports": Route(POST=_method("report a map", report_map, REPORT)),
        "/maps/{id}/versions": _route("list versions", list_versions),
        "/maps/{id}/versions/{number}/restore": Route(
            POST=_method("restore a version", restore_version)
        ),
        "/maps/{id}/diff/{other}": _route("read a map", show_diff, cached=True),
        "/maps/{id}/links": _route("read a map", show_links, cached=True),
        "/maps/{id}/images/{digest}.png": _picture(pictures, show_image),
        "/thumbnails/{id}.{picture}": _picture(pictures, show_thumbnail),
        "/collections": _route(
            "list collections",
            list_collections,
            POST=_method("make a collection", make_collection, COLLECTION),
        ),
        "/collections/{id}": _route(
            "read a collection",
            show_collection,
            PATCH=_method("change a collection", edit_collection, COLLECTION),
            DELETE=_method("remove a collection", remove_collection),
        ),
        "/collections/{id}/maps": Route(
            PUT=_method("change a collection", arrange_collection, COLLECTED),
            POST=_method("change a collection", collect_maps, COLLECTED),
        ),
        "/collections/{id}/maps/{map}": Route(DELETE=_method("change a collection", take_map_out)),
        "/collections/{id}/picture.png": _picture(
            "read a collection" if private else "see a picture",
            show_collection_picture,
            cached=False,
        ),
        "/collections/{id}/reports": Route(
            POST=_method("report a collection", report_collection, REPORT)
        ),
        "/users/me": _route("read the profile", show_profile, cached=True),
        "/users/me/maps": _route("list one's own maps", list_own_maps),
        "/users/me/searches": _route(
            "list saved searches",
            list_saved_searches,
            POST=_method("save a search", save_search, SEARCH),
        ),
        "/users/me/searches/{id}": Route(
            PATCH=_method("save a search", edit_saved_search, SEARCH),
            DELETE=_method("save a search", remove_saved_search),
        ),
        "/openapi.json": _route("ask about the service", show_openapi),
        "/healthz": Route(show_health, scope=_scope("ask about the service"), budget=None),
        "/readyz": Route(show_readiness, scope=_scope("ask about the service"), budget=None),
    }


def _route(
    operation: str,
    answer: Operation,
    *,
    cached: bool = False,
    queue: str = "",
    queued: bytes = b"",
    **others: Method,
) -> Route:
    """Return a route with the permissions of an operation; ``others`` are its other methods."""
    return Route(
        answer,
        scope=_scope(operation),
        cached=cached,
        error_page=None,
        shared=True,
        outages_as_text=False,
        budget=Budget.API,
        queue=queue,
        queued=queued,
        **others,
    )


def _picture(operation: str, answer: Operation, *, cached: bool = True) -> Route:
    """Return a route to a picture with the permissions of an operation."""
    return Route(answer, scope=_scope(operation), cached=cached, budget=Budget.PICTURES)


def _method(operation: str, answer: Operation, body: BodyRule | None = None) -> Method:
    """Return a method with the permissions of an operation."""
    return Method(answer, _scope(operation), body=body)


def _scope(operation: str) -> str | None:
    """Return the scope that an operation requires (``PERMISSIONS``)."""
    asked = PERMISSIONS[operation]
    assert asked == Permission(asked.scope), "the application checks scopes alone"
    return asked.scope
