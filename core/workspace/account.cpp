// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/account.h"

#include "core/inspect/coverage.h"

namespace lockscope {

using namespace Qt::StringLiterals;

QStringList linesOf(const ConnectionAccount &account)
{
    QStringList reached{u"reached "_s + account.address};
    if (!account.server.isEmpty())
        reached << account.server;
    if (account.latency) {
        const auto milliseconds = std::chrono::duration<double, std::milli>(*account.latency).count();
        reached << u"answers in %1 ms"_s.arg(milliseconds, 0, 'f', 1);
    }
    QStringList lines{reached.join(u", "_s)};
    if (!account.remark.isEmpty())
        lines << account.remark;
    lines << account.rights;
    lines << (account.isFirstLookOver
                  ? u"locks at first sight: %1"_s.arg(account.locks)
                  : u"locks seen so far: %1; the first look is not over yet"_s.arg(account.locks));
    for (const auto &part : account.coverage) {
        if (part.complete && !part.message.isEmpty())
            lines << u"is seen: "_s + part.message;
    }
    return lines + inspect::gapsIn(account.coverage);
}

} // namespace lockscope
