#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Configures and builds: scripts/build.sh [TARGET ...]. The folder is build/, or $DOJO_BUILD.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${DOJO_BUILD:-build}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DDOJO_TIDY="${DOJO_TIDY:-OFF}" >"/tmp/dojo-configure.$$" 2>&1 || {
  cat "/tmp/dojo-configure.$$" >&2
  rm -f "/tmp/dojo-configure.$$"
  exit 1
}
rm -f "/tmp/dojo-configure.$$"
cmake --build "$build" --target "${@:-all}"
