#!/bin/sh
# Puts `moot` onto the PATH, or takes it off again: a link in PREFIX/bin to the command in this folder's .venv.
# usage: tools/link.sh install|uninstall        PREFIX is ~/.local unless it is set
set -eu
cd "$(dirname "$0")/.."

command="$(pwd -P)/.venv/bin/moot"
bin="${PREFIX:-$HOME/.local}/bin"
link="$bin/moot"

is_ours() { [ -L "$link" ] && [ "$(readlink "$link")" = "$command" ]; }

case "${1:-}" in
install)
    # A link that leads nowhere was left by a copy of Moot that is gone.
    if [ -e "$link" ] && ! is_ours; then
        cat >&2 <<EOF
error: $link is there already, and is not the one of this folder
  Take it away first, or choose another place:  make install PREFIX=/usr/local
EOF
        exit 1
    fi
    mkdir -p "$bin"
    ln -sfn "$command" "$link"
    echo "$link -> $command"
    echo "It needs this folder: after moving it, run make install again; make uninstall takes it away."
    case ":$PATH:" in
    *":$bin:"*) ;;
    *)
        echo "$bin is not on your PATH yet. Add it, for example in ~/.profile:"
        echo "    export PATH=\"$bin:\$PATH\""
        ;;
    esac
    ;;
uninstall)
    if is_ours; then
        rm "$link"
        echo "removed $link; what you have in ~/.moot stays"
    else
        echo "nothing to remove: $link does not lead to this folder"
    fi
    ;;
*)
    echo "usage: tools/link.sh install|uninstall" >&2
    exit 2
    ;;
esac
