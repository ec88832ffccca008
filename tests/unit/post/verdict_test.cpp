#include "coppice/post/verdict.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace coppice {
namespace {

TraceSummary trace(std::string name, double rhat, double bulk, double tail) {
  TraceSummary summary;
  summary.name = std::move(name);
  summary.rhat = rhat;
  summary.ess_bulk = bulk;
  summary.ess_tail = tail;
  return summary;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Verdict, TrustsAgreeingChainsWithEnoughDraws) {
  const std::vector<TraceSummary> traces{trace("log_joint", 1.0031, 900.0, 812.7),
                                         trace("clusters", 1.0, 2000.0, 1500.0)};
  const Verdict verdict = judge(traces, 4, 1000);
  EXPECT_TRUE(verdict.trusted);
  EXPECT_EQ(
      verdict.sentence,
      "Trust it: 4 chains agree (R-hat 1.003 at most) and every trace has at least 812 effective draws.");
}

TEST(Verdict, NeverTrustsWhatIsNotExact) {
  const std::vector<TraceSummary> settled{trace("log_joint", 1.0031, 900.0, 812.7)};
  const Verdict verdict = judge(settled, 4, 1000, false);
  EXPECT_FALSE(verdict.trusted);
  EXPECT_EQ(
      verdict.sentence,
      "Do not trust it as a posterior: 4 chains agree (R-hat 1.003 at most) and every trace has at least "
      "812 effective draws, but their distribution is not the posterior.");
  const std::vector<TraceSummary> apart{trace("log_joint", 1.31, 40.0, 60.0)};
  EXPECT_EQ(judge(apart, 4, 1000, false).sentence, judge(apart, 4, 1000, true).sentence);
}

TEST(Verdict, NamesTheTraceThatDisagrees) {
  const std::vector<TraceSummary> traces{trace("clusters", 1.02, 300.0, 300.0),
                                         trace("log_joint", 1.18, 40.0, 60.0)};
  const Verdict verdict = judge(traces, 4, 1000);
  EXPECT_FALSE(verdict.trusted);
  EXPECT_EQ(verdict.worst_trace, "log_joint");
  EXPECT_TRUE(contains(verdict.sentence, "R-hat of log_joint is 1.18 (above 1.01)")) << verdict.sentence;
  EXPECT_TRUE(contains(verdict.sentence, "coppice resume RUN --draws +")) << verdict.sentence;
}

TEST(Verdict, ThresholdsAreInclusive) {
  EXPECT_TRUE(judge(std::vector{trace("a", 1.01, 400.0, 400.0)}, 4, 500).trusted);
  EXPECT_FALSE(judge(std::vector{trace("a", 1.0101, 400.0, 400.0)}, 4, 500).trusted);
  EXPECT_FALSE(judge(std::vector{trace("a", 1.01, 399.9, 400.0)}, 4, 500).trusted);
  EXPECT_FALSE(judge(std::vector{trace("a", 1.01, 400.0, 399.9)}, 4, 500).trusted);
  EXPECT_FALSE(judge(std::vector{trace("a", 1.0, 799.0, 900.0)}, 8, 500).trusted);  // 100 per chain
  EXPECT_TRUE(judge(std::vector{trace("a", 1.0, 800.0, 900.0)}, 8, 500).trusted);
  EXPECT_FALSE(judge(std::vector{trace("a", 1.0, 300.0, 900.0)}, 2, 500).trusted);  // 400 in total
}

TEST(Verdict, AsksForMoreDrawsInProportion) {
  const Verdict verdict = judge(std::vector{trace("clusters", 1.005, 100.0, 250.0)}, 4, 1000);
  EXPECT_FALSE(verdict.trusted);
  EXPECT_EQ(verdict.worst_trace, "clusters");
  EXPECT_TRUE(contains(verdict.sentence, "only 100 effective draws (below 400)")) << verdict.sentence;
  EXPECT_TRUE(contains(verdict.sentence, "--draws +4000")) << verdict.sentence;
}

// What cannot be kept is not promised: chains that are far apart, too few effective draws to extrapolate
// from, or more than an hour.
TEST(Verdict, PromisesNoLengthThatCannotBeKept) {
  const auto sentence_of = [](double rhat, double effective, double seconds, bool until_trusted) {
    const std::vector<TraceSummary> traces{trace("log_joint", rhat, effective, effective)};
    Evidence evidence;
    evidence.traces = traces;
    evidence.chains = 4;
    evidence.draws = 1000;
    evidence.seconds = seconds;
    evidence.is_until_trusted = until_trusted;
    return judge(evidence).sentence;
  };
  // 100 of 800 effective draws: 1000 * 8 * 1.2 - 1000 more draws, 8.6 times as long as so far.
  EXPECT_TRUE(contains(sentence_of(1.05, 100.0, 60.0, true), "--time-limit 14m), for about 9 minutes"))
      << sentence_of(1.05, 100.0, 60.0, true);
  EXPECT_TRUE(contains(sentence_of(1.05, 100.0, 60.0, false), "--draws +9000), for about 9 minutes"));
  EXPECT_TRUE(contains(sentence_of(1.05, 100.0, 0.0, true), "--draws +9000)."));
  EXPECT_TRUE(contains(sentence_of(1.05, 100.0, 1000.0, true), "enough draws would take 2 hours"))
      << sentence_of(1.05, 100.0, 1000.0, true);
  EXPECT_TRUE(contains(sentence_of(1.21, 100.0, 60.0, true), "may never meet"));
  EXPECT_TRUE(contains(sentence_of(1.05, 39.0, 60.0, true), "too little is known"));
  EXPECT_TRUE(contains(sentence_of(1.0, 100.0, 60.0, true), "--time-limit 6m)"))
      << sentence_of(1.0, 100.0, 60.0, true);
  EXPECT_TRUE(contains(sentence_of(1.0, 100.0, 6000.0, true), "enough draws would take"));
  for (const double rhat : {1.05, 1.21, 1.6})
    EXPECT_FALSE(contains(sentence_of(rhat, 20.0, 60.0, true), "resume")) << rhat;
}

// R-hat of a handful of draws is little more than chance: chains that are no further along are not given up.
TEST(Verdict, FewDrawsAreTooFewToGiveUp) {
  const std::vector<TraceSummary> traces{trace("log_joint", 1.6, 15.0, 15.0)};
  EXPECT_TRUE(contains(judge(traces, 4, 99).sentence, "coppice resume RUN --draws +1000"));
  EXPECT_TRUE(contains(judge(traces, 4, 100).sentence, "may never meet"));
  const std::vector<TraceSummary> stuck{
      trace("log_joint", std::numeric_limits<double>::infinity(), 4.0, 4.0)};
  EXPECT_TRUE(contains(judge(stuck, 4, 99).sentence, "coppice resume RUN --draws +1000"));
}

// A run that decides about its warm-up is continued as one: draws of a length that is fixed would keep its
// first ones.
TEST(Verdict, AFirstJudgmentSaysHowLongItTakes) {
  const auto sentence_of = [](std::size_t draws, double seconds) {
    const std::vector<TraceSummary> traces{trace("log_joint", 1.6, 15.0, 15.0)};
    Evidence evidence;
    evidence.traces = traces;
    evidence.chains = 4;
    evidence.draws = draws;
    evidence.seconds = seconds;
    evidence.is_until_trusted = true;
    return judge(evidence).sentence;
  };
  EXPECT_TRUE(contains(sentence_of(40, 60.0), "--time-limit 25m), since 40 draws of a chain say little"))
      << sentence_of(40, 60.0);
  EXPECT_TRUE(contains(sentence_of(1, 3.0), "--time-limit 50m), since 1 draw of a chain says little"))
      << sentence_of(1, 3.0);
  EXPECT_TRUE(contains(sentence_of(10, 60.0), "1000 would take 2 hours at the pace so far: fit a sample"))
      << sentence_of(10, 60.0);
  EXPECT_FALSE(contains(sentence_of(10, 60.0), "resume"));
}

TEST(Verdict, OneChainCannotBeChecked) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Verdict verdict = judge(std::vector{trace("log_joint", nan, 5000.0, 4000.0)}, 1, 5000);
  EXPECT_FALSE(verdict.trusted);
  EXPECT_TRUE(contains(verdict.sentence, "agreement between chains cannot be checked")) << verdict.sentence;
  EXPECT_TRUE(contains(verdict.sentence, "--chains 4")) << verdict.sentence;
}

TEST(Verdict, StuckConstantBrokenAndEmptyRuns) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Verdict stuck = judge(std::vector{trace("clusters", infinity, 4.0, 4.0)}, 4, 100);
  EXPECT_FALSE(stuck.trusted);
  EXPECT_TRUE(contains(stuck.sentence, "clusters never changed in a chain, but is not the same in all 4"))
      << stuck.sentence;
  EXPECT_TRUE(contains(stuck.sentence, "may never meet")) << stuck.sentence;

  TraceSummary constant = trace("clusters", 0.0, 0.0, 0.0);
  constant.constant = true;
  constant.rhat = constant.ess_bulk = constant.ess_tail = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(judge(std::vector{constant}, 4, 100).trusted);
  EXPECT_TRUE(contains(judge(std::vector{constant}, 4, 100).sentence, "every trace is constant"));
  EXPECT_TRUE(judge(std::vector{constant, trace("log_joint", 1.0, 500.0, 500.0)}, 4, 1000).trusted);

  TraceSummary broken = trace("log_joint", 1.0, 500.0, 500.0);
  broken.mean = -infinity;
  EXPECT_FALSE(judge(std::vector{broken}, 4, 1000).trusted);
  EXPECT_EQ(judge(std::vector{broken}, 4, 1000).worst_trace, "log_joint");

  EXPECT_FALSE(judge({}, 4, 1000).trusted);
  EXPECT_FALSE(judge(std::vector{trace("a", 1.0, 500.0, 500.0)}, 4, 3).trusted);
}

}  // namespace
}  // namespace coppice
