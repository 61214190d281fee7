// SPDX-License-Identifier: Apache-2.0
// What release counts in many runs is played a hundredth as often under a sanitizer, which looks at each run instead.
#pragma once

namespace lockscope::testing {

#ifdef LOCKSCOPE_SANITIZED
inline constexpr int sanitizerShare = 100;
#else
inline constexpr int sanitizerShare = 1;
#endif

} // namespace lockscope::testing
