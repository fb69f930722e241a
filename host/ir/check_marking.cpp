// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "ir/check_internal.h"
#include "ir/print.h"
#include "ir/storage.h"

namespace dojo::ir {

namespace {

/// Executes the program, knowing of each element of storage only as which element of which buffer
/// it has been written.
class Marking {
 public:
  Marking(const Accesses& accesses, std::int64_t budget)
      : accesses_(accesses), program_(accesses.program()), budget_(budget) {
    written_.resize(program_.buffers.size());
    const std::vector<std::int64_t> sizes = storageSizes(program_);
    for (std::size_t id = 0; id < program_.buffers.size(); ++id) {
      const Buffer& buffer = program_.buffers[id];
      if (!tracked(buffer) || buffer.shares >= 0) continue;
      storage_ += sizes[id];
      if (storage_ > budget) return;
      written_[id].assign(static_cast<std::size_t>(sizes[id]), Held{});
    }
  }

  [[nodiscard]] Status run() {
    if (storage_ > budget_) return undecided();
    for (const Site& site : accesses_.all()) {
      if (site.node->isScope()) return undecided();
    }
    nodes(program_.body);
    if (error_) return *error_;
    return outs();
  }

 private:
  /// What an element of storage holds.
  struct Held {
    BufferId buffer = -1;      ///< -1: nothing yet.
    std::int64_t element = 0;  ///< In row-major order of the buffer's indices.
    bool operator==(const Held&) const = default;
  };
  struct Place {
    std::int64_t offset = 0, element = 0;
  };

  [[nodiscard]] static bool tracked(const Buffer& buffer) {
    return buffer.role == Role::tmp || buffer.role == Role::out;
  }

  [[nodiscard]] Error undecided() const {
    return Error{"check.undecided",
                 "whether every element is written before it is read was not "
                 "decided",
                 "", ""};
  }

  void nodes(const std::vector<Node>& body) {
    path_.push_back(0);
    for (std::size_t i = 0; i < body.size() && !error_; ++i) {
      path_.back() = static_cast<int>(i);
      const Guard& guard = body[i].guard;
      if (--budget_ < 0) error_ = undecided();
      const bool on = std::all_of(guard.begin(), guard.end(), [&](const GuardTerm& term) {
        const std::int64_t value = term.expr.evaluate(variables_);
        return value >= term.lo && value < term.hi;
      });
      if (on && !error_) node(body[i]);
    }
    path_.pop_back();
  }

  void node(const Node& at) {
    if (at.isLeaf()) {
      forEachAccess(at, [&](const Access& access, Touch how) { touch(access, how); });
      return;
    }
    const Scope& scope = at.scope();
    const auto depth = static_cast<int>(variables_.size());
    variables_.push_back(0);
    for (std::int64_t i = 0; i < scope.extent.count && !error_; ++i) {
      variables_.back() = i;
      if (scope.mapping.concurrent()) renewPrivates(depth);
      nodes(scope.body);
    }
    variables_.pop_back();
  }

  void renewPrivates(int depth) {
    for (std::size_t id = 0; id < program_.buffers.size(); ++id) {
      const std::vector<int>& depths = accesses_.privateDepths(static_cast<BufferId>(id));
      if (depths.empty() || depths.back() != depth) continue;
      const Path& use = accesses_.of(static_cast<BufferId>(id)).front()->path;
      if (!std::equal(path_.begin(), path_.end(), use.begin())) continue;
      std::fill(written_[id].begin(), written_[id].end(), Held{});
    }
  }

  void touch(const Access& access, Touch how) {
    const auto id = static_cast<std::size_t>(access.buffer);
    const Buffer& buffer = program_.buffers[id];
    if (!tracked(buffer) || error_) return;
    places_.assign(1, {});
    const std::vector<std::int64_t> strides = buffer.strides();
    for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
      const Index& index = access.indices[d];
      const std::int64_t first = index.isGather() ? program_.buffer(index.gather).values->lo
                                                  : index.affine.evaluate(variables_);
      const std::int64_t last =
          index.isGather() ? program_.buffer(index.gather).values->hi - 1 : first;
      budget_ -= last - first;
      if (budget_ < 0) {
        error_ = undecided();
        return;
      }
      const std::size_t count = places_.size();
      const Dim& dim = buffer.dims[d];
      for (std::int64_t value = first; value <= last; ++value) {
        const std::int64_t shift = strides[d] * (dim.fold == 0 ? value : value % dim.fold);
        for (std::size_t i = 0; i < count; ++i) {
          places_.push_back({places_[i].offset + shift, places_[i].element * dim.extent + value});
        }
      }
      places_.erase(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    std::vector<Held>& written =
        written_[static_cast<std::size_t>(program_.storageOf(access.buffer))];
    for (const Place& place : places_) {
      Held& held = written[static_cast<std::size_t>(place.offset)];
      const Held wanted{access.buffer, place.element};
      if (how == Touch::write) {
        held = wanted;
      } else if (held != wanted) {
        error_ = errorAt(program_, path_, "check.unwritten-read",
                         fmt::format("{} is read {}{}", printAccess(program_, access),
                                     since(held, access.buffer), where()));
        return;
      }
    }
  }

  [[nodiscard]] std::string since(const Held& held, BufferId read) const {
    if (held.buffer < 0) return "before it is written";
    const std::string& other = program_.buffer(held.buffer).name;
    return fmt::format("after {} was written to its storage",
                       held.buffer == read ? "another element" : other);
  }

  [[nodiscard]] std::string where() const {
    std::string out;
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      out += fmt::format("{}{{{}}} = {}", k == 0 ? ", where " : ", ", k, variables_[k]);
    }
    return out;
  }

  [[nodiscard]] Status outs() const {
    for (std::size_t id = 0; id < program_.buffers.size(); ++id) {
      const Buffer& buffer = program_.buffers[id];
      if (buffer.role != Role::out) continue;
      const std::vector<std::int64_t> strides = buffer.strides();
      std::vector<std::int64_t> index(buffer.dims.size(), 0);
      for (std::int64_t n = 0; n < buffer.logicalElements(); ++n) {
        std::int64_t at = 0;
        for (std::size_t d = 0; d < index.size(); ++d) at += strides[d] * index[d];
        if (written_[id][static_cast<std::size_t>(at)].buffer < 0) {
          return Error{"check.unwritten-out",
                       fmt::format("{}[{}] is never written", buffer.name, fmt::join(index, ", ")),
                       declarationLine(static_cast<BufferId>(id)), ""};
        }
        for (std::size_t d = index.size(); d-- > 0;) {
          if (++index[d] < buffer.dims[d].extent) break;
          index[d] = 0;
        }
      }
    }
    return {};
  }

  const Accesses& accesses_;
  const Program& program_;
  std::int64_t budget_;
  std::int64_t storage_ = 0;
  std::vector<std::vector<Held>> written_;  ///< By storage.
  std::vector<std::int64_t> variables_;
  std::vector<Place> places_;  ///< That one access may touch.
  Path path_;
  std::optional<Error> error_;
};

}  // namespace

Status checkWrittenByMarking(const Accesses& accesses, std::int64_t budget) {
  return Marking(accesses, budget).run();
}

}  // namespace dojo::ir
