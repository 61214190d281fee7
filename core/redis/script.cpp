#include "core/redis/client.h"

#include <QCryptographicHash>
#include <QFile>

// Resources of a static library have to be asked for, and from outside of any namespace.
static void initLuaResources()
{
    Q_INIT_RESOURCE(lockscope_core);
}

namespace lockscope::redis {

Script loadScript(const QByteArray &name)
{
    initLuaResources();
    QFile file(QStringLiteral(":/lockscope/lua/%1.lua").arg(QString::fromLatin1(name)));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no script named %s in the resources", name.constData());
    const auto text = file.readAll();
    return {name, text, QCryptographicHash::hash(text, QCryptographicHash::Sha1).toHex()};
}

} // namespace lockscope::redis
