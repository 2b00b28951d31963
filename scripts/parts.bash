# Sourced by the scripts that get what tests need beyond Rust and git. A script says what it installs before it does; where it may not
# or cannot, it says in one line what is skipped and how to get it, and ends with 3, or, with CI=true, with 1.
#
# DORMOUSE_TEST_INSTALL=no: nothing is installed.

say() { printf '%s\n' "$*" >&2; }

# skip WHAT HOW
skip() {
    say "skipped: $1 ($2)"
    [ "${CI:-}" != true ] || exit 1
    exit 3
}

may_install() { [ "${DORMOUSE_TEST_INSTALL:-}" != no ]; }

# Installs Debian packages, where this is root. The caller looks whether that helped.
apt_install() {
    if ! may_install || [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then return 0; fi
    say "installing by apt-get: $*"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } > /dev/null 2>&1 || true
}
