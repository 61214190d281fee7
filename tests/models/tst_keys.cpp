// SPDX-License-Identifier: Apache-2.0
// The tree of keys: built from pages of SCAN, folders first, TTLs that count down.
#include "tests/support/testmain.h"
#include "ui/models/keysmodel.h"

#include "tests/models/treetext.h"
#include "tests/support/fakebackend.h"

#include <QAbstractItemModelTester>

using namespace lockscope::ui;

namespace {

KeyRow row(const QByteArray &key, std::optional<std::chrono::milliseconds> ttl = std::nullopt)
{
    return {RedisKey(key), "string"_ba, ttl, 64};
}

} // namespace

class TestKeys : public QObject {
    Q_OBJECT

    struct World {
        std::chrono::steady_clock::time_point now{1h};
        FakeBackend backend;
        std::vector<std::vector<KeyRow>> pages; // cursor n gives page n
        qint64 perPage = 1000;
        std::optional<qint64> asked; // of each, where that is more
        KeysModel model{nullptr, [this] { return now; }};
        World()
        {
            backend.on<ScanKeys>() = [this](const ScanKeys &query) -> Result<KeyPage> {
                if (query.cursor >= pages.size())
                    return Error{ErrorCode::Server, u"bad cursor"_s};
                return KeyPage{.rows = pages[query.cursor],
                               .cursor = query.cursor + 1 < pages.size() ? query.cursor + 1 : 0,
                               .scanned = asked.value_or(perPage),
                               .total = static_cast<qint64>(pages.size()) * perPage};
            };
            model.setConnection(&backend, ConnectionName("r"_ba));
        }
        bool scan()
        {
            model.start();
            return QTest::qWaitFor([this] { return model.progress().scan == KeysModel::Scan::Done; }, 30'000);
        }
    };

private slots:
    void hashTagIsNotSplit()
    {
        World world;
        QAbstractItemModelTester tester(&world.model);
        world.pages = {{row("{payments:payout}:lock"), row("{payments:payout}:queue"), row("{payments:a"),
                        row("{payments:z"), row("bull:{a:b}:c"), row("{x}y:{z:1}")}};
        QVERIFY(world.scan());
        QCOMPARE(treeText(world.model, {0}), u"bull:\n"
                                             "  {a:b}:\n"
                                             "    c\n"
                                             "{payments:payout}:\n"
                                             "  lock\n"
                                             "  queue\n"
                                             "{x}y:\n"
                                             "  {z:1}\n"
                                             "{payments:a\n"
                                             "{payments:z\n"_s);
        QVERIFY(world.model.find(RedisKey("{payments:payout}:lock")).isValid());
    }

    void buildsFoldersFromPages()
    {
        World world;
        QAbstractItemModelTester tester(&world.model);
        world.pages = {{row("lock:orders", 30s), row("plain"), row("lock:stock")},
                       {row("a:b:c"), row("a:b"), row("a"), row("lock:orders", 29s)},
                       {row("a:b:d"), row("zebra"), row("lock:")}};
        QVERIFY(world.scan());
        QCOMPARE(treeText(world.model, {0, 1}), u"a:|3 keys\n"
                                                "  b:|2 keys\n"
                                                "    c|string\n"
                                                "    d|string\n"
                                                "  b|string\n"
                                                "lock:|3 keys\n"
                                                "  \"\"|string\n"
                                                "  orders|string\n"
                                                "  stock|string\n"
                                                "a|string\n"
                                                "plain|string\n"
                                                "zebra|string\n"_s);
        QCOMPARE(world.model.progress().loaded, 9);
        QCOMPARE(world.model.progressText(), u"9 keys"_s);
        QCOMPARE(world.model.keyOf(world.model.find(RedisKey("a:b:d"_ba))).bytes(), "a:b:d"_ba);
        QVERIFY(world.model.keyOf(world.model.index(0, 0)).isEmpty()); // a folder is no key
        QVERIFY(!world.model.find(RedisKey("a:x"_ba)).isValid());
    }

    void insertsAPageInRuns()
    {
        World world;
        world.pages = {{row("b:1"), row("m")}, {row("a:1"), row("a:2"), row("b:0"), row("c:1"), row("n"), row("o")}};
        world.model.start();
        QTRY_COMPARE(world.model.rowCount(), 2);
        SignalWords signalWords(world.model);
        QTRY_COMPARE(world.model.progress().scan, KeysModel::Scan::Done);
        QCOMPARE(signalWords.take(), QStringList({
                                         u"+ 0-0"_s,   // a: with both of its keys
                                         u"+b: 0-0"_s, // b:0
                                         u"+ 2-2"_s,   // c:
                                         u"+ 4-5"_s,   // n, o
                                         u"~ 1-1"_s,   // b: counts one more
                                     }));
    }

    void takesOutWhatAWholeScanDidNotMeet()
    {
        World world;
        QAbstractItemModelTester tester(&world.model);
        world.pages = {{row("a:1"), row("a:2"), row("b:1"), row("b:2"), row("k"), row("l")}};
        QVERIFY(world.scan());
        const QPersistentModelIndex kept = world.model.find(RedisKey("b:2"_ba));
        SignalWords signalWords(world.model);
        world.pages = {{row("b:2"), row("l"), row("z")}};
        QVERIFY(world.scan());
        QCOMPARE(treeText(world.model, {0, 1}), u"b:|1 key\n  2|string\nl|string\nz|string\n"_s);
        QVERIFY(kept.isValid());
        QCOMPARE(world.model.progress().loaded, 3);
        QVERIFY(!signalWords.words.contains(u"reset"_s));
    }

    void pausesAndProceeds()
    {
        World world;
        for (int i = 0; i < 6; ++i)
            world.pages.push_back({row("k" + QByteArray::number(i))});
        world.model.start();
        QTRY_VERIFY(world.model.progress().loaded >= 2);
        world.model.pause();
        const auto asked = world.backend.calls.size();
        QTest::qWait(60); // the page that was out, and no more
        QVERIFY(world.backend.calls.size() <= asked + 1);
        QVERIFY2(world.model.progressText().startsWith(u"paused · scanned "_s),
                 qPrintable(world.model.progressText()));
        world.model.proceed();
        QTRY_COMPARE(world.model.progress().scan, KeysModel::Scan::Done);
        QCOMPARE(world.model.progress().loaded, 6);
        QCOMPARE(world.backend.calls.size(), 6); // no page twice
    }

    void pausesByItselfInABigRedis()
    {
        World world;
        world.perPage = 40'000;
        for (int i = 0; i < 50; ++i)
            world.pages.push_back({row("k" + QByteArray::number(i))});
        world.model.start();
        QTRY_COMPARE(world.model.progress().scan, KeysModel::Scan::Paused);
        QCOMPARE(world.model.progressText(), u"paused · scanned 120,000 of 2,000,000 keys"_s);
        world.model.proceed();
        QTRY_COMPARE(world.model.progressText(), u"paused · scanned 240,000 of 2,000,000 keys"_s);
    }

    void saysWhyAScanStopped()
    {
        World world;
        world.pages = {{row("a")}, {row("b")}};
        world.model.start();
        QTRY_COMPARE(world.model.progress().loaded, 1);
        auto works = std::exchange(world.backend.on<ScanKeys>(), [](const ScanKeys &) {
            return Result<KeyPage>(Error{ErrorCode::NoPermission, u"NOPERM: no SCAN for this user"_s});
        });
        QTRY_COMPARE(world.model.progress().scan, KeysModel::Scan::Failed);
        QVERIFY(world.model.progressText().endsWith(u"NOPERM: no SCAN for this user"_s));
        world.backend.on<ScanKeys>() = works;
        world.model.proceed(); // goes on where it stopped
        QTRY_COMPARE(world.model.progress().scan, KeysModel::Scan::Done);
        QCOMPARE(world.model.progress().loaded, 2);
    }

    void countsTtlsDown()
    {
        World world;
        world.pages = {{row("brief", 12'500ms), row("ever"), row("minus", -1ms)}};
        QVERIFY(world.scan());
        const auto ttl = [&](const QByteArray &key) {
            return world.model.find(RedisKey(key)).siblingAtColumn(KeyNode::Ttl).data().toString();
        };
        QCOMPARE(ttl("brief"), u"12 s"_s);
        QCOMPARE(ttl("ever"), u"∞ no TTL"_s);
        QCOMPARE(ttl("minus"), u"∞ no TTL"_s);
        world.now += 11s;
        QCOMPARE(ttl("brief"), u"1.5 s"_s);
        world.now += 2s;
        QCOMPARE(ttl("brief"), u"due"_s);
        world.model.update({RedisKey("brief"_ba), "string"_ba, 20s, 64}); // somebody renewed it
        QCOMPARE(ttl("brief"), u"20 s"_s);
    }

    void tellsHostileNamesApart()
    {
        World world;
        const QByteArray deep(5000, ':');
        world.pages = {{row("a b"), row("a b "), row("new\nline"), row("\xff\x00x"_ba), row("\\xFF"), row(deep)}};
        QVERIFY(world.scan());
        QSet<QString> names;
        for (int i = 0; i < world.model.rowCount(); ++i)
            names << world.model.index(i, 0).data().toString();
        QCOMPARE(names.size(), 6);
        QVERIFY(names.contains(u"a b"_s));
        QVERIFY(names.contains(u"\"a b \""_s));
        QVERIFY(names.contains(u"new\\x0Aline"_s));
        QVERIFY(names.contains(u"\\\\xFF"_s)); // text that looks like an escape is not one
        QCOMPARE(world.model.keyOf(world.model.find(RedisKey(deep))).bytes(), deep);
    }

    void removesOneKeyAndItsEmptyFolders()
    {
        World world;
        QAbstractItemModelTester tester(&world.model);
        world.pages = {{row("a:b:c"), row("a:x"), row("k")}};
        QVERIFY(world.scan());
        world.model.remove(RedisKey("a:b:c"_ba));
        QCOMPARE(treeText(world.model, {0, 1}), u"a:|1 key\n  x|string\nk|string\n"_s);
        world.model.remove(RedisKey("a:x"_ba));
        world.model.remove(RedisKey("a:x"_ba));
        QCOMPARE(treeText(world.model, {0}), u"k\n"_s);
        QCOMPARE(world.model.progress().loaded, 1);
    }

    void startsOverWithAnotherPattern()
    {
        World world;
        world.pages = {{row("a")}};
        QVERIFY(world.scan());
        world.model.setPattern("lock:*"_ba);
        QCOMPARE(world.model.rowCount(), 0);
        QVERIFY(world.scan());
        QCOMPARE(world.backend.calls.back(), u"scanKeys r lock:* 0"_s);
        QCOMPARE(world.model.progressText(), u"1 of 1,000 keys match"_s);
    }
    // SCAN is asked to look at a thousand at once, also where there are four: "0 of 1,000 keys match", it had said.
    void noMoreKeysAreSaidThanThereAre()
    {
        World world;
        world.perPage = 4;
        world.asked = 1000;
        world.pages = {{}};
        world.model.setPattern("config"_ba);
        QVERIFY(world.scan());
        QCOMPARE(world.model.progressText(), u"0 of 4 keys match"_s);
    }
};

LOCKSCOPE_TEST(TestKeys)
#include "tst_keys.moc"
