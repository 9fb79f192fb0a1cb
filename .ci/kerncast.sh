#!/bin/sh
# The `kerncast` command of a linked checkout: needs no build, holds no path, works through a link.
exec "$(dirname "$(readlink -f "$0")")/python" -m kerncast "$@"
