"""The cases of the operators serve the passes too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "ops"))
