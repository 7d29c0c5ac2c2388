"""A page as a notebook: python docs/scripts/notebook.py docs/tour.md FILE.ipynb. Its snippets of Python are the cells of code."""

import json
import re
import sys
from pathlib import Path

page, notebook = map(Path, sys.argv[1:])
# what a snippet printed is printed anew; what a shell types has no place in a notebook of Python
text = re.sub(r"(?m)^```text\n(?:.*\n)*?```\n", "", page.read_text("utf-8"))
parts = re.split(r"(?m)^```python\n((?:.*\n)*?)```\n", "```python\n%pip install -q xman\n```\n" + text)
cells = [{"cell_type": ("markdown", "code")[k % 2], "id": f"cell-{k}", "metadata": {}, "source": part.strip(),
          **({"outputs": [], "execution_count": None} if k % 2 else {})} for k, part in enumerate(parts) if part.strip()]
kernel = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
notebook.write_text(json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}), "utf-8")
