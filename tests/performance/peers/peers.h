// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What other libraries have for a kernel of the suite. Row-major buffers in, row-major buffers
/// out: where a library wants another layout, converting is part of its call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dojo::peers {

/// One kernel at one size.
struct Call {
  std::string kernel;
  std::map<std::string, std::int64_t> params;
  std::map<std::string, void*> inputs;  ///< By name; what the peers must not write.
  void* output;                         ///< The kernel's one output; an inout holds its values.

  [[nodiscard]] std::int64_t size(const std::string& param) const { return params.at(param); }
  [[nodiscard]] float* in(const std::string& name) const {
    return static_cast<float*>(inputs.at(name));
  }
  [[nodiscard]] float* out() const { return static_cast<float*>(output); }
};

struct Peer {
  std::string name;
  std::function<void()> run;  ///< Computes all of Call::output.
};

/// Each adds what it has. One thread.
void addBlas(const Call& call, std::vector<Peer>& peers);
void addDnnl(const Call& call, std::vector<Peer>& peers);
void addEigen(const Call& call, std::vector<Peer>& peers);
void addXsmm(const Call& call, std::vector<Peer>& peers);

/// Tells the libraries to keep to one thread; before any call.
void useOneThread();

}  // namespace dojo::peers
