#include "coppice/out/netcdf.hpp"

#include <cstdlib>
#include <map>
#include <string_view>
#include <type_traits>

#include "coppice/base/error.hpp"
#include "coppice/out/netcdf_library.hpp"
#include "coppice/out/pending_file.hpp"

namespace coppice {

namespace {

constexpr std::size_t kCompressFrom = 1024;  // values; smaller arrays only grow by being cut into chunks
constexpr int kCompressionLevel = 4;

template <typename T>
constexpr nc_type type_of() {
  if constexpr (std::is_same_v<T, double>) return NC_DOUBLE;
  if constexpr (std::is_same_v<T, std::int32_t>) return NC_INT;
  if constexpr (std::is_same_v<T, std::int64_t>) return NC_INT64;
  if constexpr (std::is_same_v<T, std::string>) return NC_STRING;
}

// A file in memory that is closed on every way out. The library does not survive a disk that is full, nor
// does it say that it is: what it has made is written by others.
class File {
 public:
  explicit File(const std::filesystem::path& target) : target_(target.string()) {
    check(netcdf_library().create_mem(target_.c_str(), NC_NETCDF4 | NC_CLOBBER, 1 << 16, &id_));
    open_ = true;
  }
  ~File() {
    // Closing, not aborting: that would delete the file of the target's name.
    if (open_) netcdf_library().close_memio(id_, &content_);
    std::free(content_.memory);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int id() const { return id_; }
  void check(int status) const {
    if (status != NC_NOERR)
      fail(ErrorCode::cannot_write, "cannot write {}: {}", target_, netcdf_library().strerror(status));
  }
  /// Nothing can be added any more. The bytes are there as long as the object.
  std::string_view close() {
    open_ = false;
    check(netcdf_library().close_memio(id_, &content_));
    return {static_cast<const char*>(content_.memory), content_.size};
  }

 private:
  std::string target_;
  int id_ = 0;
  bool open_ = false;
  NC_memio content_{};
};

void put_attributes(const File& file, int group, int variable, const NcAttributes& attributes) {
  for (const auto& [name, attribute] : attributes) {
    const char* key = name.c_str();
    if (const auto* text = std::get_if<std::string>(&attribute)) {
      file.check(netcdf_library().put_att_text(group, variable, key, text->size(), text->c_str()));
    } else if (const auto* real = std::get_if<double>(&attribute)) {
      file.check(netcdf_library().put_att_double(group, variable, key, NC_DOUBLE, 1, real));
    } else if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
      const long long value = *integer;
      file.check(netcdf_library().put_att_longlong(group, variable, key, NC_INT64, 1, &value));
    } else if (const auto* reals = std::get_if<std::vector<double>>(&attribute)) {
      file.check(
          netcdf_library().put_att_double(group, variable, key, NC_DOUBLE, reals->size(), reals->data()));
    }
  }
}

struct Dimension {
  int id;
  std::size_t size;
};
using Dimensions = std::map<std::string, Dimension, std::less<>>;

std::size_t size_of(const NcData& data) {
  return std::visit([](const auto& values) { return values.size(); }, data);
}

// The ids of a variable's dimensions, after checking that they hold its data exactly.
std::vector<int> dimension_ids(const NcGroup& group, const NcVariable& variable,
                               const Dimensions& dimensions) {
  std::vector<int> ids;
  std::size_t expected = 1;
  for (const std::string& name : variable.dims) {
    const auto found = dimensions.find(name);
    if (found == dimensions.end()) {
      fail(ErrorCode::bug, "netcdf: {}/{} has the unknown dimension {}", group.name, variable.name, name);
    }
    ids.push_back(found->second.id);
    expected *= found->second.size;
  }
  if (expected != size_of(variable.data)) {
    fail(ErrorCode::bug, "netcdf: {}/{} has {} values where its dimensions hold {}", group.name,
         variable.name, size_of(variable.data), expected);
  }
  return ids;
}

void put_values(const File& file, int group, int variable, const NcData& data) {
  std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if (values.empty()) return;
        if constexpr (std::is_same_v<T, std::string>) {
          std::vector<const char*> pointers;
          for (const std::string& value : values) pointers.push_back(value.c_str());
          file.check(netcdf_library().put_var_string(group, variable, pointers.data()));
        } else {
          file.check(netcdf_library().put_var(group, variable, values.data()));
        }
      },
      data);
}

int define_variable(const File& file, int group_id, const NcGroup& group, const NcVariable& variable,
                    const Dimensions& dimensions) {
  const std::vector<int> ids = dimension_ids(group, variable, dimensions);
  const nc_type type = std::visit(
      [](const auto& values) { return type_of<typename std::decay_t<decltype(values)>::value_type>(); },
      variable.data);
  int id = 0;
  file.check(netcdf_library().def_var(group_id, variable.name.c_str(), type, static_cast<int>(ids.size()),
                                      ids.data(), &id));
  if (type != NC_STRING && size_of(variable.data) >= kCompressFrom) {
    file.check(netcdf_library().def_var_deflate(group_id, id, 1, 1, kCompressionLevel));
  }
  put_attributes(file, group_id, id, variable.attributes);
  return id;
}

void write_group(const File& file, const NcGroup& group) {
  int group_id = 0;
  file.check(netcdf_library().def_grp(file.id(), group.name.c_str(), &group_id));
  Dimensions dimensions;
  const auto define_dimension = [&](const std::string& name, std::size_t size) {
    const auto [place, is_new] = dimensions.try_emplace(name, Dimension{0, size});
    if (!is_new) fail(ErrorCode::bug, "netcdf: {} defines the dimension {} twice", group.name, name);
    file.check(netcdf_library().def_dim(group_id, name.c_str(), size, &place->second.id));
  };
  for (const NcVariable& coord : group.coords) {
    if (coord.dims.size() != 1) {
      fail(ErrorCode::bug, "netcdf: the coordinate {}/{} has {} dimensions", group.name, coord.name,
           coord.dims.size());
    }
    if (coord.dims.front() == coord.name) define_dimension(coord.name, size_of(coord.data));
  }
  for (const auto& [name, size] : group.dimensions) define_dimension(name, size);
  put_attributes(file, group_id, NC_GLOBAL, group.attributes);
  std::vector<std::pair<int, const NcVariable*>> defined;
  for (const NcVariable& coord : group.coords) {
    defined.emplace_back(define_variable(file, group_id, group, coord, dimensions), &coord);
  }
  for (const NcVariable& variable : group.variables) {
    defined.emplace_back(define_variable(file, group_id, group, variable, dimensions), &variable);
  }
  for (const auto& [id, variable] : defined) put_values(file, group_id, id, variable->data);
}

}  // namespace

void write_netcdf(const std::filesystem::path& path, std::span<const NcGroup> groups,
                  const NcAttributes& root_attributes) {
  PendingFile pending(path);
  File file(path);
  put_attributes(file, file.id(), NC_GLOBAL, root_attributes);
  for (const NcGroup& group : groups) write_group(file, group);
  pending.write(file.close());
  pending.commit();
}

}  // namespace coppice
