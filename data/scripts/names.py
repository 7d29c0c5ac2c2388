"""Make data/names.train, names.valid and names.test: which language is this name written in?

The names are those of the world's territories, languages and currencies in the Unicode CLDR, as the Babel package
carries it.  Run `python data/scripts/names.py`; the same versions of Babel and NumPy give the same bytes.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from pathlib import Path

import babel
import numpy as np
from babel.core import get_global

DATA = Path(__file__).parents[1]
LOCALES = "cs cy da de en es et eu fi fr hr hu is it lt lv nl no pl pt ro sv tr vi".split()
CAP = 500  # names a language, so that no language is more than twice as frequent as another
SEED = 0


def latin(name):
    """True if name has a letter, every letter and mark of it is of the Latin script, and it holds no digit: a number
    is a date ("Bulgarian Lev (1962–1999)") and looks the same in every language."""
    letters = [c for c in name if unicodedata.category(c)[0] in "LMN"]
    return bool(letters) and all(unicodedata.name(c).startswith("LATIN") for c in letters)


def names(locale):
    """{casefolded name: name} for one locale's territories, languages and currencies; bare codes are left out."""
    found = {}
    for table in (locale.territories, locale.languages, locale.currencies):
        for code, name in sorted(table.items()):
            name = " ".join(unicodedata.normalize("NFC", name).split())  # no-break spaces become plain ones
            if latin(name) and name.casefold() != code.casefold() and not re.fullmatch("[A-Z]{2,4}", name):
                found.setdefault(name.casefold(), name)
    return found


def main():
    found = {locale.english_name: names(locale) for locale in map(babel.Locale, LOCALES)}
    # a name that several languages share tells no language, and is often an untranslated English one
    shared = Counter(key for keyed in found.values() for key in keyed)
    random = np.random.default_rng(SEED)
    rows = []
    for language, keyed in sorted(found.items()):
        own = [name for key, name in keyed.items() if shared[key] == 1]
        rows += [(name, language) for name in random.permutation(own)[:CAP]]
    # the rows stand by language: each tenth one is as good as stratified
    part = np.arange(len(rows)) % 10
    for suffix, mine in ("train", (part != 0) & (part != 5)), ("valid", part == 0), ("test", part == 5):
        lines = []
        for name, language in (rows[i] for i in random.permutation(np.flatnonzero(mine))):
            lines.append(f"{name.replace('%', '%25')}\t{language}\n")
        content = "".join(lines).encode()
        path = DATA / f"names.{suffix}"
        path.write_bytes(content)
        print(f"{path.name}: {len(lines)} rows, {len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")
    print(f"Babel {babel.__version__} (CLDR {get_global('cldr')['version']}), NumPy {np.__version__}")


if __name__ == "__main__":
    main()
