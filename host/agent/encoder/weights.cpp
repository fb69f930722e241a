// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/encoder/weights.h"

#include "agent/store/archive.h"

namespace dojo::agent {
namespace {

constexpr const char* kKind = "encoder";

Matrix sizesOf(const EncoderConfig& config) {
  Matrix out(1, 5);
  float* at = out.data();
  for (const std::size_t size :
       {config.width, config.heads, config.lineLayers, config.programLayers, config.hidden}) {
    *at++ = static_cast<float>(size);
  }
  return out;
}

bool configFrom(const Matrix* sizes, EncoderConfig& config) {
  if (sizes == nullptr || sizes->size() != 5) return false;
  for (std::size_t k = 0; k < 5; ++k) {
    if (!(sizes->data()[k] >= 1 && sizes->data()[k] <= 4096)) return false;
  }
  const auto at = [&](std::size_t k) { return static_cast<std::size_t>(sizes->data()[k]); };
  config = {at(0), at(1), at(2), at(3), at(4)};
  return config.width % config.heads == 0 && config.lineLayers <= 24 && config.programLayers <= 24;
}

}  // namespace

Status saveEncoder(const Encoder& encoder, const std::string& madeBy, const std::string& path) {
  Archive archive(kKind);
  archive.put("made-by", madeBy);
  archive.put("sizes", sizesOf(encoder.config()), Stored::single);
  archive.put("encoder", encoder.parameters(), Stored::half);
  return archive.save(path);
}

Result<std::unique_ptr<Encoder>> loadEncoder(const std::string& path) {
  const Result<Archive> archive = Archive::load(path, kKind);
  if (!archive.ok()) return archive.error();
  EncoderConfig config;
  if (!configFrom(archive->matrix("sizes"), config)) {
    return Error{"agent.shape", "the sizes of the encoder aren't sensible", path, ""};
  }
  search::Random random(1);
  auto encoder = std::make_unique<Encoder>(config, random);
  if (Status status = archive->get("encoder", encoder->parameters()); !status.ok()) {
    Error error = status.error();
    error.where = path;
    return error;
  }
  return encoder;
}

}  // namespace dojo::agent
