#include "coppice/run/table_parts.hpp"

#include <nlohmann/json.hpp>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/model/registry.hpp"

namespace coppice {

std::string describe_problem(const RunContents& contents) {
  return nlohmann::json{{"config", to_json(contents.config)},
                        {"effective", to_json(*contents.effective)},
                        {"columns", contents.table.columns.size()},
                        {"codebook", to_toml(contents.codebook)},
                        {"input_codebook", to_toml(contents.input_codebook)},
                        {"transform", contents.transform},
                        {"rows", contents.rows()}}
      .dump();
}

PartOfTable::PartOfTable(std::string_view description, const MemoryTable& rows, std::uint64_t first) {
  set_up(description, first, [&](const RunContents& contents) { return rows_like(rows, contents); });
}

PartOfTable::PartOfTable(std::string_view description, Table rows, std::uint64_t first) {
  set_up(description, first, [&](const RunContents& contents) {
    return apply(transform_from_json(contents.transform), std::move(rows));
  });
}

PartOfTable::PartOfTable(std::string_view description, Rows rows, std::uint64_t first) {
  set_up(description, first, [](const RunContents& contents) { return empty_table(contents.codebook); });
  if (rows.width != setup_->rows.width)
    fail(ErrorCode::bug, "rows of {} cells where {} are expected", rows.width, setup_->rows.width);
  setup_->rows = std::move(rows);
  count_blocks(first);
}

void PartOfTable::count_blocks(std::uint64_t first) {
  const std::size_t block_size = setup_->problem.parameters.integer("block-size");
  first_block_ = first / block_size;
  blocks_ = (setup_->rows.size() + block_size - 1) / block_size;
}

void PartOfTable::set_up(std::string_view description, std::uint64_t first,
                         const std::function<Table(const RunContents&)>& rows) {
  const nlohmann::json object = nlohmann::json::parse(description);
  const auto text = [&](const char* key) { return object.at(key).get<std::string>(); };
  RunContents contents;
  contents.config = config_from_json(text("config"));
  contents.effective = effective_from_json(text("effective"), object.at("columns").get<std::size_t>());
  contents.codebook = parse_codebook(text("codebook"), "codebook");
  contents.input_codebook = parse_codebook(text("input_codebook"), "codebook");
  contents.transform = text("transform");
  contents.table = rows(contents);
  contents.part.all_rows = object.at("rows").get<std::uint64_t>();
  contents.part.first = first;
  setup_ = set_up_problem(contents);
  count_blocks(first);
}

PartOfTable::Chain& PartOfTable::chain(std::uint64_t slot) {
  const std::lock_guard lock(mutex_);
  return chains_[slot];
}

BlockAnswer PartOfTable::ask(std::string_view message, std::uint64_t slot, std::size_t threads) {
  Chain& chain = this->chain(slot);
  const std::lock_guard lock(chain.mutex);
  if (!chain.inference) {
    chain.inference = setup_->model->make_inference(setup_->problem);
    auto* in_blocks = dynamic_cast<UsesEngine*>(chain.inference.get());
    if (in_blocks == nullptr)
      fail(ErrorCode::configuration, "a table in parts needs {}", samplers_in_blocks());
    chain.task = &in_blocks->task();
  }
  chain.task->receive(message);
  std::vector<BlockAnswer> answers(blocks_);
  parallel_for(blocks_, threads,
               [&](std::size_t block) { answers[block] = chain.task->answer(first_block_ + block); });
  return reduce_in_order(std::move(answers),
                         [&](BlockAnswer& a, const BlockAnswer& b) { chain.task->merge(a, b); });
}

}  // namespace coppice
