#include "coppice/family/row_family.hpp"

namespace coppice {

RowFamily::RowFamily(std::vector<std::unique_ptr<Family>> blocks) {
  for (std::unique_ptr<Family>& family : blocks) {
    const Family& added = *family;
    blocks_.push_back({std::move(family), width_, stats_size_, theta_size_, bank_size_ * kLanes});
    width_ += added.width();
    stats_size_ += added.stats_size();
    theta_size_ += added.theta_size();
    bank_size_ += added.bank_size();
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

void RowFamily::fill_bank(const double* stats, double* bank) const {
  for (const Block& block : blocks_) block.family->fill_bank(stats + block.stats, bank + block.bank);
}

void RowFamily::add_log_predictive(const double* row, const double* bank, std::size_t stride,
                                   std::size_t chunks, const OwnCluster& own, double* out) const {
  for (const Block& block : blocks_) {
    OwnCluster part = own;
    if (own.stats != nullptr) part.stats = own.stats + block.stats;
    block.family->add_log_predictive(row + block.column, bank + block.bank, stride, chunks, part, out);
  }
}

CellPredictive RowFamily::predict_cell(const double* stats, std::size_t column) const {
  const Block& block = block_of(column);
  return block.family->predict_cell(stats + block.stats, column - block.column);
}

}  // namespace coppice
