#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes an installed tree independent of Qt and of most libraries of the system: bundle.sh PREFIX
# Moves the programs to PREFIX/lib/lockscope, with the libraries and Qt plugins that they need, and leaves links in
# PREFIX/bin. Prints what the system still has to have, as an RPM requires it. On Debian, with patchelf.
set -euo pipefail
say() { printf '%s\n' "$*" >&2; }

# An installed tree of its own, not the machine's folders: all programs in it are moved.
[ -n "${1:-}" ] || { say "could not bundle the libraries: the PREFIX is empty"; exit 2; }
prefix=$(realpath -e -- "$1")
bundle=$prefix/lib/lockscope
case $prefix in
/ | /usr | /usr/local) say "could not bundle the libraries: $prefix belongs to the system"; exit 2 ;;
esac
shopt -s nullglob dotglob
moved=("$prefix"/bin/*)
shopt -u nullglob dotglob
for program in "${moved[@]}"; do
    case $(basename "$program") in
    lockscope | lockscopectl | lockscope-*) [ -L "$program" ] || [ ! -f "$program" ] || continue ;;
    esac
    say "could not bundle the libraries: $program is no program of Lockscope"
    exit 2
done
[ -f "$prefix/bin/lockscopectl" ] || { say "could not bundle the libraries: $prefix/bin/lockscopectl is missing"; exit 2; }

# A system with a display has these, in versions that fit its drivers, fonts and certificates:
# - the C and C++ libraries: GCC 12's or newer, glibc 2.35 or newer
# - OpenGL, X11 and Wayland
# - fonts
# - GLib, which the HarfBuzz and the libsecret of the system need in a version that fits theirs
# - OpenSSL 3, which gets its updates from the system
of_the_system='^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s|z)\.so.*|lib(GL|EGL|GLX|GLdispatch|OpenGL|drm|gbm)\.so.*'
of_the_system+='|lib(X11|X11-xcb|xcb|wayland-client|wayland-cursor|wayland-egl)\.so.*|lib(fontconfig|freetype|harfbuzz|glib-2\.0|expat)\.so.*'
of_the_system+='|lib(ssl|crypto)\.so.*)$'

# Loaded at run time, below the folder of Qt's plugins; those that are installed.
plugins=(platforms/libqxcb.so platforms/libqoffscreen.so 'platforms/libqwayland-*.so'
    'wayland-shell-integration/libxdg-shell.so' 'wayland-decoration-client/*.so'
    'wayland-graphics-integration-client/libqt-plugin-wayland-egl.so'
    xcbglintegrations/libqxcb-glx-integration.so xcbglintegrations/libqxcb-egl-integration.so
    platforminputcontexts/libcomposeplatforminputcontextplugin.so platforminputcontexts/libibusplatforminputcontextplugin.so
    platformthemes/libqxdgdesktopportal.so iconengines/libqsvgicon.so imageformats/libqsvg.so
    sqldrivers/libqsqlmysql.so sqldrivers/libqsqlpsql.so tls/libqopensslbackend.so tls/libqcertonlybackend.so)
# The window does not start without a platform, nor does it show its icons without SVG.
needed=(platforms/libqxcb.so platforms/libqoffscreen.so imageformats/libqsvg.so tls/libqopensslbackend.so
    sqldrivers/libqsqlmysql.so sqldrivers/libqsqlpsql.so)

command -v patchelf >/dev/null || { say "could not bundle the libraries: patchelf is missing"; exit 1; }

libraries_of() { ldd "$@" | sed -nE 's/^\t[^ ]+ => (\/[^ ]+) \(0x.*/\1/p' | sort -u; }

mkdir -p "$bundle"/{bin,lib,plugins,libexec}
for program in "${moved[@]}"; do
    mv "$program" "$bundle/bin/"
    ln -s "../lib/lockscope/bin/$(basename "$program")" "$prefix/bin/"
done
[ ! -d "$prefix/libexec/lockscope" ] || mv "$prefix/libexec/lockscope" "$bundle/libexec/"
rmdir "$prefix/libexec" 2>/dev/null || true

qt_core=$(libraries_of "$bundle"/bin/lockscopectl | grep '/libQt6Core\.so')
qt_plugins=$(dirname "$(readlink -f "$qt_core")")/qt6/plugins
graphviz=$(dirname "$(readlink -f "$qt_core")")/graphviz
if [ -e "$bundle/bin/lockscope" ]; then
    for plugin in "${needed[@]}"; do
        [ -e "$qt_plugins/$plugin" ] || { say "could not bundle the libraries: $qt_plugins/$plugin is missing"; exit 1; }
    done
else
    plugins=('tls/*.so' 'sqldrivers/libqsql[mp]*sql.so')
fi
for plugin in "${plugins[@]}"; do
    for file in "$qt_plugins"/$plugin; do
        [ -e "$file" ] || { say "without ${file#"$qt_plugins"/}"; continue; }
        install -D -m 755 "$file" "$bundle/plugins/${file#"$qt_plugins"/}"
    done
done
printf '[Paths]\nPrefix = ..\nPlugins = plugins\n' >"$bundle/bin/qt.conf"

mapfile -t programs < <(find "$bundle/bin" "$bundle/libexec" "$bundle/plugins" -type f ! -name qt.conf)
# Graphviz looks for its layouts beside libgvc, by a list of them.
layouts=()
if [ -e "$bundle/libexec/lockscope/lockscope-graph-layout" ]; then
    layouts=("$graphviz"/libgvplugin_dot_layout.so.?)
fi
# The MariaDB client loads login methods at run time: MySQL's caching_sha2_password and others.
mariadb=$(libraries_of "$bundle"/plugins/sqldrivers/libqsqlmysql.so | grep '/libmariadb\.so')
logins=$(dirname "$(readlink -f "$mariadb")")/libmariadb3/plugin
[ -e "$logins/caching_sha2_password.so" ] || { say "could not bundle the libraries: $logins is not complete"; exit 1; }
install -D -m 755 -t "$bundle/lib/mariadb" "$logins"/*.so
programs+=("$bundle"/lib/mariadb/*.so)

origins=("$logins"/*.so)
for plugin in "$bundle"/plugins/*/*.so; do
    origins+=("$qt_plugins/${plugin#"$bundle/plugins/"}")
done
for library in $(libraries_of "${programs[@]}" "${layouts[@]}"); do
    name=$(basename "$library")
    [[ $name =~ $of_the_system ]] && continue
    install -m 755 "$(readlink -f "$library")" "$bundle/lib/$name"
    # Where /lib is /usr/lib, dpkg knows a file by either name.
    origins+=("${library#/usr}" "/usr${library#/usr}")
done
if [ ${#layouts[@]} -gt 0 ]; then
    mkdir -p "$bundle/lib/graphviz"
    install -m 755 "${layouts[@]}" "$bundle/lib/graphviz/"
    # The part of dot's list that names this layout.
    sed -n '/^libgvplugin_dot_layout/,/^}/p' "$graphviz"/config6? >"$bundle/lib/graphviz/$(basename "$graphviz"/config6?)"
fi
# The MariaDB client gives dlopen the absolute path of its login methods. From now on this is the folder next to it.
FROM=$logins TO=\$ORIGIN/mariadb perl -0777 -pi -e '
    BEGIN { ($from, $to) = @ENV{qw(FROM TO)} }
    s/\0\Q$from\E\0/"\0$to" . "\0" x (1 + length($from) - length($to))/e == 1 or die "$from is not in $ARGV\n"
' "$bundle/lib/$(basename "$mariadb")"
# Each file finds the libraries from where it is.
find "$bundle" -type f \( -name '*.so*' -o -path '*/bin/lockscope*' -o -name lockscope-graph-layout \) |
    while read -r file; do
        patchelf --set-rpath "\$ORIGIN/$(realpath --relative-to "$(dirname "$file")" "$bundle/lib")" "$file"
    done
find "$bundle" -name '*.so*' -type f -exec strip --strip-unneeded {} +

# The licenses of all that is in here, and which versions these are.
documents=$prefix/share/doc/lockscope
dpkg_search() { dpkg -S "${origins[@]}" 2>/dev/null || true; }
dpkg_search | sed 's/:.*//' | sort -u | while read -r package; do
    source=$(dpkg-query -W -f='${source:Package}\n' "$package" | head -n 1)
    # The packages of one source have one license.
    install -D -m 644 "/usr/share/doc/$package/copyright" "$documents/licenses/$source"
    dpkg-query -W -f='${Package} ${Version} ${source:Package} ${source:Version}\n' "$package" | sort -u
done | sort >"$documents/libraries.txt"
grep -q '^libqt6core6' "$documents/libraries.txt" || { say "could not list the libraries: dpkg does not know Qt"; exit 1; }
for license in Apache-2.0 LGPL-2 LGPL-2.1 LGPL-3 GPL-2 GPL-3; do
    install -m 644 "/usr/share/common-licenses/$license" "$documents/licenses/"
done

# The rest: libraries with the versions of their symbols.
find "$bundle" -type f -exec sh -c 'objdump -p "$1" 2>/dev/null' - {} \; |
    awk '/NEEDED/ { print $2 "()(64bit)" }
        /required from/ { from = $3; sub(":", "", from) }
        /^ +0x[0-9a-f]+ 0x[0-9a-f]+ [0-9]+ / { print from "(" $4 ")(64bit)" }' |
    sort -u | while read -r requirement; do
    [ -e "$bundle/lib/${requirement%%(*}" ] || [[ $requirement = *PRIVATE* ]] || printf '%s, ' "$requirement"
done | sed 's/, $//'
