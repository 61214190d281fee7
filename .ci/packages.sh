# Which Debian packages Lockscope needs for what, and how they get here. Sourced by run.sh and test.sh.

packages_to_build=(build-essential cmake ninja-build ccache pkg-config
    qt6-base-dev qt6-charts-dev libqt6opengl6-dev qt6-svg-dev qtkeychain-qt6-dev libzookeeper-mt-dev libhiredis-dev
    liblua5.1-0-dev libgl1-mesa-dev)
# The sandbox's servers, what the window shows itself with, and the fonts it looks best in.
packages_to_run=(libzookeeper-java libservlet-api-java libslf4j-java default-jre-headless redis-server
    mariadb-server-core libqt6sql6-mysql
    libqt6svg6 qt6-wayland fonts-inter fonts-jetbrains-mono)
# Other people's lock clients, to be recognised; a compiler for theirs; a display; certificates.
packages_to_test=(python3 python3-kazoo python3-redis libcurator-recipes-java default-jdk-headless xvfb openssl)

say() { printf '%s\n' "$*" >&2; }

# Installs what is missing of the packages named; says nothing if nothing is.
need_packages() {
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        say "There is no apt here. Needed are, by Debian's names: $*"
        say "Going on with what is installed."
        return 0
    fi
    local missing=() package
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        # With a terminal sudo may ask for the password; without one it must not wait for it.
        if [ -t 0 ] && command -v sudo >/dev/null; then
            as_root=(sudo)
        elif sudo -n true 2>/dev/null; then
            as_root=(sudo -n)
        else
            say "Missing packages, and no root here to install them. Run: sudo apt-get install ${missing[*]}"
            return 1
        fi
    fi
    say "Installing ${missing[*]}"
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120)
    # The lists are fetched once, and only if they know a package not at all or not where it is now.
    local fresh=
    if ! apt-cache show --no-all-versions "${missing[@]}" >/dev/null 2>&1; then
        "${apt[@]}" update </dev/null >&2 || true
        fresh=yes
    fi
    "${apt[@]}" --no-install-recommends install "${missing[@]}" </dev/null >&2 && return 0
    if [ -z "$fresh" ] && "${apt[@]}" update </dev/null >&2; then
        "${apt[@]}" --no-install-recommends install "${missing[@]}" </dev/null >&2 && return 0
    fi
    say "Installing failed: ${missing[*]}. Run apt-get update and apt-get install yourself to see why."
    return 1
}
