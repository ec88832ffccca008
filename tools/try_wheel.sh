#!/usr/bin/env bash
# try_wheel.sh WHEEL DEPENDENCIES ROOT: installs the wheel in a bare Debian system and runs the Python tests there. ROOT is a
# folder for that system: debootstrap's smallest, with python3 and python3-venv, without compiler and without the packages that
# Coppice is built with. The tests find what they need beside the wheel (NumPy, pandas, pytest ...) in DEPENDENCIES, the
# virtual environment of the tests. Must be run as root in a mount namespace of its own (unshare --mount).
set -euo pipefail
wheel=$(realpath "$1") dependencies=$(realpath "$2") root=$3
readonly suite=bookworm
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -f $root/made.stamp ]]; then
  rm -rf "$root"
  debootstrap --variant=minbase --include=python3,python3-venv "$suite" "$root"
  touch "$root/made.stamp"
fi
rm -rf "$root/try" "$root/env"
mkdir -p "$root/try/dependencies" "$root/proc" "$root/dev/shm" "$root/dev/pts"
cp "$wheel" "$root/try/"
# The tests and what they read; no source, nothing that was built.
cp -r tests docs examples README.md VERSION "$root/try/"
mkdir "$root/try/tools"
cp tools/doc_blocks.py "$root/try/tools/"
mount --bind -o ro "$dependencies" "$root/try/dependencies"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev/shm"
# Terminals, for the tests of the progress display.
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
touch "$root/dev/ptmx"
mount --bind "$root/dev/pts/ptmx" "$root/dev/ptmx"

cat >"$root/try/inside.sh" <<'INSIDE'
set -euo pipefail
cd /try
for tool in c++ g++ gcc cc clang cmake node; do
  if command -v "$tool"; then echo "try_wheel: there is $tool: this is not a bare system" >&2; exit 1; fi
done
python3 -m venv /env
site=$(/env/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo /try/dependencies/lib/python3.11/site-packages >"$site/dependencies.pth"
# --no-index: everything that the wheel asks for must be among the dependencies.
/env/bin/python -m pip install --quiet --disable-pip-version-check --no-index coppice-*.whl
# Of the system's libraries only those of the C and C++ languages may be used, and zlib, which every Python has.
for file in "$site"/coppice/_native*.so "$site"/coppice/_processor.so "$site"/coppice/bin/coppice; do
  if ldd "$file" | grep -vE "linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z)\.so|/coppice\.libs/|statically linked"; then
    echo "try_wheel: $file needs these libraries of the system" >&2
    exit 1
  fi
done
/env/bin/coppice --version
/env/bin/coppice selfcheck
COPPICE_BIN=/env/bin/coppice /env/bin/python -m pytest -q -p no:cacheprovider tests/python --junitxml=/try/results.xml
INSIDE
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot "$root" bash /try/inside.sh
