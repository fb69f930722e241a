// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/faulty.h"

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace dojo::transport {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::string_view kConsole = "[  12.345] a message of the console\r\n";

}  // namespace

struct Faulty::State {
  Make make;
  Faults faults;
  std::mt19937 random;
  std::unique_ptr<Transport> inner;
  std::deque<std::byte> ready;
  Bytes partial, lateIn, lateOut;
  int framesLeft = -1;  ///< Until it dies; below 0: it doesn't.
  std::int64_t spoiled = 0, died = 0;

  State(Make maker, const Faults& what) : make(std::move(maker)), faults(what), random(what.seed) {}

  void forget() {
    ready.clear();
    partial.clear();
    lateIn.clear();
    lateOut.clear();
  }

  /// What arrives of a frame; `late`: the one that was held back in this direction.
  Bytes spoil(Bytes frame, Bytes& late) {
    Bytes out;
    const bool spoils = std::uniform_real_distribution<>()(random) < faults.rate;
    const std::array weights{faults.flip, faults.drop, faults.twice,
                             faults.late, faults.cut,  faults.text};
    const int kind =
        spoils ? std::discrete_distribution<>(weights.begin(), weights.end())(random) : -1;
    spoiled += spoils ? 1 : 0;
    const std::size_t at = random() % frame.size();
    switch (kind) {
      case 0:
        frame[at] ^= static_cast<std::byte>(1U << random() % 8);
        break;
      case 1:
        frame.clear();
        break;
      case 2:
        out = frame;
        break;
      case 3:
        if (late.empty()) {
          late = std::move(frame);
          return out;
        }
        break;
      case 4:
        frame.resize(at);
        break;
      case 5: {
        const auto* first = reinterpret_cast<const std::byte*>(kConsole.data());
        frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(at), first,
                     first + kConsole.size());
        break;
      }
      default:
        break;
    }
    out.insert(out.end(), frame.begin(), frame.end());
    out.insert(out.end(), late.begin(), late.end());
    late.clear();
    return out;
  }

  void take(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      partial.push_back(byte);
      if (byte != std::byte{0} || partial.size() < 2) continue;
      if (framesLeft == 0) return;  // it died before this one
      if (framesLeft > 0) --framesLeft;
      const Bytes some = spoil(std::exchange(partial, {}), lateIn);
      ready.insert(ready.end(), some.begin(), some.end());
    }
  }

  void line(std::size_t bytes) const {
    if (faults.baud > 0) systemClock().sleep(static_cast<double>(bytes) * 10 / faults.baud);
  }
};

Faulty::Faulty(Make make, const Faults& faults)
    : state_(std::make_unique<State>(std::move(make), faults)) {}
Faulty::~Faulty() = default;

void Faulty::dieAfter(int frames) { state_->framesLeft = frames; }
std::int64_t Faulty::spoiled() const { return state_->spoiled; }
std::int64_t Faulty::died() const { return state_->died; }

Status Faulty::open() {
  state_->forget();
  state_->framesLeft = -1;
  state_->inner = state_->make();
  return state_->inner->open();
}

Status Faulty::recover() { return open(); }

Status Faulty::send(std::span<const std::byte> bytes, double seconds) {
  if (!state_->inner) return Error{"link.ended", "the device was killed"};
  const Bytes some = state_->spoil({bytes.begin(), bytes.end()}, state_->lateOut);
  state_->line(some.size());
  return state_->inner->send(some, seconds);
}

Result<std::size_t> Faulty::receive(std::span<std::byte> into, double seconds) {
  State& s = *state_;
  if (s.ready.empty()) {
    if (s.framesLeft == 0) {
      s.framesLeft = -1;
      s.inner.reset();
      s.forget();
      ++s.died;
    }
    if (!s.inner) return Error{"link.ended", "the device was killed"};
    std::array<std::byte, 4096> chunk;
    auto got = s.inner->receive(chunk, seconds);
    if (!got) return got;
    s.line(*got);
    s.take(std::span(chunk).first(*got));
  }
  const std::size_t count = std::min(into.size(), s.ready.size());
  std::copy_n(s.ready.begin(), count, into.begin());
  s.ready.erase(s.ready.begin(), s.ready.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

int Faulty::depth() const { return state_->inner ? state_->inner->depth() : 1; }

double Faulty::lineSeconds(std::size_t bytes) const {
  if (state_->faults.baud > 0) return static_cast<double>(bytes) * 10 / state_->faults.baud;
  return state_->inner ? state_->inner->lineSeconds(bytes) : 0;
}

std::string Faulty::describe() const {
  return state_->inner ? state_->inner->describe() : std::string("a killed device");
}

}  // namespace dojo::transport
