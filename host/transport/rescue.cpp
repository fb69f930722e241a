// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opening a device, and bringing a dead one back: by the mildest step that helps.
#include <algorithm>

#include <fmt/format.h>

#include "protocol/protocol.h"
#include "transport/device.h"
#include "transport/frame.h"
#include "transport/link.h"

namespace dojo::transport {
namespace {

/// Attempts, each with every step, before a device counts as dead for good.
constexpr int kMostFailures = 2;

bool isGone(const Error& error) {
  return error.code == "link.closed" || error.code == "link.ended" || error.code == "link.start";
}

}  // namespace

Device::Device(std::unique_ptr<Link> link) : link_(std::move(link)) {}
Device::~Device() = default;

Result<std::unique_ptr<Device>> Device::open(std::unique_ptr<Transport> transport,
                                             const LinkOptions& options, Clock& clock) {
  auto link = std::make_unique<Link>();
  link->transport = std::move(transport);
  link->options = options;
  link->clock = &clock;
  std::unique_ptr<Device> device(new Device(std::move(link)));
  if (Status opened = device->link_->transport->open(); !opened) return opened.error();
  auto hello = device->link_->hello(options.helloSeconds);
  if (!hello && hello.error().code == "link.timeout") {
    // It may still be busy with what another host left it with.
    Error first = hello.error();
    for (const Rescue& rescue : device->link_->transport->rescues()) {
      if (hello || rescue.code == "link.restart") continue;  // it was started just now
      const Status applied = rescue.apply();
      if (applied) hello = device->link_->hello(options.helloSeconds);
      if (hello) device->rescuedBy_ = rescue.name;
      first.detail += fmt::format("{}{}: {}", first.detail.empty() ? "" : "\n", rescue.name,
                                  !applied ? applied.error().message
                                  : hello  ? "helped"
                                           : hello.error().message);
    }
    if (!hello) return first;
  }
  if (!hello) return hello.error();
  device->hello_ = std::move(*hello);
  device->link_->window = device->hello_.window;
  return device;
}

Status Device::recover() { return bringBack({"link.asked", "", "", ""}, Need::restart); }

Status Device::up() {
  if (link_->down) return {};
  if (link_->failures >= kMostFailures) return link_->down;
  return bringBack(link_->down.error(), Need::restart);
}

Status Device::bringBack(const Error& why, Need need) {
  Link& link = *link_;
  const LinkOptions& options = link.options;
  ++link.statistics.recoveries;
  ++generation_;
  rescuedBy_.clear();
  std::string tried;
  // True where the device answers after a step, and is what it was.
  const auto helped = [&](const std::string& name, const std::string& code, const Status& applied,
                          double seconds) {
    Error failed{code, ""};
    if (!applied) {
      failed.message = applied.error().message;
    } else if (auto hello = link.hello(seconds); !hello) {
      failed.message = hello.error().message;
    } else if (hello->services != hello_.services ||
               hello->regions.size() != hello_.regions.size() ||
               hello->imageCrc != hello_.imageCrc) {
      failed.message = "what answers is another runner than before";
    } else {
      hello_ = std::move(*hello);
      rescuedBy_ = name;
      link.down = {};
      link.failures = 0;
      return true;
    }
    tried += fmt::format("{}{}: {} [{}]", tried.empty() ? "" : "\n", name, failed.message, code);
    return false;
  };
  if (!isGone(why) && why.code != "link.dead" && need != Need::reset) {
    if (need == Need::restart) {
      const Request reset{.kind = DOJO_RESET, .body = {}, .what = "RESET"};
      auto answer = link.command(reset, options.abortSeconds);
      const Status applied = answer ? Status() : Status(answer.error());
      if (helped("its own RESET", "link.reset-frame", applied, options.abortSeconds)) return {};
    } else {
      if (helped(kItself, "link.abort", link.abort(), options.abortSeconds)) return {};
    }
  }
  for (const Rescue& rescue : link.transport->rescues()) {
    if (helped(rescue.name, rescue.code, rescue.apply(), options.helloSeconds)) return {};
  }
  ++link.failures;
  link.down = Error{"link.dead", fmt::format("'{}' is dead: nothing brought it back", describe()),
                    "", tried};
  return link.down;
}

Error Device::rescued(Error why, Need need) {
  if (Status back = bringBack(why, need); !back) {
    why.message += "; nothing brought the device back";
    why.detail += (why.detail.empty() ? "" : "\n") + back.error().detail;
  } else {
    why.message += fmt::format("; the device was brought back by {}", rescuedBy_);
  }
  return why;
}

const LinkStatistics& Device::statistics() const { return link_->statistics; }
std::string Device::describe() const { return link_->transport->describe(); }

}  // namespace dojo::transport
