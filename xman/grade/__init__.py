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

__all__ = ["Assignment", "Failed", "Part", "Task", "Wrong", "check", "expect", "expect_mapping",
           "expect_probabilities", "expect_share", "expect_that", "folder_of", "given", "judge", "load_assignment",
           "load_checks", "scale", "slip", "told"]
suggesting(__name__)
