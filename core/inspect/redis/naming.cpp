// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/naming.h"

#include "core/base/identifiers.h"

namespace lockscope::inspect {

QByteArray withoutBraces(const QByteArray &name)
{
    if (name.size() < 2 || !name.startsWith('{') || !name.endsWith('}'))
        return name;
    const QByteArray inner = name.mid(1, name.size() - 2);
    return inner.contains('{') || inner.contains('}') ? name : inner;
}

std::optional<RedissonHolder> readHolder(const QByteArray &field)
{
    if (!isUuid36(field.left(uuidLength)) || field.size() < uuidLength + 2 || field[uuidLength] != ':')
        return std::nullopt;
    QByteArray thread = field.mid(uuidLength + 1);
    const bool writes = thread.endsWith(":write");
    if (writes)
        thread.chop(6);
    // Async callers pass any long they like, negative ones too.
    if (!isDigits(thread.startsWith('-') ? thread.mid(1) : thread))
        return std::nullopt;
    return RedissonHolder{field.left(uuidLength), thread, writes};
}

std::optional<qint64> readInteger(const QByteArray &text)
{
    bool ok = false;
    const qint64 number = text.toLongLong(&ok);
    return ok && isDigits(text.startsWith('-') ? text.mid(1) : text) ? std::optional(number) : std::nullopt;
}

} // namespace lockscope::inspect
