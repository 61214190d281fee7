// SPDX-License-Identifier: Apache-2.0
// kazoo's queue nodes: <hex32>__lock__<seq> and <hex32>__rlock__<seq>.
#include "core/inspect/zookeeper/layouts.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

const Layout kazooRead{
    .names = {{"__rlock__", Protection::Kazoo, recipes::Access::Shared}},
    .description = {.recipe = "kazoo-rwlock",
                    .client = u"kazoo"_s,
                    .form = u"<uuid>__lock__<seq> or __rlock__"_s,
                    .confidence = Confidence::High,
                    .discipline = Discipline::ReadWrite,
                    .mode = Mode::Write,
                    .watchesAreCertain = true},
    .queues = Layout::KazooQueue,
    .isUnmistakable = true,
};

const Layout kazooLock{
    .names = {{"__lock__", Protection::Kazoo}},
    .description = {.recipe = "kazoo-lock",
                    .client = u"kazoo"_s,
                    .form = u"<uuid>__lock__<seq>"_s,
                    .note = u"a write lock without readers and an election look the same"_s,
                    .confidence = Confidence::Medium,
                    .watchesAreCertain = true},
    .queues = Layout::CuratorLikeQueue | Layout::KazooQueue,
    .isUnmistakable = true,
    .seesOnlyItsOwnNames = true,
};

} // namespace lockscope::inspect
