// Compares greedy trees with merging by the definition, and the cross mixture with its enumeration. Linked
// with the library as it is, it must agree; linked with a copy of one source file that has one mistake in it,
// it must not.
//
//   bhc_crosscat_mutant greedy|views|reuse|KERNEL agrees|disagrees        (KERNEL: a name of
//   crosscat_kernels() or learned_crosscat_kernels())
#include <stdexcept>

#include "mutants/verdict.hpp"
#include "support/bhc_law.hpp"
#include "support/bhcc_law.hpp"
#include "support/crosscat_law.hpp"
#include "support/learned_crosscat_law.hpp"

namespace coppice::test {
namespace {

/// The distance of every merge from the one by the definition, counted as an error each.
Agreement compare_merges(std::uint64_t seed) {
  const Fixture fixture({"trees", "gaussian-diagonal", {{Kind::real}, {Kind::real}}, {}, 0.1}, seed, 40);
  Agreement agreement;
  for (const char* scores : {"keep", "recompute"}) {
    const Dendrogram tree =
        TreeFit(fixture.family(), fixture.rows, {fmt::format("pair-scores=\"{}\"", scores)}).tree();
    const std::vector<PlainMerge> plain = merge_plainly(fixture.family(), fixture.rows, 1.0);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const auto node = static_cast<Dendrogram::Node>(tree.items() + i);
      agreement.check(fmt::format("merge {}", i), {tree.log_odds(node), 1e-9}, plain[i].log_odds, 1e-7);
    }
  }
  return agreement;
}

/// The same for merges of views; a wrong score need not change the order of the few merges of one table.
Agreement compare_view_merges(bool reuse, std::uint64_t seed) {
  constexpr std::uint64_t kTables = 12;
  Agreement agreement;
  for (std::uint64_t table = 0; table < kTables; ++table) {
    const Fixture fixture({"views", "gaussian-diagonal", std::vector<CaseColumn>(5, {Kind::real}), {}, 0.1},
                          seed * kTables + table, 7);
    const CrossTree tree =
        BhccFit(fixture.family(), fixture.rows, {reuse ? "inner=\"reuse\"" : "inner=\"full\""}).tree();
    const std::vector<PlainViewMerge> plain =
        merge_views_plainly(fixture.family(), fixture.rows, 1.0, 1.0, reuse, tree);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const auto node = static_cast<Dendrogram::Node>(tree.columns.items() + i);
      const bool same = cells_of(tree.columns, node) == plain[i].cells;
      agreement.check(fmt::format("table {}, view {}", table, i), {same ? 0.0 : 1.0, 1e-9}, 0.0, 1e-7);
    }
  }
  return agreement;
}

Agreement compare_kernel(const std::string& kernel, std::uint64_t seed) {
  if (kernel == "greedy") return compare_merges(seed);
  if (kernel == "views" || kernel == "reuse") return compare_view_merges(kernel == "reuse", seed);
  for (const CrosscatKernel& known : learned_crosscat_kernels()) {
    if (known.name != kernel) continue;
    const Fixture fixture(learned_table(0.15), 3, 3);
    return compare_learned_cross(known, LearnedCrosscatLaw(fixture, 1.0), fixture, seed, 400'000);
  }
  for (const CrosscatKernel& known : crosscat_kernels()) {
    if (known.name != kernel) continue;
    const Fixture fixture = crosscat_table(known);
    return compare_cross(known, fixture.family(), fixture.rows, seed, 400'000);
  }
  throw std::invalid_argument("there is no kernel " + kernel);
}

}  // namespace
}  // namespace coppice::test

int main(int argc, char** argv) { return coppice::test::judge(argc, argv, coppice::test::compare_kernel); }
