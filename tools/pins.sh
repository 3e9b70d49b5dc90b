#!/bin/sh
# Renews requirements/dev.txt for all platforms and supported Pythons. Addresses and paths are left out on
# purpose: the file must mean the same on every machine, whatever index it installs from.
set -eu
cd "$(dirname "$0")/.."
command -v uv >/dev/null 2>&1 || { echo "error: make pins needs uv (pip install uv)" >&2; exit 1; }

fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
{
    grep '^#' requirements/dev.txt
    uv pip compile --quiet --universal --python-version 3.11 --upgrade --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links --extra dev --extra bench pyproject.toml
} >"$fresh"
if grep -E '://|file:|^-' "$fresh"; then
    echo "error: the lines above name an address or a path; requirements/dev.txt was left as it was" >&2
    exit 1
fi
cat "$fresh" >requirements/dev.txt
