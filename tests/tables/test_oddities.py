"""CSV as people write it: each oddity is read right, or refused in a sentence with the remedy."""
import gzip
import re

import numpy as np
import pytest

from xman import tables
from xman.tables import TableError
from xman.tables.reading import formed, of_text

pa = pytest.importorskip("pyarrow")

ROWS = [(i, i * 1.5 + 0.25, "ab"[i % 2]) for i in range(12)]
HEADER = "size,weight,kind\n"
BODY = "".join(f"{i},{x},{c}\n" for i, x, c in ROWS)
TABLE = HEADER + BODY
NAS = ["", "NA", "n/a", "NaN", "null", "?", "#N/A", "None"]
RIGHT = {
    "quotes": HEADER + "".join(f'"{i}","{x}","{c}"\n' for i, x, c in ROWS),
    "BOM": "\ufeff" + TABLE,
    "a spreadsheet's first line": "\ufeffsep=;\n" + TABLE.replace(",", ";"),
    "comments": "# of 2024\n#\n" + TABLE,
    "UTF-16": TABLE.encode("utf-16"),
    "semicolons": TABLE.replace(",", ";"),
    "tabs": TABLE.replace(",", "\t"),
    "bars": TABLE.replace(",", "|"),
    "decimal commas": TABLE.replace(",", ";").replace(".", ","),
    "CRLF": TABLE.replace("\n", "\r\n"),
    "CR alone": TABLE.replace("\n", "\r"),
    "trailing blank lines": TABLE + "\n\n\n",
    "leading blank lines": "\n\n" + TABLE,
    "spaces around cells": "size , weight, kind\n" + "".join(f" {i} , {x},  {c} \n" for i, x, c in ROWS),
    "an index without a name": ",size,weight,kind\n" + "".join(f"{k},{i},{x},{c}\n" for k, (i, x, c) in enumerate(ROWS)),
    "points of thousands": "size;weight;kind\n" + "".join(f"1.000.{i:03};{x};{c}\n".replace(f";{x};", f";{x};".replace(".", ","))
                                                          for i, x, c in ROWS),
    "commas of thousands": HEADER + "".join(f'"1,000,{i:03}.5",{x},{c}\n' for i, x, c in ROWS),
}


@pytest.fixture
def read(tmp_path):
    """read(content) -> (table, what is prepared of it)."""
    def read(content, name="x.csv", **how):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        table = tables.read(path, how.pop("header", None))
        return table, tables.prepared(table, **how)
    return read


@pytest.mark.parametrize("content", RIGHT.values(), ids=RIGHT.keys())
def test_one_table_is_read_however_it_is_written(read, content):
    table, data = read(content)
    cells = tables.inputs(data.columns, table)
    assert [column.name for column in data.columns] == ["size", "weight"] and data.target.name == "kind"
    size = cells["size"] - cells["size"][0]
    assert size.tolist() == [row[0] for row in ROWS] and cells["weight"].tolist() == [row[1] for row in ROWS]
    assert [data.classes[k] for k in data.targets(table)] == [row[2] for row in ROWS]


@pytest.mark.parametrize("cell, value", [
    ('"a\nb"', "a\nb"), ('"say ""hi"""', 'say "hi"'), ('"x, y"', "x, y"), ("naïve", "naïve")])
def test_a_quoted_cell_is_what_it_quotes(read, cell, value):
    table, data = read(TABLE + f"3,4,{cell}\n")
    assert data.classes[data.targets(table)[-1]] == value and table.num_rows == 13


def test_what_the_head_does_not_show_is_seen_by_reading_again(read):
    long = HEADER + BODY * 3000
    assert read(long + '3,4,"a\nb"\n')[1].classes == ("a", "a\nb", "b")
    assert read((long + "3,4,é\n").encode("latin-1"))[1].classes == ("a", "b", "é")
    with pytest.raises(TableError, match="row 36001, column 'size': found 'x', wanted a number; mend the cell"):
        read(long + "x,4,a\n")


def test_a_word_among_numbers_is_said(read):
    _, data = read(TABLE + "x,4,a\n")
    assert data.columns[0].kind == "category" and data.remarks[-1].startswith("'size' holds words among numbers, such as 'x'")


def test_latin_1_is_read(read):
    assert read((TABLE + "1,2,é\n").encode("latin-1"))[1].classes == ("a", "b", "é")
    form = formed("standard input", b"word,x\n")
    for encoding in ("utf-8", "latin-1"):  # of lines that come one by one
        assert of_text("naïve,1\n".encode(encoding), form)["word"].to_pylist() == ["naïve"]
    with pytest.raises(TableError, match="neither UTF-8 nor Windows-1252"):
        of_text(b"\x81,1\n", form)


def test_digits_are_a_header_where_they_count_the_columns(read):
    for content in (",0,1,2\n", "0,1,2\n"):
        rows = "".join(f"{f'{k},' if content[0] == ',' else ''}{i},{x},{i % 3}\n" for k, (i, x, _) in enumerate(ROWS))
        table, data = read(content + rows)
        assert table.num_rows == 12 and [c.name for c in data.columns] == ["0", "1"] and data.classes == ("0", "1", "2")


def test_a_table_without_a_header_numbers_its_columns_and_what_is_said_counts(read):
    table, data = read(BODY)
    assert table.num_rows == 12 and [c.name for c in data.columns] == ["column1", "column2"]
    assert read(BODY, header=True)[0].num_rows == 11 and read(TABLE, header=False)[0].num_rows == 13


def test_dates_in_three_spellings_are_the_days_that_they_are(read):
    table, data = read("iso,us,de,y\n" + "".join(f"2024-01-{i + 10},1/{i + 10}/2024,{i + 10}.1.2024,{c}\n" for i, _, c in ROWS))
    cells = tables.inputs(data.columns, table)
    assert [c.kind for c in data.columns] == ["date"] * 3
    assert (cells["iso"] == cells["us"]).all() and (cells["iso"] == cells["de"]).all()
    assert str(cells["de"][0])[:10] == "2024-01-10"
    table = "day,y\n" + "".join(f"{i % 12 + 1}/{(i + 3) % 12 + 1}/2024,{c}\n" for i, _, c in ROWS)
    (_, american), (_, british) = read(table), read(table, day_first=True)
    assert (american.columns[0].spelling, british.columns[0].spelling) == ("%m/%d/%Y", "%d/%m/%Y")
    assert any(re.search("'day': .* is read as .*; --day-first reads it as", said) for said in american.remarks)


def test_truth_values_are_categories_in_one_spelling(read):
    _, data = read("flag,other,answer,y\n" + "".join(
        f"{i % 3 == 0},{str(i % 4 == 0).lower()},{'yes' if i % 5 else 'no'},{c}\n" for i, _, c in ROWS))
    assert [(c.kind) for c in data.columns] == ["category"] * 3
    assert "codes(flag, ('False', 'True'))" in str(data.steps) and "codes(answer, ('no', 'yes'))" in str(data.steps)


def test_two_classes_or_words_that_differ_only_in_capitals_or_unicode_are_said(read):
    towns, answers = ("K\u00f6ln", "Ko\u0308ln", "Bonn"), ("yes", "Yes", "no")
    table = "".join(f"{i},{towns[i % 3]},{answers[i // 4]}\n" for i, *_ in ROWS)
    data = read("x,town,y\n" + table)[1]
    assert data.classes == ("Yes", "no", "yes")  # they stay two: each may be meant
    for words in ("'y' holds 'yes' and 'Yes', taken for two things", r"'town' holds 'K\xf6ln' and 'Ko\u0308ln', taken for two"):
        assert sum(said.startswith(words) for said in data.remarks) == 1
    assert not any("taken for two" in said for said in read(TABLE)[1].remarks)


def test_na_in_eight_spellings_is_missing(read):
    rows = [(NAS[i], NAS[i], c) if i < 8 else (i, f"w{i % 3}", c) for i, _, c in ROWS]
    table, data = read("x,w,y\n" + "".join(f"{x},{w},{c}\n" for x, w, c in rows))
    assert [row[:3] for row in data.summary[:2]] == [("x", "number", 8), ("w", "category", 8)]
    assert np.isfinite(data.features(table)).all()


def test_words_that_count_as_missing_are_said(read):
    rows = [f"{k},{['NA', 'x', 'z', ''][k % 4]},{['None', 'NA', 'u', 'v'][k // 2 % 4]}" for k in range(40)]
    _, data = read("size,town,kind\n" + "\n".join(rows))
    assert any("20 rows without a target 'kind' left out, with 'None' (10), 'NA' (10) read as missing" in x for x in data.remarks)
    assert "'town' has 'NA' (5) read as missing; write another word where it is not" in data.remarks
    with pytest.raises(TableError, match="nothing to learn; .* left out, with 'NA' .10. read as missing"):
        read("size,kind\n" + "".join(f"{k},{['NA', 'u'][k % 2]}\n" for k in range(20)))


def test_infinity_counts_as_missing_and_is_said(read):
    words = ["inf", "-inf", "Infinity", "-Infinity"]
    table, data = read("x,y\n" + "".join(f"{words[i] if i < 4 else i},{c}\n" for i, _, c in ROWS))
    assert data.summary[0][:3] == ("x", "number", 4) and data.features(table)[:, 1].tolist() == [1.0] * 4 + [0.0] * 8
    assert "'x' has 4 infinite numbers, which count as missing" in data.remarks
    assert read('[{"x": 1, "y": "a"}, {"x": 1e400, "y": "b"}]', "x.json")[1].remarks[-1].startswith("'x' has 1 infinite number,")


def test_a_truth_value_among_numbers_of_json_is_no_number(read):
    _, data = read("[" + ",".join(f'{{"x": {"true" if i == 5 else i + 0.5}, "y": "{c}"}}' for i, _, c in ROWS) + "]", "x.json")
    assert "holds words among numbers, such as 'True'" in data.remarks[-1]


def test_a_cell_of_a_million_characters_and_two_thousand_columns_are_read(read):
    assert len(read(TABLE + f"1,2,{'x' * 10 ** 6}\n")[1].classes[2]) == 10 ** 6
    rows = [",".join(f"c{k}" for k in range(2000)), *(",".join(str(k * i % 7) for k in range(2000)) for i in range(12))]
    assert read("\n".join(rows))[0].num_columns == 2000


def test_a_gzip_and_a_folder_are_read(read, tmp_path):
    assert read(gzip.compress(TABLE.encode()), "x.csv.gz")[0].num_rows == 12
    (tmp_path / "parts").mkdir()
    for k, part in enumerate((TABLE, HEADER + BODY * 2)):
        (tmp_path / "parts" / f"{k}.csv").write_text(part)
    assert tables.read(tmp_path / "parts").num_rows == 36


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_parquet_and_feather_are_read_as_csv_is(read, tmp_path, ending):
    table, data = read(TABLE)
    path = tmp_path / f"x.{ending}"
    pytest.importorskip(f"pyarrow.{ending}").__dict__["write_table" if ending == "parquet" else "write_feather"](table, path)
    assert tables.read(path).equals(table) and str(tables.prepared(tables.read(path)).steps) == str(data.steps)


@pytest.mark.parametrize("content, words", {
    "": "the file is empty; wanted a header and rows", "\n \n": "the file is empty",
    HEADER: "has a header and no rows; wanted rows below it", "y\n1\n2\n": "no column beside 'y'",
    "a,a,y\n" + BODY: "two columns are called 'a'; rename one of them",
    TABLE + "1,2\n": "row 14: found 2 cells, wanted 3 as in the first line: '1,2'; put a cell",
    TABLE + "1,2,3,4\n": "row 14: found 4 cells, wanted 3", TABLE + "1,2,\0\n": "line 14: found a NUL byte",
    HEADER + BODY * 3000 + "1,2,\0\n": "holds a NUL character", TABLE.encode("utf-16-le"): "found a NUL byte",
    "Report of 2024\n\n" + TABLE: "the first line is 'Report of 2024', of fewer cells than those below it; remove what",
    TABLE.replace(",", "~"): "; in a file of text commas, semicolons, tabs or | part the cells",
    "x,y\n" + "1,a\n2,a\n3,a\n": "'y' is 'a' in every row, so there is nothing to learn",
    "x,y\n1,a\n1,b\n": "no column tells rows apart: ",
    "a,y\n" + "".join(f"{i},{i}\n" for i in range(40)) + "2,\n5,inf\n":
        "the table, row 42, the target 'y': it is missing or infinite here; leave",
    "x,z,y\n1,1,\n2,2,\n": "the target 'y' is missing in every row; --target names another column",
}.items(), ids=lambda x: re.sub(r"\W+", " ", str(x))[:30])
def test_what_cannot_be_read_or_learnt_is_a_sentence(read, content, words):
    with pytest.raises(TableError) as caught:
        read(content)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_last_column_without_cells_is_not_the_target(read):
    data = read("#" + HEADER.replace("\n", ",\n") + BODY.replace("\n", ",\n"))[1]
    assert data.target.name == "kind" and data.columns[0].name == "#size"


def test_a_constant_column_an_empty_one_and_one_that_tells_the_target_are_said(read):
    _, data = read("same,empty,x,code,y\n" + "".join(f"7,,{i},{i % 2 + 5},{c}\n" for i, _, c in ROWS))
    assert [c.name for c in data.columns] == ["same", "x", "code"]  # a model of images counts on the places
    assert (data.features({"same": [7, 70], "x": [0, 0], "code": [5, 5]})[:, 0] == [0, 9]).all()  # and a change stays small
    for words in ("'same' is 7.0 in every training row: nothing is learnt from that", "'empty' is missing in every",
                  "'code' tells the target 'y' row", "the task is"):
        assert any(words in said for said in data.remarks)


def test_the_task_is_chosen_by_the_target_and_can_be_told(read):
    numbers, few = ("x,y\n" + "".join(f"{i},{y(i)}\n" for i in range(12)) for y in (lambda i: i * 1.5, lambda i: i % 3))
    assert read(numbers)[1].classes == () and read(few)[1].classes == ("0", "1", "2")
    assert read(few, task="regress")[1].classes == ()
    with pytest.raises(TableError, match="no such column; there are .*; did you mean 'weight'"):
        read(TABLE, target="wieght")
