# SPDX-License-Identifier: Apache-2.0
# Read by cpack before it makes a package of a kind: a tarball is unpacked anywhere.
if(CPACK_GENERATOR STREQUAL TGZ)
    set(CPACK_PACKAGING_INSTALL_PREFIX /)
endif()
