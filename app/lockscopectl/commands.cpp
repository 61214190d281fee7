// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/command.h"

#include <algorithm>

namespace lockscope::ctl {

const std::vector<CommandSpec> &commands()
{
    static const std::vector<CommandSpec> all{
        locksCommand(),   showCommand(),         sessionsCommand(), findingsCommand(),  graphCommand(),
        noteCommand(),    rehearseCommand(),     treeCommand(),     keysCommand(),      recipesCommand(),
        acquireCommand(), forceReleaseCommand(), simulateCommand(), lessonCommand(),    sandboxCommand(),
        recordCommand(),  replayCommand(),       auditCommand(),    recogniseCommand(), testCommand(),
    };
    return all;
}

const CommandSpec *findCommand(const QString &name)
{
    const auto at = std::find_if(commands().begin(), commands().end(),
                                 [&](const CommandSpec &command) { return command.name == name; });
    return at == commands().end() ? nullptr : &*at;
}

} // namespace lockscope::ctl
