// The functions of the NetCDF library that are used, loaded with the first file that is written: some forty
// other libraries come with it, and finding them all would take most of the start of every other command.
#pragma once

#include <netcdf.h>
#include <netcdf_mem.h>

namespace coppice {

struct NetcdfLibrary {
  decltype(&nc_create_mem) create_mem;
  decltype(&nc_close_memio) close_memio;
  decltype(&nc_strerror) strerror;
  decltype(&nc_put_att_text) put_att_text;
  decltype(&nc_put_att_double) put_att_double;
  decltype(&nc_put_att_longlong) put_att_longlong;
  decltype(&nc_put_var) put_var;
  decltype(&nc_put_var_string) put_var_string;
  decltype(&nc_def_grp) def_grp;
  decltype(&nc_def_dim) def_dim;
  decltype(&nc_def_var) def_var;
  decltype(&nc_def_var_deflate) def_var_deflate;
};

/// Error{cannot_write} where the library is not installed.
const NetcdfLibrary& netcdf_library();

}  // namespace coppice
