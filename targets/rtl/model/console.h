// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The characters of console.sv, joined to this process's standard streams.
#pragma once

#include <cstdint>
#include <string>

namespace dojo::rtl {

class Console {
 public:
  /// The one that console.sv talks to.
  static Console& instance();

  /// Lets standard input in; without it there is never a character.
  /// waits: software that does nothing but look for one stops the machine until something comes.
  void openInput(bool waits = true) {
    open_ = true;
    waits_ = waits;
  }
  /// Writes what has gathered and takes what has come, waiting at most `milliseconds` for it.
  void exchange(int milliseconds);
  /// Input has ended and all of it was read.
  [[nodiscard]] bool ended() const { return ended_ && at_ == in_.size(); }
  /// How often software looked for a character in vain since this was last asked.
  [[nodiscard]] std::uint64_t vainLooks();

  void put(char character);
  [[nodiscard]] int peek();
  void take();

 private:
  void flush();

  std::string out_, in_;
  std::size_t at_ = 0;
  std::uint64_t vain_ = 0;
  int row_ = 0;  ///< Of looks in vain.
  bool open_ = false;
  bool waits_ = false;
  bool ended_ = false;
};

}  // namespace dojo::rtl
