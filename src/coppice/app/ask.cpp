// coppice ask: questions about columns, rows and cells. How much one column tells about another, which rows
// are unusual and why, how similar two rows are, what a cell would be if others were known.
#include <algorithm>
#include <numeric>

#include "coppice/app/answering.hpp"
#include "coppice/app/text_table.hpp"
#include "coppice/base/close_names.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/text.hpp"
#include "coppice/out/ascii_tree.hpp"
#include "coppice/out/ask_json.hpp"
#include "coppice/post/column_dependence.hpp"
#include "coppice/post/conditional.hpp"
#include "coppice/post/row_similarity.hpp"
#include "coppice/post/unusual_rows.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

struct AskArguments {
  std::string question, path, id;
  std::vector<std::string> words, given;
  std::size_t top = 10, level = 1, threads = 0;
  std::optional<std::size_t> draws;
};

/// Three digits, or a date.
std::string short_text(const Column& column, double value) {
  return column.dates ? column.number_text(value) : short_number(value);
}

/// "3.2 (2.9 to 3.6)", or a level with its probability.
std::string in_words(const Column& column, const ImputedCell& cell) {
  if (!cell.probabilities.empty()) return fmt::format("{} ({:.0f} %)", cell.level, 100.0 * cell.probability);
  const double middle = is_missing(cell.mean) ? cell.median : cell.mean;
  return fmt::format("{} ({} to {})", short_text(column, middle), short_text(column, cell.low),
                     short_text(column, cell.high));
}

std::size_t row_by_name(const SavedRun& run, const std::string& name) {
  const std::vector<std::string>& ids = run.table().row_ids;
  const auto found = std::find(ids.begin(), ids.end(), name);
  if (found == ids.end()) {
    const std::string question = did_you_mean(name, ids);
    fail(ErrorCode::usage, "row '{}': the run has no such row{}{}", name, question.empty() ? "" : "; ",
         question);
  }
  if (std::find(found + 1, ids.end(), name) != ids.end())
    fail(ErrorCode::usage,
         "row '{}': several rows of the run have this name; fit with a column of unique names", name);
  return static_cast<std::size_t>(found - ids.begin());
}

std::size_t draws_of(const AskArguments& arguments) { return arguments.draws.value_or(0); }

int ask_depend(const AskArguments& arguments, const Analysis& analysis, const Context& context) {
  const SavedRun& run = analysis.run();
  if (!arguments.given.empty()) fail(ErrorCode::usage, "--given belongs to ask similar and ask predict");
  std::vector<std::size_t> named;
  for (const std::string& word : arguments.words) named.push_back(column_by_name(run, word));
  const std::size_t columns = run.table().columns.size();
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  if (named.size() == 1) {
    for (std::size_t other = 0; other < columns; ++other)
      if (other != named.front()) pairs.emplace_back(named.front(), other);
  } else {
    if (named.empty()) {
      named.resize(columns);
      std::iota(named.begin(), named.end(), std::size_t{0});
      constexpr std::size_t kMostColumns = 100;
      if (columns > kMostColumns)
        fail(ErrorCode::usage,
             "the run has {} columns, which are {} pairs; name the columns to ask about, or one of them for "
             "its dependence on all others",
             columns, columns * (columns - 1) / 2);
    }
    for (std::size_t i = 0; i < named.size(); ++i)
      for (std::size_t j = i + 1; j < named.size(); ++j) pairs.emplace_back(named[i], named[j]);
  }
  std::vector<ColumnDependence> answers =
      column_dependence(run, pairs, {draws_of(arguments), DependenceOptions().nodes, arguments.threads});
  std::stable_sort(answers.begin(), answers.end(), [](const ColumnDependence& a, const ColumnDependence& b) {
    return a.mutual_information > b.mutual_information;
  });
  if (context.json) {
    write_json("", dependence_json(run, answers));
    return 0;
  }
  const bool views = run.model().has_views();
  TextTable table(std::vector<std::size_t>(views ? 6 : 5, 8));
  std::vector<std::string> heading{"columns", "nats", "90 % interval", "correlation", "explained"};
  if (views) heading.emplace_back("same view");
  table.add(heading);
  const std::size_t shown = arguments.top == 0 ? answers.size() : std::min(arguments.top, answers.size());
  for (const ColumnDependence& answer : std::span(answers).first(shown)) {
    const auto name = [&](std::size_t column) { return fit_to_width(run.table().columns[column].name, 30); };
    std::string explained;
    for (const auto& [column, share] :
         {std::pair(answer.first, answer.share_of_first), std::pair(answer.second, answer.share_of_second)})
      if (!is_missing(share))
        explained +=
            fmt::format("{}{:.0f} % of {}", explained.empty() ? "" : ", ", 100.0 * share, name(column));
    std::vector<std::string> line{fmt::format("{} ~ {}", name(answer.first), name(answer.second)),
                                  fmt::format("{:.3f}", answer.mutual_information),
                                  fmt::format("{:.3f} to {:.3f}", answer.low, answer.high),
                                  fmt::format("{:.2f}", answer.correlation),
                                  explained.empty() ? "-" : explained};
    if (views) line.push_back(fmt::format("{:.2f}", answer.same_view));
    table.add(std::move(line));
  }
  std::string text = caveat_line(analysis, context) + table.text(context);
  if (shown < answers.size())
    text += context.dim(fmt::format("and {} more pairs; --top 0 shows all\n", answers.size() - shown));
  text += context.dim(
      "Mutual information of two cells of a new row; correlation: that of normal columns with as much;\n"
      "explained: the share of a column's entropy.\n");
  write_text("", text);
  return 0;
}

int ask_anomalies(const AskArguments& arguments, const Analysis& analysis, const Context& context) {
  const SavedRun& run = analysis.run();
  if (!arguments.given.empty()) fail(ErrorCode::usage, "--given belongs to ask similar and ask predict");
  if (arguments.words.size() > 1)
    fail(ErrorCode::usage, "ask anomalies takes a run and, for new rows, one table; '{}' is too much",
         arguments.words[1]);
  if (!arguments.id.empty() && arguments.words.empty())
    fail(ErrorCode::usage, "--id belongs to a table of new rows");
  UnusualOptions options;
  options.most_rows = arguments.top;
  options.most_draws = draws_of(arguments);
  options.threads = arguments.threads;
  UnusualRows found;
  std::vector<std::string> ids;
  if (arguments.words.empty()) {
    found = unusual_rows(run, options);
    ids = run.table().row_ids;
  } else {
    const Table rows = run.read_new_rows(arguments.words.front(), arguments.id);
    found = unusual_rows(run, rows, options);
    ids = rows.row_ids;
  }
  if (context.json) {
    write_json("", unusual_rows_json(run, found, ids));
    return 0;
  }
  TextTable table({8, 8, 8});
  table.add({"row", "log density", "excess"});
  for (const UnusualRow& row : found.rows)
    table.add({fit_to_width(ids[row.row], 30), fmt::format("{:.2f}", row.log_density),
               fmt::format("{:.2f}", row.excess)});
  // The reasons are of any length and stand behind the table.
  const std::string lines = table.text(context);
  std::string text = caveat_line(analysis, context);
  std::size_t begin = 0;
  for (std::size_t line = 0; begin < lines.size(); ++line) {
    const std::size_t end = lines.find('\n', begin);
    text += lines.substr(begin, end - begin);
    begin = end + 1;
    if (line == 0) {
      text += "  because of\n";
      continue;
    }
    std::string reasons;
    for (const UnusualCell& cell : found.rows[line - 1].cells) {
      const Column& column = run.table().columns[cell.column];
      const ordered_json value = value_json(run, cell.column, cell.value);
      reasons += fmt::format("{}{} = {}, expected {}", reasons.empty() ? "" : "; ", column.name,
                             value.is_string() ? value.get<std::string>() : short_number(cell.value),
                             in_words(column, cell.expected));
    }
    text += "  " + (reasons.empty() ? std::string("no single cell") : reasons) + "\n";
  }
  text += context.dim(
      arguments.words.empty()
          ? "Log density of each row given all other rows; excess: against the mean of the rows, nats.\n"
          : "Log density of each new row; excess: against the mean of the new rows, nats.\n");
  write_text("", text);
  return 0;
}

int ask_similar(const AskArguments& arguments, const Analysis& analysis, const Context& context) {
  const SavedRun& run = analysis.run();
  if (arguments.words.empty() || arguments.words.size() > 2)
    fail(ErrorCode::usage, "ask similar takes a run and the names of one or two rows");
  std::vector<std::size_t> columns;
  for (const std::string& name : arguments.given) columns.push_back(column_by_name(run, name));
  const std::size_t row = row_by_name(run, arguments.words.front());
  const std::vector<std::string>& ids = run.table().row_ids;
  std::vector<std::size_t> others;
  if (arguments.words.size() == 2) others.push_back(row_by_name(run, arguments.words[1]));
  const std::vector<double> similarity =
      row_similarity(analysis, row, columns, arguments.level, arguments.threads);
  if (others.empty()) {
    for (std::size_t other = 0; other < ids.size(); ++other)
      if (other != row) others.push_back(other);
    std::stable_sort(others.begin(), others.end(),
                     [&](std::size_t a, std::size_t b) { return similarity[a] > similarity[b]; });
    if (arguments.top > 0) others.resize(std::min(others.size(), arguments.top));
  }
  if (context.json) {
    ordered_json list = ordered_json::array();
    for (const std::size_t other : others)
      list.push_back({{"row", ids[row]}, {"other", ids[other]}, {"similarity", similarity[other]}});
    write_json("", list);
    return 0;
  }
  TextTable table({8, 8});
  table.add({fmt::format("similarity to {}", fit_to_width(ids[row], 30)), "probability"});
  for (const std::size_t other : others)
    table.add({fit_to_width(ids[other], 30), fmt::format("{:.3f}", similarity[other])});
  std::string meaning = "The probability that the rows belong to one cluster";
  if (run.model().has_views())
    meaning += columns.empty() ? ", averaged over the columns" : ", averaged over the given columns";
  else if (!columns.empty())
    meaning += " if only the given columns are known";
  write_text("", caveat_line(analysis, context) + table.text(context) + context.dim(meaning + ".\n"));
  return 0;
}

int ask_predict(const AskArguments& arguments, const Analysis& analysis, const Context& context) {
  const SavedRun& run = analysis.run();
  if (arguments.words.empty())
    fail(ErrorCode::usage, "ask predict takes a run, the columns to predict, and --given COLUMN=VALUE");
  std::vector<std::size_t> columns;
  for (const std::string& word : arguments.words) columns.push_back(column_by_name(run, word));
  std::vector<KnownCell> known;
  for (const std::string& text : arguments.given) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos) fail(ErrorCode::usage, "--given {}: write COLUMN=VALUE", text);
    known.emplace_back(text.substr(0, at), text.substr(at + 1));
  }
  const std::vector<ImputedCell> given =
      conditional_cells(run, row_of_known_cells(run, known), columns, arguments.threads);
  const std::vector<ImputedCell> otherwise =
      known.empty() ? given : conditional_cells(run, row_of_known_cells(run, {}), columns, arguments.threads);
  if (context.json) {
    ordered_json list = ordered_json::array();
    for (std::size_t k = 0; k < given.size(); ++k) {
      list.push_back(cell_json(run, given[k]));
      list.back()["without"] = cell_json(run, otherwise[k]);
    }
    write_json("", list);
    return 0;
  }
  std::string text = caveat_line(analysis, context);
  TextTable table({8, 8, 8});
  table.add({"column", known.empty() ? "predicted" : "given that", "knowing nothing"});
  for (std::size_t k = 0; k < given.size(); ++k) {
    const Column& column = run.table().columns[given[k].column];
    if (given[k].probabilities.empty()) {
      table.add({fit_to_width(column.name, 40), in_words(column, given[k]), in_words(column, otherwise[k])});
      continue;
    }
    for (std::size_t level = 0; level < given[k].probabilities.size(); ++level)
      table.add({fmt::format("{} = {}", fit_to_width(column.name, 30),
                             level < column.levels.size() ? column.levels[level] : std::to_string(level)),
                 fmt::format("{:.1f} %", 100.0 * given[k].probabilities[level]),
                 fmt::format("{:.1f} %", 100.0 * otherwise[k].probabilities[level])});
  }
  text += table.text(context);
  text += context.dim("Numbers: mean (on the log scale median) and 90 % interval of a new row.\n");
  write_text("", text);
  return 0;
}

}  // namespace

void add_ask(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand(
      "ask", "questions about columns, rows and cells: depend, anomalies, similar, predict");
  auto arguments = std::make_shared<AskArguments>();
  command
      ->add_option(
          "question", arguments->question,
          "depend: mutual information of columns; anomalies: unusual rows and the responsible cells; "
          "similar: probability that rows share a cluster; predict: a cell if others were known")
      ->required()
      ->check(CLI::IsMember({"depend", "anomalies", "similar", "predict"}));
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option(
      "words", arguments->words,
      "depend: columns (none: all pairs; one: it and each other); anomalies: a table of new rows "
      "(none: the rows of the fit); similar: one or two rows; predict: columns to predict");
  command
      ->add_option("--given", arguments->given,
                   "predict: known cells, COLUMN=VALUE, once for each; similar: the columns to judge by")
      ->allow_extra_args(false);
  command->add_option("--top", arguments->top, "answers to show; 0: all [10]");
  add_level_option(*command, arguments->level);
  command->add_option("--id", arguments->id, "anomalies: column of names in a table of new rows");
  command->add_option("--draws", arguments->draws, "depend, anomalies: draws to average over [up to 200]")
      ->check(CLI::PositiveNumber);
  command->add_option("--threads", arguments->threads, "threads; 0: all cores [0]")
      ->check(CLI::Range(0, 4096));
  command->callback([=, &context] {
    context.run = [=, &context] {
      const Analysis analysis = open_run(arguments->path, context, ShownRows::all);
      refuse_classifier(analysis, "answers of coppice ask");
      if (context.json) note_caveat(analysis, context);
      if (arguments->question == "depend") return ask_depend(*arguments, analysis, context);
      if (arguments->question == "anomalies") return ask_anomalies(*arguments, analysis, context);
      if (arguments->question == "similar") return ask_similar(*arguments, analysis, context);
      return ask_predict(*arguments, analysis, context);
    };
  });
}

}  // namespace coppice::app
