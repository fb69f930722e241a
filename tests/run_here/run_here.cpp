// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_here/run_here.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include <sys/mman.h>

#include "codegen/codegen.h"

namespace dojo::test {
namespace {

constexpr std::size_t kPages = std::size_t{1} << 20;
constexpr std::size_t kBand = 256;
constexpr auto kGuard = std::byte{0xa5};
constexpr auto kPoison = std::byte{0xcd};

void parallelFor(dojo_body_fn body, void* context, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  static std::mt19937 random(1);
  std::shuffle(order.begin(), order.end(), random);
  for (const std::int64_t i : order) body(context, i);
}

}  // namespace

Result<Loaded> Loaded::load(const std::vector<std::byte>& object) {
  Loaded loaded;
  loaded.pages_ =
      mmap(nullptr, kPages, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (loaded.pages_ == MAP_FAILED) {
    loaded.pages_ = nullptr;
    return Error{"test.pages", "no executable memory", "", ""};
  }
  const auto address = reinterpret_cast<std::uintptr_t>(loaded.pages_);
  const Result<link::Image> image =
      link::place(object, codegen::kEntry, address, kPages,
                  {{"dojo_parallel_for", reinterpret_cast<std::uintptr_t>(&parallelFor)}});
  if (!image) return image.error();
  std::memcpy(loaded.pages_, image->bytes.data(), image->bytes.size());
  loaded.entry_ = reinterpret_cast<dojo_kernel_fn>(image->entry);
  return loaded;
}

Loaded::Loaded(Loaded&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)), entry_(other.entry_) {}

Loaded::~Loaded() {
  if (pages_ != nullptr) munmap(pages_, kPages);
}

void CallBuffers::Free::operator()(std::byte* memory) const { std::free(memory); }

CallBuffers::CallBuffers(const ir::Program& program, const std::vector<ir::Tensor>& arguments)
    : shapes_(arguments) {
  std::size_t argument = 0;
  for (const codegen::AbiBuffer& passed : codegen::abi(program)) {
    const auto bytes = static_cast<std::size_t>(passed.bytes);
    const std::size_t total = (bytes + 2 * kBand + 63) / 64 * 64;
    Block block{std::unique_ptr<std::byte, Free>(
                    static_cast<std::byte*>(std::aligned_alloc(DOJO_BUFFER_ALIGN, total))),
                bytes};
    std::memset(block.memory.get(), static_cast<int>(kGuard), total);
    std::byte* data = block.memory.get() + kBand;
    std::memset(data, static_cast<int>(kPoison), bytes);
    const ir::Buffer& buffer = program.buffer(passed.id);
    if (buffer.isArgument()) {
      const ir::Tensor& tensor = arguments[argument++];
      if (buffer.role != ir::Role::out) std::memcpy(data, tensor.bytes.data(), bytes);
    }
    pointers_.push_back(data);
    blocks_.push_back(std::move(block));
  }
}

std::vector<ir::Tensor> CallBuffers::arguments() const {
  std::vector<ir::Tensor> result = shapes_;
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::memcpy(result[i].bytes.data(), pointers_[i], result[i].bytes.size());
  }
  return result;
}

bool CallBuffers::guardsIntact() const {
  const auto intact = [](std::byte byte) { return byte == kGuard; };
  return std::all_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    const std::byte* begin = block.memory.get();
    const std::byte* end = begin + kBand + block.bytes;
    return std::all_of(begin, begin + kBand, intact) && std::all_of(end, end + kBand, intact);
  });
}

}  // namespace dojo::test
