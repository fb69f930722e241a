#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the runner of a bare-metal board from its description, beside `dojo`:
#   scripts/runner.sh BOARD.json [BUILD_FOLDER]
# BUILD_FOLDER (build) is where scripts/build.sh has built PerfDojo.
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ] || [ "$1" = --help ]; then
  sed -n '3,5s/^# \{0,1\}//p' "$0"
  [ "${1:-}" = --help ] && exit 0
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
board=$(realpath "$1")
build=$(realpath -m "${2:-$root/build}")
tool="$build/bin/dojo-port"
if [ ! -x "$tool" ]; then
  echo "runner: there is no $tool; scripts/build.sh builds it" >&2
  exit 1
fi
name=$("$build/bin/dojo" target show "$board" --json | grep -o '"image":"[^"]*"' | cut -d'"' -f4)
cmake -S "$root/runner" -B "$build/runner/$name" --log-level=NOTICE \
  "-DCMAKE_TOOLCHAIN_FILE=$root/toolchains/bare-metal-clang.cmake" -DCMAKE_BUILD_TYPE=None \
  "-DDOJO_BIN=$build/bin" "-DDOJO_IMAGE=$name" "-DDOJO_TARGET=$board" "-DDOJO_PORT_TOOL=$tool"
cmake --build "$build/runner/$name"
echo "runner: $build/bin/$name"
