// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A transport over another one that spoils what goes through, by a seed: for tests of the link.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "transport/transport.h"

namespace dojo::transport {

/// Each frame, in either direction, is spoiled with probability `rate`, in one of the ways that
/// have a weight.
struct Faults {
  double rate = 0;
  double flip = 1;   ///< A bit.
  double drop = 1;   ///< The frame.
  double twice = 1;  ///< It comes again at once.
  double late = 1;   ///< It comes after the next one.
  double cut = 1;    ///< Its end is missing.
  double text = 1;   ///< The console prints in between.
  int baud = 0;      ///< The line takes as long as at this speed; 0: no time.
  unsigned seed = 1;
};

class Faulty : public Transport {
 public:
  using Make = std::function<std::unique_ptr<Transport>()>;
  Faulty(Make make, const Faults& faults);
  ~Faulty() override;

  /// The device dies once so many more frames have come from it: its process is ended.
  void dieAfter(int frames);
  [[nodiscard]] std::int64_t spoiled() const;
  [[nodiscard]] std::int64_t died() const;

  Status open() override;
  Status send(std::span<const std::byte> bytes, double seconds) override;
  Result<std::size_t> receive(std::span<std::byte> into, double seconds) override;
  Status recover() override;
  int depth() const override;
  double lineSeconds(std::size_t bytes) const override;
  std::string describe() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dojo::transport
