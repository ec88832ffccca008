#!/usr/bin/env bash
# Installs in an image of manylinux_2_34 (AlmaLinux 9) what the wheel is built with; cibuildwheel runs it before the
# build. The report's bundle is in web/dist already: the workflow makes it outside of the image.
set -euo pipefail
dnf install -y --setopt=install_weak_deps=False epel-release 'dnf-command(config-manager)'
dnf config-manager --set-enabled crb
dnf install -y --setopt=install_weak_deps=False \
  boost-devel cli11-devel eigen3-devel fmt-devel json-devel libzstd-devel netcdf-devel ninja-build openssl-devel \
  pkgconf-pkg-config Random123-devel sqlite-devel tbb-devel tomlplusplus-devel zlib-devel
