// The stored form of a table: every bit survives, and damage is always noticed.
#include "coppice/data/table_blob.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "unit/data/support.hpp"

namespace coppice {
namespace {

Table sample(std::size_t rows) {
  Table table;
  Column real{"x", Kind::real, {}, {}};
  Column count{"n", Kind::count, {}, {}};
  Column bit{"b", Kind::binary, {}, {}};
  Column word{"yes no", Kind::binary, {}, {"no", "yes"}};
  Column few{"few", Kind::category, {}, {"a", "", "\xc3\xa4"}};
  Column many{"many", Kind::category, {}, {}};
  for (int i = 0; i < 300; ++i) many.levels.push_back(std::to_string(i));
  for (std::size_t i = 0; i < rows; ++i) {
    const auto number = static_cast<double>(i);
    table.row_ids.push_back("row " + std::to_string(i));
    real.values.push_back(i % 7 == 0 ? kMissing
                                     : std::sin(number) * std::pow(10.0, static_cast<double>(i % 40) - 20.0));
    count.values.push_back(i % 11 == 0 ? kMissing : number);
    bit.values.push_back(i % 5 == 0 ? kMissing : static_cast<double>(i % 2));
    word.values.push_back(static_cast<double>(i % 2));
    few.values.push_back(i % 4 == 3 ? kMissing : static_cast<double>(i % 4));
    many.values.push_back(i % 13 == 0 ? kMissing : static_cast<double>(i % 300));
  }
  table.columns = {real, count, bit, word, few, many};
  return table;
}

void expect_same(const Table& a, const Table& b) {
  EXPECT_EQ(a.row_ids, b.row_ids);
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (std::size_t j = 0; j < a.columns.size(); ++j) {
    EXPECT_EQ(a.columns[j].name, b.columns[j].name);
    EXPECT_EQ(a.columns[j].kind, b.columns[j].kind);
    EXPECT_EQ(a.columns[j].levels, b.columns[j].levels);
    ASSERT_EQ(a.columns[j].values.size(), b.columns[j].values.size());
    for (std::size_t i = 0; i < a.columns[j].values.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint64_t>(a.columns[j].values[i]),
                std::bit_cast<std::uint64_t>(b.columns[j].values[i]));
  }
}

TEST(TableBlob, RoundTripKeepsEveryBit) {
  for (const std::size_t rows : {0u, 1u, 2u, 1000u}) {
    const Table table = sample(rows);
    expect_same(deserialize_table(serialize(table)), table);
  }
  expect_same(deserialize_table(serialize(Table{})), Table{});
  Table odd = sample(3);
  odd.columns[0].values = {-0.0, std::numeric_limits<double>::denorm_min(),
                           std::bit_cast<double>(0x7ff8000000000123u)};
  odd.columns[2].values = {-0.0, 1.0, std::bit_cast<double>(0xfff8000000000000u)};
  expect_same(deserialize_table(serialize(odd)), odd);
}

TEST(TableBlob, CodesTakeLittleRoom) {
  Table table;
  Column bit{"b", Kind::binary, {}, {}};
  for (std::uint32_t i = 0; i < 80000; ++i) {
    table.row_ids.emplace_back("r");
    bit.values.push_back(static_cast<double>((i * 2654435761u) >> 31));
  }
  table.columns = {bit};
  EXPECT_LT(serialize(table).size(), 30000u);
}

TEST(TableBlob, EveryDamageIsNoticed) {
  const Table table = sample(40);
  const std::string blob = serialize(table);
  for (std::size_t i = 0; i < blob.size(); ++i) {
    std::string damaged = blob;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    try {
      // The one bit that only says how the frame is described may change without harm; the content never may.
      expect_same(deserialize_table(damaged), table);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::bad_data) << error.what();
    }
  }
  for (std::size_t length = 0; length < blob.size(); ++length)
    message_of(ErrorCode::bad_data, [&] { deserialize_table(std::string_view(blob).substr(0, length)); });
  message_of(ErrorCode::bad_data, [&] { deserialize_table(blob + "x"); });
  std::string newer = blob;
  newer[4] = 9;
  EXPECT_EQ(message_of(ErrorCode::bad_data, [&] { deserialize_table(newer); }),
            "the stored table has version 9; this program reads version 1");
}

TEST(TableBlob, RefusesAnInconsistentTable) {
  Table table = sample(3);
  table.columns[0].values.pop_back();
  message_of(ErrorCode::bug, [&] { serialize(table); });
}

}  // namespace
}  // namespace coppice
