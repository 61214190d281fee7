// SPDX-License-Identifier: Apache-2.0
// There is no simulated etcd: a rehearsal of its locks is refused before (castOf).
#include "core/rehearse/stage.h"

namespace lockscope::rehearse {

std::unique_ptr<Stage> makeEtcdStage(const StageContext &)
{
    qFatal("there is no simulated etcd");
    return nullptr;
}

} // namespace lockscope::rehearse
