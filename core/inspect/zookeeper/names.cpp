// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/names.h"

#include "core/base/identifiers.h"

#include <algorithm>

namespace lockscope::inspect {

namespace {
constexpr qsizetype hexLength = 32;
} // namespace

qsizetype lengthOf(Protection protection)
{
    switch (protection) {
    case Protection::None: break;
    case Protection::Dashed: return 3 + uuidLength + 1;
    case Protection::Plain: return 3 + hexLength + 1;
    case Protection::Kazoo: return hexLength;
    }
    return 0;
}

ProtectedName readProtection(QByteArrayView name)
{
    const auto found = [](Protection kind) { return ProtectedName{kind, lengthOf(kind)}; };
    if (!name.startsWith("_c_"))
        return found(isHex32(name.first(std::min(name.size(), hexLength))) ? Protection::Kazoo : Protection::None);
    const auto endsAt = [&name](qsizetype idLength) {
        return name.size() > 3 + idLength && name[3 + idLength] == '-';
    };
    if (endsAt(uuidLength) && isUuid36(name.sliced(3, uuidLength)))
        return found(Protection::Dashed);
    if (endsAt(hexLength) && isHex32(name.sliced(3, hexLength)))
        return found(Protection::Plain);
    return {};
}

QByteArray withoutUuids(QByteArray text)
{
    for (qsizetype at = 0; at + hexLength <= text.size();) {
        const QByteArrayView rest = QByteArrayView(text).sliced(at);
        const auto length = rest.size() >= uuidLength && isUuid36(rest.first(uuidLength)) ? uuidLength
                            : isHex32(rest.first(hexLength))                              ? hexLength
                                                                                          : 0;
        if (length > 0)
            text.remove(at, length);
        else
            ++at;
    }
    return text;
}

std::optional<recipes::SequencedName> sequenceAt(const NodeName &name, qsizetype before, const QByteArray &base)
{
    auto read = recipes::readSequence(name, base);
    if (!read || read->prefixLength != before + base.size())
        return std::nullopt;
    return read;
}

} // namespace lockscope::inspect
