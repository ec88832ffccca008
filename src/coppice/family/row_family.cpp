#include "coppice/family/row_family.hpp"

namespace coppice {

RowFamily::RowFamily(std::vector<std::unique_ptr<Family>> blocks) {
  for (std::unique_ptr<Family>& family : blocks) {
    const Family& added = *family;
    blocks_.push_back({std::move(family), width_, stats_size_, theta_size_, cache_size_ * kLanes,
                       union_size_ * kLanes, single_size_, single_words_});
    width_ += added.width();
    stats_size_ += added.stats_size();
    theta_size_ += added.theta_size();
    cache_size_ += added.cache_size();
    union_size_ += added.union_size();
    single_size_ += added.single_size();
    single_words_ += added.single_words();
  }
}

const RowFamily::Block& RowFamily::block_of(std::size_t column) const {
  std::size_t index = blocks_.size() - 1;
  while (blocks_[index].column > column) --index;
  return blocks_[index];
}

double RowFamily::origin(std::size_t column) const {
  const Block& block = block_of(column);
  return block.family->origin(column - block.column);
}

void RowFamily::clear(double* stats) const {
  stats[0] = 0.0;
  for (const Block& block : blocks_) block.family->clear(stats + block.stats);
}

void RowFamily::add(double* stats, const double* row) const {
  stats[0] += 1.0;
  for (const Block& block : blocks_) block.family->add(stats + block.stats, row + block.column);
}

bool RowFamily::remove(double* stats, const double* row) const {
  stats[0] -= 1.0;
  bool accurate = true;
  for (const Block& block : blocks_)
    accurate &= block.family->remove(stats + block.stats, row + block.column);
  return accurate;
}

void RowFamily::merge(double* stats, const double* other) const {
  stats[0] += other[0];
  for (const Block& block : blocks_) block.family->merge(stats + block.stats, other + block.stats);
}

double RowFamily::log_marginal(const double* stats) const {
  double total = 0.0;
  for (const Block& block : blocks_) total += block.family->log_marginal(stats + block.stats);
  return total;
}

double RowFamily::log_predictive(const double* stats, const double* row) const {
  double total = 0.0;
  for (const Block& block : blocks_)
    total += block.family->log_predictive(stats + block.stats, row + block.column);
  return total;
}

void RowFamily::draw_theta(const double* stats, Stream& stream, double* theta) const {
  for (const Block& block : blocks_)
    block.family->draw_theta(stats + block.stats, stream, theta + block.theta);
}

void RowFamily::draw(const double* theta, Stream& stream, double* row) const {
  for (const Block& block : blocks_) block.family->draw(theta + block.theta, stream, row + block.column);
}

double RowFamily::log_likelihood(const double* theta, const double* row) const {
  double total = 0.0;
  for (const Block& block : blocks_)
    total += block.family->log_likelihood(theta + block.theta, row + block.column);
  return total;
}

void RowFamily::fill_cache(const double* stats, double* cache) const {
  for (const Block& block : blocks_) block.family->fill_cache(stats + block.stats, cache + block.cache);
}

void RowFamily::add_log_predictive(const double* row, const double* cache, std::size_t stride,
                                   std::size_t chunks, const OwnCluster& own, double* out) const {
  for (const Block& block : blocks_) {
    OwnCluster part = own;
    if (own.stats != nullptr) part.stats = own.stats + block.stats;
    block.family->add_log_predictive(row + block.column, cache + block.cache, stride, chunks, part, out);
  }
}

CellPredictive RowFamily::predict_cell(const double* stats, std::size_t column) const {
  const Block& block = block_of(column);
  return block.family->predict_cell(stats + block.stats, column - block.column);
}

double RowFamily::cell_log_predictive(const double* stats, std::size_t column, double value) const {
  const Block& block = block_of(column);
  return block.family->cell_log_predictive(stats + block.stats, column - block.column, value);
}

void RowFamily::fill_union(const double* stats, double* cache) const {
  for (const Block& block : blocks_) block.family->fill_union(stats + block.stats, cache + block.joint);
}

void RowFamily::add_log_marginals(const double* one, const double* cache, std::size_t stride,
                                  std::size_t chunks, double* out) const {
  for (const Block& block : blocks_)
    block.family->add_log_marginals(one + block.joint, cache + block.joint, stride, chunks, out);
}

void RowFamily::fill_single(const double* one, double* values) const {
  for (const Block& block : blocks_) block.family->fill_single(one + block.joint, values + block.single);
}

void RowFamily::set_single(const double* stats, std::size_t place, std::uint64_t* words) const {
  for (const Block& block : blocks_)
    block.family->set_single(stats + block.stats, place, words + block.words);
}

void RowFamily::add_log_marginals_of_singles(const double* one, const double* values,
                                             const std::uint64_t* words, const double* cache,
                                             std::size_t stride, unsigned chunks, double* out) const {
  for (const Block& block : blocks_)
    block.family->add_log_marginals_of_singles(one + block.joint, values + block.single, words + block.words,
                                               cache + block.joint, stride, chunks, out);
}

std::unique_ptr<Family> RowFamily::of_cells(std::span<const std::size_t> cells) const {
  std::vector<std::unique_ptr<Family>> parts;
  for (std::size_t next = 0; next < cells.size();) {
    const Block& block = block_of(cells[next]);
    std::vector<std::size_t> own;
    while (next < cells.size() && cells[next] < block.column + block.family->width())
      own.push_back(cells[next++] - block.column);
    parts.push_back(block.family->of_cells(own));
    if (!parts.back()) return nullptr;
  }
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<RowFamily>(std::move(parts));
}

bool RowFamily::restrict_to(std::span<const std::size_t> cells) {
  std::size_t next = 0;
  for (Block& block : blocks_) {
    local_.clear();
    while (next < cells.size() && cells[next] < block.column + block.family->width())
      local_.push_back(cells[next++] - block.column);
    if (!block.family->restrict_to(local_)) return false;
  }
  return true;
}

}  // namespace coppice
