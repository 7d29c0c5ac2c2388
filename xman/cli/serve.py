"""xman serve: a trained model over HTTP."""
from __future__ import annotations

import click

from ..errors import extra
from ..files import load
from ..serve import application
from .commands import xman
from .options import option_table


@xman.command()
@click.argument("model", metavar="MODEL")
@option_table("""
    --host=127.0.0.1  HOST  Where it listens; 0.0.0.0 lets other machines in.
    --port=8000       port  The port.
    --body=8388608    size  The most bytes of a request.
    """, port=click.IntRange(0, 65535))
def serve(model: str, host: str, port: int, body: int) -> None:
    """Serve the predictions of MODEL over HTTP: POST /predict, GET /health, and a page to try a row.

    It answers what is under way when it is told to end.
    """
    uvicorn = extra("uvicorn", "serve", "xman serve")
    config = uvicorn.Config(application(load(model), body), host, port, log_level="warning", access_log=False)
    print(f"{model} at http://{host}:{port}", flush=True)
    uvicorn.Server(config).run()
