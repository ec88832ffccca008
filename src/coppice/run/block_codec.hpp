// The bytes of draws and checkpoints inside the run file. Each blob carries its own address (chain, block,
// draws), so that a damaged row number is noticed as surely as a damaged value.
#pragma once

#include <string>
#include <string_view>

#include "coppice/run/draw_block.hpp"

namespace coppice {

std::string encode_traces(const DrawBlock& block);
std::string encode_labels(const DrawBlock& block);
/// Nothing at all for a block without payload.
std::string encode_payloads(const DrawBlock& block);
/// Fill the block whose chain, block, first and count are set; throw Error{bad_data} if the blob is
/// another's or larger than the limits.
void decode_traces(std::string_view blob, DrawBlock& block, const BlockLimits& limits = {});
void decode_labels(std::string_view blob, DrawBlock& block, const BlockLimits& limits = {});
void decode_payloads(std::string_view blob, DrawBlock& block, const BlockLimits& limits = {});

std::string encode_checkpoint(const Checkpoint& checkpoint);
Checkpoint decode_checkpoint(std::size_t chain, std::size_t sweep, std::string_view blob,
                             const BlockLimits& limits = {});

}  // namespace coppice
