#!/bin/sh
# Sees to it that the tests of the sandbox find bubblewrap (bwrap): the one that is installed, or one installed now.
# Root installs the distribution's package. Everybody else gets the same package unpacked into .venv, where
# tests/conftest.py looks too. It comes from the distribution and from nowhere else: it is the wall, so it has to be
# one that others look after. Where none can be had this says what to do and the sandbox suite fails, not make.
set -u
cd "$(dirname "$0")/.."

works() {
    PATH="$PWD/.venv/bin:$PATH" bwrap --unshare-all --unshare-user --ro-bind / / true >/dev/null 2>&1
}

unpacked() {
    # Its libraries (libcap, libselinux) are part of every Debian; only the program is missing.
    folder=$(mktemp -d) || return 1
    (cd "$folder" && apt-get download -qq bubblewrap && dpkg -x bubblewrap_*.deb out) >/dev/null 2>&1 &&
        cp "$folder/out/usr/bin/bwrap" .venv/bin/bwrap
    done=$?
    rm -rf "$folder"
    return $done
}

installed() {
    command -v apt-get >/dev/null 2>&1 || return 1
    if [ "$(id -u)" = 0 ]; then
        echo "installing bubblewrap, which the tests of the sandbox need"
        export DEBIAN_FRONTEND=noninteractive
        apt-get install -qq -y --no-install-recommends bubblewrap >/dev/null 2>&1 ||
            { apt-get update -qq && apt-get install -qq -y --no-install-recommends bubblewrap; } >/dev/null 2>&1
    else
        echo "unpacking bubblewrap into .venv, which the tests of the sandbox need"
        unpacked
    fi
}

if works || { installed && works; }; then
    touch .venv/.sandbox
    exit 0
fi
if PATH="$PWD/.venv/bin:$PATH" command -v bwrap >/dev/null 2>&1; then
    echo "warning: bubblewrap is installed and does not work here; the system has to allow user namespaces." >&2
else
    echo "warning: bubblewrap is missing and could not be installed; try: apt install bubblewrap" >&2
fi
echo "  The sandbox suite of make test will fail; everything else runs without it." >&2
exit 0
