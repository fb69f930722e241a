#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Trains the weights of the encoder that ship, host/agent/weights/encoder. Takes hours on one core;
# stopped, it goes on after its last checkpoint when started again.
set -euo pipefail
cd "$(dirname "$0")/.."
dojo=${DOJO:-build/bin/dojo}
folder=${1:-build/train-embedding}
"$dojo" train --embedding --steps 20000 --seed 1 --targets host,qemu-rv64gcv --folder "$folder"
mkdir -p host/agent/weights
cp "$folder/encoder" host/agent/weights/encoder
ls -l host/agent/weights/encoder
