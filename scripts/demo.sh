#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sets the machine up, builds, and does the main job: tunes a kernel and replays the winner.
# scripts/demo.sh [KERNEL [TRIALS]]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh dojo dojo-runner-linux
dojo="${DOJO_BUILD:-build}/bin/dojo"
log="${DOJO_LOG:-demo.sqlite}"
# A search resumes only what the same program began.
if [ -z "${DOJO_LOG:-}" ] && [ "$dojo" -nt "$log" ]; then rm -f "$log"*; fi
kernel=${1:-softmax}
trials=${2:-200}

printf '\nThe plain program of %s:\n\n' "$kernel"
"$dojo" show "$kernel"
printf '\nTuning it, %s trials or 60 seconds:\n\n' "$trials"
"$dojo" tune "$kernel" --trials "$trials" --time 60 --log "$log" | tee demo.out
row=$(sed -n 's/^again: dojo replay \([0-9]*\).*/\1/p' demo.out)
rm -f demo.out
if [ -n "$row" ]; then
  printf '\nThe winner once more, from the log:\n\n'
  "$dojo" replay "$row" --log "$log"
fi
