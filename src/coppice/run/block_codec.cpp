#include "coppice/run/block_codec.hpp"

#include <algorithm>
#include <cstring>

#include "coppice/base/error.hpp"
#include "coppice/data/zstd_frame.hpp"

namespace coppice {
namespace {

// A block is at most so many sweeps.
constexpr std::size_t kMostDraws = 100;

struct Address {
  std::uint64_t chain = 0, block = 0, first = 0, count = 0, width = 0;
  bool operator==(const Address&) const = default;
};

Address address_of(const DrawBlock& block, std::size_t width) {
  return {block.chain, block.block, block.first, block.count, width};
}

/// The bytes of a block whose draws have at most `most` bytes each.
std::string block_bytes(std::string_view blob, const DrawBlock& block, std::size_t most) {
  if (block.count > kMostDraws)
    fail(ErrorCode::bad_data, "the run file is damaged: a block claims {} draws", block.count);
  return decompress_frame(blob, sizeof(Address) + std::max<std::size_t>(block.count, 1) * most,
                          "a block of draws");
}

[[noreturn]] void damaged() {
  fail(ErrorCode::bad_data, "the run file is damaged: a block of draws is not where it belongs");
}

template <typename T>
std::string with_address(const Address& address, const std::vector<T>& values) {
  std::string bytes(sizeof address + values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), &address, sizeof address);
  if (!values.empty()) std::memcpy(bytes.data() + sizeof address, values.data(), values.size() * sizeof(T));
  return compress(bytes);
}

/// The address, checked, and the payload behind it.
std::string_view payload(const std::string& bytes, const DrawBlock& block, std::size_t& width) {
  Address address;
  if (bytes.size() < sizeof address) damaged();
  std::memcpy(&address, bytes.data(), sizeof address);
  width = address.width;
  if (address != address_of(block, width)) damaged();
  return std::string_view(bytes).substr(sizeof address);
}

template <typename T>
std::vector<T> narrowed(const std::vector<Label>& labels) {
  return std::vector<T>(labels.begin(), labels.end());
}

template <typename T>
void widen(std::string_view bytes, std::vector<Label>& labels) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  labels.assign(values.begin(), values.end());
}

}  // namespace

std::string encode_traces(const DrawBlock& block) {
  return with_address(address_of(block, block.count == 0 ? 0 : block.traces.size() / block.count),
                      block.traces);
}

void decode_traces(std::string_view blob, DrawBlock& block, const BlockLimits& limits) {
  const std::string bytes = block_bytes(blob, block, limits.traces * sizeof(double));
  std::size_t width = 0;
  const std::string_view values = payload(bytes, block, width);
  if (width > limits.traces || values.size() != block.count * width * sizeof(double)) damaged();
  block.traces.resize(block.count * width);
  if (!values.empty()) std::memcpy(block.traces.data(), values.data(), values.size());
}

std::string encode_labels(const DrawBlock& block) {
  // The width of a label is part of the address: one, two or four bytes.
  const Label largest =
      block.labels.empty() ? 0 : *std::max_element(block.labels.begin(), block.labels.end());
  if (largest < 256) return with_address(address_of(block, 1), narrowed<std::uint8_t>(block.labels));
  if (largest < 65536) return with_address(address_of(block, 2), narrowed<std::uint16_t>(block.labels));
  return with_address(address_of(block, 4), block.labels);
}

void decode_labels(std::string_view blob, DrawBlock& block, const BlockLimits& limits) {
  const std::string bytes = block_bytes(blob, block, limits.labels * sizeof(Label));
  std::size_t width = 0;
  const std::string_view values = payload(bytes, block, width);
  if (width != 1 && width != 2 && width != 4) damaged();
  if (block.count == 0 ? !values.empty() : values.size() % (width * block.count) != 0) damaged();
  if (width == 1) widen<std::uint8_t>(values, block.labels);
  if (width == 2) widen<std::uint16_t>(values, block.labels);
  if (width == 4) widen<Label>(values, block.labels);
}

std::string encode_payloads(const DrawBlock& block) {
  const bool none = std::all_of(block.payload.begin(), block.payload.end(),
                                [](const std::string& bytes) { return bytes.empty(); });
  if (none) return {};
  // The lengths of all draws, then their bytes.
  std::vector<char> values;
  for (const std::string& bytes : block.payload) {
    const std::uint64_t length = bytes.size();
    const char* first = reinterpret_cast<const char*>(&length);
    values.insert(values.end(), first, first + sizeof length);
  }
  for (const std::string& bytes : block.payload) values.insert(values.end(), bytes.begin(), bytes.end());
  return with_address(address_of(block, sizeof(std::uint64_t)), values);
}

void decode_payloads(std::string_view blob, DrawBlock& block, const BlockLimits& limits) {
  block.payload.clear();
  if (blob.empty()) return;
  const std::string bytes = block_bytes(blob, block, sizeof(std::uint64_t) + limits.state);
  std::size_t width = 0;
  std::string_view rest = payload(bytes, block, width);
  if (width != sizeof(std::uint64_t) || rest.size() / width < block.count) damaged();
  std::vector<std::uint64_t> lengths(block.count);
  if (block.count != 0) std::memcpy(lengths.data(), rest.data(), block.count * width);
  rest.remove_prefix(block.count * width);
  for (const std::uint64_t length : lengths) {
    if (length > rest.size()) damaged();
    block.payload.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (!rest.empty()) damaged();
}

std::string encode_checkpoint(const Checkpoint& checkpoint) {
  const std::uint64_t address[2] = {checkpoint.chain, checkpoint.sweep};
  std::string bytes(sizeof address, '\0');
  std::memcpy(bytes.data(), address, sizeof address);
  return compress(bytes + checkpoint.state);
}

Checkpoint decode_checkpoint(std::size_t chain, std::size_t sweep, std::string_view blob,
                             const BlockLimits& limits) {
  std::uint64_t address[2];
  const std::string bytes = decompress_frame(blob, sizeof address + limits.state, "a state");
  if (bytes.size() < sizeof address) damaged();
  std::memcpy(address, bytes.data(), sizeof address);
  if (address[0] != chain || address[1] != sweep) damaged();
  return {chain, sweep, bytes.substr(sizeof address)};
}

}  // namespace coppice
