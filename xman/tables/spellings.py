"""How people write numbers and dates. A spelling is an example, "1.234,5 €", or a form, "%d.%m.%Y %H:%M"."""
from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .frames import arrow

# what people write, which is no code: "null" and "absent" stand for what is missing, the second for a
# number or a date alone, since among other words each may be an answer as good as any; "systems" are the
# marks between thousands, and before decimals, of which what comes first counts where two mean the same;
# "months" are how they begin in English, Spanish, Italian, Portuguese, French, German, Dutch, Polish,
# Norwegian, Russian, Ukrainian, Turkish, Czech, Hungarian, Romanian, Finnish, where the longest counts
# (marraskuu is November); "hours_east" has the zones whose letters mean one thing, as CST, IST and BST do
# not
WRITTEN = json.loads(Path(__file__).with_name("spellings.json").read_text("utf-8"))
NULLS, ABSENT, SYSTEMS, HOURS_EAST = (WRITTEN[key] for key in ("null", "absent", "systems", "hours_east"))
DATES, PERIODS, TIMES, MOMENTS = (WRITTEN[key] for key in ("dates", "periods", "times", "moments"))
FORMS = (*DATES, *PERIODS, *TIMES, *MOMENTS, *(f"{date} {time}" for date in DATES for time in TIMES))
MONTH_OF = {start: k for k, month in enumerate(WRITTEN["months"]) for start in month.split()}
PLAIN = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?i:inf|infinity|nan)"
# numbers of which nothing else can be meant, but where all are like these
ORDINARY = r"-?(?:(?:0|[1-9][0-9]{0,4})(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
# a post code such as 01234, a telephone number; and a column of Internet addresses
IDENTIFIER, ADDRESS = r"0[0-9]+|\+[0-9][0-9 ]{6,}[0-9]", r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
SIGN, SPACE = "[-+\u2212\u2013]?", "[ \u00a0\u2009\u202f]"  # U+2212 is the minus sign, U+2013 a dash
GROUPED = SIGN + r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+"
SEPARATORS = {"": "", ".": r"\.", ",": ",", " ": SPACE, "'": "['\u2019]", "_": "_"}
CURRENCY = ("(?:[A-Z]{0,3}[$€£¥₹₽₩₺₴₦₫฿₪]|Fr\\.|Rs\\.?|kr\\.?|%|"
            "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|INR|JPY|NOK|PLN|SEK|USD|Rp|RM|Kč|Ft|zł|lei)")
UNIT = r"(?:[^\W\d_²³¹¼-¾⅐-↋①-⓿][^\s0-9.,:;()-]{0,9}[0-9]?|[°%‰][^\W\d_]?)"  # 70½ is no 70 of a unit ½
EXAMPLE = "(?P<prefix>[^0-9]*)1(?:(?P<group>[., '_])234)?(?P<point>[.,])5(?P<suffix>.*)"
ZONE = (f"(?P<zone> ?(?:Z|UTC|GMT|{'|'.join(HOURS_EAST)}" r"|[-+][0-9]{2}(?::?[0-9]{2})?))?(?:\[[A-Za-z_/]+\])?"
        "(?: Uhr| ?h)?")
CODES = {"%Y": "(?P<Y>[0-9]{4})", "%y": "(?P<y>[0-9]{2})", "%b": r"(?P<b>[^\s0-9.,:;/+-]{3,12})\.?",
         **{f"%{code}": f"(?P<{code}>[0-9]{{1,2}})" for code in "mdqVH"}, "%I": "(?P<H>[0-9]{1,2})",
         "%M": "(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2}(?:[.,][0-9]+)?))?", "%p": r"(?P<p>[AaPp])\.?[Mm]\.?",
         "%u": "(?P<u>[1-7])", "%T": "[T ]?(?P<H>[0-9]{2})(?P<M>[0-9]{2})(?P<S>[0-9]{2})?"}
COMPACT, TOO_LONG = "(?:19|20)[0-9]{6}(?:[0-9]{4}(?:[0-9]{2})?)?", "[1-9][0-9]{16,}"
SECONDS, MONTH = "1[0-9]{9}(?:[0-9]{3})?", "(?:0[1-9]|1[0-2])"
YEAR_AND_MONTH, MONTH_AND_YEAR = f"(?:19|20)[0-9]{{2}}{MONTH}", rf"{MONTH}\.(?:19|20)[0-9]{{2}}"
IN_DIGITS = {"%Y%m%d": COMPACT, "%Y%m%d%T": COMPACT, "%Y%m": YEAR_AND_MONTH, "%m.%Y": MONTH_AND_YEAR}
# spaces, and what has no width or only an order
UNSEEN = r"[\s\pZ\x{ad}\x{61c}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{2069}\x{feff}]"
# of Arabic, Persian, Hindi and of full width
DIGITS = {ord(zero) + k: str(k) for zero in "٠۰०０" for k in range(10)} | {ord("٫"): ".", ord("٬"): ","}


def texts(chunks: Any, is_number: bool = False) -> Any:
    """The strings without spaces around them; null where they say that the cell is missing, or, if it
    is_number or a date, that there is none."""
    pc = arrow().compute
    chunks = pc.utf8_trim_whitespace(chunks.cast("string"))
    if not pc.all(pc.string_is_ascii(chunks)).as_py():
        chunks = pc.replace_substring_regex(chunks, f"^{UNSEEN}+|{UNSEEN}+$", "")
        if pc.any(pc.match_substring_regex(chunks, "[٠-٩۰-۹०-९０-９]")).as_py():
            chunks = arrow().array([x and x.translate(DIGITS) for x in chunks.to_pylist()], "string")
    is_null = pc.is_in(chunks, value_set=arrow().array(NULLS))
    return pc.if_else(pc.or_(is_null, says_missing(chunks)) if is_number else is_null, None, chunks)


def says_missing(words: Any) -> Any:
    """Whether each word says that there is no number and no date."""
    return arrow().compute.is_in(arrow().compute.utf8_lower(words), value_set=arrow().array(ABSENT))


def extracted(words: Any, pattern: str) -> Any:
    """The groups of the pattern in each word. ArrowInvalid where a word does not match."""
    pa = arrow()
    words = words.combine_chunks() if isinstance(words, pa.ChunkedArray) else words
    fields = pa.compute.extract_regex(words, f"^(?:{pattern})$")
    if fields.null_count > words.null_count:
        raise pa.ArrowInvalid("a word is spelled otherwise")
    return fields


def looked_up(strings: Any, value: Callable[[str], float]) -> np.ndarray:
    """The value of each string, which is computed once for all that are equal."""
    coded = arrow().compute.fill_null(strings, "").dictionary_encode()
    values = np.array([value(string) for string in coded.dictionary.to_pylist()], float)
    return values[coded.indices.to_numpy(zero_copy_only=False)]


# ---- numbers -----------------------------------------------------------------------------------------------

@functools.lru_cache(1000)
def number_pattern(spelling: str) -> str:
    """The pattern of numbers that are spelled like this example; sign, digits and unit are groups."""
    prefix, group, point, suffix = re.fullmatch(EXAMPLE, spelling).groups("")
    integer, decimals = "[0-9]+", f"{SEPARATORS[point]}[0-9]"
    if group:
        integer += f"|[1-9][0-9]{{0,2}}(?:{SEPARATORS[group]}[0-9]{{3}})+"
    if group == ",":  # a crore is 1,00,00,000 in India
        integer += "|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
    exponent = "(?:[eE][-+]?[0-9]+)?" * (not group)
    price = f"(?:{integer}){SEPARATORS[point]}[-\u2013]{{1,2}}"  # 5,- is 5,00
    unit = f"{SPACE}*(?P<unit>{re.escape((prefix or suffix).strip())})?{SPACE}*" * bool(prefix or suffix)
    return (rf"(?P<open>\(?)(?P<sign>{SIGN}){unit * bool(prefix)}(?P<inner>\(?)(?P<minus>{SIGN})(?P<digits>"
            rf"{price}|(?:{integer})(?:{decimals}*)?{exponent}|{decimals}+)"
            rf"{unit * (not prefix)}(?P<last>-?)\)?")


def numbers(words: Any, spelling: str) -> np.ndarray:
    """The numbers that words write in this spelling, NaN where null. ArrowInvalid where one does not."""
    pa, pc = arrow(), arrow().compute
    if not spelling:
        return words.cast("float64").to_numpy(zero_copy_only=False)
    fields = extracted(words, number_pattern(spelling))
    prefix, group, point, suffix = re.fullmatch(EXAMPLE, spelling).groups("")
    marks = (SEPARATORS[group] or "\\pZ") + "|[-\u2013]+$"
    digits = pc.replace_substring_regex(pc.struct_field(fields, "digits"), marks, "")
    size = pc.replace_substring(digits, point, ".").cast("float64").to_numpy(zero_copy_only=False)
    if prefix or suffix:  # .45 among cells such as 3 % may be a share
        bare = looked_up(pc.struct_field(fields, "unit"), lambda unit: not unit)
        if np.any(bare * np.nan_to_num(size)):
            raise pa.ArrowInvalid("a word lacks the unit")
    marks = pc.binary_join_element_wise(
        *(pc.struct_field(fields, name) for name in ("open", "sign", "inner", "minus", "last")), "")
    return size * looked_up(marks, lambda mark: -1 if {*mark} & {*"(-\u2212\u2013"} else 1)


def number_spellings(word: str) -> list[str]:
    """The spellings in which a word may be a number."""
    parts = re.fullmatch(rf"\(?{SIGN}(?P<before>{CURRENCY})?{SPACE}*\(?{SIGN}[0-9.,][0-9.,'\u2019_ \u00a0\u2009\u202f]*?"
                         rf"(?:[eE][-+]?[0-9]+)?{SPACE}*(?P<after>{CURRENCY}|{UNIT})?[-\u2013]{{0,2}}\)?",
                         word)
    if not parts:
        return []
    before, after = parts["before"] or "", parts["after"] or ""
    before, after = before + " " * before[-1:].isalpha(), " " * after[:1].isalpha() + after
    return [f"{before}1{group and group + '234'}{point}5{after}" for group, point in SYSTEMS]


def chosen_number(words: Any, spellings: Sequence[str], decimal: str | None) -> tuple[str, str, str]:
    """("number", spelling, doubt): the right one of several spellings in which all words are numbers.

    Where each cell is like 4,216, with three digits behind the only comma, nobody but the user knows."""
    pc = arrow().compute
    occurs = lambda pattern: pc.any(pc.match_substring_regex(words, pattern)).as_py()
    marks = {spelling: re.fullmatch(EXAMPLE, spelling) for spelling in spellings}
    single = [x for x, mark in marks.items() if not mark["group"]]
    grouped = [x for x, mark in marks.items() if mark["group"]
               and occurs(f"[0-9]{SEPARATORS[mark['group']]}[0-9]")]
    spelling, doubt = (single or grouped)[0], ""
    if single and grouped:
        by_point = {marks[x]["point"]: x for x in (grouped[0], single[0])}
        if decimal:
            spelling = by_point.get(decimal, spelling)
        elif not occurs("[0-9]{4}"):  # 12345 without a comma tells that the comma is no mark of thousands
            spelling = by_point["."]
            word = words.filter(matching(words, ".*[0-9][.,][0-9].*"))[0]
            number = numbers(arrow().array([word]), spelling)[0]
            doubt = f": {word} is read as {number:.12g}; --decimal , reads it otherwise"
    return "number", "" if spelling == "1.5" and all_match(words, PLAIN) else spelling, doubt


# ---- dates -------------------------------------------------------------------------------------------------

@functools.cache
def date_pattern(form: str) -> str:
    """The pattern of dates in a form; year, month, day, hour, minute, second and zone are groups."""
    pattern = re.sub("%.", lambda code: CODES[code[0]], form.replace(".", r"\.").replace("%H:", "%H[:h]"))
    pattern = pattern.replace("{1,2}", "{2}") if "%Y%m" in form or "%V%u" in form else pattern
    day, time = re.fullmatch(r"(.*?)( ?\(\?P<H>.*)?", pattern).groups("")
    # 5th March, 2021; 5. März 2021; 5 de marzo de 2021; 1er mars 2021
    between = "(?:st|nd|rd|th|er|[.,])*(?: +(?:de|of))? +"
    day = r"(?:[^\s0-9]{2,10}[,.]? +)?" * ("%b" in form) + day.replace(" ", between if "%b" in form else " ")
    between = "(?:T|:|,?(?: +(?:at|um|à|a las))? +)"
    time = time.replace(" (?P<H>", f"{between}(?P<H>").replace(" (?P<p>", " ?(?P<p>")
    time += ZONE * bool(re.search("%[MT]", form))
    return f"{day}(?:{time})?" if day and time else day + time  # midnight may have no time beside it


def dates(words: Any, form: str) -> np.ndarray:
    """The moments that words write in this form, datetime64[ms] in UTC. ArrowInvalid where one does not."""
    pa, pc = arrow(), arrow().compute
    pattern = date_pattern(form)
    fields = extracted(words, pattern)

    def of(name: str, default: float = 0, value: Callable = lambda x: float(x.replace(",", "."))) -> Any:
        """The value of a group of the pattern, or the default where there is nothing."""
        if f"(?P<{name}>" not in pattern:
            return np.full(len(fields), default)
        return looked_up(pc.struct_field(fields, name), lambda x: value(x) if x else default)

    year = of("Y", 1970) + of("y", 0, lambda x: int(x) + (30 if int(x) < 69 else -70))
    month = of("m", 1) + of("q", 0, lambda x: 3 * int(x) - 3) + of("b", 0, month_called)
    day, week, hour, minute, second = of("d", 1), of("V", 1), of("H"), of("M"), of("S")
    months = (12 * (year - 1970) + month - 1).astype(int)
    moments = months.astype("datetime64[M]").astype("datetime64[D]") + (day - 1).astype(int)
    sound = (1 <= month) & (month <= 12) & (moments.astype("datetime64[M]").astype(int) == months)
    sound &= (1 <= week) & (week <= 53) & (hour + (minute + second > 0) <= 24) & (minute < 60)
    sound &= second < 61
    if "%V" in form:  # the first week of a year has the 4th of January
        fourth = moments.astype(int) + 3
        weekday = (of("u", 1) - 1).astype(int)
        moments = (fourth - (fourth + 3) % 7 + 7 * (week - 1).astype(int) + weekday).astype("datetime64[D]")
    if "%p" in form:
        afternoon = of("p", 0, lambda x: x in "Pp")
        sound &= (hour <= 12)
        hour = hour % 12 + 12 * afternoon
    null = pc.is_null(fields).to_numpy(zero_copy_only=False)
    if not np.all(sound | null):
        raise pa.ArrowInvalid("a day or a time that is not in the calendar")
    milliseconds = 60_000 * (60 * hour + minute - of("zone", 0, minutes_east)) + 1000 * second
    moments = moments.astype("datetime64[ms]") + np.rint(milliseconds).astype(int)
    return np.where(null, np.datetime64("NaT"), moments)


def month_called(word: str) -> int:
    """The number of the month that a word begins as, from 0; 99 for no month."""
    starts = (word.lower()[:n] for n in range(7, 2, -1))
    return next((MONTH_OF[start] for start in starts if start in MONTH_OF), 99)


def minutes_east(zone: str) -> float:
    """The minutes by which +02:00 or -0530 is before UTC."""
    sign, *digits = re.sub("[^-+0-9]", "", HOURS_EAST.get(zone.strip(), zone)).ljust(5, "0")
    hours, minutes = int("".join(digits[:2])), int("".join(digits[2:4]))
    return (60 * hours + minutes) * (-1 if sign == "-" else 1)


# ---- what a column holds -----------------------------------------------------------------------------------

def spelling_of(words: Any, day_first: bool = False, decimal: str | None = None) -> tuple[str, str, str]:
    """(kind, spelling, doubt) of different words: "number" or "date", or "" where not all are such a thing.

    words: an Arrow array. day_first: whether 03/04/2024 is in April. decimal: the mark before decimals, where
    4,216 may be 4.216 or 4216. doubt: the end of a sentence on another reading, or on the words that are in
    the way.
    """
    pc = arrow().compute
    if (is_absent := says_missing(words)).true_count:
        kind, spelling, doubt = spelling_of(words.filter(pc.invert(is_absent)), day_first, decimal)
        examples = ", ".join(repr(x) for x in words.filter(is_absent)[:3].to_pylist())
        missing = f"holds {examples}: missing, since the others are {kind}s"
        return kind, spelling, (missing + f"; {doubt.lstrip(': ')}" * bool(doubt) if kind else doubt)
    if not (some_words := words[:9].to_pylist()):
        return "", "", ""
    if all_match(words, "[+0-9 ]+|" + PLAIN) and len(named := words.filter(matching(words, IDENTIFIER))):
        doubt = (f"holds identifiers, such as {named[0]}, and so counts as words; leave out zeros and + in "
                 "front of digits where it is a number")
        return "", "", doubt
    if all_match(words, TOO_LONG):
        doubt = (f"holds whole numbers such as {words[0]}, longer than a number keeps, and so counts as "
                 "words; leave them out where they only name the rows")
        return "", "", doubt
    for form, like in IN_DIGITS.items() if len(words) > 2 else ():
        if all_match(words, like) and reading_of(words, form) is not None:
            return "date", form, f": {words[0]} is read as the day {str(dates(words[:1], form)[0])[:10]}"
    if len(words) > 2 and all_match(words, SECONDS):
        doubt = (f"counts as numbers; if {words[0]} is {np.datetime64(int(words[0].as_py()[:10]), 's')}, "
                 "seconds since 1970, write dates, from which hours and weekdays are learnt")
        return "number", "", doubt
    if all_match(words, PLAIN) and not all_match(words, GROUPED):
        return "number", "", ""
    some_words = [word for word in some_words if re.search("[0-9]", word)]
    fitting = {form for word in some_words for form in forms_of(re.sub("[0-9]", "1", word))}
    patterns = {x: date_pattern(x) for x in FORMS if x in fitting}  # 3 PM is no number of a unit PM
    patterns |= {x: number_pattern(x) for word in some_words for x in number_spellings(word)}
    if all_match(words, ADDRESS):
        patterns = {}
    possible = [x for x in patterns if all_match(words, patterns[x])]
    # a form with a time, which may be missing, reads days as that without it; no unit: the pattern says all
    readings = {x: reading for x in possible if not any(x.startswith(f"{form} %") for form in possible)
                and (reading := words if x[0] + x[-1] == "15" else reading_of(words, x)) is not None}
    if not readings:
        return "", "", in_the_way(words, patterns)
    forms = sorted((x for x in readings if x in FORMS), key=lambda form: form.startswith("%d") != day_first)
    if not forms:
        return chosen_number(words, [*readings], decimal)
    # 24-01-30, 24-01-31 are days of one year, and not one day of two
    spans = {form: np.ptp(readings[form]) for form in forms}
    least = min((x for form, x in spans.items() if form[:2] != "%y"), default=0 * spans[forms[0]])
    possible = sorted(forms, key=lambda form: 2 * bool(2 * spans[form] >= least) if form[:2] == "%y" else 1)
    rivals = [x for x in possible if not np.array_equal(readings[x], readings[possible[0]])]
    if not rivals:
        return "date", possible[0], ""
    one, two = readings[possible[0]].astype("datetime64[D]"), readings[rivals[0]].astype("datetime64[D]")
    k, is_year = int((one != two).argmax()), "%y" in (possible[0][:2], rivals[0][:2])
    flag = "write all digits of years if it is" if is_year else f"--{'no-' * day_first}day-first reads it as"
    return "date", possible[0], f": {words[k]} is read as {one[k]}; {flag} {two[k]}"


def are_plain(words: Any) -> bool:
    """Whether `spelling_of` different words, without spaces around them, is that of plain numbers."""
    return (len(words) and all_match(words, ORDINARY)
            and not (all_match(words, GROUPED) or all_match(words, MONTH_AND_YEAR)))


def in_the_way(words: Any, patterns: Mapping[str, str]) -> str:
    """What keeps words from being all numbers, or all dates, in one spelling; "" for ordinary words."""
    pc, cells = arrow().compute, words[:99].to_pylist()
    shares = {x: pc.mean(matching(words, patterns[x]).cast("int8")).as_py() for x in patterns}
    nearest = max(shares, key=shares.__getitem__, default="")
    if not nearest or not 0.5 <= shares[nearest]:
        skeletons = {re.sub("[0-9]+", "0", x) for x in cells}  # ca. 70, ca. 174, … are ca. 0
        regular = len(skeletons) <= 20 < len(cells) and all("0" in x for x in skeletons)
        digits, letters = ([sum(map(test, x)) for x in cells] for test in (str.isdigit, str.isalpha))
        if not regular and np.mean(np.array(digits) > np.minimum(letters, 9)) < 0.9:
            return ""
        return (f"holds digits, such as {cells[0][:40]!r}, spelled as no number and no date known here, and "
                "so counts as words: write 1.5, 2024-01-31 or 12:30 where it is one")
    others = (words.filter(pc.invert(matching(words, patterns[nearest]))).to_pylist()
              or [x for x in cells if reading_of(arrow().array([x]), nearest) is None])
    kind, wrong = "date" if nearest in FORMS else "number", {*others}
    is_right = lambda x: x not in wrong and reading_of(arrow().array([x]), nearest) is not None
    right = next(filter(is_right, cells), "")
    for other in others[:3] if right else ():
        if spelling_of(arrow().array([other]))[0] == kind:
            return (f"holds {kind}s in several spellings, such as {right[:40]!r} and {other[:40]!r}, and so "
                    "counts as words: write all of them alike")
    examples, like = ", ".join(repr(x[:40]) for x in others[:3]), f" such as {right[:40]}" * bool(right)
    return (f"holds words among {kind}s, such as {examples}, and so counts as words: mend or empty those "
            f"cells where it is a {kind}{like}")


def matching(words: Any, pattern: str) -> Any:
    return arrow().compute.match_substring_regex(words, f"^(?:{pattern})$")


def all_match(words: Any, pattern: str) -> bool:
    """Whether all words match. The first, asked in Python, mostly tells that they do not."""
    return bool(compiled(pattern).fullmatch(words[0].as_py())
                and arrow().compute.all(matching(words, pattern)).as_py())


@functools.lru_cache(1000)
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


@functools.lru_cache(1000)
def forms_of(word: str) -> list[str]:
    """The forms in which a word may be a date, whatever its digits are."""
    return [form for form in FORMS if compiled(date_pattern(form)).fullmatch(word)]


def reading_of(words: Any, spelling: str) -> np.ndarray | None:
    """The numbers or dates that words write in this spelling; None where one does not."""
    try:
        return (dates if spelling in FORMS else numbers)(words, spelling)
    except arrow().ArrowInvalid:
        return None
