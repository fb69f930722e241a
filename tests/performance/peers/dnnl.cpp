// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// oneDNN: primitives made beforehand; a call executes them, reorders included.
#include <memory>

#include <dnnl.hpp>

#include "performance/peers/peers.h"

namespace dojo::peers {

namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Desc = memory::desc;
using Dims = memory::dims;
using Tag = memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;
constexpr auto kForward = prop_kind::forward_inference;

const dnnl::engine& engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// Primitives that run one after another.
struct Chain {
  struct Step {
    dnnl::primitive primitive;
    std::unordered_map<int, memory> arguments;
  };
  dnnl::stream stream{engine()};
  std::vector<Step> steps;

  void add(dnnl::primitive primitive, std::unordered_map<int, memory> arguments) {
    steps.push_back({std::move(primitive), std::move(arguments)});
  }
  /// Where the layouts differ, a reorder; returns the memory in the wanted layout.
  memory reordered(const memory& from, const Desc& wanted) {
    if (from.get_desc() == wanted) return from;
    memory to(wanted, engine());
    add(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    return to;
  }
  void run() {
    for (Step& step : steps) step.primitive.execute(stream, step.arguments);
    stream.wait();
  }
};

memory over(const Desc& desc, void* data) { return {desc, engine(), data}; }
Desc plain(const Dims& dims, Tag tag, memory::data_type type = kF32) { return {dims, type, tag}; }

using Add = std::function<void(const std::string&, std::shared_ptr<Chain>)>;

dnnl::matmul::primitive_desc matmulOf(const Desc& a, const Desc& b, const Desc& c,
                                      const dnnl::primitive_attr& attr = {}) {
  return {dnnl::matmul::desc(a, b, c), attr, engine()};
}

void addMatmul(const Call& call, const Add& add) {
  const bool batched = call.kernel == "bmm";
  if (!batched && call.kernel != "matmul") return;
  const auto m = call.size("M"), n = call.size("N"), k = call.size("K");
  const Tag tag = batched ? Tag::abc : Tag::ab;
  const auto dims = [&](std::int64_t rows, std::int64_t columns) {
    return batched ? Dims{call.size("B"), rows, columns} : Dims{rows, columns};
  };
  const memory a = over(plain(dims(m, k), tag), call.in("a"));
  const memory b = over(plain(dims(k, n), tag), call.in("b"));
  const memory c = over(plain(dims(m, n), tag), call.out());
  auto direct = std::make_shared<Chain>();
  direct->add(dnnl::matmul(matmulOf(a.get_desc(), b.get_desc(), c.get_desc())),
              {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
  add("oneDNN", direct);
  auto packed = std::make_shared<Chain>();
  const auto chosen = matmulOf(a.get_desc(), Desc(dims(k, n), kF32, Tag::any), c.get_desc());
  const memory weights = packed->reordered(b, chosen.weights_desc());
  packed->add(dnnl::matmul(chosen),
              {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, c}});
  add("oneDNN with reorder", packed);
}

void addGemv(const Call& call, const Add& add) {
  if (call.kernel != "gemv") return;
  const auto n = call.size("N"), m = call.size("M");
  const memory a = over(plain({n, m}, Tag::ab), call.in("a"));
  const memory x = over(plain({m, 1}, Tag::ab), call.in("x"));
  const memory y = over(plain({n, 1}, Tag::ab), call.out());
  auto chain = std::make_shared<Chain>();
  chain->add(dnnl::matmul(matmulOf(a.get_desc(), x.get_desc(), y.get_desc())),
             {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, x}, {DNNL_ARG_DST, y}});
  add("oneDNN", chain);
}

void addQuantised(const Call& call, const Add& add) {
  if (call.kernel != "qmatmul") return;
  const auto m = call.size("M"), n = call.size("N"), k = call.size("K");
  const auto bytes = memory::data_type::s8;
  const memory a = over(plain({m, k}, Tag::ab, bytes), call.inputs.at("a"));
  const memory b = over(plain({k, n}, Tag::ab, bytes), call.inputs.at("b"));
  const memory c = over(plain({m, n}, Tag::ab, bytes), call.output);
  dnnl::primitive_attr attr;
  attr.set_output_scales(0, {static_cast<float>(call.size("multiplier")) / 2147483648.0F});
  for (const bool any : {false, true}) {
    auto chain = std::make_shared<Chain>();
    const Desc wanted = any ? Desc({k, n}, bytes, Tag::any) : b.get_desc();
    const auto chosen = matmulOf(a.get_desc(), wanted, c.get_desc(), attr);
    const memory weights = chain->reordered(b, chosen.weights_desc());
    chain->add(dnnl::matmul(chosen),
               {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, c}});
    add(any ? "oneDNN with reorder, float scale" : "oneDNN, float scale", chain);
  }
}

void addConvolution(const Call& call, const Add& add) {
  const bool depthwise = call.kernel == "depthwise";
  if (!depthwise && call.kernel != "conv2d") return;
  const auto n = call.size("N"), c = call.size("C"), h = call.size("H"), w = call.size("W"),
             stride = call.size("stride"), oh = call.size("OH"), ow = call.size("OW");
  const std::int64_t outputs = depthwise ? c : call.size("K");
  const Dims weightDims = depthwise ? Dims{c, 1, 1, 3, 3} : Dims{outputs, c, 3, 3};
  const memory x = over(plain({n, c, h, w}, Tag::nchw), call.in("x"));
  const memory weights = over(plain(weightDims, depthwise ? Tag::goihw : Tag::oihw), call.in("w"));
  const memory y = over(plain({n, outputs, oh, ow}, Tag::nchw), call.out());
  for (const bool any : {false, true}) {
    const auto wanted = [&](const memory& given) {
      const Desc desc = given.get_desc();
      return any ? Desc(desc.dims(), kF32, Tag::any) : desc;
    };
    const dnnl::convolution_forward::primitive_desc chosen(
        dnnl::convolution_forward::desc(kForward, algorithm::convolution_direct, wanted(x),
                                        wanted(weights), wanted(y), {stride, stride}, {1, 1},
                                        {1, 1}),
        engine());
    auto chain = std::make_shared<Chain>();
    const memory source = chain->reordered(x, chosen.src_desc());
    const memory filter = chain->reordered(weights, chosen.weights_desc());
    const bool same = chosen.dst_desc() == y.get_desc();
    const memory result = same ? y : memory(chosen.dst_desc(), engine());
    chain->add(dnnl::convolution_forward(chosen),
               {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, filter}, {DNNL_ARG_DST, result}});
    if (!same) chain->add(dnnl::reorder(result, y), {{DNNL_ARG_FROM, result}, {DNNL_ARG_TO, y}});
    add(any ? "oneDNN with reorders" : "oneDNN nchw", chain);
  }
}

void addPooling(const Call& call, const Add& add) {
  const bool max = call.kernel == "maxpool";
  if (!max && call.kernel != "avgpool") return;
  const auto n = call.size("N"), c = call.size("C"), h = call.size("H"), w = call.size("W");
  if (max && (h % 2 != 0 || w % 2 != 0)) return;
  const Desc x = plain({n, c, h, w}, Tag::nchw);
  const Desc y = plain(max ? Dims{n, c, h / 2, w / 2} : Dims{n, c, 1, 1}, Tag::nchw);
  const Dims window = max ? Dims{2, 2} : Dims{h, w};
  const dnnl::pooling_forward::primitive_desc chosen(
      dnnl::pooling_forward::desc(
          kForward, max ? algorithm::pooling_max : algorithm::pooling_avg_exclude_padding, x, y,
          window, window, {0, 0}, {0, 0}),
      engine());
  auto chain = std::make_shared<Chain>();
  chain->add(dnnl::pooling_forward(chosen),
             {{DNNL_ARG_SRC, over(x, call.in("x"))}, {DNNL_ARG_DST, over(y, call.out())}});
  add("oneDNN", chain);
}

void addNormalisation(const Call& call, const Add& add) {
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  auto chain = std::make_shared<Chain>();
  if (call.kernel == "layernorm") {
    const auto n = call.size("N"), m = call.size("M");
    const Desc x = plain({n, m}, Tag::ab), scale = plain({m}, Tag::a);
    const dnnl::layer_normalization_forward::primitive_desc chosen(
        dnnl::layer_normalization_forward::desc(kForward, x, 1e-5F, flags), engine());
    chain->add(dnnl::layer_normalization_forward(chosen),
               {{DNNL_ARG_SRC, over(x, call.in("x"))},
                {DNNL_ARG_DST, over(x, call.out())},
                {DNNL_ARG_SCALE, over(scale, call.in("gamma"))},
                {DNNL_ARG_SHIFT, over(scale, call.in("beta"))}});
  } else if (call.kernel == "batchnorm") {
    const Dims dims = {call.size("N"), call.size("C"), call.size("H"), call.size("W")};
    const Desc x = plain(dims, Tag::nchw), scale = plain({dims[1]}, Tag::a);
    const dnnl::batch_normalization_forward::primitive_desc chosen(
        dnnl::batch_normalization_forward::desc(
            kForward, x, 1e-5F, flags | dnnl::normalization_flags::use_global_stats),
        engine());
    chain->add(dnnl::batch_normalization_forward(chosen),
               {{DNNL_ARG_SRC, over(x, call.in("x"))},
                {DNNL_ARG_DST, over(x, call.out())},
                {DNNL_ARG_MEAN, over(scale, call.in("mean"))},
                {DNNL_ARG_VARIANCE, over(scale, call.in("variance"))},
                {DNNL_ARG_SCALE, over(scale, call.in("gamma"))},
                {DNNL_ARG_SHIFT, over(scale, call.in("beta"))}});
  } else {
    return;
  }
  add("oneDNN", chain);
}

void addElements(const Call& call, const Add& add) {
  const std::string& kernel = call.kernel;
  auto chain = std::make_shared<Chain>();
  if (kernel == "add" || kernel == "mul") {
    const Desc x = plain({call.size("N"), call.size("M")}, Tag::ab);
    const auto op = kernel == "add" ? algorithm::binary_add : algorithm::binary_mul;
    chain->add(dnnl::binary({dnnl::binary::desc(op, x, x, x), engine()}),
               {{DNNL_ARG_SRC_0, over(x, call.in("a"))},
                {DNNL_ARG_SRC_1, over(x, call.in("b"))},
                {DNNL_ARG_DST, over(x, call.out())}});
  } else if (kernel == "relu" || kernel == "gelu") {
    const Desc x = plain({call.size("N"), call.size("M")}, Tag::ab);
    const auto op = kernel == "relu" ? algorithm::eltwise_relu : algorithm::eltwise_gelu_erf;
    chain->add(
        dnnl::eltwise_forward({dnnl::eltwise_forward::desc(kForward, op, x, 0, 0), engine()}),
        {{DNNL_ARG_SRC, over(x, call.in("x"))}, {DNNL_ARG_DST, over(x, call.out())}});
  } else if (kernel == "softmax") {
    const Desc x = plain({call.size("N"), call.size("M")}, Tag::ab);
    chain->add(dnnl::softmax_forward({dnnl::softmax_forward::desc(kForward, x, 1), engine()}),
               {{DNNL_ARG_SRC, over(x, call.in("x"))}, {DNNL_ARG_DST, over(x, call.out())}});
  } else if (kernel == "reducemean") {
    const Desc x = plain({call.size("N"), call.size("M")}, Tag::ab);
    const Desc y = plain({call.size("N"), 1}, Tag::ab);
    chain->add(
        dnnl::reduction({dnnl::reduction::desc(algorithm::reduction_mean, x, y, 0, 0), engine()}),
        {{DNNL_ARG_SRC, over(x, call.in("x"))}, {DNNL_ARG_DST, over(y, call.out())}});
  } else if (kernel == "sum") {
    const Desc x = plain({1, call.size("N")}, Tag::ab), y = plain({1, 1}, Tag::ab);
    chain->add(
        dnnl::reduction({dnnl::reduction::desc(algorithm::reduction_sum, x, y, 0, 0), engine()}),
        {{DNNL_ARG_SRC, over(x, call.in("x"))}, {DNNL_ARG_DST, over(y, call.out())}});
  } else if (kernel == "transpose") {
    const Dims dims = {call.size("N"), call.size("M")};
    const memory x = over(plain(dims, Tag::ab), call.in("x"));
    const memory y = over(plain(dims, Tag::ba), call.out());
    chain->add(dnnl::reorder(x, y), {{DNNL_ARG_FROM, x}, {DNNL_ARG_TO, y}});
  } else {
    return;
  }
  add("oneDNN", chain);
}

void addLayers(const Call& call, const Add& add) {
  auto chain = std::make_shared<Chain>();
  if (call.kernel == "relu_ffn" || call.kernel == "swiglu") {
    const auto m = call.size("M"), n = call.size("N"), k = call.size("K");
    const memory x = over(plain({m, k}, Tag::ab), call.in("x"));
    const memory w = over(plain({k, n}, Tag::ab), call.in("w"));
    const memory y = over(plain({m, n}, Tag::ab), call.out());
    dnnl::post_ops after;
    memory other;
    if (call.kernel == "relu_ffn") {
      other = over(plain({1, n}, Tag::ab), call.in("b"));
      after.append_binary(algorithm::binary_add, other.get_desc());
      after.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
    } else {
      other = memory(y.get_desc(), engine());
      const memory v = over(w.get_desc(), call.in("v"));
      chain->add(dnnl::matmul(matmulOf(x.get_desc(), v.get_desc(), other.get_desc())),
                 {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, v}, {DNNL_ARG_DST, other}});
      after.append_eltwise(1, algorithm::eltwise_swish, 1, 0);
      after.append_binary(algorithm::binary_mul, other.get_desc());
    }
    dnnl::primitive_attr attr;
    attr.set_post_ops(after);
    const int position = call.kernel == "relu_ffn" ? 0 : 1;
    chain->add(dnnl::matmul(matmulOf(x.get_desc(), w.get_desc(), y.get_desc(), attr)),
               {{DNNL_ARG_SRC, x},
                {DNNL_ARG_WEIGHTS, w},
                {DNNL_ARG_DST, y},
                {DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1, other}});
  } else if (call.kernel == "attention") {
    const auto n = call.size("N"), d = call.size("D");
    const memory q = over(plain({n, d}, Tag::ab), call.in("q"));
    const memory k = over(plain({d, n}, Tag::ba), call.in("k"));
    const memory v = over(plain({n, d}, Tag::ab), call.in("v"));
    const memory y = over(plain({n, d}, Tag::ab), call.out());
    const memory p(plain({n, n}, Tag::ab), engine());
    chain->add(dnnl::matmul(matmulOf(q.get_desc(), k.get_desc(), p.get_desc())),
               {{DNNL_ARG_SRC, q}, {DNNL_ARG_WEIGHTS, k}, {DNNL_ARG_DST, p}});
    chain->add(
        dnnl::softmax_forward({dnnl::softmax_forward::desc(kForward, p.get_desc(), 1), engine()}),
        {{DNNL_ARG_SRC, p}, {DNNL_ARG_DST, p}});
    chain->add(dnnl::matmul(matmulOf(p.get_desc(), v.get_desc(), y.get_desc())),
               {{DNNL_ARG_SRC, p}, {DNNL_ARG_WEIGHTS, v}, {DNNL_ARG_DST, y}});
  } else {
    return;
  }
  add("oneDNN", chain);
}

}  // namespace

void addDnnl(const Call& call, std::vector<Peer>& peers) {
  const Add add = [&](const std::string& name, const std::shared_ptr<Chain>& chain) {
    peers.push_back({name, [chain] { chain->run(); }});
  };
  addMatmul(call, add);
  addGemv(call, add);
  addQuantised(call, add);
  addConvolution(call, add);
  addPooling(call, add);
  addNormalisation(call, add);
  addElements(call, add);
  addLayers(call, add);
  if (call.kernel == "matmul") {
    peers.push_back({"oneDNN sgemm", [call] {
                       const auto m = call.size("M"), n = call.size("N"), k = call.size("K");
                       dnnl_sgemm('N', 'N', m, n, k, 1, call.in("a"), k, call.in("b"), n, 0,
                                  call.out(), n);
                     }});
  }
}

}  // namespace dojo::peers
