#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs clang-tidy (.clang-tidy says which checks) over host/ and runner/: scripts/tidy.sh [FILE ...];
# --all takes tests/ too. Prints findings alone; the exit status is 1 where there are any.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${DOJO_BUILD:-build}/tidy

# From version 22 on clang-tidy skips what is in system headers, a tenth of the time.
tidy=""
for version in 22 21 20 19; do
  if command -v "run-clang-tidy-$version" >/dev/null; then
    tidy=$version
    break
  fi
done
if [ -z "$tidy" ]; then
  echo "tidy: no run-clang-tidy-N with N of 19 or more; scripts/setup.sh installs it" >&2
  exit 2
fi

files=()
folders='host|runner'
for argument in "$@"; do
  case $argument in
    --all) folders='host|runner|tests' ;;
    *) files+=("$argument") ;;
  esac
done
if [ ${#files[@]} -eq 0 ]; then
  # Not the generated sources of the build folder.
  files=("^$PWD/($folders)/.*\\.c(pp)?$")
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A folder of its own: clang reads no precompiled headers of GCC. Nothing is built there.
cmake -S . -B "$build" -G Ninja -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >"$log" 2>&1 || {
  cat "$log" >&2
  exit 2
}
status=0
"run-clang-tidy-$tidy" -clang-tidy-binary "clang-tidy-$tidy" -quiet -p "$build" -j "$(nproc)" \
  -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-deprecated-declarations \
  "${files[@]}" >"$log" 2>&1 || status=1
# Less the progress, the counts and the warnings of headers that aren't ours.
grep -vE '^\[ *[0-9]+/[0-9]+\]|^[0-9]+ warnings? |^Running |^$' "$log" || true
exit $status
