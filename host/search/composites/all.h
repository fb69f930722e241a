// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Every composite, one file each.
#pragma once

#include "search/composite.h"

namespace dojo::search::composite {

const Composite* registerBlock();
const Composite* vectorizeLoop();
const Composite* fuse();
const Composite* localize();
const Composite* tile();
const Composite* turn();
const Composite* deinterleave();
const Composite* unrollBy();
const Composite* parallelizeBy();
const Composite* streamNest();
const Composite* streamSum();
const Composite* streamMap();
const Composite* streamPairs();
const Composite* padReads();
const Composite* instruct();

}  // namespace dojo::search::composite
