#include "coppice/out/netcdf_library.hpp"

#include <dlfcn.h>

#include <initializer_list>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

NetcdfLibrary load() {
  // By its name where the system looks for libraries, else where it was when this was built. A program that
  // was built elsewhere finds another version of the library here; the functions below are the same in all of
  // them.
  void* handle = nullptr;
  for (const char* name : {COPPICE_NETCDF_NAME, COPPICE_NETCDF_PATH, "libnetcdf.so.22", "libnetcdf.so.19",
                           "libnetcdf.so.18", "libnetcdf.so.15", "libnetcdf.so"})
    if (handle == nullptr) handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    fail(ErrorCode::cannot_write,
         "writing NetCDF needs the library {}, which is not here; install it (Debian 12: apt install "
         "libnetcdf19)",
         COPPICE_NETCDF_NAME);
  const auto find = [&]<typename Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(handle, name));
    if (function == nullptr)
      fail(ErrorCode::cannot_write, "the library {} has no {}; install a newer one", COPPICE_NETCDF_NAME,
           name);
  };
  NetcdfLibrary library{};
  find(library.create_mem, "nc_create_mem");
  find(library.close_memio, "nc_close_memio");
  find(library.strerror, "nc_strerror");
  find(library.put_att_text, "nc_put_att_text");
  find(library.put_att_double, "nc_put_att_double");
  find(library.put_att_longlong, "nc_put_att_longlong");
  find(library.put_var, "nc_put_var");
  find(library.put_var_string, "nc_put_var_string");
  find(library.def_grp, "nc_def_grp");
  find(library.def_dim, "nc_def_dim");
  find(library.def_var, "nc_def_var");
  find(library.def_var_deflate, "nc_def_var_deflate");
  return library;
}

}  // namespace

const NetcdfLibrary& netcdf_library() {
  static const NetcdfLibrary library = load();
  return library;
}

}  // namespace coppice
