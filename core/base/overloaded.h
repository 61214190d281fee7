// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lockscope {

// Makes one visitor of several functions.
template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

} // namespace lockscope
