// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The source for which the precompiled Catch2 header is made that all tests reuse.
#include <catch2/catch.hpp>
