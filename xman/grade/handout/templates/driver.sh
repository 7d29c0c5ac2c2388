#!/usr/bin/env bash
# Autolab's make runs this for each submission, which lies in the folder: driver.sh [--unsafe]. Students see what it prints.
here="$(cd "$(dirname "$0")" && pwd)" || exit 1
handin=
for file in *; do
    case "$file" in
    Makefile | autograde-Makefile | autograde.tar | autograder | settings.json) ;;
    *) [ -e "$file" ] && handin="./$file" && break ;;
    esac
done
chmod -R go= "$here"

failed() {
    echo "The grader failed; this says nothing about your work. Please tell your instructor: $1"
    grep -s '^xman: ' "$here/errors"
    echo '{"scores": {}}'
    exit 0
}

[ -n "$handin" ] || failed "no submission was there."
python=python3
if ! python3 -I -c 'import click, jinja2, numpy, scipy, sys, tqdm; sys.exit(sys.version_info < (3, 10))' 2>"$here/errors"; then
    python="$here/environment/bin/python"
    { python3 -I -m venv "$here/environment" && "$python" -I -m pip install --quiet "$here/sources[grade]"; } >"$here/errors" 2>&1 ||
        failed "xman's packages are not in the image and could not be installed."
fi
"$python" -I "$here/grade.py" "$handin" --autolab --out "$here/grades" "$@" >"$here/output" 2>"$here/errors" ||
    failed "it ended with status $?."
tail -n 1 "$here/output" | "$python" -I -c 'import json, sys; json.load(sys.stdin)["scores"]' 2>/dev/null ||
    failed "it printed no scores."
grep -s '^xman: ' "$here/errors"
cat "$here/output"
