// The blocks of rows of the data-parallel sampler: labels from an assignment, statistics of clusters and of
// the sides of split-merge moves. Labels, filled cells and lists of rows are kept between messages, but only
// to save time: a block that has lost them makes them again from the next message.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/engine.hpp"
#include "coppice/cluster/filled_rows.hpp"
#include "coppice/family/row_batches.hpp"
#include "coppice/model/model.hpp"
#include "coppice/model/nrmm/data_parallel_message.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice::nrmm {

class DataParallelBlocks final : public BlockTask {
 public:
  /// `own_family` is `family` if it learns, otherwise null: messages change it. Rows of a part begin with a
  /// block, or are scattered: those have labels, but answer no other question.
  DataParallelBlocks(const Family& family, Family* own_family, FilledRows& rows, std::size_t block_size,
                     const TablePart& part);

  /// Of the rows that are here.
  std::span<const Label> labels() const { return labels_; }
  /// Labels that no assignment gives, until a message has one.
  void keep_labels(std::span<const Label> labels);

  void receive(std::string_view message) override;
  BlockAnswer answer(std::size_t block) override;
  void merge(BlockAnswer& answer, const BlockAnswer& next) override;

 private:
  struct State {
    std::uint64_t assignment = 0;                     // which one gave the labels
    std::vector<std::uint32_t> order, begins;         // rows by cluster, counted from the block's first
    StreamName keys_of;                               // which sweep the keys belong to
    AlignedVector keys;                               // of the rows, with room for a last group of lanes
    std::uint64_t launch = 0;                         // to which pairs the lists belong
    std::vector<std::vector<std::uint32_t>> members;  // of S of every pair
    std::vector<std::vector<std::uint32_t>> in_launch;
  };
  struct Range {  // of rows that are here
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
  };
  class SideDraw;

  /// Of labels that have changed nothing is left but the keys.
  void forget(State& state) const;
  /// `block` counts from the first one that is here.
  Range range(std::size_t block) const;
  /// The number of a row in the table, from its place here, and back; labels_.size(): it is not here.
  std::uint64_t number(std::size_t row) const { return numbers_.empty() ? first_ + row : numbers_[row]; }
  std::size_t place(std::uint64_t number) const;
  void draw_uniforms(const StreamName& name, Purpose purpose, std::size_t begin, std::size_t count,
                     std::size_t padded, double* out) const;
  /// Keys of a block's rows, which a sweep asks for up to three times.
  const double* keys(std::size_t block, const StreamName& name);
  void make_labels(std::size_t block);
  void sort_rows(std::size_t block);
  void make_lists(std::size_t block);
  void merge_tallies(BlockAnswer& answer, const BlockAnswer& next) const;
  void merge_proposals(BlockAnswer& answer, const BlockAnswer& next) const;
  BlockAnswer tally(std::size_t block);
  BlockAnswer locate(std::size_t block) const;
  BlockAnswer launch(std::size_t block);
  BlockAnswer propose(std::size_t block);
  BlockAnswer cells(std::size_t block) const;
  BlockAnswer labels(std::size_t block) const;
  /// Adds the statistics of the rows (counted from the block's first) to `stats`.
  void add_stats(std::size_t block, std::span<const std::uint32_t> which, double* stats) const;

  const Family* family_;
  Family* own_family_;
  const RowBatches* batches_;
  FilledRows* rows_;
  std::size_t block_size_, stats_size_;
  std::uint64_t first_;
  std::vector<std::uint64_t> numbers_;
  Labels labels_;
  std::vector<State> states_;
  BlockMessage message_;
  std::uint64_t assignment_ = 0, launch_ = 0;  // of the message
};

}  // namespace coppice::nrmm
