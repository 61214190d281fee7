// SPDX-License-Identifier: Apache-2.0
// What the tests of a private PostgreSQL share: the server, the user "shop" of its database "shop", and lockscopectl
// with psql beside it.
#pragma once

#include "core/sandbox/server.h"
#include "psql.h"

#include <QStandardPaths>
#include <QTest>

namespace lockscope::testing {

class PostgreSqlFixture : public QObject {
protected:
    std::unique_ptr<sandbox::Server> m_server;

    // Why it cannot be tried here; empty: the server runs.
    QString startServer()
    {
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
        if (QStandardPaths::findExecutable(u"psql"_s).isEmpty())
            return u"psql is not installed (postgresql-client)"_s;
        auto made = sandbox::makePostgreSql();
        if (!made)
            return made.error().message;
        m_server = std::move(*made);
        const auto started = m_server->start(std::chrono::seconds(60));
        if (!started)
            qFatal("%s", qPrintable(started.error().message));
        const auto ours = ctl({u"locks"_s});
        if (ours.err.contains("libqt6sql6-psql"))
            return u"Qt's driver for PostgreSQL is not installed (libqt6sql6-psql)"_s;
        if (ours.status != 0)
            qFatal("%s", ours.what().constData());
        return {};
    }
    [[nodiscard]] QString uri(const QString &user = u"shop"_s) const
    {
        return u"postgresql://%1@127.0.0.1:%2/shop"_s.arg(user).arg(m_server->address().port);
    }
    // For lockscopectl.
    [[nodiscard]] QStringList with(const QStringList &words) const
    {
        return QStringList{u"--connect"_s, u"pg="_s + uri()} + words;
    }
    [[nodiscard]] Ran ctl(const QStringList &words) const { return run(with(QStringList{u"--json"_s} + words)); }
    [[nodiscard]] QJsonObject shown(const QString &lock) const
    {
        return ctl({u"show"_s, u"pg:"_s + lock}).json().value("lock"_L1).toObject();
    }
    [[nodiscard]] Ran forced(const QString &lock, const QString &holder, const QStringList &more = {}) const
    {
        return ctl(QStringList{u"force-release"_s, u"pg:"_s + lock, u"--holder"_s, holder, u"--yes"_s} + more);
    }

private:
    QTemporaryDir m_state;
};

} // namespace lockscope::testing
