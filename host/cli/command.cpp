// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/command.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <set>

#include <poll.h>
#include <unistd.h>

#include "base/text.h"
#include "ir/check.h"
#include "kernels/kernels.h"
#include "search/expert.h"

namespace dojo::cli {
namespace {

/// A reader who has seen enough (as head does) is no failure; a full disk is.
int finishOutput(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0) return code;
  return fail({"file.unwritable", "cannot write" + reason, "standard output", ""});
}

}  // namespace

int fail(const Error& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "dojo: %s\n", error.text().c_str());
  static const std::set<std::string> usage = {
      "kernel.unknown", "target.not-found", "search.strategy", "parse.unknown-param",
      "cli.shape",      "cli.usage",        "file.missing",    "move.unknown"};
  return usage.contains(error.code) ? kUsage : kFailed;
}

Json toJson(const Error& error) {
  Json inner;
  inner["code"] = error.code;
  inner["message"] = printable(error.message);
  inner["where"] = printable(error.where);
  if (!error.detail.empty()) inner["detail"] = printable(error.detail, 4096);
  Json out;
  out["error"] = std::move(inner);
  return out;
}

int fail(const Error& error, bool json) {
  if (json) std::printf("%s\n", dump(toJson(error)).c_str());
  return fail(error);
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

CLI::App* addCommand(CLI::App& app, const std::string& name, const std::string& description,
                     const std::string& example, std::function<int()> run) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer("Example:\n  " + example);
  command->callback([run = std::move(run)] {
    const int code = finishOutput(run());
    if (code != kDone) throw CLI::RuntimeError(code);
  });
  return command;
}

void addTargetOption(CLI::App& command, std::string& target) {
  command.add_option("--target", target, "Name of a target, or path of its .json file")
      ->capture_default_str();
}

void addKernelOptions(CLI::App& command, KernelArgs& args) {
  command.add_option("kernel", args.kernel, "A kernel of the suite, or the path of a .dojo file")
      ->required();
  command.add_option("--shape", args.shape, "Parameters, as in M=16,N=16,K=16");
  command.add_option("--dtype", args.dtype, "Main type instead of the kernel's: f64, f32, ...");
  addTargetOption(command, args.target);
  command.add_option("--trace", args.traceFile, "A file of moves to apply first, one a line");
  command.add_flag("--expert", args.expert, "Applies the moves that the expert would make first");
}

Result<std::map<std::string, std::int64_t>> parseShape(const std::string& text) {
  std::map<std::string, std::int64_t> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    const std::size_t equals = item.find('=');
    std::int64_t value = 0;
    bool good = equals != std::string::npos && equals > 0;
    if (good) {
      const char* first = item.data() + equals + 1;
      const char* last = item.data() + item.size();
      auto [stop, code] = std::from_chars(first, last, value);
      good = code == std::errc() && stop == last && first != last;
    }
    if (!good) {
      return Error{"cli.shape", "'" + item + "' in --shape: expected NAME=NUMBER,NAME=NUMBER", "",
                   ""};
    }
    const std::string name = item.substr(0, equals);
    if (value < 1 || value > ir::kMaxElements) {
      return Error{
          "cli.shape",
          "'" + item + "' in --shape: sizes go from 1 to " + std::to_string(ir::kMaxElements), "",
          ""};
    }
    if (!out.emplace(name, value).second) {
      return Error{"cli.shape", "--shape gives '" + name + "' twice", "", ""};
    }
    at = end + 1;
  }
  return out;
}

namespace {

/// The moves in a file, made on the plain program.
Status applyTrace(const std::string& file, const target::Target& target, LoadedKernel& out) {
  Result<std::string> text = readFile(file);
  if (!text.ok()) return text.error();
  Result<moves::Trace> trace = moves::parseTrace(*text, file);
  if (!trace.ok()) return trace.error();
  Result<ir::Program> start = moves::replay(out.program, target, *trace);
  if (!start.ok()) {
    // What the trace says is work, not usage: a move that it names may have gone.
    Error error = start.error();
    error.where = file + (error.where.empty() ? "" : ", " + error.where);
    if (error.code == "move.unknown") error.code = "trace.move";
    return error;
  }
  out.trace = std::move(trace).value();
  out.start = std::move(start).value();
  return {};
}

}  // namespace

Result<LoadedKernel> loadKernel(const KernelArgs& args, const target::Target& target) {
  ir::ParseOptions options;
  Result<std::map<std::string, std::int64_t>> shape = parseShape(args.shape);
  if (!shape.ok()) return shape.error();
  options.params = std::move(shape).value();
  if (!args.dtype.empty()) {
    options.dtype = ir::dtypeFromName(args.dtype);
    if (!options.dtype) {
      return Error{"cli.usage",
                   "there is no dtype '" + args.dtype +
                       "' (f64, f32, f16, bf16, i64, i32, i16, i8, u8, bool)",
                   "", ""};
    }
  }
  Result<ir::Parsed> parsed = kernels::load(args.kernel, options);
  if (!parsed.ok()) return parsed.error();
  if (Status s = ir::check(parsed->program); !s.ok()) {
    Error error = s.error();
    error.where = args.kernel + (error.where.empty() ? "" : ", " + error.where);
    return error;
  }
  LoadedKernel out;
  for (const auto& [name, value] : parsed->params) {
    out.shape += (out.shape.empty() ? "" : ",") + name + "=" + std::to_string(value);
  }
  out.dtype = std::string(ir::name(parsed->dtype));
  out.program = std::move(parsed->program);
  out.start = out.program;
  if (!args.traceFile.empty()) {
    if (Status s = applyTrace(args.traceFile, target, out); !s.ok()) return s.error();
  }
  if (args.expert) {
    const search::Candidate planned =
        search::expert({std::make_shared<const moves::State>(out.start, target), out.trace})
            .toCandidate();
    out.start = planned.program;
    out.trace = planned.trace;
  }
  return out;
}
std::string LoadedKernel::describe() const {
  return program.name + " (" + shape + (shape.empty() ? "" : ", ") + dtype + ")";
}

bool errorIsTerminal() { return isatty(STDERR_FILENO) == 1; }
bool outputIsTerminal() { return isatty(STDOUT_FILENO) == 1; }

}  // namespace dojo::cli
