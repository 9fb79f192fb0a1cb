#!/bin/sh
# The `kerncast` command of a linked checkout: needs no build, holds no path, works through a link.
# Not with -m, whose own imports print a traceback at Ctrl-C.
exec "$(dirname "$(readlink -f "$0")")/python" -c "from kerncast.__main__ import main; main()" "$@"
