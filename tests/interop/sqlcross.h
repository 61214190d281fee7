// SPDX-License-Identifier: Apache-2.0
// Other people's clients on a private MariaDB, and lockscopectl beside them.
#pragma once

#include "tests/interop/fetched.h"
#include "tests/live/mariadbfixture.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>

namespace lockscope::interop {

using namespace Qt::StringLiterals;

class SqlCross : public testing::MariaDbFixture {
protected:
    std::unique_ptr<ForeignClient> m_program;
    QTemporaryDir m_files;

    // What went wrong: a server with this database, and their program on it. `jars`: what was fetched.
    QByteArray begin(const char *jars, const QString &client, const QString &database)
    {
        qputenv("XDG_STATE_HOME", m_files.path().toUtf8());
        if (const auto problem = startServer(); !problem.isEmpty())
            return problem.toUtf8();
        if (!run(*m_admin, "CREATE DATABASE " + database.toUtf8()))
            return "no database";
        const auto url = u"jdbc:mariadb://127.0.0.1:%1/%2?user=root"_s.arg(m_server->address().port).arg(database);
        m_program =
            std::make_unique<ForeignClient>(u"java"_s, QStringList{u"-XX:TieredStopAtLevel=1"_s, u"-cp"_s,
                                                                   fetched(jars) + u"/*"_s, clientFile(client), url});
        return m_program->says("ready") ? QByteArray() : m_program->everythingSaid();
    }
    void end()
    {
        m_program.reset();
        if (m_server)
            endServer();
    }
    void notifyWhatTheySaid()
    {
        if (QTest::currentTestFailed() && m_program)
            qInfo("%s", m_program->everythingSaid().constData());
    }

    [[nodiscard]] QStringList connect() const
    {
        return {u"--connect"_s, u"mariadb://root@127.0.0.1:%1"_s.arg(m_server->address().port), u"--json"_s};
    }
    QJsonObject lockscopectl(const QStringList &arguments, QByteArray *said = nullptr)
    {
        QProcess ctl;
        ctl.start(QStringLiteral(LOCKSCOPECTL), connect() + arguments);
        ctl.waitForFinished(testing::patienceMs);
        const auto answer = ctl.readAllStandardOutput();
        if (said)
            *said = answer + ctl.readAllStandardError();
        return QJsonDocument::fromJson(answer).object();
    }
    // Of the lock in the list: a row lock is in it once somebody waits.
    QJsonObject seen(const QString &lock)
    {
        for (const auto one : lockscopectl({u"locks"_s})["locks"_L1].toArray()) {
            if (one.toObject()["lock"_L1] == lock)
                return one.toObject();
        }
        return {};
    }

    bool theyTake(const QByteArray &name, const QByteArray &what)
    {
        m_program->tell("acquire " + name + ' ' + what);
        return m_program->says("held " + name);
    }
    bool theyGiveBack(const QByteArray &name)
    {
        m_program->tell("release " + name);
        return m_program->says("released " + name);
    }
};

} // namespace lockscope::interop
