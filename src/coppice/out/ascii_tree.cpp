#include "coppice/out/ascii_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "coppice/out/tree_text.hpp"

namespace coppice {

namespace {

// The arms of a box-drawing character; a cell of the drawing is a set of them.
enum Arm : std::uint8_t { kBlank = 0, kLeft = 1, kRight = 2, kUp = 4, kDown = 8, kDots = 16 };

const char* box_character(std::uint8_t arms, bool unicode) {
  static constexpr std::array<const char*, 16> kBoxes = {" ", "╴", "╶", "─", "╵", "┘", "└", "┴",
                                                         "╷", "┐", "┌", "┬", "│", "┤", "├", "┼"};
  if (arms & kDots) return unicode ? "┄" : ".";
  if (unicode) return kBoxes[arms];
  const bool is_level = arms & (kLeft | kRight);
  const bool is_upright = arms & (kUp | kDown);
  return is_level && is_upright ? "+" : is_level ? "-" : is_upright ? "|" : " ";
}

struct CodePoint {
  std::uint32_t value;  // 0xfffd where the bytes are not UTF-8
  std::size_t bytes;
};

CodePoint decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                             : lead >= 0xe0                ? 3
                             : lead >= 0xc2                ? 2
                                                           : 0;
  if (length == 0 || lead >= 0xf5 || length > text.size()) return {0xfffd, 1};
  std::uint32_t value = length == 1 ? lead : lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {0xfffd, 1};
    value = value << 6 | (next & 0x3f);
  }
  return {value, length};
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

bool is_in(std::uint32_t value, std::span<const Range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return value >= range.first && value <= range.last; });
}

bool is_control(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7f && value < 0xa0) || (value >= 0x202a && value <= 0x202e) ||
         (value >= 0x2066 && value <= 0x2069);
}

std::size_t width_of(std::uint32_t value) {
  static constexpr std::array<Range, 8> kMarks = {{{0x300, 0x36f},
                                                   {0x483, 0x489},
                                                   {0x591, 0x5bd},
                                                   {0x610, 0x61a},
                                                   {0x64b, 0x65f},
                                                   {0x200b, 0x200f},
                                                   {0x20d0, 0x20ff},
                                                   {0xfe00, 0xfe0f}}};
  static constexpr std::array<Range, 9> kWide = {{{0x1100, 0x115f},
                                                  {0x2e80, 0x303e},
                                                  {0x3041, 0xa4cf},
                                                  {0xac00, 0xd7a3},
                                                  {0xf900, 0xfaff},
                                                  {0xfe30, 0xfe6f},
                                                  {0xff00, 0xff60},
                                                  {0x1f300, 0x1faff},
                                                  {0x20000, 0x3fffd}}};
  return is_control(value) || is_in(value, kMarks) ? 0 : is_in(value, kWide) ? 2 : 1;
}

class LinkageDrawing {
 public:
  LinkageDrawing(const Linkage& tree, std::span<const std::string> names, const AsciiTreeOptions& options)
      : tree_(tree), names_(names), options_(options), width_(std::max<std::size_t>(options.width, 40)) {
    const auto low = std::partition_point(tree.merges.begin(), tree.merges.end(), [&](const Merge& merge) {
      return merge.height <= options.collapse_at;
    });
    collapsed_ = static_cast<std::size_t>(low - tree.merges.begin());
    if (options.max_lines > 0 && tree.leaves > options.max_lines) {
      collapsed_ = std::max(collapsed_, tree.leaves - options.max_lines);
    }
    top_ = tree.merges.empty() ? 0.0 : tree.merges.back().height;
    bottom_ = tree.merges.empty() ? 0.0 : std::min(0.0, tree.merges.front().height);
    std::size_t widest = 8;
    for (std::size_t i = 0; i < tree.leaves; ++i)
      widest = std::max(widest, display_width(leaf_name(names, i)));
    // Groups like to name some of their rows, so they get half of the line.
    label_width_ = std::min(collapsed_ > 0 ? width_ / 2 : widest, width_ / 2);
    columns_ = width_ - label_width_ - 2;  // the stem of the root, the drawing, a space, the label
  }

  std::string text() {
    if (tree_.leaves == 0) return "";
    const std::size_t root = tree_.nodes() - 1;
    const std::size_t row = draw(root);
    // A tree drawn as one line has no fork to start from.
    if (is_end(root)) {
      connect(row, 0, root);
    } else {
      cell(row, 0) = kLeft | kRight;
    }
    std::string out;
    if (options_.ruler && !is_end(root) && top_ > bottom_) out += ruler();
    for (std::size_t r = 0; r < labels_.size(); ++r) {
      for (std::size_t c = 0; c <= columns_; ++c)
        out += box_character(cells_[r * (columns_ + 1) + c], options_.unicode);
      out += labels_[r].empty() ? "\n" : " " + labels_[r] + "\n";
    }
    return out;
  }

 private:
  bool is_end(std::size_t node) const { return tree_.is_leaf(node) || node - tree_.leaves < collapsed_; }

  // Column 0 is the root's stem, 1 its height, the last one the height of the leaves.
  std::size_t column(std::size_t node) const {
    if (tree_.is_leaf(node)) return columns_;
    if (!(top_ > bottom_)) return 1;
    const double share = (top_ - tree_.height(node)) / (top_ - bottom_);
    return 1 + static_cast<std::size_t>(std::lround(share * static_cast<double>(columns_ - 2)));
  }

  std::uint8_t& cell(std::size_t row, std::size_t column) { return cells_[row * (columns_ + 1) + column]; }

  // The line from a fork to its child, dotted where the child is a group whose own merges are not drawn.
  void connect(std::size_t row, std::size_t from, std::size_t child) {
    const std::size_t end = std::max(column(child), from + 1);
    for (std::size_t c = from + 1; c < std::min(end, columns_ + 1); ++c) cell(row, c) = kLeft | kRight;
    if (!is_end(child)) return;
    for (std::size_t c = end; c <= columns_; ++c)
      cell(row, c) = tree_.is_leaf(child) ? kLeft | kRight : kDots;
  }

  std::size_t add_line(std::size_t node) {
    cells_.resize(cells_.size() + columns_ + 1, kBlank);
    std::string label = leaf_label(node);
    labels_.push_back(fit_to_width(label, label_width_, options_.unicode));
    return labels_.size() - 1;
  }

  std::string leaf_label(std::size_t node) const {
    if (tree_.is_leaf(node)) return leaf_name(names_, node);
    std::string label;
    for (std::size_t count = std::min<std::size_t>(tree_.size(node), 12); count > 0; --count) {
      label = group_text(tree_, names_, node, count);
      if (display_width(label) <= label_width_) return label;
    }
    return display_width(label) <= label_width_ ? label : group_text(tree_, names_, node, 0);
  }

  // Draws all below a node; returns the line where the node's own stem belongs. The depth of the recursion is
  // bounded by the number of columns, because forks in the same column are drawn as one.
  std::size_t draw(std::size_t node) {
    if (is_end(node)) return add_line(node);
    const std::size_t here = column(node);
    std::vector<std::size_t> children;
    std::vector<std::size_t> stack{node};
    while (!stack.empty()) {
      const std::size_t next = stack.back();
      stack.pop_back();
      if (!is_end(next) && column(next) <= here) {
        stack.push_back(tree_.merge(next).right);
        stack.push_back(tree_.merge(next).left);
      } else {
        children.push_back(next);
      }
    }
    std::vector<std::size_t> rows;
    for (const std::size_t child : children) {
      rows.push_back(draw(child));
      connect(rows.back(), here, child);
    }
    const std::size_t middle = (rows.front() + rows.back()) / 2;
    for (std::size_t r = rows.front(); r <= rows.back(); ++r) {
      std::uint8_t arms = 0;
      if (r == middle) arms |= kLeft;
      if (std::binary_search(rows.begin(), rows.end(), r)) arms |= kRight;
      if (r > rows.front()) arms |= kUp;
      if (r < rows.back()) arms |= kDown;
      cell(r, here) = arms;
    }
    return middle;
  }

  std::string ruler() const {
    constexpr std::size_t kTicks = 5;
    std::string numbers(columns_ + 1, ' ');
    std::vector<bool> is_tick(columns_ + 1, false);
    std::size_t free_from = 0;
    for (std::size_t t = 0; t < kTicks; ++t) {
      const double share = static_cast<double>(t) / (kTicks - 1);
      const std::size_t place =
          1 + static_cast<std::size_t>(std::lround(share * static_cast<double>(columns_ - 2)));
      const std::string number = fmt::format("{:.3g}", top_ - share * (top_ - bottom_));
      const std::size_t start = std::min(place, columns_ + 1 - std::min(number.size(), columns_ + 1));
      if (start < free_from || number.size() > columns_) continue;
      numbers.replace(start, number.size(), number);
      free_from = start + number.size() + 1;
      is_tick[place] = true;
    }
    std::string line(" ");
    for (std::size_t c = 1; c < columns_; ++c) {
      const std::uint8_t sides =
          static_cast<std::uint8_t>((c > 1 ? kLeft : 0) | (c + 1 < columns_ ? kRight : 0));
      line += box_character(is_tick[c] ? static_cast<std::uint8_t>(sides | kUp) : sides, options_.unicode);
    }
    return numbers + " height\n" + line + "\n";
  }

  const Linkage& tree_;
  std::span<const std::string> names_;
  const AsciiTreeOptions& options_;
  std::size_t width_;
  std::size_t label_width_ = 0;
  std::size_t columns_ = 0;
  std::size_t collapsed_ = 0;  // this many of the lowest merges are not drawn
  double top_ = 0.0;
  double bottom_ = 0.0;
  std::vector<std::uint8_t> cells_;
  std::vector<std::string> labels_;
};

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    width += width_of(point.value);
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string fit_to_width(std::string_view text, std::size_t width, bool unicode) {
  const std::string_view ellipsis = unicode ? "…" : "...";
  const std::size_t ellipsis_width = unicode ? 1 : 3;
  const bool fits = display_width(text) <= width;
  const std::size_t room = fits ? width : width - std::min(width, ellipsis_width);
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (used + width_of(point.value) > room) break;
    if (point.value == 0xfffd) {
      out += unicode ? "\xef\xbf\xbd" : "?";
    } else if (!is_control(point.value)) {
      out += text.substr(0, point.bytes);
    }
    used += width_of(point.value);
    text.remove_prefix(point.bytes);
  }
  if (!fits && width >= ellipsis_width) out += ellipsis;
  return out;
}

std::string ascii_tree(const Linkage& tree, std::span<const std::string> names,
                       const AsciiTreeOptions& options) {
  check_names(tree, names);
  return LinkageDrawing(tree, names, options).text();
}

}  // namespace coppice
