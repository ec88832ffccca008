// Files are read back with the NetCDF library itself.
#include "coppice/out/netcdf.hpp"

#include <gtest/gtest.h>
#include <netcdf.h>

#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/out/pending_file.hpp"
#include "support/scratch_folder.hpp"

namespace coppice {
namespace {

class Netcdf : public testing::Test {
 protected:
  test::ScratchFolder folder_;
};

std::vector<NcGroup> example(std::size_t chains, std::size_t draws) {
  std::vector<std::int64_t> chain(chains);
  std::vector<std::int64_t> draw(draws);
  std::iota(chain.begin(), chain.end(), 0);
  std::iota(draw.begin(), draw.end(), 0);
  std::vector<double> log_joint(chains * draws);
  for (std::size_t i = 0; i < log_joint.size(); ++i) log_joint[i] = -0.5 * static_cast<double>(i);
  std::vector<std::int32_t> labels(chains * draws * 3);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 7);
  const std::vector<NcVariable> coords{
      {"chain", {"chain"}, chain},
      {"draw", {"draw"}, draw},
      {"row", {"row"}, std::vector<std::string>{"ant", "bée", "a much longer name"}}};
  NcGroup posterior{
      "posterior",
      {{"labels", {"chain", "draw", "row"}, labels, {{"long_name", std::string("cluster of a row")}}}},
      coords,
      {{"model", std::string("nrmm")}, {"seed", std::int64_t{42}}}};
  NcGroup stats{"sample_stats", {{"lp", {"chain", "draw"}, log_joint}}, {coords[0], coords[1]}};
  NcGroup observed{"observed_data", {{"x", {"row_without_names"}, std::vector<double>{1.5, 2.5}}}, {}};
  observed.dimensions.emplace_back("row_without_names", 2);
  return {posterior, stats, observed};
}

struct OpenFile {
  explicit OpenFile(const std::filesystem::path& path) {
    EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &id), NC_NOERR);
  }
  ~OpenFile() { nc_close(id); }
  int group(const char* name) const {
    int group_id = -1;
    EXPECT_EQ(nc_inq_ncid(id, name, &group_id), NC_NOERR) << name;
    return group_id;
  }
  int id = -1;
};

TEST_F(Netcdf, ReadsBackWhatWasWritten) {
  const auto groups = example(2, 300);
  write_netcdf(folder_.file("run.nc"), groups,
               {{"created_by", std::string("coppice")}, {"weights", std::vector<double>{1.0, 2.0}}});
  const OpenFile file(folder_.file("run.nc"));

  std::size_t length = 0;
  ASSERT_EQ(nc_inq_attlen(file.id, NC_GLOBAL, "created_by", &length), NC_NOERR);
  std::string text(length, ' ');
  nc_get_att_text(file.id, NC_GLOBAL, "created_by", text.data());
  EXPECT_EQ(text, "coppice");

  const int posterior = file.group("posterior");
  long long seed = 0;
  EXPECT_EQ(nc_get_att_longlong(posterior, NC_GLOBAL, "seed", &seed), NC_NOERR);
  EXPECT_EQ(seed, 42);
  int labels = -1;
  ASSERT_EQ(nc_inq_varid(posterior, "labels", &labels), NC_NOERR);
  int dimensions[3];
  int count = 0;
  nc_inq_varndims(posterior, labels, &count);
  ASSERT_EQ(count, 3);
  nc_inq_vardimid(posterior, labels, dimensions);
  const std::vector<std::string> names{"chain", "draw", "row"};
  const std::vector<std::size_t> sizes{2, 300, 3};
  for (std::size_t d = 0; d < 3; ++d) {
    char name[NC_MAX_NAME + 1];
    nc_inq_dim(posterior, dimensions[d], name, &length);
    EXPECT_EQ(name, names[d]);
    EXPECT_EQ(length, sizes[d]);
  }
  std::vector<int> values(1800);
  ASSERT_EQ(nc_get_var_int(posterior, labels, values.data()), NC_NOERR);
  EXPECT_EQ(values, std::get<std::vector<std::int32_t>>(groups[0].variables[0].data));

  int row = -1;
  ASSERT_EQ(nc_inq_varid(posterior, "row", &row), NC_NOERR);
  char* strings[3];
  ASSERT_EQ(nc_get_var_string(posterior, row, strings), NC_NOERR);
  EXPECT_STREQ(strings[1], "bée");
  EXPECT_STREQ(strings[2], "a much longer name");
  nc_free_string(3, strings);

  int draw = -1;
  ASSERT_EQ(nc_inq_varid(posterior, "draw", &draw), NC_NOERR);
  nc_type type = NC_NAT;
  nc_inq_vartype(posterior, draw, &type);
  EXPECT_EQ(type, NC_INT64);
  std::vector<long long> numbers(300);
  ASSERT_EQ(nc_get_var_longlong(posterior, draw, numbers.data()), NC_NOERR);
  for (std::size_t d = 0; d < 300; ++d) EXPECT_EQ(numbers[d], static_cast<long long>(d));

  const int stats = file.group("sample_stats");
  int lp = -1;
  ASSERT_EQ(nc_inq_varid(stats, "lp", &lp), NC_NOERR);
  std::vector<double> traces(600);
  ASSERT_EQ(nc_get_var_double(stats, lp, traces.data()), NC_NOERR);
  EXPECT_EQ(traces, std::get<std::vector<double>>(groups[1].variables[0].data));
  file.group("observed_data");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(Netcdf, KeepsTheOldFileWhenItFails) {
  write_file(folder_.file("run.nc"), "old");
  auto groups = example(1, 4);
  groups[0].variables[0].dims[2] = "nowhere";
  EXPECT_THROW(write_netcdf(folder_.file("run.nc"), groups), Error);
  groups = example(1, 4);
  groups[1].variables[0].data = std::vector<double>{1.0};
  EXPECT_THROW(write_netcdf(folder_.file("run.nc"), groups), Error);
  EXPECT_EQ(test::read_bytes(folder_.file("run.nc")), "old");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(Netcdf, CanBeADeviceButNotInAMissingFolder) {
  EXPECT_NO_THROW(write_netcdf("/dev/null", example(1, 4)));
  try {
    write_netcdf(folder_.file("no/such/run.nc"), example(1, 4));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cannot_write);
  }
}

TEST_F(Netcdf, NoDrawsIsNoError) {
  write_netcdf(folder_.file("empty.nc"), example(1, 0));
  const OpenFile file(folder_.file("empty.nc"));
  file.group("posterior");
}

}  // namespace
}  // namespace coppice
