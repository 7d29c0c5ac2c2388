"""The term around the grader: dates, lateness, groups, the roster, gradebooks, likeness, lists of one's own.

A mark is a function of records, settings (term.toml) and roster alone. None of it is judged again if one of
them changes: `xman grade book` reads them and writes the gradebook anew.
"""
