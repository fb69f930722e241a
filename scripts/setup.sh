#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs what the build and the tests need, from Debian's packages. Idempotent: installs only
# what is missing and says what it does. scripts/setup.sh peers: with the libraries that
# scripts/bench.sh peers compares with.
set -euo pipefail

packages=(
  g++ cmake ninja-build git ccache clang-format
  catch2 nlohmann-json3-dev libcli11-dev libfmt-dev libsqlite3-dev libisl-dev libmpfr-dev
  libvalijson-dev
  libcurl4-openssl-dev
  # The agent's products of matrices; without it our own loops compute them, slower.
  libdnnl-dev
  # Other machines: compilers for their runners, emulators, models, the way in by JTAG.
  gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
  gcc-aarch64-linux-gnu libc6-dev-arm64-cross
  gcc-arm-linux-gnueabihf libc6-dev-armhf-cross
  qemu-user qemu-system-misc qemu-system-arm verilator openocd
)
if [ "${1:-}" = peers ]; then
  packages+=(libopenblas-dev libxsmm-dev libeigen3-dev)
fi

say() { printf 'setup: %s\n' "$*"; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "these packages are missing and installing them needs root: ${missing[*]}" >&2
    exit 1
  fi
}

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

if ! command -v apt-get >/dev/null; then
  say "this script installs Debian packages, and there is no apt-get here; install by hand:" \
    "${packages[*]} and LLVM 19 or newer with its development files" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done

# LLVM 22 where it is to be had; 19 and newer are accepted. With it clang-tidy of that version,
# clang with its libFuzzer, and the linker of bare-metal images.
companions() {
  printf '%s\n' "clang-tidy-$llvm" "clang-$llvm" "libclang-rt-$llvm-dev" "lld-$llvm"
}
llvm=""
for version in 22 21 20 19; do
  if installed "llvm-$version-dev"; then
    llvm=$version
    break
  fi
done

if [ -n "$llvm" ]; then
  for package in $(companions); do
    installed "$package" || missing+=("$package")
  done
fi

if [ ${#missing[@]} -eq 0 ] && [ -n "$llvm" ]; then
  say "everything is here (LLVM $llvm)"
  exit 0
fi

say "updating the package lists"
as_root apt-get update -qq
if [ -z "$llvm" ]; then
  for version in 22 21 20 19; do
    if apt-cache policy "llvm-$version-dev" | grep -q 'Candidate: [0-9]'; then
      llvm=$version
      mapfile -t -O "${#missing[@]}" missing < <(echo "llvm-$llvm-dev" && companions)
      break
    fi
  done
  if [ -z "$llvm" ]; then
    say "no package llvm-N-dev with N of 19 or more is to be had here" >&2
    exit 1
  fi
fi
say "installing: ${missing[*]}"
as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
say "done (LLVM $llvm)"
