"""Grades one submission or hundreds: some at a time; each is kept as soon as it is judged, and judged once.

What students see of all submissions is judged first, and then all hidden parts: friends, of whom one is
judged after the other, could else read on the clock, or off numbers that the machine counts, what these ask.
An output folder holds records/NAME.json, visible/NAME.json of those whose hidden parts are still to be
judged, the reports, and the term. A second run over it judges only what is new or has changed, with the same
inputs as before.
"""
from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
import secrets
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import XManError
from ..files.whole import lock_file, write_whole
from .assignment import Assignment
from .judge import judged
from .process import each_apart
from .record import Record, graded_on, graded_with
from .reports import write_all
from .sandbox import Sandbox
from .submissions import Submission, harmless
from .submissions.scratch import sweep

REPORTS_EVERY = 10.0  # seconds between reports during a run
SECRET = 12           # the least characters of a term
MARK = ".mark"        # in a folder of grades: who made it
VISIBLE = "visible"   # the folder of records whose hidden parts are still to be judged
PROGRAM = "program"   # in these: the submission's module, so that both halves are of the same bytes
WAITING = "hidden parts are not judged yet"


def grade_visible(submission: Submission, out: Path, assignment: Assignment, sandbox: Sandbox, term: str,
                  **settings: Any) -> Record:
    """The record of the parts that students see, that of an earlier run if it is in the folder out.

    If there are hidden parts, the record has the program, so that these are judged of the same bytes.
    settings: others of `judged`.
    """
    submission = submission.read()
    graded = facts(assignment, submission, term) | graded_on(sandbox)
    earlier = kept_record(out / VISIBLE / f"{submission.slug}.json")
    if earlier and earlier["graded"].items() >= graded.items():
        return earlier
    try:
        program, trouble = submission.program(assignment.module), None
    except XManError as error:
        program, trouble = b"", str(error)
    student = {"digest": graded["digest"], "student": submission.student, "trouble": trouble}
    record = judged(assignment, program, sandbox, term, **student, **settings)
    record["graded"] |= graded
    if any(part.hidden for task in assignment.tasks for part in task.parts):
        record[PROGRAM] = base64.b64encode(program).decode()
    file = harmless(submission.path.name, 200)
    return {"submission": submission.name, "slug": submission.slug, "file": file, **record}


def grade_hidden(slug: str, out: Path, assignment: Assignment, sandbox: Sandbox, term: str,
                 **settings: Any) -> Record:
    """The whole record of the submission whose visible parts are in the folder out."""
    record = json.loads((out / VISIBLE / f"{slug}.json").read_text("utf-8"))
    program, graded = base64.b64decode(record.pop(PROGRAM)), record["graded"]
    student = {"digest": graded["digest"], "student": graded.get("student", "")}
    return judged(assignment, program, sandbox, term, record, **student, **settings)


def grade_all(assignment: Assignment, submissions: Sequence[Submission], sandbox: Sandbox, out: Path,
              term: str | None = None, jobs: int = 1,
              done: Callable[[Record, float], object] = lambda record, share: None,
              shard: tuple[int, int] | None = None, again: Collection[str] = (),
              later: bool = False) -> list[Record]:
    """The records of all submissions, in order; their reports are written into the folder out.

    The reports have all that was ever graded into the folder: late submissions are added, and an equal name
    is the same student. term: the secret of the term (None: that of the folder). jobs: how many are graded at
    a time. done: called with each record, and 1, or 0.5 if its hidden parts are still to be judged. shard:
    (3, 8) for the third of eight runs, each of which grades its share, at the same time and on any machines
    that see the folder; a run without shard then writes the reports. again: slugs of those that are judged
    though nothing has changed. later: whether students do not see hidden parts yet. Ctrl-C ends it at once:
    what is judged is kept, reports are written, and KeyboardInterrupt is raised. XManError if another process
    grades into the folder, or it cannot be written.
    """
    secret(term)  # one that is refused leaves no folder behind
    sweep()
    submissions = submissions if shard is None else [each for each in submissions if in_shard(each, *shard)]
    write_reports = functools.partial(write_all, later=later) if shard is None else lambda records, out: None
    with locked(out, shard):
        term = kept_term(out, term)
        records, missing, before = kept_records(out), [], {}
        halves: dict[str, Record] = {}  # by slug, those whose hidden parts are not judged yet
        for submission in submissions:
            graded, earlier = facts(assignment, submission, term), records.get(submission.slug)
            if earlier and earlier["graded"].items() >= graded.items() and submission.slug not in again:
                done(earlier, 1.0)
            else:
                records.pop(submission.slug, None)
                missing.append(submission)
                if earlier and earlier["graded"].get("digest") == graded["digest"]:
                    points, when = earlier["points"], earlier["graded"]["when"]
                    before[submission.slug] = {"points": points, "when": when}
        for slug in again:
            (out / VISIBLE / f"{slug}.json").unlink(missing_ok=True)
        written = time.monotonic()
        try:
            for half, todo in (grade_visible, missing), (grade_hidden, halves):
                stop = threading.Event()
                work = functools.partial(half, out=out, assignment=assignment, sandbox=sandbox, term=term,
                                         stop=stop, apart=True)
                with contextlib.closing(each_apart(work, [*todo], jobs, stop)) as fresh:
                    for record in fresh:
                        slug, waits = record["slug"], PROGRAM in record
                        if slug in before and not waits:  # judged again: no mark changes unseen
                            record["before"] = before[slug]
                        text = json.dumps(record, indent=1) + "\n"
                        place = out / (VISIBLE if waits else "records") / f"{slug}.json"
                        write_whole(place, text, lasting=not waits)
                        # after it is kept: no report holds what Ctrl-C lost
                        if waits:  # without the program: those of a class may not fit into memory
                            del record[PROGRAM]
                            halves[slug] = {**record, "trouble": record["trouble"] or WAITING}
                        else:
                            records[slug] = record
                            halves.pop(slug, None)
                            (out / VISIBLE / f"{slug}.json").unlink(missing_ok=True)
                        done(record, 0.5 if waits else 1.0)
                        if time.monotonic() - written > REPORTS_EVERY:
                            write_reports([*records.values(), *halves.values()], out)
                            written = time.monotonic()
        finally:
            write_reports([*records.values(), *halves.values()], out)
    return [records[submission.slug] for submission in submissions]


def facts(assignment: Assignment, submission: Submission, term: str) -> dict[str, str]:
    """What has to be equal if an earlier record is to be kept."""
    # drawn lists depend on the student too
    student = {"student": submission.student} if assignment.drawn_parts else {}
    return {**graded_with(assignment, term), "digest": submission.digest(), **student}


def in_shard(submission: Submission, shard: int, of: int) -> bool:
    """Whether a submission belongs to the shard, from 1 to `of`; its name alone decides."""
    return zlib.crc32(submission.slug.encode()) % of == shard - 1


def grades_here(module: str) -> Path:
    """The folder of grades in the current folder. XManError for one that no run of this user has made.

    A student could have handed it in, with a secret and records.
    """
    out = Path(f"{module}-grades")
    marked = (out / MARK).is_file() and (out / MARK).read_text("utf-8") == own_mark()
    if os.path.lexists(out) and not marked:
        raise XManError(f"{out} is here already, and no run of yours has marked it: it could be a student's. "
                        "If it is yours, say so by its path, --out DIR or --grades DIR")
    return out


def own_mark() -> str | None:
    """What this user's runs alone can write into a folder of grades; None where no home can keep it."""
    with contextlib.suppress(OSError, RuntimeError):  # there may be no home, or none that can be written
        path = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "xman" / "grader"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(0o600)
            write_whole(path, secrets.token_hex(16))
        return path.read_text("utf-8") or None
    return None


def kept_records(out: Path) -> dict[str, Record]:
    """The records of earlier runs of this xman, by slug."""
    paths = sorted((out / "records").glob("*.json"))
    return {path.stem: record for path in paths if (record := kept_record(path))}


def kept_record(path: Path) -> Record | None:
    """The record in a file, if it is one, by this xman, and of the submission that gave the file its name."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        record = json.loads(path.read_text("utf-8"))
        if path.stem == record["slug"] and record["graded"]["xman"] == __version__:
            return record
    return None


def kept_term(out: Path, term: str | None) -> str:
    """The given term, or that of the folder's first run: a secret, from which inputs are drawn."""
    path = out / "term"
    if term is not None:
        write_whole(path, secret(term) + "\n")
    elif not path.is_file():
        with tempfile.NamedTemporaryFile("w", dir=out, prefix=".term") as file:
            file.write(secret(None) + "\n")
            file.flush()
            with contextlib.suppress(FileExistsError):  # another shard was first, and all use its term
                os.link(file.name, path)
    return path.read_text("utf-8").strip()


def secret(term: str | None) -> str:
    """The term, or a new one for None. XManError if students could guess it, and so the inputs."""
    if term is not None and len(term) < SECRET:
        raise XManError(f"the inputs are drawn from the term, and students could guess {term!r}: give at "
                        f"least {SECRET} characters, or leave it out")
    return secrets.token_hex(16) if term is None else term


@contextlib.contextmanager
def locked(out: Path, shard: tuple[int, int] | None = None) -> Iterator[None]:
    """A context that holds the folder, made if missing, for this process alone or with shards.

    XManError if another process holds it."""
    try:
        (out / "records").mkdir(parents=True, exist_ok=True)
        (out / VISIBLE).mkdir(0o700, exist_ok=True)  # other users, as workers may be, read nobody's program
        lock_name = ".lock-{}-of-{}".format(*shard) if shard else ".lock-all"
        with open(out / ".lock", "w") as shared_lock, open(out / lock_name, "w") as own_lock:
            try:
                lock_file(shared_lock, shared=shard is not None)
                lock_file(own_lock)
            except OSError:
                raise XManError(f"another process grades into {out} at the moment; wait for it, or give "
                                "another --out") from None
            if mark := own_mark():
                write_whole(out / MARK, mark, lasting=False)
            yield
    except OSError as error:
        raise XManError(f"grading into {out} came to a stop: {error}") from error
