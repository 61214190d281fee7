// SPDX-License-Identifier: Apache-2.0
// Random scenes of kazoo's and redis-py's locks: what lockscopectl reports of them is what these clients say
// themselves, by their own API.
#include "foreignclients.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QJsonArray>

using namespace lockscope::interop;

class TestInteropScenes : public QObject {
    Q_OBJECT

    Servers m_servers;

    // Of those contenders that hold, or wait: what each calls itself.
    static QStringList namesOf(const QJsonObject &lock, const QString &role)
    {
        QStringList names;
        for (const auto &one : lock["contenders"_L1].toArray()) {
            auto name = one["identity"_L1].toString(one["id"_L1].toString());
            if (name.startsWith(u"b'"_s)) // the guard of kazoo's semaphore, as Python prints bytes
                name = name.mid(2).chopped(1);
            if (one["role"_L1].toString() == role)
                names << name;
        }
        return names;
    }
    static QJsonArray sceneOf(ForeignClient &client)
    {
        for (const auto &line : client.everythingSaid().split('\n')) {
            if (line.startsWith("scene "))
                return QJsonDocument::fromJson(line.mid(6)).array();
        }
        return {};
    }

private slots:
    void initTestCase()
    {
        if (const auto why = whyNoPythonClients(); !why.isEmpty())
            QSKIP(why.constData());
        SKIP_FOR(m_servers.start());
    }
    void cleanupTestCase() { m_servers.stop(); }

    void locksAreAsTheirClientsSay_data()
    {
        QTest::addColumn<int>("seed");
        for (const int seed : {1, 2, 3, 4, 5, 6})
            QTest::addRow("seed %d", seed) << seed;
    }
    void locksAreAsTheirClientsSay()
    {
        QFETCH(int, seed);
        const auto textOf = [](const HostPort &at) { return u"%1:%2"_s.arg(at.host).arg(at.port); };
        const auto client =
            pythonClient(u"scene_client.py"_s, {textOf(m_servers.zooKeeper->address()),
                                                textOf(m_servers.redis->address()), QString::number(seed)});
        QVERIFY2(client->says("scene"), client->everythingSaid().constData());
        const auto scene = sceneOf(*client);
        QVERIFY(scene.size() >= 3);
        const auto ran = m_servers.run({u"locks"_s, u"--json"_s});
        QVERIFY2(ran.status == 0, ran.what());
        const auto locks = ran.json()["locks"_L1].toArray();
        for (const auto &expected : scene) {
            const auto name = expected["lock"_L1].toString();
            const auto at =
                std::ranges::find_if(locks, [&name](const auto &lock) { return lock["lock"_L1].toString() == name; });
            auto holders = at == locks.end() ? QStringList() : namesOf(at->toObject(), u"holder"_s);
            holders.sort();
            const auto waiters = at == locks.end() ? QStringList() : namesOf(at->toObject(), u"waiter"_s);
            const auto toTexts = [&expected](QLatin1StringView field) {
                return expected[field].toVariant().toStringList();
            };
            const auto what = (name + u' ' + QString::fromUtf8(QJsonDocument(scene).toJson())).toUtf8() + ran.out;
            QVERIFY2(holders == toTexts("holders"_L1), what.constData());
            QVERIFY2(waiters == toTexts("waiters"_L1), what.constData());
        }
    }
};

LOCKSCOPE_TEST(TestInteropScenes)
#include "tst_interop_scenes.moc"
