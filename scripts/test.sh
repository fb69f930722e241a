#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sets the machine up, builds everything and runs every test, clang-tidy among them.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
DOJO_TIDY=ON scripts/build.sh
# Two at a time: some cases use both cores.
ctest --test-dir "${DOJO_BUILD:-build}" --output-on-failure -j 2 "$@"
