// SPDX-License-Identifier: Apache-2.0
// lockscopectl findings with the user's files: what is muted is listed and says so, thresholds are the user's, and
// a file that is not understood is said and not used.
#include "core/redis/client.h"
#include "core/workspace/mutes.h"
#include "core/workspace/settingsfile.h"
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

class TestCtlFindings : public QObject {
    Q_OBJECT

    Servers m_servers;
    QTemporaryDir m_config;
    std::unique_ptr<Ctl> m_holder;

    QString file(const QString &name) const { return m_config.filePath(u"lockscope/"_s + name); }
    Ran findings(const QStringList &options = {}) const
    {
        return m_servers.run(QStringList{u"findings"_s} + options);
    }
    // The first of that code; empty when there is none.
    QJsonObject found(const QString &code) const
    {
        for (const auto &finding : findings({u"--json"_s}).json().value("findings"_L1).toArray()) {
            if (finding.toObject().value("code"_L1) == code)
                return finding.toObject();
        }
        return {};
    }
    Mute mute(const QString &lock, const QString &pattern) const
    {
        const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) - 1s;
        return {lock, pattern, {}, u"OPS-7: a migration"_s, now, now + 1h};
    }

private slots:
    void initTestCase()
    {
        SKIP_FOR(m_servers.start());
        qputenv("XDG_CONFIG_HOME", m_config.path().toUtf8());
        const auto client = redis::openConnection(m_servers.loop, {.host = m_servers.redis->address()});
        QTRY_COMPARE(client->state(), redis::ConnectionState::Connected);
        const QByteArray token = "b0f1c2d3e4a5968778695a4b3c2d1e0f";
        QVERIFY(await(client->command({"SET", "orders-lock", token}, m_servers.soon()))); // for ever
        m_holder = std::make_unique<Ctl>(
            m_servers.connect()
            + QStringList{u"acquire"_s, u"zk:/locks/busy"_s, u"--recipe"_s, u"zk-mutex"_s, u"--json"_s});
        QVERIFY(m_holder->jsonLine().value("acquired"_L1).toBool());
    }
    void cleanupTestCase()
    {
        m_holder.reset();
        m_servers.stop();
    }
    void cleanup()
    {
        QFile::remove(file(u"mutes.json"_s));
        QFile::remove(file(u"thresholds.json"_s));
    }

    void mutedFindingIsListedAsMuted()
    {
        const auto before = found(u"no-ttl"_s);
        QVERIFY2(!before.isEmpty(), findings().what());
        QVERIFY(!before.contains("muted"_L1));
        QVERIFY(MuteStore(file(u"mutes.json"_s)).add(mute({}, u"redis:*"_s)));
        QVERIFY2(!found(u"no-ttl"_s).contains("muted"_L1), "what is critical is muted lock by lock only");
        QVERIFY(MuteStore(file(u"mutes.json"_s)).add(mute(u"redis:orders-lock"_s, {})));
        const auto muted = found(u"no-ttl"_s).value("muted"_L1).toObject();
        QCOMPARE(fields(muted), words("reason until"));
        QCOMPARE(muted.value("reason"_L1).toString(), u"OPS-7: a migration"_s);
        const auto text = findings();
        QCOMPARE(text.status, 0);
        QVERIFY2(text.out.contains("muted until "), text.what());
    }

    void aBrokenFileIsSaidAndMutesNothing()
    {
        QVERIFY(MuteStore(file(u"mutes.json"_s)).add(mute(u"redis:orders-lock"_s, {})));
        QFile broken(file(u"mutes.json"_s));
        QVERIFY(broken.open(QFile::ReadWrite));
        const auto text = broken.readAll().replace("\"until\"", "\"untill\"");
        broken.resize(0);
        broken.seek(0);
        broken.write(text);
        broken.close();
        const auto said = findings({u"--json"_s});
        QCOMPARE(said.status, 0);
        QVERIFY2(said.err.contains("mutes.json: mutes[0].untill: "), said.what());
        const auto still = found(u"no-ttl"_s);
        QVERIFY(!still.isEmpty() && !still.contains("muted"_L1));
    }

    void thresholdsAreTheUsers()
    {
        QVERIFY(found(u"long-held"_s).isEmpty());
        inspect::ThresholdRules rules{.rules = {{u"zk:/locks/busy"_s, 1s, {}, {}}}};
        QVERIFY(writeThresholds(rules, file(u"thresholds.json"_s)));
        QTRY_COMPARE(found(u"long-held"_s).value("severity"_L1).toString(), u"info"_s); // nobody waits for it
        QCOMPARE(found(u"long-held"_s).value("locks"_L1).toArray().first().toString(), u"zk:/locks/busy"_s);
    }
};

LOCKSCOPE_TEST(TestCtlFindings)
#include "tst_ctl_findings.moc"
