// Parameter tables: defaults, ranges in words, what is accepted and the message for everything that is not.
#include "coppice/base/parameter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

using Type = Parameter::Type;

std::vector<Parameter> table() {
  return {{"alpha", Type::real, "1", "concentration", 0.0, 100.0, true},
          {"scans", Type::integer, "5", "restricted scans", 0.0},
          {"learn", Type::flag, "true", "learn the concentration"},
          {"sampler", Type::choice, "gibbs", "which sampler", 0.0, 0.0, false, {"gibbs", "split-merge"}},
          {"prior", Type::numbers, "1,0.5", "shape and rate", 0.0, 1e300, true, {}, 2},
          {"weights", Type::numbers, "", "any number of weights", 0.0},
          {"offset", Type::real, "", "any number"}};
}

const Parameter& named(const std::vector<Parameter>& parameters, const std::string& name) {
  for (const Parameter& parameter : parameters)
    if (parameter.name == name) return parameter;
  throw std::out_of_range(name);
}

template <typename Function>
std::string message_of(Function&& function, ErrorCode code = ErrorCode::usage) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "accepted";
}

std::string refusal(const std::string& name, const std::string& text) {
  const std::vector<Parameter> parameters = table();
  return message_of([&] { parse_parameter(named(parameters, name), text); });
}

TEST(Parameter, RangesInWords) {
  const std::vector<Parameter> parameters = table();
  EXPECT_EQ(describe_range(named(parameters, "alpha")), "a number > 0 and <= 100");
  EXPECT_EQ(describe_range(named(parameters, "scans")), "a whole number >= 0");
  EXPECT_EQ(describe_range(named(parameters, "learn")), "true or false");
  EXPECT_EQ(describe_range(named(parameters, "sampler")), "one of gibbs, split-merge");
  EXPECT_EQ(describe_range(named(parameters, "prior")), "2 numbers > 0 and <= 1e+300");
  EXPECT_EQ(describe_range(named(parameters, "weights")), "numbers >= 0");
  EXPECT_EQ(describe_range(named(parameters, "offset")), "a number");
  EXPECT_EQ(describe_range({"x", Type::real, "", "", -HUGE_VAL, 3.0}), "a number <= 3");
}

TEST(Parameter, ParsesWhatAUserTypes) {
  const std::vector<Parameter> parameters = table();
  EXPECT_EQ(parse_parameter(named(parameters, "alpha"), "0.5"), Setting::number(0.5));
  EXPECT_EQ(parse_parameter(named(parameters, "alpha"), "100"), Setting::number(100.0));
  EXPECT_EQ(parse_parameter(named(parameters, "scans"), "0"), Setting::number(0.0));
  EXPECT_EQ(parse_parameter(named(parameters, "learn"), "false"), Setting::number(0.0));
  EXPECT_EQ(parse_parameter(named(parameters, "learn"), "1"), Setting::number(1.0));
  EXPECT_EQ(parse_parameter(named(parameters, "sampler"), "split-merge").text, "split-merge");
  EXPECT_EQ(parse_parameter(named(parameters, "prior"), "2,0.25"), Setting::vector({2.0, 0.25}));
  EXPECT_EQ(parse_parameter(named(parameters, "prior"), "[2, 0.25]"), Setting::vector({2.0, 0.25}));
  EXPECT_EQ(parse_parameter(named(parameters, "weights"), "4"), Setting::vector({4.0}));
}

TEST(Parameter, RefusalsNameTheValueAndWhatIsAllowed) {
  EXPECT_EQ(refusal("alpha", "0"), "--alpha takes a number > 0 and <= 100, not 0");
  EXPECT_EQ(refusal("alpha", "101"), "--alpha takes a number > 0 and <= 100, not 101");
  EXPECT_EQ(refusal("alpha", "nan"), "--alpha takes a number > 0 and <= 100, not nan");
  EXPECT_EQ(refusal("alpha", "[1]"), "--alpha takes a number > 0 and <= 100, not [1]");
  EXPECT_EQ(refusal("alpha", "many"), "--alpha takes a number > 0 and <= 100, not 'many'");
  EXPECT_EQ(refusal("alpha", ""), "--alpha takes a number > 0 and <= 100, not ''");
  EXPECT_EQ(refusal("alpha", "\"1\""), "--alpha takes a number > 0 and <= 100, not \"1\"");
  EXPECT_EQ(refusal("scans", "2.5"), "--scans takes a whole number >= 0, not 2.5");
  EXPECT_EQ(refusal("scans", "-1"), "--scans takes a whole number >= 0, not -1");
  EXPECT_EQ(refusal("scans", "1e17"), "--scans takes a whole number >= 0, not 1e+17");
  EXPECT_EQ(refusal("scans", "inf"), "--scans takes a whole number >= 0, not inf");
  EXPECT_EQ(refusal("learn", "2"), "--learn takes true or false, not 2");
  EXPECT_EQ(refusal("learn", "yes"), "--learn takes true or false, not 'yes'");
  EXPECT_EQ(refusal("sampler", "gibs"), "--sampler takes one of gibbs, split-merge, not \"gibs\"");
  EXPECT_EQ(refusal("prior", "1"), "--prior takes 2 numbers > 0 and <= 1e+300, not [1]");
  EXPECT_EQ(refusal("prior", "1,2,3"), "--prior takes 2 numbers > 0 and <= 1e+300, not [1, 2, 3]");
  EXPECT_EQ(refusal("prior", "1,0"), "--prior takes 2 numbers > 0 and <= 1e+300, not [1, 0]");
  EXPECT_EQ(refusal("prior", "1,x"), "--prior takes 2 numbers > 0 and <= 1e+300, not '1,x'");
  EXPECT_EQ(refusal("weights", "[[1]]"), "--weights takes numbers >= 0, not [[1]]");
}

TEST(Parameter, TheLastNumberMayBeOptional) {
  const Parameter parameter{.name = "range",
                            .type = Parameter::Type::numbers,
                            .fallback = "",
                            .help = "",
                            .low = 0.0,
                            .count = 2,
                            .least_count = 1};
  EXPECT_EQ(describe_range(parameter), "1 or 2 numbers >= 0");
  EXPECT_EQ(parse_parameter(parameter, "3").numbers, std::vector<double>({3.0}));
  EXPECT_EQ(parse_parameter(parameter, "3,4").numbers, std::vector<double>({3.0, 4.0}));
  EXPECT_THROW(parse_parameter(parameter, "3,4,5"), Error);
  EXPECT_THROW(parse_parameter(parameter, ""), Error);
}

TEST(Parameter, NumbersMustBeFinite) {
  // Infinity passes every lower bound and turns into NaN inside a model.
  EXPECT_EQ(refusal("offset", "inf"), "--offset takes a number, not inf");
  EXPECT_EQ(refusal("offset", "-inf"), "--offset takes a number, not -inf");
  EXPECT_EQ(refusal("weights", "1,inf"), "--weights takes numbers >= 0, not [1, inf]");
}

TEST(ParameterValues, TakesDefaults) {
  const std::vector<Parameter> parameters = table();
  const ParameterValues values(parameters, {});
  EXPECT_EQ(values.real("alpha"), 1.0);
  EXPECT_EQ(values.integer("scans"), 5u);
  EXPECT_TRUE(values.flag("learn"));
  EXPECT_EQ(values.choice("sampler"), "gibbs");
  EXPECT_EQ(values.numbers("prior"), (std::vector<double>{1.0, 0.5}));
  EXPECT_TRUE(values.has("alpha"));
  EXPECT_FALSE(values.has("weights"));
  EXPECT_FALSE(values.has("nonsense"));
  EXPECT_EQ(values.settings().size(), 5u);
}

TEST(ParameterValues, GivenValuesWin) {
  const std::vector<Parameter> parameters = table();
  const ParameterValues values(parameters, {{"alpha", Setting::number(2.5)},
                                            {"learn", Setting::number(0.0)},
                                            {"sampler", {Setting::Shape::text, {}, 0, "split-merge"}},
                                            {"weights", Setting::vector({1.0, 2.0, 3.0})}});
  EXPECT_EQ(values.real("alpha"), 2.5);
  EXPECT_FALSE(values.flag("learn"));
  EXPECT_EQ(values.choice("sampler"), "split-merge");
  EXPECT_EQ(values.numbers("weights").size(), 3u);
  EXPECT_EQ(values.integer("scans"), 5u);
}

TEST(ParameterValues, RefusesUnknownNamesAndBadValues) {
  const std::vector<Parameter> parameters = table();
  EXPECT_EQ(message_of([&] { ParameterValues(parameters, {{"alfa", Setting::number(1.0)}}); }),
            "there is no parameter 'alfa'; the parameters are alpha, scans, learn, sampler, prior, weights, "
            "offset");
  EXPECT_EQ(message_of([&] { ParameterValues(parameters, {{"alpha", Setting::number(-1.0)}}); }),
            "--alpha takes a number > 0 and <= 100, not -1");
  EXPECT_EQ(message_of([&] { ParameterValues(parameters, {{"sampler", Setting::number(1.0)}}); }),
            "--sampler takes one of gibbs, split-merge, not 1");
}

TEST(ParameterValues, ReadingWhatHasNoValueIsOurBug) {
  const std::vector<Parameter> parameters = table();
  const ParameterValues values(parameters, {});
  EXPECT_EQ(message_of([&] { values.real("offset"); }, ErrorCode::bug),
            "parameter 'offset' was read but has no value");
  EXPECT_EQ(message_of([&] { ParameterValues().real("alpha"); }, ErrorCode::bug),
            "parameter 'alpha' was read but has no value");
}

TEST(Parameter, WordsAreAListOfChoices) {
  const Parameter moves{"moves", Type::words, "paths,weights", "moves",
                        0.0,     0.0,         false,           {"paths", "weights"}};
  EXPECT_EQ(parse_parameter(moves, "weights").text, "weights");
  const std::vector<Parameter> parameters{moves};
  EXPECT_EQ(ParameterValues(parameters, {}).words("moves"), (std::vector<std::string>{"paths", "weights"}));
  Settings given;
  given.emplace("moves", parse_parameter(moves, "weights,paths,weights"));
  EXPECT_EQ(ParameterValues(parameters, given).words("moves"),
            (std::vector<std::string>{"weights", "paths", "weights"}));
  for (const char* bad : {"", "paths,", ",paths", "paths,,weights", "path", "paths weights", "3"}) {
    const std::string message = message_of([&] { parse_parameter(moves, bad); });
    EXPECT_NE(message.find("--moves"), std::string::npos) << bad << ": " << message;
    EXPECT_NE(message.find("weights"), std::string::npos) << message;
  }
}

TEST(Parameter, ARealMayHaveWordsToo) {
  const Parameter alpha{"alpha", Type::real, "learn", "concentration", 0.0, 100.0, true, {"learn"}};
  EXPECT_EQ(describe_range(alpha), "a number > 0 and <= 100 or learn");
  EXPECT_EQ(parse_parameter(alpha, "2.5").numbers.at(0), 2.5);
  EXPECT_EQ(parse_parameter(alpha, "learn").text, "learn");
  for (const char* bad : {"-1", "teach", "0"})
    EXPECT_NE(message_of([&] { parse_parameter(alpha, bad); }).find("learn"), std::string::npos) << bad;
}

TEST(Error, CarriesItsExitCode) {
  const Error error(ErrorCode::cannot_read, "no file");
  EXPECT_EQ(static_cast<int>(error.code()), 66);
  EXPECT_STREQ(error.what(), "no file");
  EXPECT_EQ(message_of([] { fail(ErrorCode::configuration, "{} of {}", 3, "x"); }, ErrorCode::configuration),
            "3 of x");
}

std::optional<Setting> twice(const Setting& value) {
  if (value.numbers[0] == 0.0) return std::nullopt;
  return Setting::number(2.0 * value.numbers[0]);
}

const std::vector<Parameter>& renamed_table() {
  static const std::vector<Parameter> table{{.name = "length",
                                             .fallback = "1",
                                             .help = "",
                                             .low = 0.0,
                                             .aliases = {{"size"}, {"half-length", twice}}},
                                            {.name = "kind",
                                             .type = Parameter::Type::choice,
                                             .fallback = "plain",
                                             .help = "",
                                             .choices = {"plain", "centered"},
                                             .word_aliases = {{"middle", "centered"}}}};
  return table;
}

TEST(Parameters, EarlierNamesAndWordsAreUnderstood) {
  const std::vector<Parameter>& table = renamed_table();
  EXPECT_EQ(ParameterValues(table, {{"size", Setting::number(3.0)}}).real("length"), 3.0);
  EXPECT_EQ(ParameterValues(table, {{"half-length", Setting::number(3.0)}}).real("length"), 6.0);
  EXPECT_EQ(ParameterValues(table, {{"half-length", Setting::number(0.0)}}).real("length"), 1.0);
  const Setting word{Setting::Shape::text, {}, 0, "middle"};
  EXPECT_EQ(ParameterValues(table, {{"kind", word}}).choice("kind"), "centered");
  EXPECT_EQ(find_parameter(table, "half-length"), &table[0]);
  EXPECT_EQ(find_parameter(table, "width"), nullptr);
  // As typed after a flag.
  EXPECT_EQ(parse_parameter(table[1], "middle").text, "centered");
  EXPECT_EQ(parse_parameter(table[0], "size", "4")->numbers[0], 4.0);
  EXPECT_EQ(parse_parameter(table[0], "half-length", "4")->numbers[0], 8.0);
  EXPECT_FALSE(parse_parameter(table[0], "half-length", "0").has_value());
}

TEST(Parameters, TwoNamesOfOneParameterExcludeEachOther) {
  EXPECT_EQ(message_of([] {
              ParameterValues(renamed_table(),
                              {{"length", Setting::number(1.0)}, {"size", Setting::number(2.0)}});
            }),
            "--length is given twice, once under an earlier name");
  EXPECT_NE(message_of([] {
              ParameterValues(renamed_table(), {{"size", Setting::number(-2.0)}});
            }).find("--length takes"),
            std::string::npos);
}

}  // namespace
}  // namespace coppice
