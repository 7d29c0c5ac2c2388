#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: Python, the sandbox, and xman in an environment of its own.
set -euo pipefail
umask 022
root="${AUTOGRADER:-/autograder}"
environment="${XMAN_ENVIRONMENT:-/opt/xman}"

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends python3 python3-venv bubblewrap libseccomp2
python3 -I -c 'import sys; sys.exit(None if sys.version_info >= (3, 10) else "Choose a newer base image: xman needs Python 3.10.")'
python3 -I -m venv "$environment"
"$environment/bin/pip" install --no-cache-dir "$root/source/sources[grade]"
chmod -R go= "$root/source"
"$environment/bin/xman" grade doctor --unsafe || true # for the log: the container that grades may allow more or less
