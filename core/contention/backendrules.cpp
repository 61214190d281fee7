// SPDX-License-Identifier: Apache-2.0
#include "core/contention/backendrules.h"

#include <array>

namespace lockscope::contention {

const BackendRules &rulesOf(BackendKind backend)
{
#define LOCKSCOPE_RULES(Name) rulesOf##Name(),
    static const std::array all{LOCKSCOPE_BACKENDS(LOCKSCOPE_RULES)};
#undef LOCKSCOPE_RULES
    return all[static_cast<std::size_t>(backend)];
}

bool isAny(FaultKind fault, std::initializer_list<const char *> names)
{
    const auto name = nameOf(fault);
    return std::any_of(names.begin(), names.end(), [&name](const char *one) { return name == one; });
}

} // namespace lockscope::contention
