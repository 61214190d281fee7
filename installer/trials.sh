# SPDX-License-Identifier: Apache-2.0
# What check-package.sh does with a package: sourced by it, with its variables. `clean` is the folder of the root.

inside() {
    chroot "$clean" env -i HOME=/root PATH="${inside_path:-}/usr/sbin:/usr/bin:/sbin:/bin" LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=/run/trial "$@" </dev/null
}
# Its many lines are of interest only where it fails.
apt() {
    inside apt-get -qq -y "$@" >"$clean.apt" 2>&1 || { tail -n 30 "$clean.apt" >&2; exit 1; }
}
fails() { say "$*"; exit 1; }
expect() { "$@" || fails "failed: $*"; }

# --- without a root: errors end a trial, warnings are shown --------------------------------------------------------------

lint_deb() { lintian --tag-display-limit 0 --allow-root --fail-on error "$1"; }
lint_rpm() {
    # Its last line counts errors and warnings, its status says only whether it could run.
    local report
    report=$(rpmlint --config "$root/installer/rpmlint.toml" "$1" 2>&1) || true
    printf '%s\n' "$report"
    grep -q ' 0 errors' <<<"$report"
}
lint_tarball() {
    # Everything in one folder of the package's name.
    [ "$(tar tf "$1" | cut -d / -f 1 | sort -u)" = "$(basename "$1" .tar.gz)" ]
}

# --- in a root ------------------------------------------------------------------------------------------------------------

# What a trial must not change: all but what Debian's own tools write about packages, and the folders of a running system.
listing() {
    (cd "$clean" && find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./root -o -path ./run \
        -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/rpm \
        -o -path ./usr/lib/sysimage \) -prune -o -print | sort)
}

begin_root() {
    make_root "$suite" "$clean"
    mkdir -p "$clean/run/trial" "$clean/root/.config/lockscope"
    chmod 700 "$clean/run/trial"
    apt update
    # A user's own file, which no package may touch.
    printf 'worker-*=workers\n' >"$clean/root/.config/lockscope/labels"
}

# started PREFIX: what every package has to do, installed below PREFIX (as the root sees it).
started() {
    local prefix=$1 version
    version=$(sed -nE 's/^project\(Lockscope VERSION ([0-9.]+).*/\1/p' "$root/CMakeLists.txt")
    [ "$(inside lockscopectl --version)" = "lockscopectl $version" ] || fails "lockscopectl is of another version"
    [ "$(inside lockscope --version)" = "lockscope $version" ] || fails "lockscope is of another version"
    expect inside lockscopectl recipes >/dev/null
    expect inside sh -c 'lockscope --print-paths | grep -qx "labels  *$HOME/.config/lockscope/labels"'
    # The libraries that are found, and no Qt Charts among them.
    local libraries
    libraries=$(inside sh -c 'ldd "$(readlink -f "$(command -v lockscope)")"')
    ! grep -E 'not found|Charts' <<<"$libraries" || fails "ldd lockscope: see above"

    # What a desktop reads.
    local id=org.lockscope.lockscope pixels share=$clean$prefix/share
    for pixels in 16 22 24 32 36 48 64 72 96 128 192 256 512; do
        file "$share/icons/hicolor/${pixels}x$pixels/apps/$id.png" | grep -q "PNG image data, $pixels x $pixels," ||
            fails "no icon of $pixels pixels"
    done
    [ -s "$share/icons/hicolor/scalable/apps/$id.svg" ] && [ -s "$share/icons/hicolor/symbolic/apps/$id-symbolic.svg" ] ||
        fails "no scalable icon"
    expect desktop-file-validate "$share/applications/$id.desktop"
    expect appstreamcli validate --pedantic --no-net "$share/metainfo/$id.metainfo.xml"
    local installed
    for installed in "$share"/bash-completion/completions/lockscope{,ctl} \
        "$share"/fish/vendor_completions.d/lockscope{,ctl}.fish "$share"/zsh/*/_lockscope \
        "$share"/man/man1/lockscope{,ctl}.1.gz "$share"/doc/lockscope/copyright; do
        [ -s "$installed" ] || fails "missing: ${installed#"$clean"}"
    done
    # Two boxes of 100 x 30 with a line between them, as QDataStream writes them; a layout is longer.
    local layout size='\100\131\0\0\0\0\0\0\100\076\0\0\0\0\0\0'
    layout=$(inside sh -c 'layout=$(dirname "$(readlink -f "$(command -v lockscope)")")/../libexec/lockscope/lockscope-graph-layout
        printf "$0" | "$layout" | wc -c' "\0\0\0\1\0\0\0\2$size$size\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0")
    [ "$layout" -gt 100 ] || fails "the graph is not laid out: $layout bytes"
    picture simulator simulator
}

# picture NAME PAGE [OPTION…]: a screenshot, of the size that was asked for and not empty.
picture() {
    local name=$1 page=$2
    shift 2
    rm -f "$clean/tmp/$name.png"
    expect inside timeout 120 lockscope --page "$page" --theme light --size 1200x800 --screenshot "/tmp/$name.png" "$@"
    file "$clean/tmp/$name.png" | grep -q 'PNG image data, 1200 x 800,' || fails "no picture of 1200 x 800"
    [ "$(stat -c %s "$clean/tmp/$name.png")" -gt 20000 ] || fails "the picture of the page $page is nearly empty"
    [ -z "$pictures" ] || cp "$clean/tmp/$name.png" "$pictures/debian$release-$kind-$name.png"
}

# A window on a display, which is this machine's: the root reaches it by its abstract socket.
shown_on_a_display() {
    local display
    Xvfb -displayfd 3 -screen 0 1400x1000x24 -nolisten tcp -ac 3>"$clean/tmp/display" >/dev/null 2>&1 &
    local waited=0
    until [ -s "$clean/tmp/display" ]; do
        ((++waited < 100)) || fails "Xvfb does not start"
        sleep 0.1
    done
    display=$(<"$clean/tmp/display")
    rm -f "$clean/tmp/x11.png"
    expect inside env QT_QPA_PLATFORM=xcb DISPLAY=":$display" timeout 120 lockscope --page simulator --theme light \
        --size 1200x800 --screenshot /tmp/x11.png
    [ "$(stat -c %s "$clean/tmp/x11.png")" -gt 20000 ] || fails "the picture on a display is nearly empty"
    [ -z "$pictures" ] || cp "$clean/tmp/x11.png" "$pictures/debian$release-$kind-x11.png"
}

# A machine without the servers says which packages it wants.
sandbox_wants_servers() {
    ! inside lockscopectl sandbox >/dev/null 2>"$clean/tmp/why" || fails "A sandbox started without servers?"
    grep -q default-jre-headless "$clean/tmp/why" && grep -q redis-server "$clean/tmp/why" ||
        fails "the sandbox names no packages: $(cat "$clean/tmp/why")"
}

# sandbox_works: with its servers installed. The demo has locks of each, and the window draws who blocks whom.
sandbox_works() {
    local locks
    locks=$(inside timeout 120 lockscopectl --connect sandbox: --json locks)
    grep -q '"schema"' <<<"$locks" || fails "no locks as JSON: $locks"
    picture locks locks --connect sandbox: --demo --after 25
    picture graph graph --connect sandbox: --demo --after 25
    : >"$clean/tmp/demo"
    inside sh -c 'lockscopectl sandbox --demo >/tmp/demo 2>&1 & echo $! >/tmp/demo.pid'
    local waited=0
    until grep -q 'redis' "$clean/tmp/demo" && grep -q 'zk' "$clean/tmp/demo"; do
        ((++waited < 300)) || fails "the demo does not start: $(cat "$clean/tmp/demo")"
        sleep 0.2
    done
    inside sh -c 'kill -TERM "$(cat /tmp/demo.pid)"'
}

kept_the_users_file() {
    [ "$(cat "$clean/root/.config/lockscope/labels")" = 'worker-*=workers' ] || fails "a file of the user was changed"
}

# older_deb FILE: the same as version 0.0.9, with a file that newer ones do not have.
older_deb() {
    local parts=$clean/tmp/older
    dpkg-deb -R "$1" "$parts"
    sed -i -E 's/^Version: .*/Version: 0.0.9-1/' "$parts/DEBIAN/control"
    echo 'of an older version' >"$parts/usr/share/doc/lockscope/dropped"
    dpkg-deb -Znone --root-owner-group -b "$parts" "$clean/tmp/older.deb" >/dev/null
    rm -rf "$parts"
}

try_deb() {
    begin_root
    older_deb "$package"
    cp "$package" "$clean/tmp/lockscope.deb"
    echo "== with what it depends on, an older version =="
    apt --no-install-recommends install /tmp/older.deb
    [ -s "$clean/usr/share/doc/lockscope/dropped" ] || fails "the older version is not complete"
    apt purge lockscope
    listing >"$clean/tmp/before" # what it depends on stays
    ! grep lockscope "$clean/tmp/before" || fails "removing the older version left these files"
    apt --no-install-recommends install /tmp/older.deb
    echo "== upgraded =="
    apt --no-install-recommends install /tmp/lockscope.deb
    [ ! -e "$clean/usr/share/doc/lockscope/dropped" ] || fails "the upgrade left a file of the older version"
    started /usr
    sandbox_wants_servers
    shown_on_a_display
    echo "== removed, and installed with what it recommends =="
    apt purge lockscope
    listing >"$clean/tmp/after"
    diff "$clean/tmp/before" "$clean/tmp/after" || fails "removing it left or took these files"
    apt install /tmp/lockscope.deb
    sandbox_works
    apt purge lockscope
    ! listing | grep lockscope || fails "removing it left these files"
    kept_the_users_file
}

# What a desktop has, whatever its distribution; no Qt. The names are Debian's.
system_libraries=(libegl1 libgl1 libopengl0 libx11-6 libx11-xcb1 libxcb1 libfontconfig1 libfreetype6 libharfbuzz0b
    libexpat1 libwayland-client0 libwayland-cursor0 libwayland-egl1 fonts-dejavu-core openssl)
sandbox_servers=(libzookeeper-java libservlet-api-java libslf4j-java default-jre-headless redis-server mariadb-server-core
    etcd-server)

root_without_qt() {
    begin_root
    apt --no-install-recommends install "${system_libraries[@]}" "$@"
    ! inside /sbin/ldconfig -p | grep libQt || fails "this root has Qt"
}

try_rpm() {
    root_without_qt rpm hicolor-icon-theme
    # The package filesystem of a distribution with RPM has these.
    mkdir -p "$clean"/usr/lib/systemd/system "$clean"/usr/share/{applications,metainfo,man/man1}
    mkdir -p "$clean"/usr/share/icons/hicolor/{16x16,22x22,24x24,32x32,36x36,48x48,64x64,72x72,96x96,128x128}/apps
    mkdir -p "$clean"/usr/share/icons/hicolor/{192x192,256x256,512x512,scalable,symbolic}/apps
    listing >"$clean/tmp/before"
    cp "$package" "$clean/tmp/lockscope.rpm"
    # Only a build makes an RPM: it is the same one, of another version.
    (cd "$build" && cpack -G RPM -R 0.0.9 -B "$clean/tmp/older") >/dev/null
    mv "$clean"/tmp/older/lockscope-0.0.9*.rpm "$clean/tmp/older.rpm"
    rm -rf "$clean/tmp/older"
    echo "== what it requires of the system =="
    # Debian's RPM database is empty, so rpm cannot know: the loader does.
    local name required known
    known=$(inside /sbin/ldconfig -p)
    required=$(inside rpm -qp --requires /tmp/lockscope.rpm)
    printf '%s\n' "$required"
    for name in $(sed -nE 's/^([^ (]+)\(\)\(64bit\)$/\1/p' <<<"$required"); do
        grep -qF "$name" <<<"$known" || fails "$name is missing"
    done
    ! grep -q 'Qt' <<<"$required" || fails "it requires Qt"
    echo "== an older version, upgraded =="
    inside rpm -i --nodeps /tmp/older.rpm
    inside rpm -q lockscope | grep -q '^lockscope-0\.0\.9-1' || fails "the older version is not installed"
    inside rpm -U --nodeps /tmp/lockscope.rpm
    [ "$(inside rpm -qa 'lockscope*' | wc -l)" = 1 ] || fails "the upgrade left the older version"
    expect inside rpm -V --nodeps lockscope
    started /usr
    sandbox_wants_servers
    shown_on_a_display
    echo "== removed =="
    inside rpm -e lockscope
    listing >"$clean/tmp/after"
    diff "$clean/tmp/before" "$clean/tmp/after" || fails "removing it left or took these files"
    echo "== with servers =="
    apt --no-install-recommends install "${sandbox_servers[@]}"
    inside rpm -i --nodeps /tmp/lockscope.rpm
    sandbox_works
    inside rpm -e lockscope
    ! listing | grep lockscope || fails "removing it left these files"
    kept_the_users_file
}

try_tarball() {
    local name
    name=$(basename "$package" .tar.gz)
    root_without_qt
    listing >"$clean/tmp/before"
    echo "== unpacked, in a folder with a space =="
    mkdir -p "$clean/opt/of a user"
    tar xf "$package" --no-same-owner -C "$clean/opt/of a user"
    local inside_path="/opt/of a user/$name/bin:"
    started "/opt/of a user/$name"
    sandbox_wants_servers
    shown_on_a_display
    echo "== moved, and reached by a link =="
    mv "$clean/opt/of a user/$name" "$clean/opt/lockscope"
    rmdir "$clean/opt/of a user"
    mkdir "$clean/opt/links"
    ln -s ../lockscope/bin/lockscope ../lockscope/bin/lockscopectl "$clean/opt/links/"
    inside_path=/opt/links:
    started /opt/lockscope
    echo "== upgraded: the folder replaced =="
    rm -r "$clean/opt/lockscope"
    tar xf "$package" --no-same-owner -C "$clean/opt" && mv "$clean/opt/$name" "$clean/opt/lockscope"
    started /opt/lockscope
    kept_the_users_file
    echo "== removed =="
    rm -r "$clean/opt/lockscope" "$clean/opt/links"
    listing >"$clean/tmp/after"
    diff "$clean/tmp/before" "$clean/tmp/after" || fails "it wrote these files outside of its folder and of the home"
    echo "== with servers =="
    apt --no-install-recommends install "${sandbox_servers[@]}"
    tar xf "$package" --no-same-owner -C "$clean/opt"
    inside_path=/opt/$name/bin:
    sandbox_works
}

# A build of the committed files in a root of that release, with the cache of this machine.
build_in_root() {
    make_root "$suite" "$clean"
    apt update
    apt --no-install-recommends install "${packages_to_build[@]}" dpkg-dev fakeroot file
    mkdir -p "$clean/srv/lockscope"
    git -C "$root" archive HEAD | tar -x -C "$clean/srv/lockscope"
    local cache=()
    if [ -d "${CCACHE_DIR:-}" ]; then
        mkdir -p "$clean/srv/ccache"
        mount --bind "$CCACHE_DIR" "$clean/srv/ccache"
        cache=(CCACHE_DIR=/srv/ccache)
    fi
    inside env "${cache[@]}" sh -c 'cd /srv/lockscope && cmake --preset release -DLOCKSCOPE_TESTS=OFF &&
        cmake --build build/release && cd build/release && cpack -G DEB'
}
