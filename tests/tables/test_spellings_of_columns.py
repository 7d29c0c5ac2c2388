"""Numbers and dates as people write them: the cells of a column decide how it is read, or a sentence says what did not."""

import numpy as np
import pytest

from xman import tables
from xman.tables import TableError, spellings
from xman.tables.columns import written_example
from xman.tables.kinds import column_kind
from xman.tables.spellings import FORMS, dates, numbers, spelling_of, texts

pa = pytest.importorskip("pyarrow")


def read_as(cells, **how):
    kind, spelling, doubt = spelling_of(texts(pa.array(cells)).unique(), **how)
    words = texts(pa.array(cells), is_number=bool(kind)).unique()
    values = {"number": numbers, "date": dates, "": lambda *_: np.array([])}[kind](words, spelling)
    return kind, values.tolist() if kind == "number" else [str(x)[:19] for x in values], doubt


@pytest.mark.parametrize(
    "cells, values",
    [
        (["4,21", "1,5"], [4.21, 1.5]),
        (["0,300", "1,250"], [0.3, 1.25]),
        (["1,234,567", "1,200"], [1234567, 1200]),
        (["1.234.567", "12"], [1234567, 12]),
        (["1.234,5", "12"], [1234.5, 12]),
        (["1’000", "1'200.5"], [1000, 1200.5]),
        (["1 234,5", "12"], [1234.5, 12]),
        (["1\u202f234", "2\u00a0345"], [1234, 2345]),
        (["1,23,456", "12"], [123456, 12]),
        (["1_000", "3"], [1000, 3]),
        (["−5", "3.2"], [-5, 3.2]),
        (["(700.00)", "12.5"], [-700, 12.5]),
        (["5-", "3"], [-5, 3]),
        (["70,-", "12,50"], [70, 12.5]),
        (["CHF 70.–", "CHF 12.--"], [70, 12]),
        (["8,683e+04", "3,771E-02"], [86830, 0.03771]),
        (["\u200b7", "8\ufeff", "\u200f 9", "1\xad"], [7, 8, 9, 1]),
        (["45 %", "3 %"], [45, 3]),
        (["%45", "%3"], [45, 3]),
        (["Rp 1.234.567", "Rp 12.000"], [1234567, 12000]),
        (["45%", "0"], [45, 0]),
        (["$1,200", "$5", "-$1,200.50"], [1200, 5, -1200.5]),
        (["$(5)", "$4"], [-5, 4]),
        (["5€", "6,5€"], [5, 6.5]),
        (["CHF 1'234.50", "CHF 5"], [1234.5, 5]),
        (["USD 7", "USD 8"], [7, 8]),
        (["0.300 kg", "1.5 kg"], [0.3, 1.5]),
        (["12 m2", "3 m2"], [12, 3]),
        (["12km/h", "13km/h"], [12, 13]),
        (["1.2k", "3k"], [1.2, 3]),
        (["1e-5", "3E+7"], [1e-5, 3e7]),
        (["1,5e-3", "2"], [0.0015, 2]),
        (["١٢", "٣٫٥"], [12, 3.5]),
        (["4,216", "12345"], [4.216, 12345]),
        (["+3", " 4 "], [3, 4]),
        (["inf", "1"], [np.inf, 1]),
    ],
    ids=str,
)
def test_a_column_of_numbers_is_read_by_the_evidence_of_all_its_cells(cells, values):
    assert read_as(cells) == ("number", values, "")


@pytest.mark.parametrize(
    "cells, values",
    [
        (["4,216", "1,500"], {None: [4216, 1500], ",": [4.216, 1.5], ".": [4216, 1500]}),
        (["1.234", "2.345"], {None: [1.234, 2.345], ",": [1234, 2345], ".": [1.234, 2.345]}),
        (["$1,200", "$5"], {None: [1200, 5], ",": [1.2, 5]}),
    ],
    ids=str,
)
def test_three_digits_behind_the_only_mark_are_said_and_told(cells, values):
    for decimal, wanted in values.items():
        kind, numbers_read, doubt = read_as(cells, decimal=decimal)
        assert (kind, numbers_read) == ("number", wanted)
        assert (f"{cells[0]} is read as {wanted[0]}; --decimal ," in doubt) == (decimal is None)


@pytest.mark.parametrize(
    "cells, values",
    [
        (["2023-01-02 10:30", "2023-01-02"], ["2023-01-02T10:30:00", "2023-01-02T00:00:00"]),
        (["2023-01-02T10:30:00Z", "2023-01-02T10:30:00.5+02:00"], ["2023-01-02T10:30:00", "2023-01-02T08:30:00"]),
        (["2010/01/01 00:00"], ["2010-01-01T00:00:00"]),
        (["25.10.2023 12:43", "1.2.2023 3:04:05"], ["2023-10-25T12:43:00", "2023-02-01T03:04:05"]),
        (["10/25/2023 01:58 PM", "1/2/2023 12:00 AM"], ["2023-10-25T13:58:00", "2023-01-02T00:00:00"]),
        (["13/04/2024", "05/06/2024"], ["2024-04-13T00:00:00", "2024-06-05T00:00:00"]),
        (["25.10.23"], ["2023-10-25T00:00:00"]),
        (["Mar 5, 2021", "December 12th, 2020"], ["2021-03-05T00:00:00", "2020-12-12T00:00:00"]),
        (["5 März 2021", "1. Dez 2020"], ["2021-03-05T00:00:00", "2020-12-01T00:00:00"]),
        (["5 de marzo de 2021"], ["2021-03-05T00:00:00"]),
        (["1er février 2021", "3 мая 2021"], ["2021-02-01T00:00:00", "2021-05-03T00:00:00"]),
        (["January 31, 2024 at 10:30 PM"], ["2024-01-31T22:30:00"]),
        (["Wed Jan 31 10:30:00 2024"], ["2024-01-31T10:30:00"]),
        (["31/Jan/2024:10:30:00 +0100"], ["2024-01-31T09:30:00"]),
        (["2024年1月31日"], ["2024-01-31T00:00:00"]),
        (["2024년 1월 31일"], ["2024-01-31T00:00:00"]),
        (["3 października 2019", "4. července 2019", "5 června 2019"],
         ["2019-10-03T00:00:00", "2019-07-04T00:00:00", "2019-06-05T00:00:00"]),
        (["3 Ağustos 2019", "4. marraskuuta 2019", "5. maaliskuuta 2019"],
         ["2019-08-03T00:00:00", "2019-11-04T00:00:00", "2019-03-05T00:00:00"]),
        (["2024. 1. 31."], ["2024-01-31T00:00:00"]),
        (["2024-01-31 24:00", "2024-01-30 12:00"], ["2024-02-01T00:00:00", "2024-01-30T12:00:00"]),
        (["20240131T103000Z", "20240131 1130"], ["2024-01-31T10:30:00", "2024-01-31T11:30:00"]),
        (["2024-01-31 10:30 CET", "2024-07-30 10:30 CEST"], ["2024-01-31T09:30:00", "2024-07-30T08:30:00"]),
        (["2024-01-31T10:30:00+01:00[Europe/Paris]"], ["2024-01-31T09:30:00"]),
        (["10.30 Uhr", "11.45 Uhr"], ["1970-01-01T10:30:00", "1970-01-01T11:45:00"]),
        (["10h30"], ["1970-01-01T10:30:00"]),
        (["3 PM", "4 PM"], ["1970-01-01T15:00:00", "1970-01-01T16:00:00"]),
        (["2024-W05-3", "2024-W06-1"], ["2024-01-31T00:00:00", "2024-02-05T00:00:00"]),
        (["2024W053"], ["2024-01-31T00:00:00"]),
        (["KW 5 2024"], ["2024-01-29T00:00:00"]),
        (["1Q24", "4Q24"], ["2024-01-01T00:00:00", "2024-10-01T00:00:00"]),
        (["2. Quartal 2024"], ["2024-04-01T00:00:00"]),
        (["05-Mar-21", "01-Jan-72"], ["2021-03-05T00:00:00", "1972-01-01T00:00:00"]),
        (["Mon, 05 Mar 2021 10:00:00 -0530"], ["2021-03-05T15:30:00"]),
        (["2023-Q1", "2023-Q3"], ["2023-01-01T00:00:00", "2023-07-01T00:00:00"]),
        (["2023-W05", "2020-W53"], ["2023-01-30T00:00:00", "2020-12-28T00:00:00"]),
        (["2023-05", "2024-12"], ["2023-05-01T00:00:00", "2024-12-01T00:00:00"]),
        (["12:43", "08:15:30"], ["1970-01-01T12:43:00", "1970-01-01T08:15:30"]),
    ],
    ids=str,
)
def test_a_column_of_dates_and_times_is_read_in_any_order(cells, values):
    assert read_as(cells) == ("date", values, "")


@pytest.mark.parametrize("cells, first, words", [
    (["24-01-31", "24-02-01"], "2024-01-31", ": 24-01-31 is read as 2024-01-31; write all digits of years if it is 2031-01-24"),
    (["25-10-23", "24-10-23"], "2023-10-25", ": 25-10-23 is read as 2023-10-25; write all digits of years if it is 2025-10-23"),
    (["202405", "202406", "202312"], "2024-05-01", "202405 is read as the day 2024-05-01"),
    (["05.2024", "06.2024", "12.2023"], "2024-05-01", "05.2024 is read as the day 2024-05-01"),
    (["20240131103000", "202401301030", "20240129"], "2024-01-31", "20240131103000 is read as the day 2024-01-31")], ids=str)
def test_a_date_of_digits_alone_is_read_by_its_evidence_and_said(cells, first, words):
    kind, moments, doubt = read_as(cells)
    assert (kind, moments[0][:10]) == ("date", first) and words in doubt


@pytest.mark.parametrize("word", ["k.A.", "unbekannt", "Sin dato", "N/D", "inconnu", "brak", "missing", "none", "..", "–"])
def test_a_word_for_nothing_is_missing_among_numbers_and_dates_and_a_word_among_words(word):
    for cells, kind in (["1.5", word, "3"], "number"), (["2024-01-31", word], "date"), (["mild", word], ""):
        assert read_as(cells)[0] == kind and bool(kind) == (f"holds {word!r}: missing" in read_as(cells)[2])
    table = {"x": [*range(30)], "y": [word, "mild", "severe"] * 10}
    assert len(tables.prepared(table).classes) == 3
    rates = {"x": [*range(30)], "y": [word, *(f"{k}.5" for k in range(29))]}
    data = tables.prepared(rates)
    assert data.pair(rates)[1].shape == (29, 1) and "1 row without a target" in " ".join(data.remarks)
    assert np.isfinite(data.features({"x": [word]})).all()


def test_the_order_of_day_and_month_is_said_where_the_cells_do_not_tell():
    for day_first, day, other in (False, "2024-03-04", "--day-first reads it as 2024-04-03"), (
            True, "2024-04-03", "--no-day-first reads it as 2024-03-04"):
        kind, moments, doubt = read_as(["05/05/2024", "03/04/2024 17:30", "05/06/2024"], day_first=day_first)
        assert moments[1][:10] == day and doubt == f": 03/04/2024 17:30 is read as {day}; {other}"


def test_a_message_shows_a_date_as_people_write_it():
    for form in FORMS:
        shown = written_example(form)
        assert "%" not in shown and not np.isnat(dates(pa.array([shown]), form)[0]), form
    column = tables.Column("when", "when", "date", "%Y-%m-%d")
    with pytest.raises(TableError, match="found 'no', wanted a date such as 2024-03-31; mend the cell"):
        tables.inputs([column], {"when": ["2024-01-01", "no"]})


@pytest.mark.parametrize(
    "cells, words",
    [
        (["01234", "02139"], "holds identifiers, such as 01234"),
        (["10.0.0.1", "10.0.12.3"], "spelled as no number and no date"),
        (["1.2.3", "1.10.0"], "spelled as no number and no date"),
        (["555.123.1012", "555.1.1013"], "spelled as no number and no date"),
        (["+49 30 1234", "+49 40 5678"], "holds identifiers, such as +49 30 1234"),
        (["+49 301 234 567", "+493012345678"], "holds identifiers"),
        (["192.168.100.101", "192.168.100.102"], "spelled as no number and no date"),
        (["1h 28m", "2h 30m"], "such as '1h 28m', spelled as no number and no date"),
        (["0x1F", "0x2A"], ""),
        (["A7", "B8"], ""),
        (["yes", "no"], ""),
        (["70½", "71½"], "spelled as no number and no date"),
        (["70²", "71²"], "spelled as no number and no date"),
        ([f"PT{k}M" for k in range(30)], "such as 'PT0M', spelled as no number"),
        ([f"ca. {k}" for k in range(30)], "such as 'ca. 0', spelled as no number"),
        ([f"{word} {word}" for word in "abcdefghijklmnopqrstuvwxyz"], ""),
        (["1/2", "3/4"], "spelled as no number and no date"),
        (["5-10", "10-20"], "spelled as no number and no date"),
        (["45%", "0.45"], "holds numbers in several spellings, such as '45%' and '0.45', and so counts as words: write all"),
        (["300 g", "0.3 kg"], "holds numbers in several spellings, such as '300 g' and '0.3 kg'"),
        (["$7", "8", "9"], "holds numbers in several spellings, such as '$7' and '8'"),
        (["2024-01-31", "31.01.2024"], "holds dates in several spellings, such as '2024-01-31' and '31.01.2024'"),
        (["01/31/2024", "31/01/2024"], "holds dates in several spellings, such as '01/31/2024' and '31/01/2024'"),
        (["$7", "$8", "x"], "words among numbers, such as 'x', and so counts as words: mend or empty those cells where it is"
                            " a number such as $7"),
        (["1", "x", "3"], "such as 'x'"),
        (["<5", "6"], "such as '<5'"),
        (["2023-01-01", "later", "2023-02-01"], "words among dates, such as 'later'"),
        (["2023-13-01", "2023-01-01"], "words among dates, such as '2023-13-01'"),
        (["36:15", "12:00"], "such as '36:15'"),
    ],
    ids=str,
)
def test_what_is_no_number_and_no_date_counts_as_words_and_what_is_nearly_one_is_said(cells, words):
    kind, _, doubt = read_as(cells)
    assert kind == "" and words in doubt and bool(words) == bool(doubt)


@pytest.mark.parametrize("word, patterns, days", [("{}.25", 1, 0), ("2024-01-1{}", 5, 1), ("{},125", 5, 0), ("red{}x", 1, 0)])
def test_few_passes_over_a_column_tell_what_it_holds(monkeypatch, word, patterns, days):
    """A table may have ten thousand columns; each pass costs as much as reading it."""
    passes = {"matching": 0, "dates": 0}

    def counting(name, function):
        def call(*args):
            passes[name] += 1
            return function(*args)
        return call
    for name in passes:
        monkeypatch.setattr(spellings, name, counting(name, getattr(spellings, name)))
    column_kind(pa.chunked_array([[word.format(k) for k in range(10)]]), "x", False, None, [])
    assert passes["matching"] <= patterns and passes["dates"] <= days


def test_times_of_day_weeks_and_years_are_waves_in_lines_of_the_list():
    hours = np.datetime64("2023-01-01") + np.arange(0, 365 * 24, 5).astype("timedelta64[h]")

    def features(moments):
        table = {"at": moments.astype("datetime64[s]"), "y": np.arange(len(moments)) % 2}
        data = tables.prepared(table)
        return data, data.features(table)

    data, rows = features(hours)
    days = hours.astype("datetime64[h]").astype(int) / 24
    assert np.allclose(
        rows[:, 1:],
        np.concatenate(
            [wave(2 * np.pi * np.outer(days, 1 / np.array([1, 0.5, 7, 3.5, 365.2425]))) for wave in (np.cos, np.sin)], 1
        ),
        atol=1e-5,
    )
    assert {"cos", "sin", "days"} <= {op for _, op, _ in data.steps}
    assert (data.features({"at": np.array(["NaT"], "datetime64[ms]")}) == 0).all()
    assert (
        features(hours[:48])[1].shape[1] == 1 + 4 and features(hours.astype("datetime64[D]")[::5][:20])[1].shape[1] == 1 + 4
    )
    assert features(np.arange("2023-01-01", "2023-01-10", dtype="datetime64[D]"))[1].shape[1] == 1


@pytest.mark.parametrize("cells, kind, words", [
    (["20231025", "20231124", "20240229"], "date", "20231025 is read as the day 2023-10-25"),
    (["20231025", "", "20231124", "20240229"], "date", "2023-10-25"), (["20231325", "20231124", "20240229"], "number", ""),
    (["202313", "202401", "202402"], "number", ""),
    (["202312", "202401", "202402"], "date", "202312 is read as the day 2023-12-01"),
    (["20230229", "20231124", "20240228"], "number", ""), (["99999999", "20231124", "20240229"], "number", ""),
    (["1698192000", "1698195600", "1698199200"], "number", "if 1698192000 is 2023-10-25T00:00:00, seconds since 1970"),
    (["1698192000000", "1698195600000", "1698199200000"], "number", "2023-10-25T00:00:00"),
    (["123456789012345678", "123456789012345679", "123456789012345688"], "category", "longer than a number keeps"),
    (["1234567890123456", "1234567890123457", "1234567890123458"], "number", "")], ids=str)
@pytest.mark.parametrize("kept_as", ["strings", "integers"])
def test_whole_numbers_are_days_moments_or_identifiers_by_their_evidence(cells, kind, words, kept_as):
    column = cells * 8 if kept_as == "strings" else [int(cell) if cell else None for cell in cells * 8]
    frame = {"x": column, "z": [*range(len(column))], "y": ["a", "b"] * (len(column) // 2)}
    data = tables.prepared(frame, "y")
    assert data.columns[0].kind == kind and (words in " ".join(data.remarks) if words else "'x'" not in " ".join(data.remarks))
    arrays = tables.inputs(data.columns, frame, steps=data.steps)
    assert len(np.unique(arrays["x"][[k for k, cell in enumerate(column) if cell]])) == 3
