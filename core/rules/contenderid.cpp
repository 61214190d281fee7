// SPDX-License-Identifier: Apache-2.0
#include "core/rules/contenderid.h"

#include "core/base/identifiers.h"
#include "core/rules/turn.h"

namespace lockscope::recipes {

bool isGivenOnce(const NodeName &name)
{
    const auto read = readSequence(name);
    // Without the number: 32 hex digits alone may end in ten of the other kind.
    return read && holdsUuid(QByteArrayView(name.bytes()).first(read->prefixLength));
}

QByteArray nodeContenderId(const NodeName &name, qint64 czxid)
{
    return isGivenOnce(name) ? name.bytes() : name.bytes() + '@' + QByteArray::number(czxid);
}

QByteArray constantContenderId(const QByteArray &value, qint64 expiryMs)
{
    return value + '@' + QByteArray::number(expiryMs);
}

bool isFullFormOf(const QByteArray &id, const QByteArray &bare)
{
    return id.size() > bare.size() + 1 && id.startsWith(bare) && id[bare.size()] == '@'
           && isDigits(id.mid(bare.size() + 1));
}

} // namespace lockscope::recipes
