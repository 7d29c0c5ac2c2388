"""The grader: parts of assignments run in this process, submissions run in sandboxes."""
from ..errors import suggesting
from .assignment import Assignment, Part, Task, folder_of, load_assignment, load_checks
from .compare import (
           Failed,
           Wrong,
           expect,
           expect_mapping,
           expect_probabilities,
           expect_share,
           expect_that,
           given,
           scale,
           slip,
           told,
)
from .judge import check, judge

__all__ = ["Assignment", "Part", "Task", "folder_of", "load_assignment", "load_checks", "check", "judge"]
__all__ += ["expect", "expect_mapping", "expect_probabilities", "expect_share", "expect_that"]
__all__ += ["Failed", "Wrong", "given", "scale", "slip", "told"]
suggesting(__name__)
