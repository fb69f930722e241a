// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/check.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/check_internal.h"
#include "ir/dependence_system.h"
#include "ir/print.h"

namespace dojo::ir {

std::string lineText(const Program& program, const Path& path) {
  return fmt::format("line {}", lineOf(program, path));
}

std::string declarationLine(BufferId id) { return fmt::format("line {}", id + 2); }

Error errorAt(const Program& program, const Path& path, std::string code, std::string message) {
  return Error{std::move(code), std::move(message), lineText(program, path), ""};
}

namespace {

/// Pairs of accesses compared for rule 4, so that a large program is answered in seconds.
constexpr std::int64_t kPairs = 4000000;

/// False where the site is proved never to be executed.
bool isExecuted(const Program& program, const Site& site) {
  System system;
  Instance instance;
  instance.site = &site;
  addVariables(system, program, instance);
  addGuards(system, instance);
  return system.feasible() != Answer::no;
}

/// One index (affine) of an access against the extent of its dim.
Status boundsOf(const Accesses& accesses, const Site& site, const Affine& index, std::size_t dim,
                const Buffer& buffer) {
  const Program& program = accesses.program();
  thread_local System system;
  thread_local Sum sum;
  Instance instance;
  instance.site = &site;
  const std::int64_t extent = buffer.dims[dim].extent;
  for (const bool below : {true, false}) {
    system.clear();
    addVariables(system, program, instance);
    sum.clear();
    sum.add(index, instance);
    if (below) {
      sum.constrain(system, -System::kInfinity, -1);
    } else {
      sum.constrain(system, extent, System::kInfinity);
    }
    if (system.refuted()) continue;
    addGuards(system, instance);
    const Answer answer = system.feasible();
    if (answer == Answer::no) continue;
    const std::string side =
        below ? std::string("below 0") : fmt::format("beyond the last, {}", extent - 1);
    if (answer == Answer::yes) {
      return errorAt(
          program, site.path, "check.bounds",
          fmt::format("index {} of {}, {}, can be {}", dim, buffer.name, printAffine(index), side));
    }
    return errorAt(program, site.path, "check.undecided",
                   fmt::format("whether index {} of {}, {}, can be {} was not decided", dim,
                               buffer.name, printAffine(index), side));
  }
  return {};
}

Status gatherBounds(const Accesses& accesses, const Site& site, const Index& index, std::size_t dim,
                    const Buffer& buffer) {
  const Buffer& values = accesses.program().buffer(index.gather);
  const std::int64_t extent = buffer.dims[dim].extent;
  if (values.values->lo >= 0 && values.values->hi <= extent) return {};
  if (!isExecuted(accesses.program(), site)) return {};
  return errorAt(
      accesses.program(), site.path, "check.bounds",
      fmt::format("index {} of {} is gathered from {}, whose declared values [{}, {}) "
                  "aren't all within [0, {})",
                  dim, buffer.name, values.name, values.values->lo, values.values->hi, extent));
}

/// The sites of one storage below a concurrent scope, pair by pair.
class MappingCheck {
 public:
  MappingCheck(const Accesses& accesses, const Visit& scope)
      : accesses_(accesses),
        program_(accesses.program()),
        scope_(scope),
        depth_(static_cast<int>(scope.enclosing.size())),
        otherIteration_(equalThen(depth_, {Relation::different})),
        inside_(equalThen(depth_, {})) {
    const Mapping& mapping = scope.node->scope().mapping;
    handlesReductions_ = mapping.has(MapKind::vector);
    for (const MapKind kind : {MapKind::parallel, MapKind::grid, MapKind::block, MapKind::warp}) {
      handlesReductions_ = handlesReductions_ && !mapping.has(kind);
    }
  }

  /// `pairs` bounds the questions asked, over all scopes of a program.
  [[nodiscard]] Status run(std::int64_t& pairs) const {
    std::vector<const Site*> inside = accesses_.below(scope_.path);
    std::erase_if(inside, [&](const Site* site) {
      return site->enclosing.size() <= scope_.enclosing.size();  // Its own extent.
    });
    const auto storage = [&](const Site* site) { return program_.storageOf(site->access.buffer); };
    std::stable_sort(inside.begin(), inside.end(),
                     [&](const Site* a, const Site* b) { return storage(a) < storage(b); });
    for (auto first = inside.begin(); first != inside.end();) {
      const BufferId here = storage(*first);
      const auto last = std::find_if(first, inside.end(),
                                     [&](const Site* site) { return storage(site) != here; });
      if (Status status = sameStorage({first, last}, pairs); !status) return status;
      first = last;
    }
    return {};
  }

 private:
  [[nodiscard]] Status sameStorage(const std::vector<const Site*>& sites,
                                   std::int64_t& pairs) const {
    const auto writes = [](const Site* site) { return site->touch == Touch::write; };
    if (std::none_of(sites.begin(), sites.end(), writes)) return {};
    for (std::size_t i = 0; i < sites.size(); ++i) {
      for (std::size_t j = i; j < sites.size(); ++j) {
        if (!writes(sites[i]) && !writes(sites[j])) continue;
        if (--pairs < 0) return refuse(*sites[i], *sites[j], Answer::unknown);
        const Answer answer = meet(accesses_, *sites[i], *sites[j], otherIteration_);
        if (answer == Answer::no) continue;
        if (isHandled(*sites[i], *sites[j], sites)) continue;
        return refuse(*sites[i], *sites[j], answer);
      }
    }
    return {};
  }

  /// A reduction's meeting with itself, where nothing else in the scope touches the accumulator.
  [[nodiscard]] bool isHandled(const Site& a, const Site& b,
                               const std::vector<const Site*>& sites) const {
    if (!handlesReductions_ || a.node != b.node || !a.reduction || !b.reduction) return false;
    for (const Site* other : sites) {
      if (other->node == a.node && other->reduction) continue;
      if (meet(accesses_, a, *other, inside_) != Answer::no) return false;
    }
    return true;
  }

  [[nodiscard]] Error refuse(const Site& a, const Site& b, Answer answer) const {
    std::string buffer = program_.buffer(a.access.buffer).name;
    if (a.access.buffer != b.access.buffer) {
      buffer += " and " + program_.buffer(b.access.buffer).name + ", which share storage";
    }
    const std::string scope = printLine(program_, *scope_.node);
    if (answer == Answer::unknown) {
      return errorAt(
          program_, scope_.path, "check.undecided",
          fmt::format("whether iterations of {} meet in {} was not decided", scope, buffer));
    }
    const std::string second =
        a.node == b.node ? "" : fmt::format(" and {}", lineText(program_, b.path));
    return errorAt(program_, scope_.path, "check.mapping",
                   fmt::format("iterations of {} depend on each other through {} ({}{})", scope,
                               buffer, lineText(program_, a.path), second));
  }

  const Accesses& accesses_;
  const Program& program_;
  const Visit& scope_;
  int depth_;
  bool handlesReductions_ = false;
  std::vector<Relation> otherIteration_, inside_;
};

}  // namespace

Status checkBounds(const Accesses& accesses) {
  for (const Site& site : accesses.all()) {
    const Buffer& buffer = accesses.program().buffer(site.access.buffer);
    for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
      const Index& index = site.access.indices[d];
      Status status = index.isGather() ? gatherBounds(accesses, site, index, d, buffer)
                                       : boundsOf(accesses, site, index.affine, d, buffer);
      if (!status) return status;
    }
  }
  return {};
}

Status checkMappings(const Accesses& accesses) {
  Status status;
  std::int64_t pairs = kPairs;
  walk(accesses.program(), [&](const Visit& at) {
    if (!status || !at.node->isScope()) return status.ok();
    const Mapping& mapping = at.node->scope().mapping;
    if (mapping.concurrent()) status = MappingCheck(accesses, at).run(pairs);
    if (status && mapping.has(MapKind::stream)) status = checkStreams(accesses, at);
    if (status && mapping.has(MapKind::dma)) status = checkTransfer(accesses, at);
    return status.ok();
  });
  return status;
}

Status check(const Program& program) {
  if (Status status = checkStructure(program); !status) return status;
  const Accesses accesses(program);
  if (Status status = checkBounds(accesses); !status) return status;
  if (Status status = checkMappings(accesses); !status) return status;
  return checkWritten(accesses);
}

}  // namespace dojo::ir
