// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/names.h"

#include "core/base/identifiers.h"

namespace lockscope::inspect {

namespace {
constexpr qsizetype hexLength = 32;
} // namespace

ProtectedName readProtection(const QByteArray &name)
{
    if (!name.startsWith("_c_"))
        return isHex32(name.left(hexLength)) ? ProtectedName{Protection::Kazoo, hexLength} : ProtectedName{};
    const auto endsAt = [&name](qsizetype idLength) {
        return name.size() > 3 + idLength && name[3 + idLength] == '-';
    };
    if (endsAt(uuidLength) && isUuid36(name.mid(3, uuidLength)))
        return {Protection::Dashed, 3 + uuidLength + 1};
    if (endsAt(hexLength) && isHex32(name.mid(3, hexLength)))
        return {Protection::Plain, 3 + hexLength + 1};
    return {};
}

std::optional<recipes::SequencedName> sequenceAt(const NodeName &name, qsizetype before, const QByteArray &base)
{
    auto read = recipes::readSequence(name, base);
    if (!read || read->prefixLength != before + base.size())
        return std::nullopt;
    return read;
}

} // namespace lockscope::inspect
