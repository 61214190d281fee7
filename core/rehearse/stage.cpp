// SPDX-License-Identifier: Apache-2.0
#include "core/rehearse/stage.h"

#include <array>

namespace lockscope::rehearse {

std::unique_ptr<Stage> makeStage(const StageContext &context)
{
#define LOCKSCOPE_STAGE(Name) &make##Name##Stage,
    constexpr std::array makers{LOCKSCOPE_BACKENDS(LOCKSCOPE_STAGE)};
#undef LOCKSCOPE_STAGE
    return makers[static_cast<std::size_t>(context.plan.before.backend)](context);
}

} // namespace lockscope::rehearse
