# SPDX-License-Identifier: Apache-2.0
# The library as other projects find it: find_package(Lockscope COMPONENTS zookeeper), pkg-config lockscope-zookeeper.
# Its users need neither Qt's headers nor those of the servers' client libraries. It is a component of its own: the
# package of the programs does not have it (installer/CMakeLists.txt).
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Lockscope)
set(to_library COMPONENT library)

install(DIRECTORY include/lockscope ${generated}/lockscope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${to_library}
    FILES_MATCHING PATTERN "*.h")
foreach(name client ${LOCKSCOPE_BACKENDS})
    install(TARGETS lockscope-${name} EXPORT LockscopeTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${to_library} NAMELINK_COMPONENT library)
    set(requires)
    if(NOT name STREQUAL client)
        set(requires "lockscope-client = ${LOCKSCOPE_CLIENT_VERSION}")
    endif()
    # From where the file is: a prefix that is moved stays right.
    string(REGEX REPLACE "[^/]+" ".." up ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    configure_file(package/lockscope.pc.in lockscope-${name}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lockscope-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        ${to_library})
endforeach()
install(EXPORT LockscopeTargets NAMESPACE Lockscope:: DESTINATION ${package} ${to_library})
configure_package_config_file(package/LockscopeConfig.cmake.in LockscopeConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(LockscopeConfigVersion.cmake VERSION ${LOCKSCOPE_CLIENT_VERSION}
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/LockscopeConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/LockscopeConfigVersion.cmake
    DESTINATION ${package} ${to_library})
