"""Facts about a model over HTTP: what is answered, what is refused, and that what is under way is finished."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import xman
from xman.files.model import trained
from xman.models import LogisticRegression
from xman.serve import app as app_module
from xman.serve import application
from xman.serve.app import predictions
from xman.tables import prepared
from xman.wengert import WengertList

pytest.importorskip("starlette")
pa = pytest.importorskip("pyarrow")

TABLE = pa.table({"size of it": [1.5, 2.0, None, 4.0] * 5, "town": ["Bonn", "Köln", None, "<b>"] * 5,
                  "when": ["2024-01-31", "2023-05-01", None, "2020-02-29"] * 5, "sold": [True, False, True, None] * 5})


@pytest.fixture(scope="module")
def model():
    facts = prepared(TABLE, np.array(["yes", "no"] * 10))
    return trained(LogisticRegression(facts.shape[0], 2), {}, facts)


def ask(app, method, path, *pieces, headers=()):
    """(status, content) of a request whose body arrives in pieces."""
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces] + [{"type": "http.request"}]
    sent = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)
    scope = {"type": "http", "method": method, "path": path, "headers": [*headers], "query_string": b"", "http_version": "1.1"}
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


@pytest.mark.filterwarnings("ignore:'(town|sold)'")
@pytest.mark.parametrize("change", [{}, {"size of it": 3}, {"size of it": None}, {"size of it": "2.5"},
                                    {"town": None}, {"town": 7}, {"town": True}, {"town": "x" * 99}, {"when": None},
                                    {"sold": "True"}, {"sold": 1}], ids=str)
def test_a_row_alone_is_read_as_in_a_batch_and_as_the_first_time(model, change):
    row = TABLE.slice(0, 1).to_pylist()[0] | change
    want = predictions(model, json.dumps([row, row]).encode())
    for _ in range(2):
        got = predictions(model, json.dumps(row).encode())
        assert got["predictions"] == want["predictions"][:1]
        np.testing.assert_allclose(got["probabilities"], want["probabilities"][:1], 1e-6)


def test_a_cell_that_its_column_cannot_hold_is_refused_in_a_row_alone(model):
    row = TABLE.slice(0, 1).to_pylist()[0] | {"when": "soon"}
    for _ in range(2):
        with pytest.raises(xman.XManError, match="the request, row 1, column 'when': found 'soon', wanted a date"):
            predictions(model, json.dumps(row).encode())


def test_a_list_that_was_checked_at_load_is_not_checked_at_each_request(model, tmp_path, monkeypatch):
    model.save(tmp_path / "m.safetensors")
    read, body = xman.load(tmp_path / "m.safetensors"), json.dumps(TABLE.slice(0, 2).to_pylist()).encode()
    want = predictions(read, body)
    monkeypatch.setattr(WengertList, "_check", lambda *_: pytest.fail("the list is checked again"))
    assert predictions(read, body) == want and read.entries


def test_a_row_a_batch_and_lists_of_cells_are_answered_as_the_model_predicts(model):
    rows = TABLE.slice(0, 4).to_pylist()
    want = model.outputs(TABLE.slice(0, 4))
    as_lists = [[row[c.name] for c in model.columns] for row in rows]
    for body in ({"rows": rows}, rows, {"rows": as_lists}):
        status, content = ask(application(model), "POST", "/predict", json.dumps(body).encode())
        answer = json.loads(content)
        assert status == 200 and answer["predictions"] == model.labels(want).tolist() and answer["classes"] == ["no", "yes"]
        np.testing.assert_allclose(answer["probabilities"], want, 1e-6)
    body = json.dumps(rows[0]).encode()
    status, content = ask(application(model), "POST", "/predict", body[:9], body[9:])
    assert status == 200 and len(json.loads(content)["predictions"]) == 1


ROW = '{"size of it": 1.5, "town": "Bonn", "when": "2024-01-31", "sold": true'


@pytest.mark.parametrize(("body", "status", "words"), [
    *((text, 400, "no JSON") for text in ("", "{", "[" * 100_000, "\xff\xfe", "9" * 5000)), ("NaN", 400, "NaN is no number"),
    (ROW.replace("1.5", "1e400") + "}", 400, "1e400 is no number of JSON, or beyond 1e308"),
    (ROW.replace("1.5", "9" * 400) + "}", 400, "9999 is no number of JSON, or beyond 1e308"),
    (ROW.replace("1.5", "true") + "}", 422, "row 1, column 'size of it': found true, wanted a number"),
    (ROW.replace("Bonn", r"\ud800") + "}", 422, r"has '\ud800', half of a character"),
    (f"[{ROW}}}, {ROW}}}]".replace("Bonn", r"\ud800"), 422, r"has '\ud800', half of a character"),
    ("[]", 400, "has 0 rows"), ("3", 422, "row 1 is 3"), ("[1, 2]", 422, "row 1 is 1"), ('"rows"', 422, "wanted an object"),
    ("null", 422, "wanted"), ('{"rows": [[1]]}', 422, "row 1 is [1]"),
    ("{}", 422, "lacks the column"), (ROW[:18] + "}", 422, "lacks the column"),
    (ROW + ', "twon": 1}', 422, "did you mean 'town'"), (ROW.replace("1.5", "[1]") + "}", 422, "found [1], wanted a number"),
    (ROW.replace('"Bonn"', "[1]") + "}", 422, "no cell"),
    (ROW.replace("1.5", '"much"') + "}", 422, "found 'much', wanted a number"),
    (ROW.replace("2024-01-31", "soon") + "}", 422, "wanted a date")])
def test_a_request_that_cannot_be_answered_gets_a_sentence(model, body, status, words):
    got, content = ask(application(model), "POST", "/predict", body.encode("latin-1"))
    assert got == status and words in json.loads(content)["error"]


@pytest.mark.parametrize("cell", ["1", "1e300", "-0.0", "12345678901234567890123", '"7"', "null"])
def test_any_number_in_a_column_of_numbers_is_answered(model, cell):
    answer = predictions(model, f"[{ROW.replace('1.5', cell)}}}, {ROW}}}]".encode())
    json.dumps(answer, allow_nan=False)
    assert len(answer["predictions"]) == 2


def test_a_body_is_refused_before_more_than_the_bound_of_it_is_kept(model):
    app = application(model, 1000)
    assert ask(app, "POST", "/predict", headers=[(b"content-length", b"1000000000")])[0] == 413
    assert ask(app, "POST", "/predict", headers=[(b"content-length", b"-1")])[0] == 413
    assert ask(app, "POST", "/predict", *[b" " * 400] * 100)[0] == 413


def test_a_body_that_does_not_arrive_in_time_is_refused(model, monkeypatch):
    monkeypatch.setattr(app_module, "SECONDS", 0.05)
    sent = []

    async def receive():
        await asyncio.sleep(0.01 if sent else 60)

    async def send(message):
        sent.append(message)
    scope = {"type": "http", "method": "POST", "path": "/predict", "headers": [], "query_string": b"", "http_version": "1.1"}
    asyncio.run(application(model)(scope, receive, send))
    assert sent[0]["status"] == 408 and b"did not arrive within 0.05 seconds" in sent[1]["body"]


def test_the_page_and_the_health_name_the_columns_and_no_cell_becomes_markup(model):
    status, content = ask(application(model), "GET", "/")
    assert status == 200 and b"size of it" in content
    assert json.loads(ask(application(model), "GET", "/health")[1])["columns"]["when"] == "date"
    assert ask(application(model), "GET", "/predict")[0] == 405 and ask(application(model), "GET", "/etc")[0] == 404
    strange = model._replace(target="<script>", columns=(model.columns[0]._replace(name='"><script>'),))
    page = ask(application(strange), "GET", "/")[1].decode()
    assert page.count("<script>") == 1


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_what_is_under_way_is_answered_when_the_server_is_told_to_end(model, tmp_path):
    pytest.importorskip("uvicorn")
    model.save(tmp_path / "m.safetensors")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "xman", "serve", "m.safetensors", "--port", str(port)], cwd=tmp_path)
    try:
        for _ in range(300):
            try:
                line = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                time.sleep(0.1)
        body = json.dumps([json.loads(ROW + "}")] * 20_000).encode()
        line.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:-1])
        time.sleep(0.3)
        server.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        line.sendall(body[-1:])
        answer = b""
        while piece := line.recv(2 ** 20):
            answer += piece
        assert b" 200 " in answer.split(b"\r\n")[0] and answer.endswith(b"}")
        assert server.wait(20) in (0, -signal.SIGTERM)
        line.close()
    finally:
        server.kill()
        server.wait()
