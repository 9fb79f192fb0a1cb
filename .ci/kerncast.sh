#!/bin/sh
# The `kerncast` command of a linked checkout: needs no build, holds no path, works through a link.
# Not with -m, whose own imports print a traceback at Ctrl-C. With -P, no module of the working folder is
# imported: it may be a folder from elsewhere.
exec "$(dirname "$(readlink -f "$0")")/python" -P -c "from kerncast.__main__ import main; main()" "$@"
