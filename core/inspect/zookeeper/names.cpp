#include "core/inspect/zookeeper/names.h"

#include <algorithm>

namespace lockscope::inspect {

namespace {
constexpr qsizetype uuidLength = 36;
constexpr qsizetype hexLength = 32;
} // namespace

bool isHex(const QByteArray &text)
{
    return !text.isEmpty() && std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
}

bool isDigits(const QByteArray &text)
{
    return !text.isEmpty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool isUuid36(const QByteArray &text)
{
    if (text.size() != uuidLength || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-')
        return false;
    return isHex(QByteArray(text).remove(23, 1).remove(18, 1).remove(13, 1).remove(8, 1).toLower());
}

bool isHex32(const QByteArray &text)
{
    return text.size() == hexLength && isHex(text);
}

ProtectedName readProtection(const QByteArray &name)
{
    if (!name.startsWith("_c_"))
        return {};
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
    if (!read || read->prefix.size() != before + base.size())
        return std::nullopt;
    return read;
}

} // namespace lockscope::inspect
