"""Make data/digits.train, digits.valid and digits.test: 1,797 images of handwritten digits, 8 x 8 pixels each.

They are the UCI set "Optical recognition of handwritten digits" as scikit-learn carries it.
Run `python data/scripts/digits.py`; the same versions of scikit-learn and NumPy give the same bytes.
"""

import hashlib
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_digits

DATA = Path(__file__).parents[1]
SEED = 0


def main():
    images, labels = load_digits(return_X_y=True)
    table = np.column_stack([images, labels]).astype(int)
    table = np.random.default_rng(SEED).permutation(table)
    # each row's place when the rows stand by label: every tenth and every fifth of them are stratified samples
    place = np.argsort(np.argsort(table[:, -1], kind="stable"))
    valid, test = place % 10 == 0, place % 5 == 1
    header = ",".join([f"p{i}" for i in range(64)] + ["label"])
    for suffix, mine in ("train", ~(valid | test)), ("valid", valid), ("test", test):
        lines = [header] + [",".join(map(str, row)) for row in table[mine]]
        content = ("\n".join(lines) + "\n").encode()
        path = DATA / f"digits.{suffix}"
        path.write_bytes(content)
        print(f"{path.name}: {mine.sum()} rows, {len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")
    print(f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
