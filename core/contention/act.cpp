// SPDX-License-Identifier: Apache-2.0
#include "core/contention/act.h"

#include "core/contention/scenariolimits.h"

#include <QByteArrayList>

namespace lockscope::contention {

std::optional<ServerAct> serverAct(const QByteArray &command)
{
    const auto words = command.simplified().split(' ');
    if (words.size() != 2 || (words[0] != "stop" && words[0] != "start") || !words[1].startsWith('s'))
        return std::nullopt;
    bool isNumber = false;
    const int server = words[1].mid(1).toInt(&isNumber);
    if (!isNumber || server < 1 || server > mostServersPlayed)
        return std::nullopt;
    return ServerAct{words[0] == "stop", server - 1};
}

} // namespace lockscope::contention
