#include "coppice/family/row_family.hpp"

#include <algorithm>

namespace coppice {

RowFamily::RowFamily(std::vector<std::unique_ptr<Family>> blocks) {
  for (std::unique_ptr<Family>& family : blocks) {
    const Family& added = *family;
    blocks_.push_back({std::move(family), width_, stats_size_, theta_size_, cache_size_ * kLanes,
                       union_size_ * kLanes, single_size_, single_words_, hyper_size_});
    width_ += added.width();
    stats_size_ += added.stats_size();
    theta_size_ += added.theta_size();
    cache_size_ += added.cache_size();
    union_size_ += added.union_size();
    single_size_ += added.single_size();
    single_words_ += added.single_words();
    hyper_size_ += added.hyper_size();
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

void RowFamily::add_copies(double* stats, const double* row, double copies) const {
  stats[0] += copies;
  for (const Block& block : blocks_)
    block.family->add_copies(stats + block.stats, row + block.column, copies);
}

bool RowFamily::remove_copies(double* stats, const double* row, double copies) const {
  stats[0] -= copies;
  bool accurate = true;
  for (const Block& block : blocks_)
    accurate &= block.family->remove_copies(stats + block.stats, row + block.column, copies);
  return accurate;
}

double RowFamily::log_marginal_with(const double* stats, const double* row, double copies) const {
  double total = 0.0;
  for (const Block& block : blocks_)
    total += block.family->log_marginal_with(stats + block.stats, row + block.column, copies);
  return total;
}

double RowFamily::log_marginal_without(const double* stats, const double* row, double copies) const {
  double total = 0.0;
  for (const Block& block : blocks_)
    total += block.family->log_marginal_without(stats + block.stats, row + block.column, copies);
  return total;
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

namespace {

class BlockLikelihoods final : public Likelihoods {
 public:
  void add_block(std::size_t column, std::unique_ptr<Likelihoods> likelihoods) {
    parts_.push_back({column, std::move(likelihoods)});
  }
  void add(const double* columns, std::size_t count, double* out) override {
    for (const Part& part : parts_) part.likelihoods->add(columns + part.column * kTileRows, count, out);
  }

 private:
  struct Part {
    std::size_t column;
    std::unique_ptr<Likelihoods> likelihoods;
  };
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<Likelihoods> RowFamily::likelihoods(std::span<const double> thetas) const {
  auto all = std::make_unique<BlockLikelihoods>();
  std::vector<double> own;
  for (const Block& block : blocks_) {
    own.clear();
    for (std::size_t begin = block.theta; begin < thetas.size(); begin += theta_size_)
      own.insert(own.end(), thetas.data() + begin, thetas.data() + begin + block.family->theta_size());
    all->add_block(block.column, row_batches(*block.family).likelihoods(own));
  }
  return all;
}

void RowFamily::add_rows(double* stats, const double* rows, std::size_t stride,
                         std::span<const std::uint32_t> which) const {
  stats[0] += static_cast<double>(which.size());
  for (const Block& block : blocks_)
    row_batches(*block.family).add_rows(stats + block.stats, rows + block.column, stride, which);
}

void RowFamily::draw_missing_given(const double* theta, Stream& stream, double* row) const {
  for (const Block& block : blocks_)
    row_batches(*block.family).draw_missing_given(theta + block.theta, stream, row + block.column);
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

CellPredictive RowFamily::predict_cell_given(const double* stats, const double* row,
                                             std::size_t column) const {
  const Block& block = block_of(column);
  return block.family->predict_cell_given(stats + block.stats, row + block.column, column - block.column);
}

double RowFamily::cell_log_predictive_given(const double* stats, const double* row, std::size_t column,
                                            double value) const {
  const Block& block = block_of(column);
  return block.family->cell_log_predictive_given(stats + block.stats, row + block.column,
                                                 column - block.column, value);
}

bool RowFamily::must_fill(std::size_t column) const {
  const Block& block = block_of(column);
  return block.family->must_fill(column - block.column);
}

void RowFamily::draw_missing(const double* stats, Stream& stream, double* row) const {
  for (const Block& block : blocks_)
    block.family->draw_missing(stats + block.stats, stream, row + block.column);
}

void RowFamily::add_log_predictive_of_present(const double* row, const double* cache, std::size_t stride,
                                              std::size_t chunks, double* out) const {
  for (const Block& block : blocks_)
    block.family->add_log_predictive_of_present(row + block.column, cache + block.cache, stride, chunks, out);
}

void RowFamily::log_marginals_alone(const double* rows, std::size_t count, double* out) const {
  std::fill_n(out, count, 0.0);
  constexpr std::size_t kRowsAtOnce = 64;
  std::vector<double> cells;
  double values[kRowsAtOnce];
  for (const Block& block : blocks_) {
    const std::size_t width = block.family->width();
    cells.resize(kRowsAtOnce * width);
    for (std::size_t begin = 0; begin < count; begin += kRowsAtOnce) {
      const std::size_t used = std::min(kRowsAtOnce, count - begin);
      for (std::size_t i = 0; i < used; ++i)
        std::copy_n(rows + (begin + i) * width_ + block.column, width, cells.data() + i * width);
      block.family->log_marginals_alone(cells.data(), used, values);
      for (std::size_t i = 0; i < used; ++i) out[begin + i] += values[i];
    }
  }
}

std::unique_ptr<Family> RowFamily::clone() const {
  std::vector<std::unique_ptr<Family>> copies;
  for (const Block& block : blocks_) copies.push_back(block.family->clone());
  return std::make_unique<RowFamily>(std::move(copies));
}

std::size_t RowFamily::bytes() const {
  std::size_t total = sizeof *this;
  for (const Block& block : blocks_) total += sizeof block + block.family->bytes();
  return total;
}

std::size_t RowFamily::table_bytes() const {
  std::size_t total = 0;
  for (const Block& block : blocks_) total += block.family->table_bytes();
  return total;
}

void RowFamily::get_hyper(double* values) const {
  for (const Block& block : blocks_) block.family->get_hyper(values + block.hyper);
}

void RowFamily::set_hyper(const double* values) {
  for (Block& block : blocks_) block.family->set_hyper(values + block.hyper);
}

void RowFamily::set_cell_hyper(std::size_t cell, const double* values) {
  const Block& block = block_of(cell);
  block.family->set_cell_hyper(cell - block.column, values);
}

std::vector<std::string> RowFamily::hyper_names() const {
  std::vector<std::string> names;
  for (const Block& block : blocks_)
    for (std::string& name : block.family->hyper_names()) names.push_back(std::move(name));
  return names;
}

double RowFamily::log_hyper_prior() const {
  double total = 0.0;
  for (const Block& block : blocks_) total += block.family->log_hyper_prior();
  return total;
}

void RowFamily::draw_hyper_prior(Stream& stream) {
  for (Block& block : blocks_) block.family->draw_hyper_prior(stream);
}

void RowFamily::update_hyper_at_power(std::span<const double* const> clusters, Stream& stream, double power) {
  for (Block& block : blocks_) {
    if (block.family->hyper_size() == 0) continue;
    of_block_.clear();
    for (const double* stats : clusters) of_block_.push_back(stats + block.stats);
    block.family->update_hyper(of_block_, stream, power);
  }
}

void RowFamily::rebase(double* stats, const double* before) const {
  for (const Block& block : blocks_) block.family->rebase(stats + block.stats, before + block.hyper);
}

std::unique_ptr<Family> RowFamily::with_independent_cells() const {
  std::vector<std::unique_ptr<Family>> parts;
  bool any = false;
  for (const Block& block : blocks_) {
    parts.push_back(block.family->with_independent_cells());
    any |= parts.back() != nullptr;
    if (!parts.back()) parts.back() = block.family->clone();
  }
  return any ? std::make_unique<RowFamily>(std::move(parts)) : nullptr;
}

std::vector<std::string> RowFamily::hyper_trace_names() const {
  std::vector<std::string> names;
  for (const Block& block : blocks_)
    for (std::string& name : block.family->hyper_trace_names()) names.push_back(std::move(name));
  return names;
}

void RowFamily::hyper_traces(double* values) const {
  for (const Block& block : blocks_) {
    block.family->hyper_traces(values);
    values += block.family->hyper_trace_names().size();
  }
}

}  // namespace coppice
