"""One table in each format, and packed in each way, gives the same columns and rows; others are named and refused."""

import bz2
import gzip
import json
import lzma
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pytest

from xman import tables
from xman.tables import TableError
from xman.train import load

pa = pytest.importorskip("pyarrow")
ROWS = [
    {"size": k * 1.5, "word": ["red", "blue", None][k % 3], "count": k % 4, "code": f"0{k % 5}", "kind": "ab"[k % 2]}
    for k in range(24)
]
CSV = "\n".join([",".join(ROWS[0]), *(",".join("" if x is None else str(x) for x in row.values()) for row in ROWS)]).encode()
JSON = json.dumps(ROWS).encode()


def zipped(path, content=CSV, names=("inside.csv",)):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, content)


def sqlite(path, names=("rows",)):
    with closing(sqlite3.connect(path)) as base:
        for name in names:
            base.execute(f"CREATE TABLE {name} (size REAL, word TEXT, count INTEGER, code TEXT, kind TEXT)")
            base.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?)", [(*row.values(),) for row in ROWS])
        base.commit()


def excel(path, *above, names=(*ROWS[0],)):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [*above, names, *((*row.values(),) for row in ROWS)]:
        book.active.append(row)
    book.save(path)


def column_wise(path):
    path.write_bytes(json.dumps({name: {str(k): row[name] for k, row in enumerate(ROWS)} for name in ROWS[0]}).encode())


def arrow_file(writer):
    return lambda path: getattr(pytest.importorskip(f"pyarrow.{writer[0]}"), writer[1])(
        pa.Table.from_pylist(ROWS), str(path)
    )


FORMATS = {
    "x.csv": lambda path: path.write_bytes(CSV),
    "x.json": lambda path: path.write_bytes(JSON),
    "column-wise.json": column_wise,
    "x.jsonl": lambda path: path.write_text("\n".join(map(json.dumps, ROWS)) + "\n"),
    "split.json": lambda path: path.write_text(json.dumps({"columns": [*ROWS[0]], "data": [[*row.values()] for row in ROWS]})),
    "inside.json": lambda path: path.write_text(json.dumps({"source": "a shop", "rows": ROWS})),
    "utf-16.jsonl": lambda path: path.write_bytes("\n".join(map(json.dumps, ROWS)).encode("utf-16")),
    "lists.jsonl": lambda path: path.write_text("\n".join(map(json.dumps, [[*ROWS[0]], *([*row.values()] for row in ROWS)]))),
    "x.csv.gz": lambda path: path.write_bytes(gzip.compress(CSV)),
    "x.csv.bz2": lambda path: path.write_bytes(bz2.compress(CSV)),
    "x.json.xz": lambda path: path.write_bytes(lzma.compress(JSON)),
    "x.csv.zst": lambda path: path.write_bytes(pa.compress(CSV, "zstd", asbytes=True)),
    "x.zip": zipped,
    "x.sqlite": sqlite,
    "x.xlsx": excel,
    "x.orc": arrow_file(("orc", "write_table")),
    "x.parquet": arrow_file(("parquet", "write_table")),
    "x.feather": arrow_file(("feather", "write_feather")),
    "no ending": arrow_file(("parquet", "write_table")),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_table_is_the_same_in_each_format(tmp_path, name):
    FORMATS[name](tmp_path / name)
    table = tables.read(tmp_path / name)
    wanted = pa.Table.from_pylist(ROWS)
    data, like = tables.prepared(table), tables.prepared(wanted)
    assert [column[:3] for column in data.columns] == [column[:3] for column in like.columns]
    assert str(data.steps) == str(like.steps) and np.array_equal(data.features(table), like.features(wanted))
    assert np.array_equal(data.features(wanted), like.features(table)) and data.classes == ("a", "b")


@pytest.mark.parametrize("write", [zipped, lambda path: path.write_bytes(gzip.compress(CSV))], ids=["zip", "gzip"])
def test_a_packed_file_is_trained_on_whatever_its_name(tmp_path, write):
    write(tmp_path / "x.packed")
    assert load(tmp_path / "x.packed").prepared.columns[0].name == "size"


@pytest.mark.parametrize("name", ["x", "x.json"])
@pytest.mark.parametrize("text", [json.dumps(ROWS[:1]), json.dumps(ROWS[:1], indent=1), "\n".join(map(json.dumps, ROWS[:2])),
                                  '[["a", "b"], [1, true], [3, "\u00e9"]]', '{\n "rows":\n [{"a": 1}, {"a": -2}\n]}'])
def test_json_that_is_cut_off_is_said_to_end_with_its_line(tmp_path, name, text):
    is_row = lambda line: line.startswith("{") and line.endswith("}")  # of JSON lines, which may end there
    for end in range(1, len(text) - 1):
        lines = text[:end].rstrip().split("\n")
        (tmp_path / name).write_text(text[:end])
        if not is_row(lines[-1]):
            with pytest.raises(TableError) as caught:
                tables.read(tmp_path / name)
            words = f"{name}: the JSON ends within line {len(lines)}, before it is complete; the file may be cut off"
            assert str(caught.value).endswith(words), text[:end]


def test_what_begins_as_json_in_a_file_of_its_name_is_no_csv(tmp_path):
    (tmp_path / "x.json").write_text("{'a': 1, 'b': 2}\n" * 9)
    with pytest.raises(TableError, match="line 1, column 2: this is no JSON: Expecting property name"):
        tables.read(tmp_path / "x.json")
    (tmp_path / "x.json").write_text('[1, ?')
    with pytest.raises(TableError, match="line 1, column 5: this is no JSON: Expecting value"):
        tables.read(tmp_path / "x.json")
    (tmp_path / "x.json").write_text("[" * 99_999)
    with pytest.raises(TableError, match="this is no JSON that can be read: maximum recursion depth"):
        tables.read(tmp_path / "x.json")


def test_the_rule_of_a_table_in_markdown_is_no_row_with_a_target(tmp_path):
    cells = [" | ".join(line.split(",")) for line in CSV.decode().split("\n")]
    (tmp_path / "x.txt").write_text("\n".join([cells[0], " | ".join(["---"] * 5), *cells[1:]]))
    data = tables.prepared(tables.read(tmp_path / "x.txt"))
    assert data.classes == ("a", "b") and "1 row without a target" in " ".join(data.remarks) and data.columns[0].kind == "number"


@pytest.mark.parametrize(
    "write, words",
    [
        (lambda path: zipped(path, names=("a.csv", "b.csv")), "the archive holds a.csv, b.csv; unpack it"),
        (lambda path: sqlite(path, ("one", "two")), "the base holds the tables one, two; wanted one"),
        (
            lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(99)),
            "this is HDF5, which xman does not read; write it as CSV",
        ),
        (lambda path: path.write_bytes(b"<!doctype html><table>"), "a page of HTML"),
        (lambda path: path.write_bytes(b"[[1, 2], [3, 4]]"), "found lists of cells; wanted objects"),
        (lambda path: path.write_bytes(CSV.decode().encode("utf-32")), "found a NUL byte"),
        (lambda path: path.write_bytes(b"%PDF-1.4"), "a PDF"),
        (lambda path: path.write_bytes(b'{"a": 1}\n{"a": ?}\n'), "x, line 2, column 7: this is no JSON"),
        (lambda path: path.write_bytes(b"[]"), "x: this is [] in JSON, without a row; wanted a list of objects"),
        (lambda path: path.write_bytes(b"{}"), "x: this is {} in JSON, without a row"),
        (lambda path: path.write_bytes(b"[1, 2]"), "x, row 1: found 1, wanted an object, as a row of JSON is"),
        (lambda path: path.write_bytes(b'[{"a": 1}, [2], 3]'), "x, row 2: found [2], wanted an object"),
        (lambda path: path.write_bytes(b'{"a": [1, 2], "b": [3]}'),
         "x: the column 'a' has 2 cells and 'b' has 1; wanted equally many"),
        (lambda path: path.write_bytes(gzip.compress(CSV)[:60]), "cannot be read"),
        (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(50)), "cannot be read"),
        (lambda path: path.write_bytes(b'[{"a": {"b": 1}, "y": 2}, {"y": 3}]'), "holds struct"),
        (lambda path: excel(path, ["a report"]), "the first row is 'a report' alone; remove what stands above"),
        (lambda path: excel(path, names=["size", "word", "size", "code", "kind"]), "two columns are called 'size'"),
        (lambda path: path.write_bytes(b'[["a", "a"], [1, 2]]'), "two columns are called 'a'"),
        (lambda path: path.write_bytes(b"a,b"), "the table has a header and no rows"),
    ],
    ids=range(20),
)
def test_what_is_no_single_table_is_refused_by_its_name(tmp_path, write, words):
    write(tmp_path / "x")
    with pytest.raises(TableError) as caught:
        tables.prepared(tables.read(tmp_path / "x"))
    assert words in str(caught.value) and "\n" not in str(caught.value)
