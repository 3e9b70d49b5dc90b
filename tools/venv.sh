#!/bin/sh
# Makes .venv and installs Moot into it, editable, with everything the tests need. `venv.sh run` leaves out what only
# they need, and what needs a server of its own: three quarters of the time that a newcomer waits for the demo.
# Needs only a Python of 3.11 or newer and a package index; uses uv when it is there, because it is faster.
set -eu
case ${1:-everything} in
run) extras=tui,llm stamps=.venv/.runs ;;
everything) extras=dev stamps='.venv/.runs .venv/.installed' ;;
*) echo "error: venv.sh installs everything, or with the word run what the demo needs; not $1" >&2 && exit 2 ;;
esac
cd "$(dirname "$0")/.."

# Start-up time is measured in the tests and felt by people: the installed packages come with bytecode.
unset PYTHONDONTWRITEBYTECODE
# The page is built by make run; an editable installation needs none.
export MOOT_WITHOUT_PAGE=1

usable='import sys; sys.exit(sys.version_info < (3, 11))'
python='' too_bare=''
candidates=${PYTHON:-python3.14 python3.13 python3.12 python3.11 python3}
for candidate in $candidates; do
    "$candidate" -c "$usable" >/dev/null 2>&1 || continue
    # Debian ships ensurepip apart from Python: an interpreter without it cannot make a venv with pip in it.
    if "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        python=$candidate
        break
    fi
    too_bare=${too_bare:-$candidate}
done

# A .venv whose Python was removed, or whose making was interrupted, is made anew.
if ! .venv/bin/python -c "import pip; $usable" >/dev/null 2>&1; then
    rm -rf .venv
    if [ -n "$python" ]; then
        echo "making .venv with $($python --version)"
        "$python" -m venv .venv
    elif [ -n "$too_bare" ] && command -v uv >/dev/null 2>&1; then
        uv venv --quiet --seed --python "$too_bare" .venv
    elif [ -n "$too_bare" ]; then
        cat >&2 <<EOF
error: $too_bare cannot make a virtual environment (its ensurepip module is missing).
  Debian and Ubuntu package it apart from Python. Install it and run make again:
      apt install python3-venv
EOF
        exit 1
    else
        cat >&2 <<EOF
error: no Python 3.11 or newer was found (looked for: $candidates).
  Install one, or name it:  make PYTHON=/path/to/python3
      apt install python3 python3-venv
EOF
        exit 1
    fi
fi

echo "installing into .venv (once; again only when the pinned versions change)"
# uv reads other settings than pip does; where only pip knows the way to the package index, pip goes.
if command -v uv >/dev/null 2>&1 &&
    uv pip install --quiet --compile-bytecode --python .venv/bin/python -c requirements/dev.txt -e ".[$extras]"; then
    :
else
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -c requirements/dev.txt -e ".[$extras]"
fi
touch $stamps
