// SPDX-License-Identifier: Apache-2.0
// Saved connections in their file: what is written down, what never is.
#include "core/connections/connectionstore.h"
#include "tests/support/savedconnections.h"
#include "tests/support/testmain.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTimeZone>

class TestConnectionStore : public QObject, private SavedConnections {
    Q_OBJECT

private slots:
    void init() { clear(); }

    void keepsWhatIsNoSecret()
    {
        auto store = openStore();
        auto orders = saved(u"orders-zk"_s, u"zk://10.0.1.11:2181,10.0.1.12:2181/app?admin=8081"_s, u"Orders"_s);
        orders.colour = ConnectionColour::Teal;
        orders.production = true;
        const auto id = store->save(orders);
        QVERIFY(id);
        QVERIFY(store->save(saved(u"cache"_s, u"redis://ops:s3cret@10.0.5.1/2"_s))); // pasted with a password
        QVERIFY(!written().contains("s3cret"));
        QCOMPARE(QFile::permissions(file()) & (QFileDevice::ReadGroup | QFileDevice::ReadOther),
                 QFileDevice::Permissions());

        auto again = openStore();
        QCOMPARE(again->all().size(), 2u);
        QCOMPARE(again->all()[0], *store->find(*id)); // groups first
        QCOMPARE(again->all()[1].uri, u"redis://10.0.5.1:6379/2"_s);
        QCOMPARE(again->all()[1].user, u"ops"_s);
        const auto spec = specOf(again->all()[0], u"pw"_s);
        QVERIFY(spec);
        QCOMPARE(spec->name.bytes(), "orders-zk"_ba);
        QCOMPARE(spec->hosts.size(), 2u);
        QCOMPARE(spec->chroot, "/app"_ba);
        QCOMPARE(spec->adminPort, 8081);
        QCOMPARE(spec->password, u"pw"_s);
        QVERIFY(spec->production && spec->readOnly); // production opens read-only
    }

    void refusesTwoOfOneName()
    {
        auto store = openStore();
        QVERIFY(store->save(saved(u"zk"_s, u"zk://a"_s)));
        const auto second = store->save(saved(u"zk"_s, u"zk://b"_s));
        QVERIFY(!second);
        QCOMPARE(second.error().message, u"a connection named zk already exists"_s);
        QVERIFY(!store->save(saved(u"bad"_s, u"zk://a:99999"_s)));
    }

    void duplicatesAndRemoves()
    {
        auto store = openStore();
        const auto id = store->save(saved(u"zk"_s, u"zk://a"_s));
        store->writePassword(*id, u"pw"_s, this, [](const SecretKept &) {});
        QTRY_VERIFY(store->find(*id)->hasPassword);
        QVERIFY(store->duplicate(*id));
        const auto second = store->duplicate(*id);
        QCOMPARE(store->find(*second)->name, u"zk-3"_s);
        QVERIFY(!store->find(*second)->hasPassword);
        QCOMPARE(m_box.secrets.size(), 1u);
        QVERIFY(store->remove(*id));
        QVERIFY(m_box.secrets.empty());
        QCOMPARE(store->all().size(), 2u);
    }

    // What was open when the window closed; a session without a connection is none.
    void theLastSessionIsKept()
    {
        const auto zk = saved(u"zk"_s, u"zk://a:2181/shop"_s), cache = saved(u"cache"_s, u"redis://b:6379"_s);
        const QDateTime at(QDate(2026, 11, 29), QTime(7, 54), QTimeZone::utc());
        openStore()->noteUsed(cache);
        openStore()->noteSession({{zk, {at, 404, 2, true}}, {cache, {at, 1, 0, true}}});
        openStore()->noteSession({{zk, {at, 405, 2, true}}});
        openStore()->noteSession({});
        const auto store = openStore();
        const auto of = store->lastSeen(zk);
        QVERIFY(of.isOfLastSession);
        QCOMPARE(of.locks, 405);
        QCOMPARE(of.at, at);
        QVERIFY(store->lastSeen(cache).at.isValid() && !store->lastSeen(cache).isOfLastSession);
        QVERIFY(!store->lastSeen(saved(u"zk"_s, u"zk://elsewhere:2181"_s)).at.isValid());
        QCOMPARE(store->recent().size(), 2u);
    }

    // What was opened with --production is offered with its guards ever after.
    void productionStaysAMarkOfASession()
    {
        auto cache = saved(u"cache"_s, u"redis://b:6379"_s);
        const LastSeen now{QDateTime(QDate(2026, 11, 29), QTime(7, 54), QTimeZone::utc()), 1, 0, true};
        openStore()->noteUsed(cache);
        cache.production = true;
        openStore()->noteSession({{cache, now}});
        cache.production = false;
        openStore()->noteSession({{cache, now}});
        QCOMPARE(openStore()->recent().size(), 1u);
        QVERIFY(openStore()->recent().front().production);
    }

    // By group, without a group, the team's, and others that were used last; no password is kept of those.
    void offersConnectionsInGroups()
    {
        const auto work = m_folder.filePath(u"work"_s);
        QVERIFY(QDir().mkpath(work));
        QFile toml(work + u"/lockscope.toml"_s);
        QVERIFY(toml.open(QIODevice::WriteOnly));
        toml.write("version = 1\n[[connection]]\nname = 'orders'\nuri = 'zk://h:2181'\n");
        toml.close();
        {
            auto store = openStore();
            for (const auto &[name, group] :
                 {std::pair{u"b"_s, u"Shop"_s}, {u"a"_s, u"Shop"_s}, {u"alone"_s, QString()}})
                QVERIFY(store->save(saved(name, u"zk://"_s + name, group)));
            store->noteUsed(saved(u"alone"_s, u"zk://alone"_s)); // is offered already
            store->noteUsed(saved({}, u"redis://b"_s));
            store->noteUsed(saved(u"cache"_s, u"redis://:secret@b:6380/3"_s));
        }
        QFile kept(m_folder.filePath(u"deep/recent.json"_s));
        QVERIFY(kept.open(QIODevice::ReadOnly));
        QVERIFY(!kept.readAll().contains("secret"));
        QCOMPARE(int(kept.permissions() & (QFileDevice::ReadGroup | QFileDevice::ReadOther)), 0);
        auto store = openStore();
        store->lookForTeamFile(work);
        QStringList offered;
        for (const auto &group : store->groups()) {
            offered << group.title;
            for (const auto &connection : group.connections)
                offered << connection.name;
        }
        QCOMPARE(offered,
                 (QStringList{u"Shop"_s, u"a"_s, u"b"_s, u"Without a group"_s, u"alone"_s,
                              u"Team: work/lockscope.toml"_s, u"orders"_s, u"Used last"_s, u"cache"_s, u"redis"_s}));
        store->forgetRecent(store->recent().front());
        QCOMPARE(openStore()->recent().front().name, u"redis"_s);
        QCOMPARE(openStore()->all().size(), 3u);
    }

    void leavesAFileAloneThatItDoesNotUnderstand()
    {
        QVERIFY(QDir().mkpath(m_folder.filePath(u"deep"_s)));
        for (const auto &content : {"{ broken"_ba, R"({"version":99,"connections":[]})"_ba}) {
            QFile broken(file());
            QVERIFY(broken.open(QIODevice::WriteOnly));
            broken.write(content);
            broken.close();
            auto store = openStore();
            QVERIFY(!store->loadError().isEmpty());
            QVERIFY(!store->save(saved(u"zk"_s, u"zk://a"_s)));
            QCOMPARE(written(), content);
        }
    }
};

LOCKSCOPE_TEST(TestConnectionStore)
#include "tst_connectionstore.moc"
