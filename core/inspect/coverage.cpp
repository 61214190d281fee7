// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/coverage.h"

#include "core/base/text.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

QStringList gapsIn(const std::vector<Coverage> &coverage)
{
    QStringList lines;
    for (const auto &part : coverage) {
        if (!part.complete)
            lines << u"not everything was seen: %1: %2"_s.arg(escaped(part.connection.bytes()),
                                                              harmless(part.message));
    }
    return lines;
}

QString nothingFound(bool isAnySeen, bool isAllSeen)
{
    if (!isAnySeen)
        return u"nothing could be looked at"_s;
    return isAllSeen ? u"nothing is wrong with any lock that servers show"_s
                     : u"nothing is wrong with what was seen, and that was not everything"_s;
}

} // namespace lockscope::inspect
