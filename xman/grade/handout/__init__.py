"""What leaves the instructor's machine: hand-outs for students, the grader for Gradescope and Autolab."""
from .handout import write_handout
from .packages import autolab, gradescope

__all__ = ["autolab", "gradescope", "write_handout"]
