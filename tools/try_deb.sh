#!/usr/bin/env bash
# try_deb.sh FOLDER ROOT: installs the packages of FOLDER in a bare Debian system with what they depend on, runs the program, and
# compiles the example against the library. ROOT is a folder for that system, made by debootstrap. Must be run as root in a mount
# namespace of its own (unshare --mount).
set -euo pipefail
folder=$(realpath "$1") root=$2
readonly suite=bookworm
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rm -rf "$root"
debootstrap --variant=minbase "$suite" "$root"
mkdir -p "$root/try"
cp "$folder"/*.deb examples/mixed.csv examples/embed.cpp "$root/try/"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"

cat >"$root/try/inside.sh" <<'INSIDE'
set -euo pipefail
cd /try
export DEBIAN_FRONTEND=noninteractive
apt-get install -y --no-install-recommends ./coppice_*.deb
for tool in c++ cmake node; do
  if command -v "$tool"; then echo "try_deb: the program brought $tool with it" >&2; exit 1; fi
done
coppice --version
coppice selfcheck
coppice fit mixed.csv --id visitor --truth group --quick
coppice summary mixed.coppice
coppice report mixed.coppice -o mixed.html
test -s mixed.html
test -s /usr/share/bash-completion/completions/coppice
zcat /usr/share/man/man1/coppice.1.gz >/dev/null
apt-get install -y --no-install-recommends ./libcoppice-dev_*.deb g++ pkg-config
# shellcheck disable=SC2046
c++ -std=c++20 embed.cpp $(pkg-config --cflags --libs coppice) -o embed
./embed
apt-get remove -y coppice
if [[ -e /usr/bin/coppice ]]; then echo "try_deb: the program is still there" >&2; exit 1; fi
INSIDE
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot "$root" bash /try/inside.sh
