# SPDX-License-Identifier: Apache-2.0
# The packages that cpack makes (-G DEB, RPM or TGZ):
# DEB  for the release of Debian that it is made on, whose libraries it depends on.
# RPM  with the libraries that the programs need, since no RPM distribution has all of them.
# TGZ  the same as a tarball that is started wherever it is unpacked.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lockscope)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "The Lockscope authors")
set(CPACK_PACKAGE_CONTACT "Lockscope maintainers <maintainers@lockscope.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "inspector and admin console for distributed locks")
set(CPACK_PACKAGE_DESCRIPTION "Lockscope shows the locks in ZooKeeper, Redis, MariaDB, MySQL, PostgreSQL
and etcd as locks: who holds each one, who queues in which order, who
watches whom, for how long, and what is wrong. It acquires locks, and
force-releases them safely.
.
The package has the desktop console (lockscope) and its twin for terminals
(lockscopectl).")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/kind.cmake)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_PACKAGE_FILE_NAME lockscope-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
# 0755 for folders whatever the umask.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# The programs, without the library for other programs: what has no component.
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};Lockscope;Unspecified;/")
# What a kind of package has more than, or not of, what is installed.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/contents.cmake)
set(CPACK_LOCKSCOPE_SOURCE ${CMAKE_CURRENT_SOURCE_DIR})

# An update to the next release of Debian replaces the package by the one for it.
file(STRINGS /etc/os-release release REGEX "^VERSION_ID=")
string(REGEX REPLACE "[^0-9.]" "" release "${release}")
set(CPACK_DEBIAN_PACKAGE_RELEASE "1~deb${release}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# The libraries' packages are found out; the SVG plugin is loaded at run time and cannot be.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(LOCKSCOPE_GUI)
    set(CPACK_DEBIAN_PACKAGE_DEPENDS "qt6-svg-plugins | libqt6svg6 (<< 6.6)") # Since Debian 13 it has a package of its own.
endif()
# The servers of the sandbox, Qt's drivers for MariaDB and MySQL and for PostgreSQL, and the fonts the window looks best in. Without
# them the rest works.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "libzookeeper-java, libservlet-api-java, libslf4j-java, default-jre-headless, redis-server, mariadb-server-core, libqt6sql6-mysql, libqt6sql6-psql, etcd-server, fonts-inter, fonts-jetbrains-mono")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "zookeeper, postgresql, qt6-wayland")

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE 1)
set(CPACK_RPM_PACKAGE_GROUP "Applications/System")
set(CPACK_RPM_PACKAGE_SUMMARY "Inspector and admin console for distributed locks")
string(REPLACE "\n.\n" "\n\n" CPACK_RPM_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
# Its own, and the main license of each library in it on Debian 12. bundle.sh installs the texts, which have all.
string(JOIN " AND " CPACK_RPM_PACKAGE_LICENSE
    Apache-2.0 # Lockscope, the client of ZooKeeper
    BSD-2-Clause # QtKeychain, Kerberos, LZ4, libmd
    BSD-3-Clause # hiredis, double-conversion, p11-kit, PCRE2, libbsd, libuuid
    BSD-Attribution-HPND-disclaimer # Cyrus SASL
    Beerware # parts of libbsd and libmd
    CC0-1.0 # libb2
    EPL-1.0 # Graphviz
    "GPL-3.0-or-later WITH GCC-exception-3.1" # libgomp
    ISC # parts of libbsd and libmd
    LGPL-2.0-or-later # the client of MariaDB, keyutils, libltdl
    LGPL-2.1-or-later # GnuTLS, libgcrypt, libgpg-error, libproxy, libsystemd, libtasn1
    LGPL-3.0-only # Qt
    MIT # Lua, Brotli, libcom_err, libffi, MD4C, libxkbcommon, the utilities of XCB
    MIT-open-group # libICE, libSM, libXau, libXdmcp
    OLDAP-2.8 # OpenLDAP
    PostgreSQL # libpq
    Unicode-DFS-2016 # ICU
    X11 # XCB
    libpng-2.0
    "(AFL-2.1 OR GPL-2.0-or-later)" # D-Bus
    "(BSD-3-Clause OR GPL-2.0-only)" # libcap, Zstandard
    "(LGPL-2.1-or-later OR MPL-1.1 OR GPL-2.0-or-later)" # Graphite
    "(LGPL-3.0-or-later OR GPL-2.0-or-later)") # GMP, libidn2, libunistring, Nettle
# contents.cmake writes what it requires of the system: not what it brings.
set(CPACK_RPM_PACKAGE_AUTOREQPROV no)
# Folders of the packages filesystem, systemd and hicolor-icon-theme. Those of shells, which may not be installed, are
# this one's as well.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/lib/systemd /usr/lib/systemd/system /usr/share/applications /usr/share/metainfo /usr/share/man /usr/share/man/man1
    /usr/share/icons /usr/share/icons/hicolor /usr/share/icons/hicolor/scalable /usr/share/icons/hicolor/scalable/apps
    /usr/share/icons/hicolor/symbolic /usr/share/icons/hicolor/symbolic/apps)
foreach(size 16 22 24 32 36 48 64 72 96 128 192 256 512)
    list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
        /usr/share/icons/hicolor/${size}x${size} /usr/share/icons/hicolor/${size}x${size}/apps)
endforeach()
# The libraries are stripped already, and another package may have the same build IDs.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _binary_payload w9.zstdio
%define packager ${CPACK_PACKAGE_CONTACT}
%define _build_id_links none
%define __os_install_post %{nil}")

include(CPack)
