#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs a fuzz target: run.sh PROGRAM SEEDS... A short run that is always the same, and leaves nothing;
# with DOJO_FUZZ_SECONDS so many seconds of new attempts, whose finds are kept beside the program in
# PROGRAM.corpus and taken up the next time. What it failed on is kept as PROGRAM.crash-*, and
# `PROGRAM FILE` runs it again.
set -euo pipefail
program=$1
shift
seeds=()
for folder in "$@"; do
  [ -d "$folder" ] && seeds+=("$folder")
done
options=(-artifact_prefix="$program." -timeout=20 -max_len=4096 -print_final_stats=1 -verbosity=1)
if [ -n "${DOJO_FUZZ_SECONDS:-}" ]; then
  corpus=$program.corpus
  mkdir -p "$corpus"
  options+=(-max_total_time="$DOJO_FUZZ_SECONDS")
else
  corpus=$(mktemp -d)
  trap 'rm -rf "$corpus"' EXIT
  options+=(-seed=1 -runs=20000 -max_total_time=8)
fi
# Less a line for each find.
"$program" "${options[@]}" "$corpus" "${seeds[@]}" 2>&1 | grep -vE '^#[0-9]+\s+(NEW|REDUCE|RELOAD|pulse)|# Uses: |^######'
