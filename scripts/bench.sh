#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Figures of speed: scripts/bench.sh peers|throughput|agents [--json] [OPTION ...]
#   peers       kernels of the suite beside OpenBLAS, oneDNN, libxsmm and Eigen, one thread;
#               KERNEL ... takes only those, --log FILE the best of a tuning log
#   throughput  candidates and moves a second, and where the time of a candidate goes
#   agents      strategies and the learned agent against each other, at equal numbers of measured
#               trials and in equal time; --help tells how to have less of it: all takes hours
# A ratio above 1: ours is faster. Leave the machine alone meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  peers | throughput | agents) program=$1 ;;
  -h | --help)
    sed -n '3,9s/^# //p' "$0"
    exit 0
    ;;
  *)
    sed -n '3,9s/^# //p' "$0" >&2
    exit 2
    ;;
esac
shift

what=()
if [ "$program" = peers ]; then what=(peers); fi
scripts/setup.sh "${what[@]}" >&2
needs=("$program" dojo-runner-linux)
if [ "$program" = agents ]; then
  needs+=(dojo-runner-qemu-rv64gcv.elf dojo-snitch1-model dojo-runner-snitch.elf)
fi
scripts/build.sh "${needs[@]}" >&2
exec "${DOJO_BUILD:-build}/bin/$program" "$@"
