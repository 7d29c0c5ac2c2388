"""Grades one submission or hundreds: some at a time; each is kept as soon as it is judged, and judged once.

An output folder holds records/NAME.json, the reports, and the term. A second run over it judges only
submissions that are new or have changed, with the same inputs as before.
"""
from __future__ import annotations

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

from .. import __version__
from ..errors import XManError
from ..files.whole import lock_file, write_whole
from .assignment import Assignment
from .judge import judge
from .process import each_apart
from .record import Record, graded_with, now, submission_record, unjudged
from .reports import write_all
from .sandbox import Sandbox
from .submissions import Submission, harmless
from .submissions.scratch import sweep

REPORTS_EVERY = 10.0  # seconds between reports during a run
SECRET = 12           # the least characters of a term
MARK = ".mark"        # in a folder of grades: who made it


def grade_one(assignment: Assignment, submission: Submission, sandbox: Sandbox, term: str,
              stop: threading.Event | None = None, apart: bool = False) -> Record:
    """The record of one submission; if it cannot be read, the record has its trouble and no points."""
    start, when, submission = time.monotonic(), now(), submission.read()
    digest = submission.digest()
    with contextlib.ExitStack() as unpacked:
        try:
            folder = unpacked.enter_context(submission.unpacked(assignment.module))
        except XManError as error:
            tasks = [unjudged(task, task.parts, str(error)) for task in assignment.tasks]
            record = submission_record(assignment, tasks, str(error), sandbox, term, when)
        else:  # from here on an error of the machine ends the run: it is not the student's fault
            record = judge(assignment, folder, sandbox, term, stop=stop, digest=digest, apart=apart,
                           student=submission.student)
    record["graded"] |= {"digest": digest, **of_student(assignment, submission)}
    return {"submission": submission.name, "slug": submission.slug,
            "file": harmless(submission.path.name, 200), **record,
            "seconds": round(time.monotonic() - start, 3)}


def grade_all(assignment: Assignment, submissions: Sequence[Submission], sandbox: Sandbox, out: Path,
              term: str | None = None, jobs: int = 1, done: Callable[[Record], object] = lambda record: None,
              shard: tuple[int, int] | None = None, again: Collection[str] = (),
              later: bool = False) -> list[Record]:
    """The records of all submissions, in order; their reports are written into the folder out.

    The reports have all that was ever graded into the folder: late submissions are added, and an equal name
    is the same student. term: the secret of the term (None: that of the folder). jobs: how many are graded at
    a time. done: called with each record. shard: (3, 8) for the third of eight runs, each of which grades its
    share, at the same time and on any machines that see the folder; a run without shard then writes the
    reports. again: slugs of those that are judged though nothing has changed. later: whether students do not
    see hidden parts yet. Ctrl-C ends it at once: finished records are kept, reports are written, and
    KeyboardInterrupt is raised. XManError if another process grades into the folder, or it cannot be written.
    """
    sweep()
    submissions = submissions if shard is None else [each for each in submissions if in_shard(each, *shard)]
    write_reports = functools.partial(write_all, later=later) if shard is None else lambda records, out: None
    with locked(out, shard):
        term = kept_term(out, term)
        graded_now, stop = graded_with(assignment, term), threading.Event()
        records, missing, before = kept_records(out), [], {}
        for submission in submissions:
            same = {**graded_now, "digest": submission.digest(), **of_student(assignment, submission)}
            earlier = records.get(submission.slug)
            if earlier and earlier["graded"].items() >= same.items() and submission.slug not in again:
                done(earlier)
            else:
                records.pop(submission.slug, None)
                missing.append(submission)
                if earlier and earlier["graded"].get("digest") == same["digest"]:
                    before[submission.slug] = {"points": earlier["points"], "when": earlier["graded"]["when"]}
        work = functools.partial(grade_one, assignment, sandbox=sandbox, term=term, stop=stop, apart=True)
        written = time.monotonic()
        try:
            with contextlib.closing(each_apart(work, missing, jobs, stop)) as fresh:
                for record in fresh:
                    slug = record["slug"]
                    if slug in before:  # the same work, judged again: no mark changes unseen
                        record["before"] = before[slug]
                    write_whole(out / "records" / f"{slug}.json", json.dumps(record, indent=1) + "\n")
                    records[slug] = record  # after it is kept: no report holds what Ctrl-C lost
                    done(record)
                    if time.monotonic() - written > REPORTS_EVERY:
                        write_reports([*records.values()], out)
                        written = time.monotonic()
        finally:
            write_reports([*records.values()], out)
    return [records[submission.slug] for submission in submissions]


def of_student(assignment: Assignment, submission: Submission) -> dict[str, str]:
    """What else a record depends on, if an assignment draws lists for each student."""
    return {"student": submission.student} if assignment.drawn_parts else {}


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
    """The records of earlier runs of this xman, by slug; a file that is not a record is left out."""
    records = {}
    for path in sorted((out / "records").glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            record = json.loads(path.read_text("utf-8"))
            if path.stem == record["slug"] and record["graded"]["xman"] == __version__:
                records[path.stem] = record
    return records


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
