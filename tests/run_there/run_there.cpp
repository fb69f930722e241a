// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_there/run_there.h"

#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "link/link.h"

extern char** environ;

namespace dojo::test {
namespace {

enum class What : std::uint64_t { write, call, read };
struct Request {
  What what;
  std::uint64_t address, size;
};

constexpr std::uint64_t kCodeBytes = 1 << 20;
constexpr std::size_t kBand = 512;
constexpr auto kGuard = std::byte{0xa5};
constexpr auto kPoison = std::byte{0xcd};
constexpr int kMilliseconds = 20000;

bool wide(const std::string& arch) { return arch.ends_with("64"); }
std::uint64_t region(const std::string& arch) {
  return wide(arch) ? DOJO_REGION_64 : DOJO_REGION_32;
}

}  // namespace

Result<std::unique_ptr<Caller>> Caller::start(const There& there) {
  std::unique_ptr<Caller> caller(new Caller(there));
  if (Status started = caller->spawn(); !started) return started.error();
  return caller;
}

Caller::~Caller() { stop(); }

void Caller::stop() {
  if (pid_ < 0) return;
  close(to_);
  close(from_);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Status Caller::spawn() {
  static const bool ignored = std::signal(SIGPIPE, SIG_IGN) != SIG_ERR;
  int in[2];
  int out[2];
  if (!ignored || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
    return Error{"test.start", "no pipes", "", ""};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  std::vector<std::string> words = there_.emulator;
  words.push_back(std::string(DOJO_CALLERS) + "/caller-" + there_.arch);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int failed = posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (failed != 0) {
    pid_ = -1;
    return Error{"test.start", fmt::format("can't start {}: {}", words[0], strerror(failed)), "",
                 ""};
  }
  if (!receive(&service_, sizeof service_)) {
    stop();
    return Error{"test.start", fmt::format("{} ended at once", fmt::join(words, " ")), "", ""};
  }
  return {};
}

bool Caller::send(const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t put = ::write(to_, at, size);
    if (put <= 0) return false;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

bool Caller::receive(void* bytes, std::size_t size) {
  char* at = static_cast<char*>(bytes);
  while (size > 0) {
    pollfd waited{from_, POLLIN, 0};
    if (poll(&waited, 1, kMilliseconds) != 1) return false;
    const ssize_t got = ::read(from_, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool Caller::write(std::uint64_t address, const std::vector<std::byte>& bytes) {
  const Request request{What::write, address, bytes.size()};
  return send(&request, sizeof request) && send(bytes.data(), bytes.size());
}

Result<std::vector<ir::Tensor>> Caller::call(const ir::Program& program,
                                             const std::vector<std::byte>& object,
                                             const std::vector<ir::Tensor>& arguments) {
  if (pid_ < 0) {
    if (Status started = spawn(); !started) return started.error();
  }
  const std::uint64_t base = region(there_.arch);
  Result<link::Image> image =
      link::place(object, codegen::kEntry, base, kCodeBytes, {{"dojo_parallel_for", service_}});
  if (!image) return image.error();

  std::vector<std::byte> data;
  std::vector<std::size_t> offsets;
  std::vector<std::size_t> sizes;
  std::size_t argument = 0;
  for (const codegen::AbiBuffer& passed : codegen::abi(program)) {
    const auto bytes = static_cast<std::size_t>(passed.bytes);
    data.resize((data.size() + kBand + 63) / 64 * 64, kGuard);
    offsets.push_back(data.size());
    sizes.push_back(bytes);
    data.resize(data.size() + bytes, kPoison);
    const ir::Buffer& buffer = program.buffer(passed.id);
    if (!buffer.isArgument()) continue;
    const ir::Tensor& tensor = arguments[argument++];
    if (buffer.role != ir::Role::out && bytes > 0) {
      std::memcpy(data.data() + offsets.back(), tensor.bytes.data(), bytes);
    }
  }
  data.resize(data.size() + kBand, kGuard);
  const std::uint64_t dataAt = base + kCodeBytes;
  const std::size_t pointer = wide(there_.arch) ? 8 : 4;
  std::vector<std::byte> table(offsets.size() * pointer);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::uint64_t address = dataAt + offsets[i];
    std::memcpy(table.data() + i * pointer, &address, pointer);
  }
  const std::uint64_t tableAt = (dataAt + data.size() + 63) / 64 * 64;
  const Request run{What::call, image->entry, tableAt};
  const Request fetch{What::read, dataAt, data.size()};
  std::uint64_t done = 0;
  std::vector<std::byte> after(data.size());
  const bool worked = write(base, image->bytes) && write(dataAt, data) && write(tableAt, table) &&
                      send(&run, sizeof run) && receive(&done, sizeof done) &&
                      send(&fetch, sizeof fetch) && receive(after.data(), after.size());
  if (!worked) {
    stop();
    return Error{"test.died", "the kernel didn't return", "", ""};
  }
  std::size_t from = 0;
  for (std::size_t i = 0; i <= offsets.size(); ++i) {
    const std::size_t to = i == offsets.size() ? after.size() : offsets[i];
    for (; from < to; ++from) {
      if (after[from] != kGuard) {
        return Error{"test.guard",
                     fmt::format("byte {} of the memory around buffer {} was written",
                                 static_cast<std::int64_t>(from) -
                                     static_cast<std::int64_t>(i == 0 ? 0 : offsets[i - 1]),
                                 i == 0 ? 0 : i - 1),
                     "", ""};
      }
    }
    if (i < offsets.size()) from += sizes[i];
  }
  std::vector<ir::Tensor> result = arguments;
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::memcpy(result[i].bytes.data(), after.data() + offsets[i], result[i].bytes.size());
  }
  return result;
}

}  // namespace dojo::test
