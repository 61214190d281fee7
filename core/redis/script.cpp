// SPDX-License-Identifier: Apache-2.0
#include "core/base/regularfile.h"
#include "core/redis/client.h"

#include <QCryptographicHash>
#include <QHash>
#include <QMutex>

namespace lockscope::redis {

namespace {

QByteArray textOf(const QByteArray &name)
{
    return readResource(QStringLiteral("lua/%1.lua").arg(QString::fromLatin1(name)));
}

// A line "--@ NAME" stands for the script of that name, which several share as a part: Redis knows no modules.
Script readScript(const QByteArray &name)
{
    QByteArrayList lines;
    for (const auto &line : textOf(name).split('\n'))
        lines << (line.startsWith("--@ ") ? textOf(line.mid(4)) : line);
    const auto text = lines.join('\n');
    return {name, text, QCryptographicHash::hash(text, QCryptographicHash::Sha1).toHex()};
}

} // namespace

// Read and hashed once: a recipe asks for its script with every acquire.
Script loadScript(const QByteArray &name)
{
    static QMutex mutex;
    static QHash<QByteArray, Script> scripts;
    const QMutexLocker guard(&mutex);
    auto at = scripts.constFind(name);
    if (at == scripts.constEnd())
        at = scripts.insert(name, readScript(name));
    return *at;
}

} // namespace lockscope::redis
