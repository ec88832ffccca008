// Roles, kinds, codebooks, compression and new rows: everything between a parsed file and a Dataset.
#include "coppice/data/read.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "coppice/data/decompress.hpp"
#include "coppice/data/digest.hpp"
#include "coppice/data/infer.hpp"
#include "unit/data/support.hpp"

namespace coppice {
namespace {

using Texts = std::vector<std::string>;

std::string gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstandard(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

ReadOptions with_codebook(const Codebook& codebook) {
  ReadOptions options;
  options.codebook = &codebook;
  return options;
}

TEST(Kinds, OfPlainFeatures) {
  struct Case {
    const char* cells;
    Kind kind;
  };
  const Case cases[] = {
      {"0 1 1 0", Kind::binary},        {"0 1 2 1", Kind::count},        {"3 7 7 12 0", Kind::count},
      {"1.0 2.0 2.0 5.0", Kind::count}, {"0 0 10001 5", Kind::real},     {"1 2 3 4 5", Kind::real},
      {"-1 2 2 3", Kind::real},         {"1 2 2 3.5", Kind::real},       {"100 101 100 99 100", Kind::real},
      {"7 7 7 7", Kind::real},          {"0 9000 10000 0", Kind::count}, {"a b a", Kind::category},
      {"N Y N", Kind::binary},
  };
  ReadOptions options;
  options.plain_features = true;
  for (const Case& test : cases) {
    std::string text = "v\n" + std::string(test.cells) + "\n";
    std::replace(text.begin() + 2, text.end(), ' ', '\n');
    EXPECT_EQ(read_text(text, options).table.columns.at(0).kind, test.kind) << test.cells;
  }
}

TEST(Kinds, DispersionLimitOfPlainFeaturesIsAQuarter) {
  // Mean 4 and variance 1 or just below it.
  EXPECT_EQ(infer_number_kind(std::vector<double>{3, 5, 4, 5, 3}), Kind::count);
  EXPECT_EQ(infer_number_kind(std::vector<double>{3, 5, 4, 4, 5, 3}), Kind::real);
}

TEST(Kinds, TruthWordsAreCodedOne) {
  const Column column = read_text("v\nYes\nNO\nYes\n\n").table.columns.at(0);
  EXPECT_EQ(column.levels, (Texts{"NO", "Yes"}));
  expect_values(column, {1, 0, 1});
  EXPECT_EQ(column.text(0), "Yes");
}

TEST(Kinds, LevelsAreSortedAsNumbersIfTheyAreNumbers) {
  EXPECT_EQ(sorted_levels({"10", "9", "-1", "2.5"}), (Texts{"-1", "2.5", "9", "10"}));
  EXPECT_EQ(sorted_levels({"10", "9", "b", "B"}), (Texts{"10", "9", "B", "b"}));
}

TEST(Roles, IdTruthAndDrop) {
  ReadOptions options;
  options.id = "name";
  options.truth = {"class", "group"};
  options.drop = {"junk"};
  const Dataset data =
      read_text("name,x,class,junk,group\nNA,1.5,3,q,u\nb,2.5,10,r,\nc,3.5,3,s,u\n", options);
  EXPECT_EQ(data.table.row_ids, (Texts{"NA", "b", "c"}));
  ASSERT_EQ(data.table.columns.size(), 1u);
  EXPECT_EQ(data.table.columns[0].name, "x");
  ASSERT_EQ(data.truth.columns.size(), 2u);
  EXPECT_EQ(data.truth.columns[0].name, "class");
  EXPECT_EQ(data.truth.columns[0].kind, Kind::category);
  EXPECT_EQ(data.truth.columns[0].levels, (Texts{"3", "10"}));
  expect_values(data.truth.columns[1], {0, kMissing, 0});
  EXPECT_EQ(data.truth.row_ids, data.table.row_ids);
  ASSERT_EQ(data.codebook.columns.size(), 1u);
  EXPECT_EQ(data.codebook.columns[0].name, "x");
}

TEST(Roles, NamesThatAreNotThere) {
  ReadOptions options;
  options.id = "nmae";
  EXPECT_EQ(read_error("name,x\na,1.5\n", options, "d.csv", ErrorCode::configuration),
            "--id nmae: d.csv has no such column; did you mean 'name'?");
  options = {};
  options.truth = {"zzz"};
  EXPECT_EQ(read_error("name,x\na,1.5\n", options, "d.csv", ErrorCode::configuration),
            "--truth zzz: d.csv has no such column; the columns are 'name', 'x'");
  options = {};
  options.drop = {"y"};
  EXPECT_EQ(read_error("name,x\na,1.5\n", options, "d.csv", ErrorCode::configuration),
            "--drop y: d.csv has no such column; the columns are 'name', 'x'");
  options.drop = {"name"};
  options.id = "name";
  EXPECT_EQ(read_error("name,x\na,1.5\n", options, "d.csv", ErrorCode::configuration),
            "--id name: the column of d.csv is named by --drop too; choose one");
}

TEST(Roles, IdsMustBeThereAndDiffer) {
  ReadOptions options;
  options.id = "name";
  EXPECT_EQ(read_error("name,x\na,1.5\nb,2\n\"c\nd\",3\na,4\n", options),
            "d.csv:6: column 'name': value 'a' is already the id of d.csv:2; give every row its own");
  EXPECT_EQ(read_error("name,x\na,1.5\n,2\n", options),
            "d.csv:3: column 'name': value '' is not a row id; give every row one");
}

TEST(Roles, ColumnsLeftOutAreNoted) {
  std::string text = "x,empty,label,constant\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{}.5,NA,name{},3\n", i, i);
  const Dataset data = read_text(text);
  ASSERT_EQ(data.table.columns.size(), 1u);
  ASSERT_EQ(data.notes.size(), 3u);
  EXPECT_EQ(data.notes[0], "column 'empty' is left out: every cell is missing");
  EXPECT_NE(data.notes[1].find("column 'label' is left out"), std::string::npos);
  EXPECT_NE(data.notes[1].find("--id"), std::string::npos);
  EXPECT_EQ(data.notes[2], "column 'constant' is left out: every cell is 3");
  ReadOptions all;
  all.leave_out = false;
  EXPECT_EQ(read_text(text, all).table.columns.at(1).name, "constant");
  // Twenty levels in twenty rows are few enough; a codebook overrules the rule.
  Codebook codebook;
  codebook.columns.push_back({"constant", Kind::real, {}, {}, {}});
  EXPECT_EQ(read_text(text, with_codebook(codebook)).notes.back(), "column 'constant' is constant");
  codebook.columns.clear();
  codebook.columns.push_back({"label", Kind::category, {}, {}, {}});
  EXPECT_EQ(read_text(text, with_codebook(codebook)).table.columns.at(1).levels.size(), 40u);
  EXPECT_EQ(read_error("a,b\n,\nNA,?\n").substr(0, 37), "d.csv: no column of data is left: 2 c");
}

TEST(Codebooks, DecideKindsAndAreCompleted) {
  const Codebook codebook = parse_codebook(
      "[[column]]\nname = \"n\"\nkind = \"real\"\n[[column]]\nname = \"c\"\nkind = \"category\"\nlevels = "
      "[\"z\", \"NA\", "
      "\"y\"]\nfamily = \"categorical\"\nconcentration = 0.5\n",
      "book.toml");
  const Dataset data = read_text("n,c,k\n0,z,a\n1,NA,b\n1,,a\n", with_codebook(codebook));
  EXPECT_EQ(data.table.columns[0].kind, Kind::real);
  EXPECT_EQ(data.table.columns[1].levels, (Texts{"z", "NA", "y"}));
  expect_values(data.table.columns[1], {0, 1, kMissing});
  ASSERT_EQ(data.codebook.columns.size(), 3u);
  EXPECT_EQ(data.codebook.columns[1].family, "categorical");
  EXPECT_EQ(data.codebook.columns[1].settings.at("concentration"), Setting::number(0.5));
  EXPECT_EQ(data.codebook.columns[2].levels, (Texts{"a", "b"}));
}

TEST(Codebooks, EveryCellIsHeldAgainstThem) {
  const auto error = [](const std::string& entry, const std::string& cells) {
    const Codebook codebook = parse_codebook("[[column]]\nname = \"v\"\n" + entry, "book.toml");
    return read_error("u,v\n" + cells, with_codebook(codebook));
  };
  EXPECT_EQ(error("kind = \"real\"", "a,1\nb,abc\n"),
            "d.csv:3: column 'v': value 'abc' is not a number; correct it, or leave the cell empty if it is "
            "missing");
  EXPECT_EQ(error("kind = \"count\"", "a,1\nb,x1\n"),
            "d.csv:3: column 'v': value 'x1' is not a number; correct it, or leave the cell empty if it is "
            "missing");
  const std::string count =
      " is not a count (a whole number from 0); correct it or make the column real in the codebook";
  EXPECT_EQ(error("kind = \"count\"", "a,1\nb,-2\n"), "d.csv:3: column 'v': value '-2'" + count);
  EXPECT_EQ(error("kind = \"count\"", "a,1\nb,\nc,2.50\n"), "d.csv:4: column 'v': value '2.50'" + count);
  EXPECT_EQ(error("kind = \"binary\"", "a,1\nb,2\n"),
            "d.csv:3: column 'v': value '2' is not 0 or 1 in a binary column; correct it or change the kind "
            "in the codebook");
  EXPECT_EQ(error("kind = \"binary\"", "a,m\nb,f\nc,x\n"),
            "d.csv:4: column 'v': value 'x' is a third value in a binary column; correct it or make the "
            "column a category in "
            "the codebook");
  EXPECT_EQ(error("kind = \"category\"\nlevels = [\"p\", \"q\"]", "a,p\nb,r\n"),
            "d.csv:3: column 'v': value 'r' is not one of the levels 'p', 'q'; correct it, leave the cell "
            "empty, or add it to "
            "the levels in the codebook");
  EXPECT_EQ(
      error("kind = \"real\"", "a,1\nb,inf\n"),
      "d.csv:3: column 'v': value 'inf' is infinite; replace it by a finite number or leave the cell empty");
  const Codebook other = parse_codebook("[[column]]\nname = \"vv\"\nkind = \"real\"", "book.toml");
  EXPECT_EQ(read_error("u,v\n1,2\n", with_codebook(other)),
            "d.csv: column 'vv' of the codebook book.toml is not in the data; did you mean 'v'?");
}

TEST(Codebooks, BinaryLevels) {
  Codebook codebook;
  codebook.columns.push_back({"v", Kind::binary, {"well", "ill"}, {}, {}});
  const Column declared = read_text("v\nill\nwell\nill\n", with_codebook(codebook)).table.columns.at(0);
  expect_values(declared, {1, 0, 1});
  codebook.columns[0].levels.clear();
  const Column sorted = read_text("v\nwell\nill\n", with_codebook(codebook)).table.columns.at(0);
  EXPECT_EQ(sorted.levels, (Texts{"ill", "well"}));
  expect_values(sorted, {1, 0});
}

TEST(Compression, IsUndone) {
  const std::string text = "x,y\n1.5,a\n2.5,b\n";
  for (const std::string& packed :
       {gzip(text), zstandard(text), gzip("x,y\n1.5") + gzip(",a\n2.5,b\n"),
        zstandard("x,y\n1.5,a") + zstandard("\n2.5,b\n"), gzip(text) + std::string(20, '\0')}) {
    // By content, whatever the name says nothing about it.
    const Dataset data = read_text(packed, {}, "d.csv");
    expect_values(data.table.columns.at(0), {1.5, 2.5});
    EXPECT_EQ(data.digest, sha256_hex(packed));
  }
  const TemporaryFile file(".csv.gz", gzip(text));
  expect_values(read_dataset(file.path(), {}).table.columns.at(0), {1.5, 2.5});
  // A message about a cell still finds its line.
  Codebook codebook;
  codebook.columns.push_back({"x", Kind::count, {}, {}, {}});
  EXPECT_EQ(read_error(gzip(text), with_codebook(codebook), "d.csv.gz").substr(0, 38),
            "d.csv.gz:2: column 'x': value '1.5' is");
}

TEST(Compression, DamageIsNamed) {
  std::string text = "x\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i * 7919 % 1000) + ".5\n";
  for (const auto& [packed, name] :
       {std::pair{gzip(text), "d.csv.gz"}, std::pair{zstandard(text), "d.csv.zst"}}) {
    EXPECT_NE(read_error(packed.substr(0, packed.size() / 2), {}, name).find(std::string(name) + ": the "),
              std::string::npos);
    std::string broken = packed;
    for (std::size_t i = 20; i < 60; ++i) broken[i] = static_cast<char>(broken[i] ^ 0x5a);
    EXPECT_NE(read_error(broken, {}, name).find(std::string(name) + ": "), std::string::npos);
    EXPECT_NE(read_error("plain", {}, name).find("the content is not"), std::string::npos);
  }
  EXPECT_NE(read_error(gzip(text).substr(0, 100), {}, "d.csv").find("the end is missing"), std::string::npos);
}

TEST(Compression, ABombIsRefused) {
  const std::string zeros(std::size_t{32} << 20, '0');
  std::string bomb;
  const std::string one = zstandard(zeros);
  for (int i = 0; i < 20; ++i) bomb += one;
  ASSERT_LT(bomb.size(), 100000u);
  EXPECT_NE(read_error(bomb, {}, "d.csv.zst").find("which is refused"), std::string::npos);
}

TEST(Digest, KnownValues) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ReadLike, MatchesByNameInAnyOrder) {
  ReadOptions options;
  options.id = "id";
  const Table fitted =
      read_text("id,x,color,flag,n\na,1.5,red,yes,0\nb,2.5,blue,no,3\nc,2,red,no,3\n", options).table;
  const Table rows =
      read_like_bytes("n,extra,flag,id,color,x\n5,q,no,r1,blue,\n,q,yes,r2,,9\n", "new.csv", fitted, "id");
  EXPECT_EQ(rows.row_ids, (Texts{"r1", "r2"}));
  ASSERT_EQ(rows.columns.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows.columns[i].name, fitted.columns[i].name);
    EXPECT_EQ(rows.columns[i].kind, fitted.columns[i].kind);
    EXPECT_EQ(rows.columns[i].levels, fitted.columns[i].levels);
  }
  expect_values(rows.columns[0], {kMissing, 9});
  expect_values(rows.columns[1], {0, kMissing});
  expect_values(rows.columns[2], {0, 1});
  expect_values(rows.columns[3], {5, kMissing});
}

TEST(ReadLike, MatchesByPositionWithoutAHeader) {
  const Table named = read_text("x,y\n1.5,2.5\n3.5,1.25\n").table;
  const Table rows = read_like_bytes("7.5,8.5\n", "new.csv", named, "");
  expect_values(rows.columns.at(0), {7.5});
  EXPECT_EQ(rows.columns[0].name, "x");
  expect_values(rows.columns.at(1), {8.5});
  // Fitted without a header and with the second column dropped: positions are names.
  ReadOptions options;
  options.drop = {"c2"};
  const Table bare = read_text("1.5,2,3.5\n4.5,5,6.5\n", options).table;
  expect_values(read_like_bytes("1,2,3\n", "new.csv", bare, "").columns.at(1), {3});
  // Names that are numbers are still names.
  options = {};
  options.header = Header::yes;
  const Table years = read_text("1990,1991\n1.5,2.5\n", options).table;
  expect_values(read_like_bytes("1991,1990\n7,8\n", "new.csv", years, "").columns.at(0), {8});
  EXPECT_EQ(message_of(ErrorCode::bad_data, [&] { read_like_bytes("1,2,3\n", "new.csv", named, ""); }),
            "new.csv:1: column 'x' of the fitted data cannot be found: the file has no header and 3 columns "
            "where 2 were fitted; "
            "add a header row");
}

TEST(ReadLike, Errors) {
  const Table fitted = read_text("x,color\n1.5,red\n2.5,blue\n").table;
  EXPECT_EQ(
      message_of(ErrorCode::bad_data, [&] { read_like_bytes("colr,x\nred,1\n", "new.csv", fitted, ""); }),
      "new.csv:1: column 'color' of the fitted data is not in the file; add it (did you mean 'colr'?)");
  EXPECT_EQ(message_of(ErrorCode::bad_data,
                       [&] { read_like_bytes("x,color\n1,red\n2,green\n", "new.csv", fitted, ""); }),
            "new.csv:3: column 'color': value 'green' is not one of the levels 'blue', 'red'; correct it or "
            "leave the cell "
            "empty: the model has not seen other levels");
  EXPECT_EQ(
      message_of(ErrorCode::bad_data, [&] { read_like_bytes("x,color\nabc,red\n", "new.csv", fitted, ""); }),
      "new.csv:2: column 'x': value 'abc' is not a number; correct it, or leave the cell empty if it is "
      "missing");
  EXPECT_EQ(message_of(ErrorCode::configuration,
                       [&] { read_like_bytes("x,color\n1,red\n", "new.csv", fitted, "id"); }),
            "new.csv: there is no column 'id' of row names; the columns are 'x', 'color'");
  EXPECT_EQ(read_like_bytes("x,color\n1,red\n", "new.csv", fitted, "id", false).row_ids.front(), "1");
  EXPECT_EQ(read_like_bytes("id,x,color\nq,1,red\n", "new.csv", fitted, "id", false).row_ids.front(), "q");
  EXPECT_EQ(message_of(ErrorCode::cannot_read, [&] { read_like("/nonexistent.csv", fitted, ""); }),
            "/nonexistent.csv: cannot be read: No such file or directory");
}

TEST(ReadLike, ACodebookIsEnough) {
  const Dataset data = read_text("x,color\n1.5,red\n2.5,blue\n");
  const TemporaryFile file(".csv", "color,x\nred,4.5\n");
  const Table rows = read_like(file.path(), empty_table(data.codebook), "");
  expect_values(rows.columns.at(1), {1});
}

}  // namespace
}  // namespace coppice
