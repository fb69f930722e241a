// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bringup/report.h"

#include <algorithm>

#include <fmt/format.h>

namespace dojo::bringup {

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::note:
      return "note";
    case Verdict::failed:
      return "FAILED";
    case Verdict::skipped:
      return "skipped";
  }
  return "";
}

int Report::count(Verdict verdict) const {
  return static_cast<int>(std::count_if(
      steps.begin(), steps.end(), [verdict](const Step& step) { return step.verdict == verdict; }));
}

namespace {

/// Text for an attribute or a body; what XML 1.0 can't hold is replaced.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

}  // namespace

std::string junit(const Report& report) {
  double seconds = 0;
  for (const Step& step : report.steps) seconds += step.seconds;
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuites><testsuite name=\"dojo target check {}\" tests=\"{}\" failures=\"{}\" "
      "skipped=\"{}\" time=\"{:.3f}\">\n",
      escaped(report.target), report.steps.size(), report.count(Verdict::failed),
      report.count(Verdict::skipped), seconds);
  for (const Step& step : report.steps) {
    out += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">",
                       escaped(report.target), escaped(step.name), step.seconds);
    if (step.verdict == Verdict::failed) {
      out += fmt::format("<failure message=\"{}\">{}</failure>", escaped(step.seen),
                         escaped(step.advice));
    } else if (step.verdict == Verdict::skipped) {
      out += fmt::format("<skipped message=\"{}\"/>", escaped(step.seen));
    }
    std::string text = step.verdict == Verdict::ok || step.verdict == Verdict::note
                           ? step.seen + "\n" + step.advice
                           : "";
    for (const std::string& line : step.lines) text += "\n" + line;
    out += fmt::format("<system-out>{}</system-out></testcase>\n", escaped(text));
  }
  return out + "</testsuite></testsuites>\n";
}

}  // namespace dojo::bringup
