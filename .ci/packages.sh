# SPDX-License-Identifier: Apache-2.0
# Which Debian packages Lockscope needs for what, and how they get here. Sourced by run.sh and test.sh.

packages_to_build=(build-essential cmake ninja-build ccache mold pkg-config
    qt6-base-dev qt6-svg-dev qtkeychain-qt6-dev libzookeeper-mt-dev libhiredis-dev
    liblua5.1-0-dev zlib1g-dev libgl1-mesa-dev libgraphviz-dev libtomlplusplus-dev qt6-l10n-tools)
# The sandbox's servers, what the window shows itself with, and the fonts it looks best in.
packages_to_run=(libzookeeper-java libnetty-java libservlet-api-java libslf4j-java default-jre-headless redis-server
    mariadb-server-core libqt6sql6-mysql libqt6sql6-psql etcd-server
    openssl openssh-client libqt6svg6 qt6-wayland fonts-inter fonts-jetbrains-mono)
# Since Debian 13 the plugins that draw SVG icons are a package of their own.
if [ "$(sed -nE 's/^VERSION_ID="?([0-9]+).*/\1/p' /etc/os-release 2>/dev/null || true)" != 12 ]; then
    packages_to_run+=(qt6-svg-plugins)
fi
# Other people's lock clients, to be recognised; a compiler for theirs; a display; certificates; the style; a font that has
# Chinese, or nothing is known of how high and wide the pages are in it. PostgreSQL is
# here because its package starts a server of its own, which is not for everybody who looks at a sandbox.
packages_to_test=(dbus-daemon postgresql python3 python3-kazoo python3-redis php-cli php-symfony-lock php-nrk-predis etcd-client libcurator-recipes-java default-jdk-headless
    xvfb openssl openssh-server clang-format fonts-noto-cjk python3-jsonschema
    zsh fish appstream desktop-file-utils file)
# Of prometheus only promtool is used. Where a system manager runs, its package starts a server that every host can
# reach, so there the tests that need it skip and say so.
[ -d /run/systemd/system ] || packages_to_test+=(prometheus)
# What makes packages and checks them: installer/check-package.sh.
packages_to_package=(dpkg-dev fakeroot rpm patchelf file lintian rpmlint appstream desktop-file-utils debootstrap xvfb)
# What compiles for ASan, UBSan and TSan, with the sanitizers, and with names in their reports.
packages_to_sanitize=(clang-16 libclang-rt-16-dev llvm-16)

say() { printf '%s\n' "$*" >&2; }

# Every installed package by its name and by the names it provides, since a release may merge two packages.
installed_packages() {
    dpkg-query -W -f='${db:Status-Status}: ${Package}, ${Provides}\n' 2>/dev/null |
        sed -n 's/^installed: //p' | tr ',' '\n' | sed 's/^ *//; s/[ :(].*//'
}

# Which of these no package list here knows.
unknown_packages() {
    { LC_ALL=C apt-get -qq --simulate --no-install-recommends install "$@" </dev/null 2>&1 || true; } |
        sed -nE "s/^(E|Error): Unable to locate package //p; s/^(E|Error): Package '([^']*)' has no installation candidate.*/\2/p"
}

# The package lists were fetched within a day. A new machine may have none.
lists_are_fresh() {
    compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null &&
        [ -n "$(find /var/lib/apt/lists/partial -maxdepth 0 -mtime -1 2>/dev/null)" ]
}

# without "A B C" B: what is left, in words.
without() {
    local word
    for word in $1; do
        [[ " $(echo $2) " = *" $word "* ]] || printf '%s ' "$word"
    done
}

# Installs what is missing of the packages named; says nothing if nothing is. What this release of Debian does
# not have is named, and done without: what needs it says so in its turn.
need_packages() {
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        say "There is no apt here. Needed are, by Debian's names: $*"
        say "Going on with what is installed."
        return 0
    fi
    local missing unknown=
    missing=$(without "$*" "$(installed_packages)")
    [ -n "$missing" ] || return 0

    # Nobody has to become root for what there is not.
    if lists_are_fresh; then
        unknown=$(unknown_packages $missing)
        if [ -z "$(without "$missing" "$unknown")" ]; then
            say "Not in this release of Debian, going on without: $(echo $unknown)"
            return 0
        fi
    fi

    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        # With a terminal sudo may ask for the password; without one it must not wait for it.
        if [ -t 0 ] && command -v sudo >/dev/null; then
            as_root=(sudo)
        elif sudo -n true 2>/dev/null; then
            as_root=(sudo -n)
        else
            say "Missing packages, and no root here to install them. Run: sudo apt-get install $(without "$missing" "$unknown")"
            return 1
        fi
    fi
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120)
    # The lists are fetched once, and only if they do not know a package, or not where it is now.
    local fetched=
    if ! lists_are_fresh; then
        unknown=$(unknown_packages $missing)
        if [ -n "$unknown" ]; then
            "${apt[@]}" update </dev/null >&2 || true
            fetched=yes
            unknown=$(unknown_packages $missing)
        fi
    fi
    if [ -n "$unknown" ]; then
        say "Not in this release of Debian, going on without: $(echo $unknown)"
        missing=$(without "$missing" "$unknown")
        [ -n "$missing" ] || return 0
    fi
    say "Installing" $missing
    "${apt[@]}" --no-install-recommends install $missing </dev/null >&2 && return 0
    if [ -z "$fetched" ] && "${apt[@]}" update </dev/null >&2; then
        "${apt[@]}" --no-install-recommends install $missing </dev/null >&2 && return 0
    fi
    say "Installing failed: $missing. Run apt-get update and apt-get install yourself to see why."
    return 1
}
