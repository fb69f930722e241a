// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "check_brute.h"

#include <algorithm>
#include <map>

#include "ir/tree.h"

namespace dojo::test {

using namespace dojo::ir;

namespace {

bool outOfBounds(const Program& program, const Event& event) {
  const Buffer& buffer = program.buffer(event.site->access.buffer);
  for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
    for (const std::int64_t index : event.logical[d]) {
      if (index < 0 || index >= buffer.dims[d].extent) return true;
    }
  }
  return false;
}

bool breaksMapping(const Accesses& accesses, const std::vector<Event>& events, const Visit& scope) {
  const std::size_t depth = scope.enclosing.size();
  std::vector<const Event*> inside;
  for (const Event& event : events) {
    const auto& around = event.site->enclosing;
    if (around.size() > depth && around[depth] == scope.node) inside.push_back(&event);
  }
  const auto sameOuter = [&](const Event& a, const Event& b) {
    return std::equal(a.variables.begin(), a.variables.begin() + static_cast<std::ptrdiff_t>(depth),
                      b.variables.begin());
  };
  const bool vector = scope.node->scope().mapping.has(MapKind::vector);
  for (const Event* a : inside) {
    for (const Event* b : inside) {
      const bool writes = a->site->touch == Touch::write || b->site->touch == Touch::write;
      if (!writes || !sameOuter(*a, *b)) continue;
      if (a->variables[depth] == b->variables[depth] || !touchSame(accesses, *a, *b)) continue;
      const bool self = a->site->node == b->site->node && a->site->reduction && b->site->reduction;
      if (!vector || !self) return true;
      // Something else that meets the reduction's accumulators under the same outer iteration?
      for (const Event* own : inside) {
        if (own->site->node != a->site->node || !own->site->reduction) continue;
        for (const Event* other : inside) {
          if (other->site->node == own->site->node && other->site->reduction) continue;
          if (sameOuter(*own, *other) && touchSame(accesses, *own, *other)) return true;
        }
      }
    }
  }
  return false;
}

/// All that the indices of an event may be.
std::vector<std::vector<std::int64_t>> elementsOf(const Event& event) {
  std::vector<std::vector<std::int64_t>> out(1);
  for (const std::set<std::int64_t>& choices : event.logical) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const std::vector<std::int64_t>& indices : out) {
      for (const std::int64_t index : choices) {
        longer.push_back(indices);
        longer.back().push_back(index);
      }
    }
    out = std::move(longer);
  }
  return out;
}

std::int64_t offsetOf(const Buffer& buffer, const std::vector<std::int64_t>& indices) {
  const std::vector<std::int64_t> strides = buffer.strides();
  std::int64_t out = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const std::int64_t fold = buffer.dims[d].fold;
    out += strides[d] * (fold == 0 ? indices[d] : indices[d] % fold);
  }
  return out;
}

std::string brokenDefinition(const Accesses& accesses, const std::vector<Event>& events) {
  const Program& program = accesses.program();
  // Private storage is told apart by the iteration that owns it.
  using Key = std::pair<BufferId, std::vector<std::int64_t>>;
  using Element = std::pair<BufferId, std::vector<std::int64_t>>;
  std::map<Key, Element> written;  // as which element
  const auto key = [&](const Event& event, std::int64_t offset) {
    Key out{program.storageOf(event.site->access.buffer), {offset}};
    const std::vector<int>& depths = accesses.privateDepths(out.first);
    if (!depths.empty()) {
      out.second.insert(out.second.end(), event.variables.begin(),
                        event.variables.begin() + depths.back() + 1);
    }
    return out;
  };
  for (const Event& event : events) {
    const BufferId buffer = event.site->access.buffer;
    const Role role = program.buffer(buffer).role;
    if (role != Role::tmp && role != Role::out) continue;
    for (const std::vector<std::int64_t>& indices : elementsOf(event)) {
      const Key place = key(event, offsetOf(program.buffer(buffer), indices));
      const Element element{buffer, indices};
      if (event.site->touch == Touch::write) {
        written[place] = element;
        continue;
      }
      const auto found = written.find(place);
      if (found == written.end() || found->second != element) return "check.unwritten-read";
    }
  }
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    if (program.buffers[id].role != Role::out) continue;
    const auto count = std::count_if(written.begin(), written.end(), [&](const auto& at) {
      return at.second.first == static_cast<BufferId>(id);
    });
    if (count < program.buffers[id].logicalElements()) return "check.unwritten-out";
  }
  return "";
}

}  // namespace

std::string bruteForceCheck(const Program& program,
                            const std::vector<std::vector<std::int64_t>>& contents) {
  const Accesses accesses(program);
  const std::vector<Event> events = execute(accesses, contents);
  for (const Event& event : events) {
    if (outOfBounds(program, event)) return "check.bounds";
  }
  bool broken = false;
  walk(program, [&](const Visit& at) {
    broken = broken || (at.node->isScope() && at.node->scope().mapping.concurrent() &&
                        breaksMapping(accesses, events, at));
    return true;
  });
  if (broken) return "check.mapping";
  return brokenDefinition(accesses, events);
}

}  // namespace dojo::test
