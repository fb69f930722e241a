// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "codegen/emitter.h"

namespace dojo::codegen {

/// Element i of the result is one lane, the same for all, of slot i: a matrix in registers read
/// across its rows. Rows are interleaved in pairs, pairs in fours, and so on; what further columns
/// of these rows need of that is kept. nullptr where the places are no such column.
Emitter::Value* Emitter::column(ir::BufferId buffer,
                                const llvm::SmallVector<ElementPlace, 16>& places,
                                unsigned height) {
  const std::vector<Slot>& slots = plan_.buffers[static_cast<std::size_t>(buffer)].slots;
  const unsigned width = slots[static_cast<std::size_t>(places[0].slot)].width;
  if (height < 4 || height > width) return nullptr;
  std::vector<int> rows;
  for (const ElementPlace& place : places) {
    const bool again = std::find(rows.begin(), rows.end(), place.slot) != rows.end();
    if (again || place.lane != places[0].lane ||
        slots[static_cast<std::size_t>(place.slot)].width != width) {
      return nullptr;
    }
    rows.push_back(place.slot);
  }
  Interleaved& known = state_.interleaved;
  if (known.buffer != buffer || known.rows != rows || known.block != b_.GetInsertBlock()) {
    known = {buffer, rows, b_.GetInsertBlock(), {}};
  }
  // Of `count` rows from `row` on, the columns around `lane` that fit into a vector: column by
  // column, the elements of the rows.
  const auto interleave = [&](const auto& self, unsigned row, unsigned count,
                              unsigned lane) -> Value* {
    const unsigned columns = width / count;
    Value*& vector = known.vectors[{row, count, lane / columns}];
    if (vector != nullptr) return vector;
    if (row >= rows.size()) {
      return vector = llvm::PoisonValue::get(slot(buffer, rows[0])->getAllocatedType());
    }
    if (count == 1) return vector = loadSlot(buffer, rows[row]);
    const unsigned half = count / 2;
    Value* low = self(self, row, half, lane);
    Value* high = self(self, row + half, half, lane);
    const unsigned first = lane / columns % 2 * columns;
    llvm::SmallVector<int, 64> mask;
    for (unsigned c = 0; c < columns; ++c) {
      for (unsigned r = 0; r < count; ++r) {
        const unsigned from = (first + c) * half + r % half;
        mask.push_back(static_cast<int>(r < half ? from : width + from));
      }
    }
    return vector = b_.CreateShuffleVector(low, high, mask);
  };
  const auto lane = static_cast<unsigned>(places[0].lane);
  Value* vector = interleave(interleave, 0, height, lane);
  if (height == width) return vector;
  llvm::SmallVector<int, 64> mask(height);
  const unsigned first = lane % (width / height) * height;
  for (unsigned k = 0; k < height; ++k) mask[k] = static_cast<int>(first + k);
  return b_.CreateShuffleVector(vector, mask);
}

}  // namespace dojo::codegen
