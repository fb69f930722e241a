#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Trains the agent that ships, host/agent/weights/agent, by playing on what the encoder that ships
# reads. Takes about ten minutes on two cores; stopped, it goes on after its last game when
# started again. Kernels that are held out for comparisons aren't played: matmul, softmax,
# layernorm, conv2d, gemv, avgpool, gelu.
set -euo pipefail
cd "$(dirname "$0")/.."
dojo=${DOJO:-build/bin/dojo}
folder=${1:-build/train-agent}
mkdir -p "$folder"
"$dojo" train --games "${GAMES:-240}" --trials 60 --seed 1 --targets qemu-rv64gcv,host \
  --kernels add,attention,axpy,batchnorm,bmm,depthwise,dot,embedding,matmul_nt,maxpool,mul,qmatmul,reducemean,relu,relu_ffn,rmsnorm,spmv,sum,swiglu,transpose \
  --folder "$folder" --log "$folder/log.sqlite"
mkdir -p host/agent/weights
cp "$folder/agent" host/agent/weights/agent
ls -l host/agent/weights/agent
