// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/process.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

namespace dojo {
namespace {

constexpr std::size_t kMostComplaints = 4096;

/// Process groups that live, for killAllProcesses().
std::array<std::atomic<int>, 64> alive{};

void remember(int pid) {
  for (std::atomic<int>& slot : alive) {
    int none = 0;
    if (slot.compare_exchange_strong(none, pid)) return;
  }
}
void forget(int pid) {
  for (std::atomic<int>& slot : alive) {
    int expected = pid;
    if (slot.compare_exchange_strong(expected, 0)) return;
  }
}

/// The cores that we were started with, once keepOff() has narrowed them: children get them all.
cpu_set_t firstAffinity;
std::atomic<bool> affinityChanged{false};

struct Pipe {
  FileDescriptor read, write;
};
Result<Pipe> makePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{"process.start", fmt::format("can't make a pipe: {}", std::strerror(errno))};
  }
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace

Result<std::vector<std::string>> splitWords(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool inWord = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'') {
      if (++i == command.size()) return Error{"process.quote", "a command ends in a backslash"};
      word += command[i];
      inWord = true;
    } else if (quote != 0) {
      word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      inWord = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (inWord) words.push_back(std::move(word));
      word.clear();
      inWord = false;
    } else {
      word += c;
      inWord = true;
    }
  }
  if (quote != 0) {
    return Error{"process.quote", fmt::format("a {} is never closed in: {}", quote, command)};
  }
  if (inWord) words.push_back(std::move(word));
  return words;
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void FileDescriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<Process> Process::start(const std::vector<std::string>& words,
                               const std::vector<int>& inherit) {
  if (words.empty()) return Error{"process.start", "the command is empty"};
  auto in = makePipe();
  auto out = makePipe();
  auto err = makePipe();
  auto report = makePipe();
  for (const auto* made : {&in, &out, &err, &report}) {
    if (!made->ok()) return made->error();
  }
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  static const bool ignored = std::signal(SIGPIPE, SIG_IGN) != SIG_ERR;
  (void)ignored;

  // Not every command ends when its input does (an emulator). The system's way of ending a child
  // with its parent goes by the thread that started it, so that others must leave it.
  const bool forLife = gettid() == getpid();
  const int pid = fork();
  if (pid < 0) {
    return Error{"process.start",
                 fmt::format("can't start '{}': {}", words[0], std::strerror(errno))};
  }
  if (pid == 0) {
    // Only async-signal-safe calls from here: other threads of ours may have held locks.
    dup2(in->read.get(), 0);
    dup2(out->write.get(), 1);
    dup2(err->write.get(), 2);
    for (const int fd : inherit) fcntl(fd, F_SETFD, 0);
    if (forLife) prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);  // a signal from the terminal is ours to handle, and kill() reaches all of it
    if (affinityChanged.load()) sched_setaffinity(0, sizeof firstAffinity, &firstAffinity);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execvp(argv[0], argv.data());
    const int reason = errno;
    (void)!::write(report->write.get(), &reason, sizeof reason);
    _exit(127);
  }
  Process process;
  process.pid_ = pid;
  setpgid(pid, pid);  // whoever comes first
  remember(pid);
  process.in_ = std::move(in->write);
  process.out_ = std::move(out->read);
  process.err_ = std::move(err->read);
  fcntl(process.in_.get(), F_SETFL, O_NONBLOCK);
  fcntl(process.err_.get(), F_SETFL, O_NONBLOCK);
  report->write.reset();
  int reason = 0;
  ssize_t got = 0;
  do {
    got = ::read(report->read.get(), &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof reason) {
    return Error{"process.start",
                 fmt::format("can't start '{}': {}", words[0], std::strerror(reason))};
  }
  return process;
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    kill();
    pid_ = std::exchange(other.pid_, -1);
    ended_ = other.ended_;
    status_ = other.status_;
    in_ = std::move(other.in_);
    out_ = std::move(other.out_);
    err_ = std::move(other.err_);
    complaints_ = std::move(other.complaints_);
  }
  return *this;
}

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Status Process::write(std::span<const std::byte> bytes, double seconds) {
  const double deadline = systemClock().now() + seconds;
  while (!bytes.empty()) {
    const ssize_t count = ::write(in_.get(), bytes.data(), bytes.size());
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      if (!wait(in_.get(), POLLOUT, deadline - systemClock().now())) {
        return Error{"process.timeout",
                     fmt::format("the process took no input for {:.1f} s", seconds)};
      }
    } else if (errno != EINTR) {
      return Error{"process.closed", "the process closed its input"};
    }
  }
  return {};
}

Result<std::size_t> Process::read(std::span<std::byte> into, double seconds) {
  if (!wait(out_.get(), POLLIN, seconds)) return std::size_t{0};
  ssize_t count = 0;
  do {
    count = ::read(out_.get(), into.data(), into.size());
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return Error{"process.closed", "the process closed its output"};
  return static_cast<std::size_t>(count);
}

bool Process::wait(int fd, short events, double seconds) {
  const double deadline = systemClock().now() + seconds;
  while (true) {
    const double left = std::max(0.0, deadline - systemClock().now());
    std::array<pollfd, 2> both{{{.fd = fd, .events = events, .revents = 0},
                                {.fd = err_ ? err_.get() : -1, .events = POLLIN, .revents = 0}}};
    const timespec limit{.tv_sec = static_cast<time_t>(left),
                         .tv_nsec = static_cast<long>((left - static_cast<time_t>(left)) * 1e9)};
    const int ready = ppoll(both.data(), both.size(), &limit, nullptr);
    if (both[0].revents != 0) return true;
    if (ready > 0) {
      hear();
    } else if (ready == 0 || errno != EINTR) {
      return false;
    }
  }
}

void Process::hear() {
  std::array<char, 4096> chunk{};
  ssize_t count = 0;
  do {
    count = ::read(err_.get(), chunk.data(), chunk.size());
  } while (count < 0 && errno == EINTR);
  if (count > 0) {
    complaints_.append(chunk.data(), static_cast<std::size_t>(count));
    if (complaints_.size() > kMostComplaints) {
      complaints_.erase(0, complaints_.size() - kMostComplaints);
    }
  } else if (count == 0 || errno != EAGAIN) {
    err_.reset();
  }
}

std::string Process::complaints() {
  // What a pipe holds and a little more: it may be written to without end.
  constexpr int kMostChunks = 64;
  for (int k = 0; k < kMostChunks && err_; ++k) {
    pollfd poller{.fd = err_.get(), .events = POLLIN, .revents = 0};
    if (poll(&poller, 1, 0) <= 0) break;
    hear();
  }
  return complaints_;
}

bool Process::reap(double seconds) {
  if (pid_ < 0 || ended_) return true;
  const double deadline = systemClock().now() + seconds;
  while (true) {
    const int got = waitpid(pid_, &status_, WNOHANG);
    if (got == pid_ || (got < 0 && errno == ECHILD)) {
      ended_ = true;
      ::kill(-pid_, SIGKILL);  // what it may have left behind
      forget(pid_);
      return true;
    }
    if (systemClock().now() >= deadline) return false;
    systemClock().sleep(0.0005);
  }
}

std::string Process::ending(double seconds) {
  if (!reap(seconds)) return "still running";
  if (WIFSIGNALED(status_)) {
    const int number = WTERMSIG(status_);
    return fmt::format("killed by signal {} ({})", number, strsignal(number));
  }
  return fmt::format("exit status {}", WEXITSTATUS(status_));
}

void Process::kill() {
  if (pid_ < 0) return;
  if (!ended_) {
    ::kill(pid_, SIGKILL);
    ::kill(-pid_, SIGKILL);
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
  }
  forget(pid_);
  pid_ = -1;
}

void killAllProcesses() {
  for (const std::atomic<int>& slot : alive) {
    if (const int pid = slot.load(); pid != 0) ::kill(-pid, SIGKILL);
  }
}

int usableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

bool keepOff(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return false;
  if (!affinityChanged.load()) {
    firstAffinity = set;
    affinityChanged.store(true);
  }
  bool some = false;
  for (const int core : cores) {
    if (core < 0 || core >= CPU_SETSIZE || CPU_COUNT(&set) == 1) continue;
    some = some || CPU_ISSET(static_cast<unsigned>(core), &set);
    CPU_CLR(static_cast<unsigned>(core), &set);
  }
  return some && sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace dojo
