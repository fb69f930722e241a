// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "console.h"

#include <cerrno>

#include <poll.h>
#include <unistd.h>

namespace dojo::rtl {

namespace {

constexpr int kPatience = 32;  ///< Looks in vain, one after another.
constexpr int kPause = 50;     ///< Milliseconds.

}  // namespace

Console& Console::instance() {
  static Console console;
  return console;
}

void Console::flush() {
  std::size_t done = 0;
  while (done < out_.size()) {
    const ssize_t wrote = write(STDOUT_FILENO, out_.data() + done, out_.size() - done);
    if (wrote < 0 && errno != EINTR) break;  // Nobody listens any more.
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  out_.clear();
}

void Console::exchange(int milliseconds) {
  flush();
  if (!open_ || ended_ || at_ != in_.size()) return;
  pollfd wait = {STDIN_FILENO, POLLIN, 0};
  if (poll(&wait, 1, milliseconds) <= 0) return;
  in_.resize(4096);
  at_ = 0;
  const ssize_t got = read(STDIN_FILENO, in_.data(), in_.size());
  in_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (got == 0 || (got < 0 && errno != EINTR)) ended_ = true;
}

std::uint64_t Console::vainLooks() {
  const std::uint64_t out = vain_;
  vain_ = 0;
  return out;
}

void Console::put(char character) {
  row_ = 0;
  out_ += character;
  if (out_.size() >= 4096) flush();
}

int Console::peek() {
  if (at_ == in_.size()) {
    ++vain_;
    // Who looks again and again does nothing else: the machine stands still until something comes.
    if (++row_ >= kPatience && open_ && waits_) {
      row_ = 0;
      exchange(kPause);
    }
  }
  return at_ < in_.size() ? static_cast<unsigned char>(in_[at_]) : -1;
}

void Console::take() {
  ++at_;
  row_ = 0;
}

}  // namespace dojo::rtl

extern "C" void console_put(unsigned char character) {
  dojo::rtl::Console::instance().put(static_cast<char>(character));
}
extern "C" int console_peek() { return dojo::rtl::Console::instance().peek(); }
extern "C" void console_take() { dojo::rtl::Console::instance().take(); }
