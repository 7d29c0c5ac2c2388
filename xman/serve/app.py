"""The application of ASGI that answers with a model's predictions.

    POST /predict   {"rows": [{"age": 31, "town": "Bonn"}, …]}, one such row alone, or rows as lists in the
                    order of the columns; null is a missing cell. It answers {"predictions": […],
                    "probabilities": […]}.
    GET  /health    what it serves
    GET  /          a page to try a row
"""
from __future__ import annotations

import asyncio
import html
import json
import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ops.writer import frozen

from ..errors import XManError, extra, nearest
from ..files import Model
from ..tables.columns import Column, cells, sizes, vocabularies
from ..tables.frames import arrow

BODY, ROWS, SECONDS = 2 ** 23, 100_000, 30  # the most bytes and rows of a request, and its time to arrive
SMALL = 2 ** 14                             # bytes: what is larger is computed beside the other requests


class Refusal(XManError):
    """A request that gets no predictions. status: of HTTP."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status = status


def application(model: Model, body: int = BODY) -> Any:
    """The ASGI application of a model. body: the most bytes of a request."""
    starlette = lambda name: extra(f"starlette.{name}", "serve", "xman serve")
    responses, routing = starlette("responses"), starlette("routing")

    def answer(status: int, content: Any) -> Any:
        return responses.Response(json.dumps(content), status, media_type="application/json")

    async def predict(request: Any) -> Any:
        try:
            message = await arrived(request, body)
            compute = partial(predictions, model, message)
            return answer(200, compute() if len(message) < SMALL else await asyncio.to_thread(compute))
        except XManError as error:
            return answer(getattr(error, "status", 422), {"error": str(error)})

    async def health(request: Any) -> Any:
        facts = {"target": model.target, "classes": list(model.classes)}
        return answer(200, {"status": "ok", **facts, "columns": {c.name: c.kind for c in model.columns}})

    async def page(request: Any) -> Any:
        return responses.HTMLResponse(form_page(model))
    routes = [routing.Route("/predict", predict, methods=["POST"]), routing.Route("/health", health),
              routing.Route("/", page)]
    return routing.Router(routes)


async def arrived(request: Any, most: int) -> bytes:
    """The body of a request, of which no more than `most` bytes are ever kept."""
    too_large = Refusal(413, f"the request has more than {most:,} bytes; send the rows in several requests")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > most:
        raise too_large
    message, expired, reading = bytearray(), [], asyncio.current_task()
    # a task of its own, as asyncio.wait_for has it, takes longer than a prediction
    timer = asyncio.get_running_loop().call_later(SECONDS, lambda: expired.append(reading.cancel()))
    try:
        async for piece in request.stream():
            message += piece
            if len(message) > most:
                raise too_large
    except asyncio.CancelledError:
        if not expired:
            raise
        raise Refusal(408, f"the request did not arrive within {SECONDS} seconds") from None
    finally:
        timer.cancel()
    return bytes(message)


def predictions(model: Model, message: bytes) -> dict[str, Any]:
    """The answer to the body of a request. XManError where it has none."""
    def no_number(word: str) -> float:
        raise ValueError(f"{word[:20]} is no number of JSON, or beyond 1e308; null is a missing cell")
    number = lambda word: x if math.isfinite(x := float(word)) else no_number(word)
    whole = lambda word: int(word) if len(word) < 308 else no_number(word)
    try:
        content = json.loads(message, parse_constant=no_number, parse_float=number, parse_int=whole)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"the request is no JSON: {error}") from None
    rows = content.get("rows", content) if isinstance(content, dict) else content
    rows = rows if isinstance(rows, list) else [rows]
    if not 0 < len(rows) <= ROWS:
        raise Refusal(400, f"the request has {len(rows):,} rows; wanted 1 to {ROWS:,}")
    try:
        outputs = outputs_of(model, rows)
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise Refusal(422, f"the request has {half!r}, half of a character: no text") from None
    answer: dict[str, Any] = {"predictions": in_json(model.labels(outputs))}
    if model.classes and (probabilities := model.probabilities_if_any(outputs)) is not None:
        answer["probabilities"] = in_json(probabilities)
        answer["classes"] = list(model.classes)
    return answer


def outputs_of(model: Model, rows: list) -> np.ndarray:
    """The model's outputs for the rows. A single row is read cell by cell, without a table."""
    names = [column.name for column in model.columns]
    array, numeric = model.columns[0].kind == "array", {c.name for c in model.columns if c.kind == "number"}
    if not array and all(isinstance(row, list) and len(row) == len(names) for row in rows):
        rows = [dict(zip(names, row, strict=True)) for row in rows]
    if array:
        try:
            X = np.array(rows, np.float32)
        except (ValueError, TypeError, OverflowError):
            X = np.zeros(0)
        if X.size != len(rows) * math.prod(sizes(model.columns[0])):
            raise Refusal(422, f"wanted rows that are lists of {model.columns[0].spelling} numbers")
        return model.outputs(X.reshape(len(rows), *sizes(model.columns[0])), "the request")
    for k, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise Refusal(422, f"row {k} is {json.dumps(row)[:40]}; wanted an object with the columns "
                          f"{', '.join(names[:12])}")
        for name, cell in row.items():
            if name not in names and name != model.target:
                raise Refusal(422, f"row {k} has {name[:40]!r}, which is no column{nearest(name, names)}")
            if isinstance(cell, (list, dict)) or isinstance(cell, bool) and name in numeric:
                wanted = "wanted a number" if name in numeric else "no cell"
                raise Refusal(422, f"row {k}, column {name!r}: found {json.dumps(cell)[:40]}, {wanted}")
    present = [name for name in names if any(name in row for row in rows)]
    if len(rows) == 1 and len(present) == len(names):
        words = vocabularies(model.steps)
        return model.outputs_of({c.register: cell_of(c, rows[0][c.name], words.get(c.register, ()))
                                 for c in model.columns})
    table = arrow().table({name: chunk([row.get(name) for row in rows]) for name in present})
    return model.outputs(table, "the request")


def cell_of(column: Column, cell: Any, words: tuple) -> np.ndarray:
    """A cell as the column's list reads it, (1,). Those that are short come again, and are kept."""
    if column.kind == "number" and (type(cell) is float or type(cell) is int and abs(cell) < 2 ** 53):
        return np.array([cell], float)
    return (read_cell if len(str(cell)) < 40 else read_cell.__wrapped__)(column, cell, words)


@lru_cache(10_000, typed=True)
def read_cell(column: Column, cell: Any, words: tuple) -> np.ndarray:
    return frozen(cells(arrow().chunked_array([chunk([cell])]), column, "the request", words))


def chunk(cells: list) -> Any:
    """The cells as an array of arrow: of one type, or else of strings."""
    try:
        return arrow().array([float(x) if type(x) is int and abs(x) > 2 ** 53 else x for x in cells])
    except (arrow().ArrowException, OverflowError):
        return arrow().array([None if x is None else str(x) for x in cells])


def in_json(numbers: np.ndarray) -> Any:
    """Nested lists; NaN and infinities, which JSON lacks, are null."""
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        numbers = np.where(np.isfinite(numbers), numbers.astype(object), None)
    return numbers.tolist()


def form_page(model: Model) -> str:
    text = {"number": 'inputmode="decimal"', "date": 'placeholder="2024-01-31"'}
    name_of = lambda column: html.escape(column.name)
    fields = "\n".join(f'<label>{name_of(c)} <input name="{name_of(c)}" data-kind="{c.kind}" '
                       f'{text.get(c.kind, "")}></label>' for c in model.columns)
    return PAGE.replace("TARGET", html.escape(model.target)).replace("FIELDS", fields)


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>TARGET</title>
<style>body{font:1rem sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem}
label{display:flex;justify-content:space-between;margin:.4rem 0}pre{white-space:pre-wrap}</style>
<h1>TARGET</h1><form>FIELDS<button>Predict</button></form><pre role="status"></pre>
<script>
document.querySelector("form").onsubmit = async event => {
  event.preventDefault();
  const row = {};
  for (const {name, value, dataset: {kind}} of document.querySelectorAll("input"))
    if (kind === "array") row.array = JSON.parse(value); else row[name] = value === "" ? null : value;
  const answer = await fetch("predict", {method: "POST", body: JSON.stringify({rows: [row.array ?? row]})});
  document.querySelector("pre").textContent = JSON.stringify(await answer.json(), null, 2);
};
</script></html>
"""
