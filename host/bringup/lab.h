// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Runs small programs, written in LLVM's text, on a device that is being brought up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"
#include "transport/device.h"

namespace dojo::bringup {

/// A program's body, between the prologue and "ret void". It finds
///   %params   i64 values that the host wrote
///   %results  i64 values that the host reads
///   %work     memory to work in
/// and may declare functions after it.
struct Snippet {
  std::string body;
  std::string declarations = {};
  std::string features = {};  ///< Beyond the target's: "+zbb".
};

struct Ran {
  std::vector<double> ticks;          ///< Of one call, one a sample; what calling costs subtracted.
  std::vector<std::int64_t> results;  ///< As many as were asked for.
  [[nodiscard]] double best() const;
};

class Lab {
 public:
  /// Errors: "bringup.memory" where code or data regions are missing or too small.
  [[nodiscard]] static Result<Lab> open(const target::Target& target, transport::Device& device);

  struct Run {
    std::vector<std::int64_t> params = {};
    int results = 0;
    std::uint32_t samples = 1;
    std::uint32_t calls = 1;
    std::uint64_t work = 0;   ///< Address of %work; 0: the default.
    double limitSeconds = 0;  ///< 0: what the target gives a CALL.
    int harts = 1;
  };
  /// Compiles, places, calls. Errors: "compile.*", "link.*", "run.*".
  [[nodiscard]] Result<Ran> run(const Snippet& snippet, const Run& how);
  /// The same with what is in %params as bytes, beyond 16 values in %work.
  [[nodiscard]] Status writeWork(std::span<const std::byte> bytes);
  [[nodiscard]] Status readWork(std::span<std::byte> into);

  [[nodiscard]] const target::Target& target() const { return *target_; }
  [[nodiscard]] transport::Device& device() const { return *device_; }
  /// The memory that is free for %work.
  [[nodiscard]] std::uint64_t workBase() const { return work_; }
  [[nodiscard]] std::uint64_t workBytes() const { return workBytes_; }
  /// What of the code region a program may take; the rest is free.
  [[nodiscard]] static constexpr std::uint64_t codeBytes() { return 8192; }
  /// "i32" or "i64": as wide as an address.
  [[nodiscard]] const char* word() const {
    return device_->hello().pointerBytes == 4 ? "i32" : "i64";
  }

 private:
  Lab(const target::Target& target, transport::Device& device)
      : target_(&target), device_(&device) {}
  const target::Target* target_;
  transport::Device* device_;
  std::uint64_t table_ = 0, params_ = 0, results_ = 0, work_ = 0, workBytes_ = 0;
  double empty_ = 0;
};

}  // namespace dojo::bringup
