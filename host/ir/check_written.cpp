// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "ir/check_cover.h"
#include "ir/check_internal.h"
#include "ir/print.h"

namespace dojo::ir {

namespace {

constexpr int kQuestions = 2000;                        ///< To the solver, for one read.
constexpr int kAllQuestions = 200000;                   ///< For one program.
constexpr std::int64_t kLooks = std::int64_t{1} << 24;  ///< At writes, for one program.
constexpr std::int64_t kMarkedNodes = std::int64_t{1} << 22;

enum class Verdict : std::uint8_t { written, unwritten, undecided };

/// For readAfter: any element of another buffer.
constexpr int kOtherBuffer = -1;

/// Takes away from the executions of a read those that one write after another covers; what is left
/// over has not been written.
class Prover {
 public:
  explicit Prover(const Accesses& accesses) : accesses_(accesses), program_(accesses.program()) {}

  [[nodiscard]] Verdict read(const Site& site) {
    start(site);
    collectEarlier(site);
    return looks_ < 0 ? Verdict::undecided : prove();
  }

  /// The read after a write of another element to the same storage, of another buffer or with
  /// another index in the folded dim `dim`: is it written again between?
  [[nodiscard]] Verdict readAfter(const Site& read, const Site& other, int dim = kOtherBuffer) {
    if (--looks_ < 0) return Verdict::undecided;
    dim_ = dim;
    const int shared = sharedDepth(read, other);
    Verdict verdict = Verdict::written;
    const auto level = static_cast<std::size_t>(shared);
    if (other.path[level] < read.path[level]) verdict = readAfter(read, other, shared, false);
    for (int k = shared - 1; k >= floorOf(read) && verdict == Verdict::written; --k) {
      // Rule 4 keeps iterations of a concurrent scope apart.
      if (!isConcurrent(read, k)) verdict = readAfter(read, other, k, true);
    }
    return verdict;
  }

  /// Every element of an out at the end.
  [[nodiscard]] Verdict out(BufferId id) {
    reading_ = {};
    system_.clear();
    for (const Dim& dim : program_.buffer(id).dims) {
      reading_.element.emplace_back().add(system_.variable(0, dim.extent - 1), 1);
    }
    earlier_.clear();
    for (const Site* site : accesses_.of(id)) {
      if (site->touch == Touch::write) earlier_.push_back({site, 0, false});
    }
    return prove();
  }

 private:
  void start(const Site& site) {
    reading_ = {};
    reading_.site = &site;
    reading_.instance.site = &site;
    system_.clear();
    addVariables(system_, program_, reading_.instance);
    addGuards(system_, reading_.instance);
    for (std::size_t d = 0; d < site.access.indices.size(); ++d) {
      addIndex(system_, program_, reading_.instance, d, reading_.element.emplace_back());
    }
  }

  /// The same for executions of `other` that agree with the read in the variables of depths <
  /// `shared` and (`carried`) are from an earlier iteration at that depth.
  [[nodiscard]] Verdict readAfter(const Site& read, const Site& other, int shared, bool carried) {
    const auto relations = carried ? equalThen(shared, {Relation::less}) : equalThen(shared, {});
    if (sameIndex(read, other, shared)) return Verdict::written;
    if (meetIfShared(accesses_, other, read, relations) == Answer::no) return Verdict::written;
    if (dim_ == kOtherBuffer) return readAfterOther(read, other, shared, carried);
    for (const bool below : {true, false}) {
      below_ = below;
      const Verdict verdict = readAfterOther(read, other, shared, carried);
      if (verdict != Verdict::written) return verdict;
    }
    return Verdict::written;
  }

  /// True where the two can't differ in dim_.
  [[nodiscard]] bool sameIndex(const Site& read, const Site& other, int shared) const {
    if (dim_ == kOtherBuffer) return false;
    const Index& a = read.access.indices[static_cast<std::size_t>(dim_)];
    const Index& b = other.access.indices[static_cast<std::size_t>(dim_)];
    if (a.isGather() || b.isGather() || !(a.affine == b.affine)) return false;
    const auto& terms = a.affine.terms();
    return terms.empty() || terms.back().var < shared;
  }

  [[nodiscard]] Verdict readAfterOther(const Site& read, const Site& other, int shared,
                                       bool carried) {
    start(read);
    other_.site = &other;
    std::copy_n(reading_.instance.variables.begin(), shared, other_.variables.begin());
    addVariables(system_, program_, other_, shared);
    addGuards(system_, other_, shared);
    if (carried) {
      const int mine = reading_.instance.variable(shared);
      system_.constrain({{other_.variable(shared), 1}, {mine, -1}}, -System::kInfinity, -1);
    }
    if (!addSameStorage(system_, program_, other_, reading_.instance, &reading_.element)) {
      return Verdict::written;
    }
    if (dim_ != kOtherBuffer) {
      const auto d = static_cast<std::size_t>(dim_);
      Sum difference;
      addIndex(system_, program_, other_, d, difference);
      difference.add(reading_.element[d], -1);
      if (below_) {
        difference.constrain(system_, -System::kInfinity, -1);
      } else {
        difference.constrain(system_, 1, System::kInfinity);
      }
      if (system_.refuted()) return Verdict::written;
    }
    collectEarlier(read);
    if (looks_ < 0) return Verdict::undecided;
    std::vector<EarlierWrites> all = std::move(earlier_);
    earlier_.clear();
    for (const EarlierWrites& earlier : all) collectAfter(earlier);
    return prove();
  }

  /// Those of the writes that also come after other_.
  void collectAfter(EarlierWrites writes) {
    const Site& write = *writes.write;
    const int shared = sharedDepth(write, *other_.site);
    const auto level = static_cast<std::size_t>(shared);
    writes.after = &other_;
    writes.afterShared = shared;
    if (other_.site->path[level] < write.path[level]) earlier_.push_back(writes);
    writes.afterCarried = true;
    for (int k = shared - 1; k >= floorOf(write); --k) {
      writes.afterShared = k;
      if (!isConcurrent(write, k)) earlier_.push_back(writes);
    }
  }

  /// Private storage is new in every iteration of the scopes above this depth.
  [[nodiscard]] int floorOf(const Site& site) const {
    const std::vector<int>& privates = accesses_.privateDepths(site.access.buffer);
    return privates.empty() ? 0 : privates.back() + 1;
  }
  static bool isConcurrent(const Site& site, int depth) {
    return site.enclosing[static_cast<std::size_t>(depth)]->scope().mapping.concurrent();
  }

  /// What may have been executed before the read: writes that stand before it, the nearest first,
  /// then those of earlier iterations, innermost scope first.
  void collectEarlier(const Site& read) {
    earlier_.clear();
    const auto& sites = accesses_.of(read.access.buffer);
    looks_ -= static_cast<std::int64_t>(sites.size());
    if (looks_ < 0) return;
    int deepest = 0;
    for (auto at = sites.rbegin(); at != sites.rend(); ++at) {
      if ((*at)->touch != Touch::write) continue;
      const int shared = sharedDepth(read, **at);
      deepest = std::max(deepest, shared);
      const auto level = static_cast<std::size_t>(shared);
      if ((*at)->path[level] < read.path[level]) earlier_.push_back({*at, shared, false});
    }
    for (int k = deepest - 1; k >= floorOf(read); --k) {
      // Rule 4 leaves no value to take from another iteration of a concurrent scope.
      if (isConcurrent(read, k)) continue;
      for (const Site* site : sites) {
        if (site->touch == Touch::write && sharedDepth(read, *site) > k) {
          earlier_.push_back({site, k, true});
        }
      }
    }
  }

  static int sharedDepth(const Site& a, const Site& b) {
    const std::size_t most = std::min(a.enclosing.size(), b.enclosing.size());
    std::size_t k = 0;
    while (k < most && a.enclosing[k] == b.enclosing[k]) ++k;
    return static_cast<int>(k);
  }

  [[nodiscard]] Answer ask() {
    if (system_.refuted()) return Answer::no;
    if (--questions_ < 0) return Answer::unknown;
    return system_.feasible();
  }

  [[nodiscard]] Verdict prove() {
    questions_ = std::min(kQuestions, left_);
    left_ -= questions_;
    const Verdict verdict = prove(0, true, true);
    left_ += std::max(questions_, 0);
    return verdict;
  }

  /// Is the read written on every execution that the system still allows, by earlier_[next...]?
  /// `exact`: what was taken away so far is all that the writes before `next` have written.
  [[nodiscard]] Verdict prove(std::size_t next, bool exact, bool first) {
    if (system_.refuted()) return Verdict::written;
    Answer open = Answer::unknown;
    if (!first) {
      open = ask();
      if (open == Answer::no) return Verdict::written;
    }
    const System::Mark start = system_.mark();
    for (; next < earlier_.size() && questions_ >= 0; ++next) {
      Cover cover = coverOf(system_, program_, reading_, earlier_[next]);
      exact = exact &&
              (cover.kind == Cover::Kind::exact ||
               (cover.kind == Cover::Kind::sufficient && !cover.never && cover.conditions.empty()));
      if (cover.kind != Cover::Kind::unknown && !cover.never) {
        if (cover.conditions.empty()) {
          system_.rewind(start);
          return Verdict::written;
        }
        if (covers(cover)) {
          const Verdict verdict = proveRest(cover, next + 1, exact);
          system_.rewind(start);
          return verdict;
        }
      }
      system_.rewind(start);
    }
    if (first) open = ask();
    if (open == Answer::no) return Verdict::written;
    return open == Answer::yes && exact && next == earlier_.size() ? Verdict::unwritten
                                                                   : Verdict::undecided;
  }

  /// True where the cover may hold for some execution that is still open.
  [[nodiscard]] bool covers(const Cover& cover) {
    const System::Mark mark = system_.mark();
    for (const Sum& sum : cover.conditions) sum.constrain(system_, 0, System::kInfinity);
    const Answer answer = ask();
    system_.rewind(mark);
    return answer != Answer::no;
  }

  /// The executions for which the cover doesn't hold: its first condition fails, or the first holds
  /// and the second fails, and so on.
  [[nodiscard]] Verdict proveRest(const Cover& cover, std::size_t next, bool exact) {
    for (const Sum& sum : cover.conditions) {
      const System::Mark mark = system_.mark();
      sum.constrain(system_, -System::kInfinity, -1);
      const Verdict verdict = prove(next, exact, false);
      system_.rewind(mark);
      if (verdict != Verdict::written) return verdict;
      sum.constrain(system_, 0, System::kInfinity);
    }
    return Verdict::written;
  }

  const Accesses& accesses_;
  const Program& program_;
  System system_;
  Reading reading_;
  Instance other_;          ///< A write of another element in the same storage.
  int dim_ = kOtherBuffer;  ///< Where its index differs.
  bool below_ = false;      ///< And on which side.
  std::vector<EarlierWrites> earlier_;
  int questions_ = 0;  ///< Left for this read.
  int left_ = kAllQuestions;
  std::int64_t looks_ = kLooks;
};

/// True where a body around the read has always written the very element that it reads, and nothing
/// of the buffer that may come between writes another: what most values are.
bool justWritten(const Accesses& accesses, const Site& read) {
  const std::vector<const Site*>& sites = accesses.of(read.access.buffer);
  const auto before = std::find_if(sites.rbegin(), sites.rend(), [&](const Site* site) {
    return site->touch == Touch::write && site->path < read.path;
  });
  if (before == sites.rend()) return false;
  const Site& write = **before;
  const std::size_t level = write.enclosing.size();
  const bool around =
      read.enclosing.size() >= level &&
      std::equal(write.enclosing.begin(), write.enclosing.end(), read.enclosing.begin());
  if (!around || !write.node->guard.empty() || !(write.access == read.access)) return false;
  for (const Index& index : read.access.indices) {
    const auto& terms = index.affine.terms();
    if (index.isGather() || (!terms.empty() && terms.back().var >= static_cast<int>(level))) {
      return false;
    }
  }
  return std::all_of(sites.begin(), sites.end(), [&](const Site* site) {
    const bool between =
        site->path.size() > level &&
        std::equal(read.path.begin(), read.path.begin() + static_cast<std::ptrdiff_t>(level) + 1,
                   site->path.begin());
    return !between || site->touch != Touch::write || site->access == read.access;
  });
}

bool mustBeWritten(const Buffer& buffer) {
  return buffer.role == Role::tmp || buffer.role == Role::out;
}

/// The reads of one buffer and the writes of the others in the same storage.
struct Storage {
  std::vector<const Site*> reads, writes;
};

/// checkSharing() of one storage without a last resort; `undecided` is set where one is needed.
Status sharing(const Program& program, const Storage& storage, Prover& prover, bool& undecided) {
  for (const Site* read : storage.reads) {
    for (const Site* write : storage.writes) {
      if (write->access.buffer == read->access.buffer) continue;
      const Verdict verdict = prover.readAfter(*read, *write);
      undecided = undecided || verdict == Verdict::undecided;
      if (verdict != Verdict::unwritten) continue;
      return errorAt(
          program, read->path, "check.unwritten-read",
          fmt::format("{} is read after {} may have been written to its storage",
                      printAccess(program, read->access), printAccess(program, write->access)));
    }
  }
  return {};
}

void add(Storage& storage, const Site& site) {
  (site.touch == Touch::read ? storage.reads : storage.writes).push_back(&site);
}

Status sharing(const Accesses& accesses, Prover& prover, bool& undecided) {
  const Program& program = accesses.program();
  if (!program.hasSharing()) return {};
  std::map<BufferId, Storage> storages;
  for (const Site& site : accesses.all()) {
    add(storages[program.storageOf(site.access.buffer)], site);
  }
  for (const auto& [id, storage] : storages) {
    if (Status status = sharing(program, storage, prover, undecided); !status) return status;
  }
  return {};
}

/// Rule 2 as far as folded dims lose values: a read gets what was written for the same index.
Status folding(const Accesses& accesses, Prover& prover, bool& undecided) {
  const Program& program = accesses.program();
  for (const Site& read : accesses.all()) {
    const Buffer& buffer = program.buffer(read.access.buffer);
    if (read.touch != Touch::read || !mustBeWritten(buffer)) continue;
    for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
      const Dim& dim = buffer.dims[d];
      if (dim.fold == 0 || dim.fold >= dim.extent) continue;
      if (justWritten(accesses, read)) break;
      for (const Site* write : accesses.of(read.access.buffer)) {
        if (write->touch != Touch::write) continue;
        const Verdict verdict = prover.readAfter(read, *write, static_cast<int>(d));
        undecided = undecided || verdict == Verdict::undecided;
        if (verdict != Verdict::unwritten) continue;
        return errorAt(program, read.path, "check.unwritten-read",
                       fmt::format("{} is read after another element may have been written to its "
                                   "storage",
                                   printAccess(program, read.access)));
      }
    }
  }
  return {};
}

}  // namespace

Status checkSharing(const Accesses& accesses) {
  Prover prover(accesses);
  bool undecided = false;
  if (Status status = sharing(accesses, prover, undecided); !status) return status;
  return undecided ? checkWrittenByMarking(accesses, kMarkedNodes) : Status();
}

Status checkSharing(const Accesses& accesses, BufferId a, BufferId b, bool& undecided) {
  const Program& program = accesses.program();
  Storage storage;
  for (const Site& site : accesses.all()) {
    const BufferId id = program.storageOf(site.access.buffer);
    if (id == program.storageOf(a) || id == program.storageOf(b)) add(storage, site);
  }
  Prover prover(accesses);
  return sharing(program, storage, prover, undecided);
}

Status checkWritten(const Accesses& accesses) {
  const Program& program = accesses.program();
  Prover prover(accesses);
  bool undecided = false;
  for (const Site& site : accesses.all()) {
    if (site.touch != Touch::read || !mustBeWritten(program.buffer(site.access.buffer))) continue;
    if (justWritten(accesses, site)) continue;
    const Verdict verdict = prover.read(site);
    undecided = undecided || verdict == Verdict::undecided;
    if (verdict == Verdict::unwritten) {
      return errorAt(
          program, site.path, "check.unwritten-read",
          fmt::format("{} is read before it is written", printAccess(program, site.access)));
    }
  }
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    if (program.buffers[id].role != Role::out) continue;
    const Verdict verdict = prover.out(static_cast<BufferId>(id));
    undecided = undecided || verdict == Verdict::undecided;
    if (verdict == Verdict::unwritten) {
      return Error{"check.unwritten-out",
                   fmt::format("some element of {} is never written", program.buffers[id].name),
                   declarationLine(static_cast<BufferId>(id)), ""};
    }
  }
  if (Status status = sharing(accesses, prover, undecided); !status) return status;
  if (Status status = folding(accesses, prover, undecided); !status) return status;
  return undecided ? checkWrittenByMarking(accesses, kMarkedNodes) : Status();
}

}  // namespace dojo::ir
