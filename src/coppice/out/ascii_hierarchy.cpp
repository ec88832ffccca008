#include "coppice/out/ascii_hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "coppice/base/counted.hpp"
#include "coppice/base/error.hpp"
#include "coppice/out/ascii_tree.hpp"
#include "coppice/post/trait_words.hpp"

namespace coppice {
namespace {

constexpr std::size_t kLeastWidth = 60;
constexpr std::size_t kColumns = 33;  // of level, rows, support and overlap

struct Strokes {
  const char* branch;
  const char* last_branch;
  const char* stem;
  const char* ellipsis;
};
constexpr Strokes kUnicode{"├─ ", "└─ ", "│  ", "…"};
constexpr Strokes kPlain{"+- ", "`- ", "|  ", "..."};
constexpr const char* kNoStem = "   ";

class Drawing {
 public:
  Drawing(const Hierarchy& tree, std::span<const NodeCaption> captions,
          std::span<const std::string> row_names, const AsciiHierarchyOptions& options)
      : tree_(tree),
        captions_(captions),
        row_names_(row_names),
        options_(options),
        strokes_(options.unicode ? kUnicode : kPlain),
        width_(std::max(options.width, kLeastWidth)) {
    if (options.max_lines > 0) choose_least_size();
  }

  std::string text() {
    const std::string heading = fmt::format("{:<{}}{:>8}{:>7}{:>9}{:>9}", "", width_ - kColumns, "level",
                                            "rows", "support", "overlap");
    out_ = (options_.heading ? options_.heading(heading) : heading) + "\n";
    draw(0, "", "");
    return std::move(out_);
  }

 private:
  struct Shown {
    std::vector<std::size_t> nodes;
    std::size_t hidden = 0;
    std::vector<std::uint32_t> hidden_rows;
  };

  Shown children_of(const HierarchyNode& node) const {
    Shown shown;
    for (const std::size_t child : node.children) {
      if (tree_.nodes[child].size() >= least_size_) {
        shown.nodes.push_back(child);
      } else {
        ++shown.hidden;
        const std::vector<std::uint32_t>& rows = tree_.nodes[child].rows;
        shown.hidden_rows.insert(shown.hidden_rows.end(), rows.begin(), rows.end());
      }
    }
    std::stable_sort(shown.nodes.begin(), shown.nodes.end(), [&](std::size_t a, std::size_t b) {
      return tree_.nodes[a].size() > tree_.nodes[b].size();
    });
    return shown;
  }

  /// Lines of a node and all below it.
  std::size_t count_lines(std::size_t place) const {
    const HierarchyNode& node = tree_.nodes[place];
    if (node.is_leaf()) return 2;
    const Shown shown = children_of(node);
    std::size_t lines = 1 + (shown.hidden > 0 ? 1 : 0);
    for (const std::size_t child : shown.nodes) lines += count_lines(child);
    return lines;
  }

  void choose_least_size() {
    std::set<std::size_t> sizes;
    for (const HierarchyNode& node : tree_.nodes) sizes.insert(node.size());
    for (const std::size_t size : sizes) {
      least_size_ = size;
      if (count_lines(0) < options_.max_lines) break;  // one line is the heading's
    }
  }

  std::string name_of(const HierarchyNode& node) const {
    const bool is_only_child =
        node.parent != HierarchyNode::kNoParent && tree_.nodes[node.parent].children.size() == 1;
    const NodeCaption& caption = captions_[node.id];
    return is_only_child ? caption.number + (caption.number.empty() ? "" : " ") + "the same rows"
                         : caption.title();
  }

  void draw(std::size_t place, const std::string& lead, const std::string& lead_below) {
    const HierarchyNode& node = tree_.nodes[place];
    const NodeCaption& caption = captions_[node.id];
    const std::string level = node.level == node.last_level
                                  ? fmt::format("{}", node.level)
                                  : fmt::format("{}-{}", node.level, node.last_level);
    const bool is_root = node.parent == HierarchyNode::kNoParent;
    const std::string name = lead + name_of(node);
    const std::string cut = fit_to_width(name, width_ - kColumns - 1, options_.unicode);
    out_ += cut + std::string(width_ - kColumns - display_width(cut), ' ');
    out_ += fmt::format("{:>8}{:>7}", level, node.size());
    out_ += is_root ? "\n" : fmt::format("{:>9}{:>9}\n", percent(caption.exact), percent(caption.overlap));
    if (node.is_leaf()) {
      const std::string rows =
          name_some_rows(node.rows, row_names_, width_ - display_width(lead_below), options_.unicode);
      out_ += lead_below + (options_.quiet ? options_.quiet(rows) : rows) + "\n";
      return;
    }
    const Shown shown = children_of(node);
    for (std::size_t c = 0; c < shown.nodes.size(); ++c) {
      const bool is_last = c + 1 == shown.nodes.size() && shown.hidden == 0;
      draw(shown.nodes[c], lead_below + (is_last ? strokes_.last_branch : strokes_.branch),
           lead_below + (is_last ? kNoStem : strokes_.stem));
    }
    if (shown.hidden == 0) return;
    draw_hidden(shown, lead_below + strokes_.last_branch);
  }

  void draw_hidden(const Shown& shown, const std::string& lead) {
    std::string text = shown.nodes.empty() ? "" : fmt::format("{} ", strokes_.ellipsis);
    text += fmt::format("{} {}cluster{}: ", shown.hidden, shown.nodes.empty() ? "" : "more ",
                        shown.hidden == 1 ? "" : "s");
    const std::size_t used = display_width(lead) + display_width(text);
    const std::size_t left = width_ - std::min(width_, used);
    text = fit_to_width(text + name_some_rows(shown.hidden_rows, row_names_, left, options_.unicode),
                        width_ - std::min(width_, display_width(lead)), options_.unicode);
    out_ += lead + (options_.quiet ? options_.quiet(text) : text) + "\n";
  }

  const Hierarchy& tree_;
  std::span<const NodeCaption> captions_;
  std::span<const std::string> row_names_;
  const AsciiHierarchyOptions& options_;
  const Strokes& strokes_;
  std::size_t width_;
  std::size_t least_size_ = 0;
  std::string out_;
};

}  // namespace

std::string name_some_rows(std::span<const std::uint32_t> rows, std::span<const std::string> row_names,
                           std::size_t width, bool unicode) {
  const auto rest = [&](std::size_t count) {
    return fmt::format(", {} {} more", unicode ? "…" : "...", count);
  };
  std::string text;
  std::size_t used = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::string name = (k == 0 ? "" : ", ") + fit_to_width(row_names[rows[k]], width, unicode);
    const std::size_t left = rows.size() - k - 1;
    const std::size_t needed = used + display_width(name) + (left == 0 ? 0 : display_width(rest(left)));
    if (needed > width) {
      text += k == 0 ? counted(rows.size(), "row") : rest(rows.size() - k);
      return fit_to_width(text, width, unicode);
    }
    text += name;
    used += display_width(name);
  }
  return text;
}

std::string ascii_hierarchy(const Hierarchy& tree, std::span<const NodeCaption> captions,
                            std::span<const std::string> row_names, const AsciiHierarchyOptions& options) {
  if (row_names.size() != tree.rows)
    fail(ErrorCode::bug, "tree: {} names for {} rows", row_names.size(), tree.rows);
  if (captions.size() < tree.nodes.size())
    fail(ErrorCode::bug, "tree: {} captions for {} nodes", captions.size(), tree.nodes.size());
  return Drawing(tree, captions, row_names, options).text();
}

}  // namespace coppice
