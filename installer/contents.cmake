# SPDX-License-Identifier: Apache-2.0
# Runs in cpack, after the files of a package are in place and before they are packed: what one kind of package has more
# than, or not of, what is installed.

if("${CPACK_TEMPORARY_INSTALL_DIRECTORY}" STREQUAL "")
    message(FATAL_ERROR "could not complete the package: CPACK_TEMPORARY_INSTALL_DIRECTORY is empty")
endif()
set(staged "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
if(NOT CPACK_GENERATOR STREQUAL TGZ)
    set(staged "${staged}/usr")
endif()
set(documents "${staged}/share/doc/lockscope")

if(CPACK_GENERATOR STREQUAL DEB)
    set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
    configure_file("${CPACK_LOCKSCOPE_SOURCE}/changelog.Debian.in" "${documents}/changelog.Debian" @ONLY)
    execute_process(COMMAND gzip -9nf "${documents}/changelog.Debian" COMMAND_ERROR_IS_FATAL ANY)
    return()
endif()

# A package for Debian has a folder of its own for zsh.
if(EXISTS "${staged}/share/zsh/vendor-completions")
    file(RENAME "${staged}/share/zsh/vendor-completions" "${staged}/share/zsh/site-functions")
endif()
execute_process(COMMAND "${CPACK_LOCKSCOPE_SOURCE}/bundle.sh" "${staged}"
    OUTPUT_VARIABLE required OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(CPACK_RPM_PACKAGE_REQUIRES "${required}, hicolor-icon-theme")
