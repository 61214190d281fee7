// SPDX-License-Identifier: Apache-2.0
#include "core/redis/client.h"

#include <QCryptographicHash>
#include <QFile>
#include <QHash>
#include <QMutex>

// Resources of a static library have to be asked for, and from outside of any namespace.
static void initLuaResources()
{
    Q_INIT_RESOURCE(lockscope_core);
}

namespace lockscope::redis {

namespace {

Script readScript(const QByteArray &name)
{
    initLuaResources();
    QFile file(QStringLiteral(":/lockscope/lua/%1.lua").arg(QString::fromLatin1(name)));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no script named %s in the resources", name.constData());
    const auto text = file.readAll();
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
