#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Figures of speed: scripts/bench.sh peers|throughput [--json] [OPTION ...]
#   peers       kernels of the suite beside OpenBLAS, oneDNN, libxsmm and Eigen, one thread;
#               KERNEL ... takes only those, --log FILE the best of a tuning log
#   throughput  candidates and moves a second, and where the time of a candidate goes
# A ratio above 1: ours is faster. Leave the machine alone meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  peers | throughput) program=$1 ;;
  -h | --help)
    sed -n '3,7s/^# //p' "$0"
    exit 0
    ;;
  *)
    sed -n '3,7s/^# //p' "$0" >&2
    exit 2
    ;;
esac
shift

what=()
if [ "$program" = peers ]; then what=(peers); fi
scripts/setup.sh "${what[@]}" >&2
scripts/build.sh "$program" dojo-runner-linux >&2
exec "${DOJO_BUILD:-build}/bin/$program" "$@"
