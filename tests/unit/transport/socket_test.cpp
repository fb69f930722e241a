// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runner behind a Unix and a TCP socket; the little of ELF; text records.
#include "transport/socket.h"

#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/process.h"
#include "support.h"
#include "transport/batch.h"
#include "transport/elf.h"

namespace dojo::transport {
namespace {

std::string folder() {
  std::string name = (std::filesystem::temp_directory_path() / "dojo-socket-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  return name;
}

/// Listens, and joins whoever connects to a runner of his own.
class Listener {
 public:
  explicit Listener(bool local) : folder_(folder()) {
    if (local) {
      sockaddr_un at{};
      at.sun_family = AF_UNIX;
      const std::string path = folder_ + "/s";
      path.copy(at.sun_path, sizeof at.sun_path - 1);
      fd_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      REQUIRE(bind(fd_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
      address = "unix:" + path;
    } else {
      sockaddr_in at{};
      at.sin_family = AF_INET;
      at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof at;
      fd_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      REQUIRE(bind(fd_.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
      REQUIRE(getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
      address = fmt::format("localhost:{}", ntohs(at.sin_port));
    }
    REQUIRE(listen(fd_.get(), 1) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    shutdown(fd_.get(), SHUT_RDWR);
    thread_.join();
    std::filesystem::remove_all(folder_);
  }

  std::string address;

 private:
  void serve() {
    while (true) {
      FileDescriptor got(accept(fd_.get(), nullptr, nullptr));
      if (!got) return;
      const std::string runner =
          fmt::format("exec {} --harts 1 --code-bytes 1048576 --data-bytes 1048576 <&{} >&{}",
                      DOJO_BINARY_DIR "/bin/dojo-runner-linux", got.get(), got.get());
      auto process = Process::start({"sh", "-c", runner}, {got.get()});
      if (!process) return;
      runners_.push_back(std::move(*process));
    }
  }

  FileDescriptor fd_;
  std::string folder_;
  std::vector<Process> runners_;
  std::thread thread_;
};

std::vector<std::byte> bytesOf(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string record(const Frame& frame) {
  std::vector<std::byte> bytes;
  put(bytes, frame.kind, 1);
  put(bytes, frame.sequence, 1);
  put(bytes, frame.part, 2);
  bytes.insert(bytes.end(), frame.body.begin(), frame.body.end());
  put(bytes, crc32(0, bytes), 4);
  std::string out = "{dojo:";
  for (const std::byte byte : bytes) out += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return out + "}\n";
}

}  // namespace

TEST_CASE("The runner behind a socket, and a link that is lost is connected anew") {
  Listener listener(GENERATE(true, false));
  Bench bench(makeSocket({.setup = {}, .address = listener.address}));
  REQUIRE(bench.device->fill(bench.buffer, 8, std::byte{0}));
  Call call;
  call.samples = 300;
  auto done = bench.run(kIncrement, call);
  INFO((done ? "" : done.error().text()));
  REQUIRE(done);
  CHECK(counterOf(bench) == 300);
  REQUIRE(bench.device->recover());
  CHECK(bench.verdict(kIncrement) == "ok");
}

TEST_CASE("What can't be connected to is said") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"nonsense", "link.address"},
      {":7", "link.address"},
      {"unix:/nowhere/s", "link.start"},
      {"localhost:1", "link.start"},
  };
  for (const auto& [address, code] : cases) {
    INFO(address);
    auto device = Device::open(makeSocket({.setup = {.seconds = 0.1}, .address = address}));
    REQUIRE_FALSE(device);
    CHECK(device.error().code == code);
    CHECK(device.error().message.find(address) != std::string::npos);
  }
}

TEST_CASE("A segment is added to an image, and damaged images are refused") {
  const std::string from = DOJO_BINARY_DIR "/bin/dojo-runner-linux";
  const std::string to = folder() + "/image";
  const std::vector<std::byte> bytes = bytesOf("a list of commands");
  REQUIRE(addSegment(from, to, 0x12345678, bytes));
  auto before = readElf(from), after = readElf(to);
  REQUIRE(before);
  REQUIRE(after);
  REQUIRE(after->segments.size() == before->segments.size() + 1);
  CHECK(after->segments.back().address == 0x12345678);
  CHECK(after->segments.back().bytes == bytes);
  // The first holds the file's header, which says where the table of segments is now.
  for (std::size_t i = 1; i < before->segments.size(); ++i) {
    CHECK((after->segments[i].bytes == before->segments[i].bytes));
  }
  CHECK(after->entry == before->entry);
  for (const auto& [path, why] : {std::pair{std::string("/nowhere"), "No such file"},
                                  {DOJO_SOURCE_DIR "/CMakeLists.txt", "ELF"}}) {
    auto bad = readElf(path);
    REQUIRE_FALSE(bad);
    CHECK(bad.error().code == "load.image");
    CHECK(bad.error().message.find(why) != std::string::npos);
  }
  std::filesystem::resize_file(to, 5000);
  CHECK_FALSE(readElf(to));
}

TEST_CASE("Records are found in whatever else a console prints") {
  const Frame first{.kind = 0x42, .sequence = 1, .part = 0, .body = bytesOf("one")};
  const Frame second{.kind = 0x46, .sequence = 2, .part = 7, .body = bytesOf("two")};
  const std::string one = record(first), two = record(second);
  struct Case {
    const char* name;
    std::string text;
    std::vector<int> kinds;
    int damaged;
  };
  std::string cut = one;
  cut.insert(20, "\n[12.3] a warning\n");
  std::string flipped = one;
  flipped[10] = flipped[10] == '0' ? '1' : '0';
  std::string wrapped = one;
  wrapped.insert(30, "\r\n");
  const std::vector<Case> cases = {
      {"alone", one + two, {0x42, 0x46}, 0},
      {"text around", "boot {x}\n" + one + "{dojo text} {do" + two + "bye", {0x42, 0x46}, 0},
      {"copies", one + one + one + two + two, {0x42, 0x46}, 0},
      {"text within", cut + one + two, {0x42, 0x46}, 1},
      {"all copies damaged", cut + flipped + two, {0x46}, 2},
      {"cut short", one.substr(0, 15) + two, {0x46}, 1},
      {"wrapped lines", wrapped, {0x42}, 0},
      {"empty", "{dojo:}{dojo:zz}", {}, 2},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    RecordReader reader;
    for (const std::byte byte : bytesOf(c.text)) reader.feed(std::span(&byte, 1));
    std::vector<int> kinds;
    while (auto frame = reader.next()) kinds.push_back(frame->kind);
    CHECK(kinds == c.kinds);
    CHECK(reader.damaged() == c.damaged);
  }
}

}  // namespace dojo::transport
