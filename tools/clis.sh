#!/bin/sh
# Installs the real `claude` and `codex` for `make test-clis`, in a folder of their own: nothing of them is imported.
# claude comes inside a wheel (the `clis` extra of pyproject.toml), codex from npm.
set -eu
cd "$(dirname "$0")/.."

place=.venv/clis
mkdir -p "$place/bin"

wheel=$(.venv/bin/python -c '
import tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["clis"])')
echo "installing $wheel (about 400 MB) and @openai/codex into $place"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
    --target "$place/python" "$wheel"
chmod +x "$place/python/claude_agent_sdk/_bundled/claude"
ln -sf ../python/claude_agent_sdk/_bundled/claude "$place/bin/claude"

if ! command -v npm >/dev/null 2>&1; then
    echo "error: npm was not found, and codex comes from npm. Install Node.js and run make test-clis again." >&2
    exit 1
fi
npm install --silent --no-audit --no-fund --prefix "$place/npm" @openai/codex
ln -sf ../npm/node_modules/.bin/codex "$place/bin/codex"

"$place/bin/claude" --version
"$place/bin/codex" --version
touch "$place/.installed"
