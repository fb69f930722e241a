// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/report_html.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/table.h"
#include "cli/version.h"

namespace dojo::cli {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --back: #fff; --text: #1a1c1f; --faint: #6b7076; --line: #d5d8dc;
  --panel: #f5f6f8; --c0: #1f6feb; --c1: #c2410c; --c2: #15803d; --c3: #9333ea; --c4: #b45309; }
@media (prefers-color-scheme: dark) { :root { --back: #15171a; --text: #e4e6e9; --faint: #9aa0a6;
  --line: #3a3f45; --panel: #1e2125; --c0: #6cb0ff; --c1: #ff9b6b; --c2: #5fd08a; --c3: #c79bff;
  --c4: #f0b429; } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif;
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { margin-top: 2rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .15rem .7rem .15rem 0; text-align: left; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
tr + tr > td { border-top: 1px solid var(--line); }
pre { background: var(--panel); padding: .7rem; overflow-x: auto; font-size: 13px; }
code { background: var(--panel); padding: 0 .2rem; }
.faint { color: var(--faint); }
svg { width: 100%; height: auto; max-width: 46rem; font: 11px system-ui, sans-serif; }
svg text { fill: var(--faint); }
svg .axis { stroke: var(--line); fill: none; }
svg .roof { stroke: var(--faint); fill: none; stroke-dasharray: 4 3; }
svg path.curve { fill: none; stroke-width: 1.6; }
svg .name { fill: var(--text); }
.s0 { stroke: var(--c0); } .s1 { stroke: var(--c1); } .s2 { stroke: var(--c2); }
.s3 { stroke: var(--c3); } .s4 { stroke: var(--c4); }
.f0 { fill: var(--c0); } .f1 { fill: var(--c1); } .f2 { fill: var(--c2); }
.f3 { fill: var(--c3); } .f4 { fill: var(--c4); }
)css";
constexpr int kColours = 5;

constexpr double kWidth = 640, kHeight = 220, kLeft = 64, kRight = 16, kTop = 14, kBottom = 28;

/// A value's place on a logarithmic or linear axis.
struct Axis {
  double low, high, from, to;
  bool logarithmic;
  [[nodiscard]] double at(double value) const {
    const double part =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + (to - from) * part;
  }
};

class Page {
 public:
  explicit Page(const std::string& log) : log_(log) {}

  void device(const ReportDevice& device) {
    hz_ = device.hz;
    const log::Fingerprint& print = device.fingerprint;
    add("<h2>{}, caches {}</h2>\n<p class=\"faint\">{}; {}; {}; description {}</p>\n",
        escaped(device.target), escaped(device.cache), escaped(print.isa), escaped(print.clock),
        escaped(print.runner), escaped(print.description));
    const std::size_t first = next_;
    summary(device);
    roofline(device, first);
    for (const ReportKernel& one : device.kernels) kernel(one);
    failures(device);
  }

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  std::string take() { return std::move(out_); }

 private:
  [[nodiscard]] std::string time(double cycles) const {
    return hz_ > 0 ? showSeconds(cycles / hz_) : showCount(cycles) + " ticks";
  }
  /// Per second in thousands of millions, or a tick.
  [[nodiscard]] double rate(double perTick) const {
    return hz_ > 0 ? perTick * hz_ / 1e9 : perTick;
  }
  [[nodiscard]] std::string flopUnit() const { return hz_ > 0 ? "GFLOP/s" : "FLOP a tick"; }
  [[nodiscard]] std::string byteUnit() const { return hz_ > 0 ? "GB/s" : "bytes a tick"; }

  void summary(const ReportDevice& device) {
    add("<table>\n<tr><th>kernel</th><th>shape</th><th class=\"n\">plain</th><th "
        "class=\"n\">row</th><th class=\"n\">best</th><th class=\"n\">row</th><th "
        "class=\"n\">speed-up</th><th class=\"n\">{}</th><th class=\"n\">{}</th><th "
        "class=\"n\">trials</th></tr>\n",
        flopUnit(), byteUnit());
    std::size_t anchor = next_;
    for (const ReportKernel& one : device.kernels) {
      auto timed = [&](const std::optional<Figure>& figure) {
        return figure ? fmt::format("<td class=\"n\">{}</td><td class=\"n\">{}</td>",
                                    time(figure->cycles), figure->row)
                      : "<td class=\"n\">-</td><td class=\"n\">-</td>";
      };
      auto number = [&](const std::optional<double>& value) {
        return value ? showNumber(*value) : std::string("-");
      };
      std::optional<double> speedup, flops = one.flopRate(), bytes = one.byteRate();
      if (one.plain && one.best) speedup = one.plain->cycles / one.best->cycles;
      if (flops) flops = rate(*flops);
      if (bytes) bytes = rate(*bytes);
      add("<tr><td><a href=\"#k{}\">{}</a></td><td>{}{}{}</td>{}{}<td class=\"n\">{}</td><td "
          "class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
          anchor++, escaped(one.kernel), escaped(one.shape), one.shape.empty() ? "" : ", ",
          escaped(one.dtype), timed(one.plain), timed(one.best), number(speedup), number(flops),
          number(bytes), one.trials);
    }
    add("</table>\n");
  }

  /// The highest rates that this log has on this device are its roof.
  void roofline(const ReportDevice& device, std::size_t anchor) {
    const ReportKernel *most = nullptr, *widest = nullptr;
    double low = 1e300, high = 0, least = 1e300;
    for (const ReportKernel& one : device.kernels) {
      if (one.byteRate() && (widest == nullptr || *one.byteRate() > *widest->byteRate())) {
        widest = &one;
      }
      if (!one.flopRate() || !one.byteRate()) continue;
      if (most == nullptr || *one.flopRate() > *most->flopRate()) most = &one;
      low = std::min(low, *one.flops / one.bytes);
      high = std::max(high, *one.flops / one.bytes);
      least = std::min(least, *one.flopRate());
    }
    if (most == nullptr) return;
    const double peak = *most->flopRate(), wide = *widest->byteRate();
    low = std::min(low, peak / wide) / 2;
    high = std::max(high, peak / wide) * 2;
    const Axis x{low, high, kLeft, kWidth - kRight, true};
    const Axis y{std::min(least, low * wide) / 1.5, peak * 1.5, kHeight + 60 - kBottom, kTop, true};
    add("<h3>Roofline</h3>\n<p>The roof is the most that was reached here: {} {} by {} (row {}), "
        "{} "
        "{} by {} (row {}). Bytes are those of the arguments, each once: what stays in a cache may "
        "move faster than memory.</p>\n",
        showNumber(rate(peak)), flopUnit(), escaped(most->kernel), most->best->row,
        showNumber(rate(wide)), byteUnit(), escaped(widest->kernel), widest->best->row);
    begin(kHeight + 60, "roofline");
    axes(x, y, fmt::format("{} FLOP/byte", showNumber(low)),
         fmt::format("{} FLOP/byte", showNumber(high)),
         fmt::format("{} {}", showNumber(rate(y.high)), hz_ > 0 ? "GFLOP/s" : "/tick"),
         showNumber(rate(y.low)));
    add("<path class=\"roof\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}\"/>\n", x.at(low),
        y.at(low * wide), x.at(peak / wide), y.at(peak), x.to);
    for (const ReportKernel& one : device.kernels) {
      const std::size_t k = anchor++;
      if (!one.flopRate() || !one.byteRate()) continue;
      const double px = x.at(*one.flops / one.bytes), py = y.at(*one.flopRate());
      const bool left = px > kWidth - 110;
      add("<a href=\"#k{}\"><circle class=\"f0\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{} {}: "
          "{} "
          "{}, row {}</title></circle><text class=\"name\" x=\"{:.1f}\" "
          "y=\"{:.1f}\"{}>{}</text></a>\n",
          k, px, py, escaped(one.kernel), escaped(one.shape), showNumber(rate(*one.flopRate())),
          flopUnit(), one.best->row, px + (left ? -6 : 6), py + 4,
          left ? " text-anchor=\"end\"" : "", escaped(one.kernel));
    }
    add("</svg>\n");
  }

  void kernel(const ReportKernel& one) {
    add("<h3 id=\"k{}\">{} <span class=\"faint\">{}{}{}</span></h3>\n", next_++,
        escaped(one.kernel), escaped(one.shape), one.shape.empty() ? "" : ", ", escaped(one.dtype));
    if (!one.best) {
      add("<p>Nothing could be measured in {} trials.</p>\n", one.trials);
      return;
    }
    add("<p>Best: {} (row {}, spread {:.2g}%, {})", time(one.best->cycles), one.best->row,
        one.spread * 100,
        one.last ? "measured again on new inputs" : "of a search that isn't at its end");
    if (one.plain) {
      add("; plain: {} (row {}); {} times as fast", time(one.plain->cycles), one.plain->row,
          showNumber(one.plain->cycles / one.best->cycles));
    }
    add(". Again: <code>dojo replay {} --log {}</code></p>\n", one.best->row, escaped(log_));
    curves(one);
    add("<details><summary>The winning tree</summary>\n<pre>{}</pre>\n</details>\n",
        escaped(one.program));
    add("<details><summary>Its moves</summary>\n<pre>{}</pre>\n</details>\n",
        escaped(one.trace.empty() ? "none: it is the plain program" : one.trace));
  }

  void curves(const ReportKernel& one) {
    double low = 1e300, high = 0;
    std::int64_t trials = 1;
    for (const Curve& curve : one.curves) {
      trials = std::max(trials, curve.trials);
      for (const Curve::Step& step : curve.steps) {
        trials = std::max(trials, step.index + 1);
        low = std::min(low, step.best.cycles);
        high = std::max(high, step.best.cycles);
      }
    }
    if (high == 0) return;
    const Axis x{0, static_cast<double>(trials), kLeft, kWidth - kRight, false};
    const Axis y{low / 1.1, high * 1.1, kHeight - kBottom, kTop, true};
    begin(kHeight, "best so far by trials");
    axes(x, y, "0", fmt::format("{} trials", trials), time(high), time(low));
    for (std::size_t k = 0; k < one.curves.size(); ++k) curve(one.curves[k], k % kColours, x, y);
    add("</svg>\n<p class=\"faint\">");
    for (std::size_t k = 0; k < one.curves.size(); ++k) {
      const Curve& curve = one.curves[k];
      add("<span><svg style=\"width:1em;height:.6em\" viewBox=\"0 0 10 6\"><path class=\"curve "
          "s{}\" d=\"M0 3H10\"/></svg> {}, seed {}, {} trials</span>{}",
          k % kColours, escaped(curve.strategy), curve.seed, curve.trials,
          k + 1 < one.curves.size() ? "; " : "");
    }
    add("</p>\n");
    for (const Curve& curve : one.curves) drifts(curve);
  }

  /// Trials during which the device changed its pace are worth less.
  void drifts(const Curve& curve) {
    if (curve.drifts.empty()) return;
    add("<p class=\"faint\">The device drifted under {}, seed {}; later trials were compared at "
        "the "
        "new pace:",
        escaped(curve.strategy), curve.seed);
    for (const std::string& drift : curve.drifts) add("<br>{}", escaped(drift));
    add("</p>\n");
  }

  void curve(const Curve& curve, std::size_t colour, const Axis& x, const Axis& y) {
    if (curve.steps.empty()) return;
    std::string path, points;
    for (const Curve::Step& step : curve.steps) {
      const double px = x.at(static_cast<double>(step.index)), py = y.at(step.best.cycles);
      path += path.empty() ? fmt::format("M{:.1f} {:.1f}", px, py)
                           : fmt::format("H{:.1f}V{:.1f}", px, py);
      points += fmt::format(
          "<circle class=\"f{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\"><title>row {}, trial {}: "
          "{}</title></circle>\n",
          colour, px, py, step.best.row, step.index, time(step.best.cycles));
    }
    add("<path class=\"curve s{}\" d=\"{}H{:.1f}\"/>\n{}", colour, path,
        x.at(static_cast<double>(curve.trials)), points);
  }

  void failures(const ReportDevice& device) {
    bool any = false;
    for (const ReportKernel& one : device.kernels) any = any || !one.failed.empty();
    add("<h3>Failures</h3>\n");
    if (!any) {
      add("<p>None.</p>\n");
      return;
    }
    add("<table>\n<tr><th>kernel</th><th>shape</th><th>code</th><th class=\"n\">times</th><th "
        "class=\"n\">first row</th><th>which said</th></tr>\n");
    for (const ReportKernel& one : device.kernels) {
      for (const auto& [code, failed] : one.failed) {
        add("<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td "
            "class=\"n\">{}</td><td>{}</td></tr>\n",
            escaped(one.kernel), escaped(one.shape), escaped(code), failed.count, failed.row,
            escaped(std::string_view(failed.detail).substr(0, 200)));
      }
    }
    add("</table>\n");
  }

  void begin(double height, const char* label) {
    add("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth, height, label);
  }

  void axes(const Axis& x, const Axis& y, const std::string& left, const std::string& right,
            const std::string& top, const std::string& bottom) {
    add("<path class=\"axis\" d=\"M{0} {1}V{2}H{3}\"/>\n", x.from, y.to, y.from, x.to);
    add("<text x=\"{}\" y=\"{}\">{}</text>\n", x.from, y.from + 16, left);
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", x.to, y.from + 16, right);
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", x.from - 4, y.to + 10, top);
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", x.from - 4, y.from, bottom);
  }

  const std::string& log_;
  std::string out_;
  double hz_ = 0;
  std::size_t next_ = 0;  ///< Number of the next kernel, for links.
};

/// Length of the UTF-8 sequence at the front of `text`, 0 where there is none that XML may hold.
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\n' || first == '\t' ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  unsigned point = first & (0xffU >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0U) != 0x80) return 0;
    point = point << 6 | (byte(k) & 0x3fU);
  }
  const bool shortest = point >= (length == 4 ? 0x10000U : length == 3 ? 0x800U : 0x80U);
  const bool character = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) &&
                         point != 0xfffe && point != 0xffff && point >= 0xa0;
  return shortest && character ? length : 0;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence(text);
    switch (text.front()) {
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
      case '\'':
        out += "&#39;";
        break;
      default:
        out += length == 0 ? "\xef\xbf\xbd" : text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string toHtml(const std::vector<ReportDevice>& devices, const std::string& log) {
  Page page(log);
  page.add(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>PerfDojo: "
      "{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>PerfDojo: {}</h1>\n",
      escaped(log), kStyle, escaped(log));
  std::int64_t trials = 0, failed = 0;
  std::size_t kernels = 0;
  for (const ReportDevice& device : devices) {
    kernels += device.kernels.size();
    for (const ReportKernel& kernel : device.kernels) {
      trials += kernel.trials;
      failed += kernel.failures;
    }
  }
  if (devices.empty()) {
    page.add("<p>The log has no trials.</p>\n");
  } else {
    page.add(
        "<p>{} trials of {} kernels, {} failed. Each figure stands with the row of the log that "
        "it comes from: <code>dojo replay ROW --log {}</code> makes and measures it again. "
        "Times are medians, by the clock as it was recorded. Figures of different devices "
        "don't compare.</p>\n",
        trials, kernels, failed, escaped(log));
  }
  for (const ReportDevice& device : devices) page.device(device);
  page.add("<p class=\"faint\">Made by dojo {}</p>\n</body>\n</html>\n", kVersion);
  return page.take();
}

}  // namespace dojo::cli
