"""The commands of a course: write hand-outs, check one's own work, grade a class, pack the grader."""
from __future__ import annotations

import datetime
import json
import signal
import sys
from pathlib import Path
from typing import Any

import click

from ..errors import XManError, extra
from ..files.whole import write_whole
from .commands import xman
from .options import JSON, PATH, NewFile, option_table

ASSIGNMENT = click.argument("name", metavar="ASSIGNMENT")
WHERE = "--assignments  DIR  Where the assignments are.  [default: in xman's own checkout]"
TERM = "--term  SECRET  The secret that inputs are drawn from.  [default: a new one]"
SETTINGS = "--settings  FILE  The settings of the term.  [default: term.toml beside the assignment]"
PLACES = {"DIR": PATH, "FILE": NewFile(Path)}


@xman.group()
def grade() -> None:
    """Assignments: hand out, check and grade, also with Gradescope and Autolab.

    ASSIGNMENT is a name in --assignments DIR, or in the folder `assignments` of xman's checkout.
    """


def assignment_of(name: str, assignments: Path | None, submissions: tuple[Path, ...] = ()) -> Any:
    """The assignment, which is loaded, that is run, in this process: never from among submissions."""
    from .. import grade as grader
    return grader.load_assignment(grader.folder_of(name, assignments, submissions))


def term_of(folder: Path, settings: Path | None) -> Any:
    """The term that an assignment's folder is in: of the file, of term.toml beside it, or a bare one."""
    from ..grade.term.settings import FILE, Term, term_at
    path = settings or folder.parent / FILE
    names = sorted(grading.parent.name for grading in folder.parent.glob("*/grading.py"))
    return term_at(path, names) if settings or path.is_file() else Term()


def packed_term(folder: Path, settings: Path | None) -> dict[str, bytes]:
    """What of the term goes with an assignment into a package: its settings and the roster."""
    from ..grade.term.settings import FILE, term_files
    term, path = term_of(folder, settings), settings or folder.parent / FILE
    return term_files(path, folder.name, term.roster) if path.is_file() else {}


@grade.command()
@ASSIGNMENT
@option_table(f"""{WHERE}
    --github  flag  Add a workflow for GitHub Actions that runs the checks.
    --out!    DIR   The folder to write, a new one.""", **PLACES)
def handout(name, assignments, github, out) -> None:
    """Write what the students get: the starter, their checks, the data. No trace of the solution is in it."""
    from ..grade.handout import write_handout
    write_handout(assignment_of(name, assignments), out, github)
    print(f"{out}: {', '.join(sorted(path.name for path in out.iterdir()))}")


@grade.command()
@click.argument("folder", type=PATH, default=".")
@option_table("""--yes  flag  Run FOLDER/checks.py without asking whether you trust it.
    --classroom  FILE  Write result.json, as runners of GitHub Classroom do.""", **PLACES)
def check(folder, yes, classroom) -> None:
    """Run the checks of a hand-out on your own work in FOLDER (the current one by default)."""
    from ..grade import check as check_folder
    checks = folder.resolve() / "checks.py"
    if not yes and checks.is_file():
        click.confirm(f"{checks} is a program, which runs as you and outside of the sandbox. Does it come "
                      "from your instructor?", abort=True, err=True)
    sys.exit(0 if check_folder(folder, classroom) else 1)


def tell_records(records, later, in_term, out, *, results, classroom, at_least, last_line, as_json) -> None:
    """Print what was graded, and write it for platforms. Status 1 where the grader failed, or one is too bad.

    later: whether students see hidden parts later. in_term: gives Gradescope's results of a record. out: the
    folder of the reports. The others are options of `xman grade run`.
    """
    from ..grade.reports import platforms, terminal, view
    told = later and (last_line or classroom)
    shown = [view.without_hidden(record) if told else record for record in records]
    if as_json:
        print(json.dumps(shown, indent=1))
    else:
        print(terminal.report_table(shown[0]) if len(shown) == 1 else terminal.class_table(records))
    if results:
        write_whole(results, json.dumps(in_term(records[0]), indent=1) + "\n")
    if classroom:
        write_whole(classroom, json.dumps(platforms.classroom_result(shown[0]), indent=1) + "\n")
    if last_line:
        print(platforms.autolab_line(shown[0]))
    elif not (as_json or results):
        print(f"\nreports: {out / 'class.html'}, {out / 'gradebook.csv'}")
    if any(any(view.grader_errors(record)) for record in records) or (
            at_least is not None and any(record["points"] < at_least for record in records)):
        sys.exit(1)


def shard_of(text: str) -> tuple[int, int]:
    """(3, 8) from "3/8". XManError for other texts."""
    k, _, n = text.partition("/")
    if not (k.isdecimal() and n.isdecimal() and 1 <= int(k) <= int(n)):
        raise XManError(f"--shard {text}: wanted the number of a part and how many there are, as in 3/8")
    return int(k), int(n)


@grade.command()
@ASSIGNMENT
@click.argument("submissions", nargs=-1, required=True, type=PATH, metavar="SUBMISSION...")
@option_table(f"""{WHERE}
    {TERM}
    {SETTINGS}
    --out         DIR     Where records and reports go. A second run judges only what is new.  [default: ASSIGNMENT-grades]
    --jobs=1      jobs    How many submissions are graded at a time.
    --shard       K/N     Grade the K-th of N parts. When all are done, run without it for the reports.
    --unsafe      flag    Grade without a sandbox too. Submissions can then do whatever you can do.
    --again       NAME*   Judge this submission (or this student's) again although nothing has changed.
    --gradescope,results  FILE  Write Gradescope's results.json of the one submission.
    --metadata    FILE    Gradescope's submission_metadata.json of it: who handed in, and when.
    --classroom   FILE    Write result.json, as runners of GitHub Classroom do, of the one submission.
    --at-least    number  End with status 1 where a submission has fewer points.
    --autolab,last_line   flag  Print the line that Autolab reads at the end, for the one submission.
    --json,as_json        flag  Print the records as JSON.""", [tell_records], jobs=click.IntRange(1, 64), **PLACES)
def run(name, submissions, assignments, term, settings, out, jobs, shard, unsafe, again, metadata,
        **telling) -> None:
    """Grade submissions: folders, .zip, .tar.gz or single files, or a folder full of them.

    The status is 0 if all were graded, 1 if the grader itself failed in a part (or, with --at-least, a
    submission has fewer points), 2 if nothing could be graded, and 130 after Ctrl-C.
    """
    from ..grade.assignment import keep_apart
    from ..grade.record import now
    from ..grade.run import grade_all, grades_here, in_shard, secret
    from ..grade.sandbox import sandbox_here
    from ..grade.submissions import find, one
    from ..grade.term import hand_in
    from ..grade.term.book import results_in_term
    assignment = assignment_of(name, assignments, submissions)
    secret(term)  # before anything is written
    out = out or grades_here(assignment.folder.name)
    keep_apart(f"--out {out}", out, "its secret and records", submissions)
    course = term_of(assignment.folder, settings)
    later = course.rules(assignment.folder.name).later(datetime.datetime.fromisoformat(now()))
    single = any(telling[key] for key in ("results", "last_line", "classroom"))
    about = hand_in.gradescope_metadata(metadata) if metadata else None
    if single and len(submissions) != 1:
        raise XManError("--gradescope, --autolab and --classroom are for one submission; here are "
                        f"{len(submissions)}")
    work = [one(submissions[0])] if single else find(submissions, assignment.module)
    exported = {work[0].slug: about[0]} if about else hand_in.hand_ins(work)
    work = hand_in.owned(work, exported, course)
    if assignment.drawn_parts and not course.roster:
        raise XManError(f"the part {assignment.drawn_parts[0].title!r} is drawn for each student: name a roster "
                        "in term.toml")
    again_slugs = hand_in.slugs_of(again, work, course)
    share = shard_of(shard) if shard else None
    work = [submission for submission in work if in_shard(submission, *share or (1, 1))]
    sandbox = sandbox_here(unsafe)
    if unsafe:
        print(f"xman: the sandbox is {sandbox.name}", file=sys.stderr)
    hand_in.keep_hand_ins(out, exported)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # keeps what is judged, as Ctrl-C does
    progress = extra("tqdm", "grade", "a progress bar").tqdm
    progress.monitor_interval = 0  # tqdm must not start a thread, which a fork would break
    extra("jinja2", "grade", "an HTML report")  # if it is missing, say so before anything is graded
    judged: dict[str, float] = {}

    def done(record: Any, whole: float) -> None:
        bar.update(whole - judged.get(record["slug"], 0))
        judged[record["slug"]] = whole
    with progress(total=len(work), unit="submission", disable=len(work) == 1 or None,
                  file=sys.stderr) as bar:
        try:
            records = grade_all(assignment, work, sandbox, out, term, jobs, done, share, again_slugs, later)
        except KeyboardInterrupt:
            whole = sum(share == 1 for share in judged.values())
            raise KeyboardInterrupt(
                f"stopped: {whole} of {len(work)} are graded and kept in {out}"
                f"{f', and the visible parts of {len(judged) - whole}' * (len(judged) > whole)}; the same "
                "command goes on") from None
    if shard and not telling["as_json"]:
        print(f"shard {shard}: {len(records)} graded into {out}; when all are done, the command without "
              "--shard writes the reports")
        return
    in_term = lambda record: results_in_term(record, course, assignment.folder.name, about)
    tell_records(records, later, in_term, out, **telling)


@grade.command()
@ASSIGNMENT
@option_table(f"{WHERE}\n{TERM}\n{SETTINGS}\n--out=autograder.zip  FILE  The file to write.", **PLACES)
def gradescope(name, assignments, term, settings, out) -> None:
    """Write the autograder that is uploaded to Gradescope."""
    from ..grade import handout, run
    assignment = assignment_of(name, assignments)
    handout.gradescope(assignment, out, run.secret(term), packed_term(assignment.folder, settings))
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB")


@grade.command()
@ASSIGNMENT
@option_table(f"{WHERE}\n{TERM}\n{SETTINGS}\n--out!  DIR  A folder for Makefile and autograde.tar.", **PLACES)
def autolab(name, assignments, term, settings, out) -> None:
    """Write the Makefile and the tar file that are uploaded to Autolab."""
    from ..grade import handout, run
    assignment = assignment_of(name, assignments)
    handout.autolab(assignment, out, run.secret(term), packed_term(assignment.folder, settings))
    print(f"{out}: {', '.join(sorted(path.name for path in out.iterdir()))}")


@grade.command()
@option_table(f"--unsafe  flag  Look at what is left without a sandbox.\n{JSON}")
def doctor(unsafe, as_json) -> None:
    """Try the sandbox of this machine from inside: what holds, and what to install where it does not."""
    from ..grade.sandbox.doctor import examined, sandbox_here
    findings = examined(unsafe)
    if as_json:
        print(json.dumps([finding._asdict() for finding in findings], indent=1))
    else:
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            print(f"{'ok  ' if finding.ok else 'NOT '} {finding.name:<{width}}  {finding.found}")
            if finding.todo and not finding.ok:
                print(f"     {'':<{width}}  → {finding.todo}")
        bad = sum(not finding.ok for finding in findings)
        sandbox = "" if bad else f": {sandbox_here(unsafe).name}"
        print(f"\n{len(findings) - bad} of {len(findings)} hold{sandbox}")
    sys.exit(0 if all(finding.ok for finding in findings) else 1)
