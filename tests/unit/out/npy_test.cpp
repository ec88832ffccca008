#include "coppice/out/npy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "coppice/base/error.hpp"
#include "support/scratch_folder.hpp"

namespace coppice {
namespace {

class Npy : public testing::Test {
 protected:
  test::ScratchFolder folder_;
};

// A reader of its own, by the format's definition: magic, version, length, header, numbers.
template <typename T>
std::vector<T> numbers_in(const std::string& bytes, std::string& header) {
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + length) % 64, 0U);
  header = bytes.substr(10, length);
  EXPECT_EQ(header.back(), '\n');
  std::vector<T> numbers((bytes.size() - 10 - length) / sizeof(T));
  std::memcpy(numbers.data(), bytes.data() + 10 + length, numbers.size() * sizeof(T));
  return numbers;
}

TEST_F(Npy, OneToThreeAxes) {
  const std::vector<double> values{1.0, -2.5, 3e10, 4.0, 5.0, 6.0};
  std::string header;
  EXPECT_EQ(numbers_in<double>(npy_bytes(values, std::vector<std::size_t>{6}), header), values);
  EXPECT_EQ(header.substr(0, header.find('}') + 1),
            "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }");
  EXPECT_EQ(numbers_in<double>(npy_bytes(values, std::vector<std::size_t>{2, 3}), header), values);
  EXPECT_NE(header.find("'shape': (2, 3), "), std::string::npos);
  const std::vector<std::int32_t> integers{1, -2, 3, 4};
  EXPECT_EQ(numbers_in<std::int32_t>(npy_bytes(integers, std::vector<std::size_t>{1, 2, 2}), header),
            integers);
  EXPECT_NE(header.find("'descr': '<i4'"), std::string::npos);
  EXPECT_NE(header.find("'shape': (1, 2, 2), "), std::string::npos);
}

TEST_F(Npy, FileHasTheSameBytes) {
  const std::vector<double> values{1.0, 2.0};
  const std::vector<std::size_t> shape{2};
  write_npy(folder_.file("a.npy"), values, shape);
  EXPECT_EQ(test::read_bytes(folder_.file("a.npy")), npy_bytes(values, shape));
  const std::vector<std::int32_t> integers{7};
  write_npy(folder_.file("b.npy"), integers, std::vector<std::size_t>{1});
  EXPECT_EQ(test::read_bytes(folder_.file("b.npy")), npy_bytes(integers, std::vector<std::size_t>{1}));
}

TEST_F(Npy, RefusesAWrongShape) {
  const std::vector<double> values{1.0, 2.0};
  EXPECT_THROW(npy_bytes(values, std::vector<std::size_t>{3}), Error);
  EXPECT_THROW(npy_bytes(values, std::vector<std::size_t>{}), Error);
  EXPECT_THROW(npy_bytes(values, std::vector<std::size_t>{1, 1, 1, 1, 2}), Error);
}

}  // namespace
}  // namespace coppice
