#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Trains the weights of the encoder that ship, host/agent/weights/encoder. Takes hours on one core;
# stopped, it goes on after its last checkpoint when started again.
set -euo pipefail
cd "$(dirname "$0")/.."
dojo=${DOJO:-build/bin/dojo}
folder=${1:-build/train-embedding}
# Not among them, so that there is something to try it on: matmul, softmax, layernorm, conv2d, gemv,
# avgpool, gelu.
kernels=add,attention,axpy,batchnorm,bmm,depthwise,dot,embedding,matmul_nt,maxpool,mul,qmatmul
kernels+=,reducemean,relu,relu_ffn,rmsnorm,spmv,sum,swiglu,transpose
"$dojo" train --embedding --steps 20000 --seed 1 --targets host,qemu-rv64gcv,snitch1 \
  --kernels "$kernels" --folder "$folder"
mkdir -p host/agent/weights
cp "$folder/encoder" host/agent/weights/encoder
ls -l host/agent/weights/encoder
