"""``GET /healthz`` and ``GET /readyz``: health checks for load balancers and supervisors."""

from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response


async def show_health(context: Context, request: Request) -> Response:
    """Report that the process responds."""
    return context.health.alive()


async def show_readiness(context: Context, request: Request) -> Response:
    """Report whether this node should receive requests."""
    return await context.health.ready()
