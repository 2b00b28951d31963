#!/bin/sh
# Installs dormouse @VERSION@ for Linux: downloads the archive for this machine, compares its checksum, and puts the program,
# its man page and its completions below ~/.local, or below the folder in PREFIX.
#
#     curl -fsSL ADDRESS/install.sh | sh -s -- ADDRESS
set -eu

version=@VERSION@
address=${1:?say where the archives are: install.sh ADDRESS}
prefix=${PREFIX:-$HOME/.local}
fail() { echo "install.sh: $*" >&2; exit 1; }

[ "$(uname -s)" = Linux ] || fail "there are archives for Linux only; elsewhere: cargo install --path crates/cli"
machine=$(uname -m)
case "$machine" in
    x86_64 | aarch64) ;;
    arm64) machine=aarch64 ;;
    *) fail "there is no archive for $machine; build it with: cargo install --path crates/cli" ;;
esac
name=dormouse-$version-$machine-linux
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fetch() {
    if command -v curl > /dev/null; then
        curl -fsSL "$address/$1" -o "$folder/$1" || fail "$address/$1 could not be downloaded"
    else
        wget -q "$address/$1" -O "$folder/$1" || fail "$address/$1 could not be downloaded"
    fi
}
fetch "$name.tar.xz"
fetch SHA256SUMS
(cd "$folder" && grep " $name.tar.xz\$" SHA256SUMS | sha256sum -c - > /dev/null) \
    || fail "the checksum of $name.tar.xz is not the published one; nothing was installed"
tar -C "$folder" -xJf "$folder/$name.tar.xz"
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions"
install -m 755 "$folder/$name/dormouse" "$prefix/bin/dormouse"
install -m 644 "$folder/$name/dormouse.1" "$prefix/share/man/man1/dormouse.1"
install -m 644 "$folder/$name/completions/dormouse.bash" "$prefix/share/bash-completion/completions/dormouse"
echo "dormouse $version is in $prefix/bin"
case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
