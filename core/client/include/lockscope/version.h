// SPDX-License-Identifier: Apache-2.0
/// @file
/// The version of the C++ library, by semantic versioning and independent of the programs' version. Before 1.0 a
/// minor version may change the interface; a patch version never does. CMake reads the three numbers from this file.
#pragma once

#define LOCKSCOPE_CLIENT_VERSION_MAJOR 0
#define LOCKSCOPE_CLIENT_VERSION_MINOR 1
#define LOCKSCOPE_CLIENT_VERSION_PATCH 0

/// One number to compare with: `#if LOCKSCOPE_CLIENT_VERSION >= LOCKSCOPE_CLIENT_VERSION_CHECK(0, 2, 0)`.
#define LOCKSCOPE_CLIENT_VERSION_CHECK(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define LOCKSCOPE_CLIENT_VERSION                                                                                     \
    LOCKSCOPE_CLIENT_VERSION_CHECK(LOCKSCOPE_CLIENT_VERSION_MAJOR, LOCKSCOPE_CLIENT_VERSION_MINOR,                   \
                                   LOCKSCOPE_CLIENT_VERSION_PATCH)

#if defined(__GNUC__)
#define LOCKSCOPE_EXPORT __attribute__((visibility("default")))
#else
#define LOCKSCOPE_EXPORT
#endif

// Everything public is in lockscope::v0, which programs see as lockscope. The library itself, whose own types have
// some of the same names, defines LOCKSCOPE_CLIENT_INTERNAL and names the version.
#ifdef LOCKSCOPE_CLIENT_INTERNAL
#define LOCKSCOPE_BEGIN_API                                                                                          \
    namespace lockscope {                                                                                            \
    namespace v0 {
#else
#define LOCKSCOPE_BEGIN_API                                                                                          \
    namespace lockscope {                                                                                            \
    inline namespace v0 {
#endif
#define LOCKSCOPE_END_API                                                                                            \
    }                                                                                                                \
    }
