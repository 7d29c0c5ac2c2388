"""Files that leave the instructor's machine: hand-outs for students, graders for Gradescope and Autolab."""
from .handout import write_handout
from .packages import autolab, gradescope

__all__ = ["autolab", "gradescope", "write_handout"]
