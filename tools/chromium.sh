#!/bin/sh
# Sees to it that the tests of the page find a browser: Debian's Chromium, the one that is installed or one installed now.
# Where none can be had this says what to do and the page's suite fails, not make.
set -u
cd "$(dirname "$0")/.."

works() {
    command -v chromium >/dev/null 2>&1 && chromium --version >/dev/null 2>&1
}

installed() {
    command -v apt-get >/dev/null 2>&1 || return 1
    [ "$(id -u)" = 0 ] || return 1
    echo "installing Chromium, which the tests of the page need (about 100 MB, once)"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null 2>&1 ||
        { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1
}

if works || { installed && works; }; then
    touch .venv/.chromium
    exit 0
fi
echo "warning: Chromium is missing and could not be installed; try: apt install chromium" >&2
echo "  The page suite of make test will fail; everything else runs without it." >&2
exit 0
