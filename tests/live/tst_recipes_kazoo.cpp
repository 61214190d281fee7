// SPDX-License-Identifier: Apache-2.0
// kazoo's recipes on a real server: what readers cost a writer, the semaphore's guard and its pool.
#include "core/recipes/lockbase.h"
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>

class TestRecipesKazoo : public RecipeFixture {
    Q_OBJECT

    [[nodiscard]] bool isSemaphore() const { return m_recipe == "kazoo-semaphore"; }
    [[nodiscard]] ZPath guards() const
    {
        return m_path.parent().child(NodeName(m_path.name().bytes() + "-__lock__"));
    }
    // A fresh lock whose directories stand, so that no test counts their making.
    bool begin(const QByteArray &recipe, int permits, int contenders)
    {
        m_options.limit = permits;
        const auto pool = recipe == "kazoo-semaphore" ? QByteArray::number(permits) : QByteArray();
        bool ready = prepare(recipe, 0, false) && make(m_path.parent()) && (!isSemaphore() || make(guards()))
                     && await(m_admin->create(m_path, pool, zk::CreateMode::Persistent, zk::openAcl(), soon()));
        for (int i = 0; i < contenders; ++i)
            ready = ready && add(m_server->address());
        return ready;
    }
    bool getsIn(int i)
    {
        return QTest::qWaitFor([&] { return contender(i).holds(); }, 20'000);
    }
    bool hold(int i)
    {
        contender(i).acquire();
        return getsIn(i);
    }
    // Waits in line, its watch set: create, list and watch; the semaphore has read its pool, too.
    bool waitInLine(int i)
    {
        contender(i).acquire();
        const int joined = isSemaphore() ? 4 : 3;
        const auto settled = [&] { return counting(i).isIdle() && counting(i).requests() >= joined; };
        return QTest::qWaitFor(settled, 20'000) && !contender(i).granted;
    }
    // The first holds, the others queue behind it in order.
    bool lineUp(int n)
    {
        bool inLine = hold(0);
        for (int i = 1; i < n; ++i)
            inLine = inLine && waitInLine(i);
        return inLine;
    }
    bool letGo(int i)
    {
        contender(i).release();
        return QTest::qWaitFor([&] { return contender(i).gaveBack(); }, 20'000);
    }
    QByteArrayList childrenOf(const ZPath &directory)
    {
        const auto listed = await(m_admin->children(directory, std::nullopt, soon()));
        QByteArrayList names;
        for (const auto &name : listed ? listed->names : std::vector<NodeName>())
            names << name.bytes();
        // In the order of the queue.
        std::ranges::sort(names, {}, [](const QByteArray &name) { return name.last(10); });
        return names;
    }
    bool remove(const ZPath &node) { return bool(await(m_admin->remove(node, zk::anyVersion, soon()))); }
    QByteArray nameOf(int i) { return contender(i).grant().node.name().bytes(); }

private slots:
    void readersShare()
    {
        QVERIFY(begin("kazoo-rwlock", 1, 0));
        for (const bool reads : {false, true, true, true, false, true}) {
            m_options.readMode = reads;
            QVERIFY(add(m_server->address()));
        }
        QVERIFY(lineUp(6));
        QVERIFY(letGo(0));
        for (int reader : {1, 2, 3})
            QVERIFY(getsIn(reader));
        QVERIFY(allQuiet());
        QCOMPARE(events(), 3); // the readers', nobody else's
        // The writer watches the last reader; it lists again for each that goes before an earlier one.
        QVERIFY(letGo(3));
        QTRY_COMPARE(counting(4).requests(), 5);
        QVERIFY(letGo(1));
        QVERIFY(allQuiet());
        QCOMPARE(counting(4).requests(), 5);
        QVERIFY(!contender(4).granted && !contender(5).granted);
        QVERIFY(letGo(2));
        QVERIFY(getsIn(4));
        QCOMPARE(counting(4).spoken(), QByteArray("create 1, get 2, children 3"));
        // The last reader waited for the writer alone.
        QVERIFY(!contender(5).granted);
        QVERIFY(letGo(4));
        QVERIFY(getsIn(5));
        QCOMPARE(counting(5).spoken(), QByteArray("create 1, get 1, children 2"));
    }

    // As kazoo's own, whose identifier is bytes printed by Python.
    void theGuardsNameAndData()
    {
        QVERIFY(begin("kazoo-semaphore", 1, 2));
        QVERIFY(lineUp(2));
        const auto waiting = childrenOf(guards());
        QCOMPARE(waiting.size(), 1);
        static const QRegularExpression form(QStringLiteral("^[0-9a-f]{32}__lock__[0-9]{10}$"));
        QVERIFY2(form.match(QString::fromLatin1(waiting[0])).hasMatch(), waiting[0].constData());
        const auto guard = await(m_admin->get(guards().child(NodeName(waiting[0])), std::nullopt, soon()));
        QVERIFY(guard);
        const auto host = recipes::hostAddress();
        QCOMPARE(guard->data, host.isEmpty() ? host : "b'" + host + '\'');
    }

    void limitsMustAgreeWhileTheGuardIsTaken()
    {
        // The answer does not wait for anybody's permit.
        QVERIFY(begin("kazoo-semaphore", 2, 3));
        QVERIFY(hold(0) && hold(1) && waitInLine(2));
        m_options.limit = 1;
        QVERIFY(add(m_server->address()));
        QCOMPARE(contender(3).codeOfAcquire(), int(ErrorCode::BadInput));
        QVERIFY2(contender(3).error().contains(QStringLiteral("2 permits")), qPrintable(contender(3).error()));
        QCOMPARE(childrenOf(guards()).size(), 1);
    }
    void otherDataIsNoLimit()
    {
        QVERIFY(begin("kazoo-semaphore", 1, 1));
        QVERIFY(await(m_admin->set(m_path, "a name, not a number", zk::anyVersion, soon())));
        QVERIFY(hold(0));
        const auto pool = await(m_admin->get(m_path, std::nullopt, soon()));
        QVERIFY(pool);
        QCOMPARE(pool->data, QByteArray("a name, not a number"));
    }

    // Two that both believe to be at the head would let one too many in: the transaction refuses it.
    void guardTakenFromTheHead()
    {
        QVERIFY(begin("kazoo-semaphore", 1, 3));
        QVERIFY(lineUp(3));
        QVERIFY(remove(guards().child(NodeName(childrenOf(guards()).first()))));
        // The next one has moved up; both watch the pool now.
        QTRY_COMPARE(counting(2).count(RequestKind::Children), 3);
        QVERIFY(allQuiet());
        QVERIFY(letGo(0));
        QVERIFY(getsIn(2));
        QTRY_COMPARE(counting(1).count(RequestKind::Create), 2); // in line again
        QVERIFY(!contender(1).granted);
        QCOMPARE(childrenOf(m_path), QByteArrayList{nameOf(2)});
        QVERIFY(letGo(2));
        QVERIFY(getsIn(1));
    }

    void poolTakenAwayWhileWaiting()
    {
        QVERIFY(begin("kazoo-semaphore", 1, 2));
        QVERIFY(lineUp(2));
        QVERIFY(remove((*contender(0).granted)->node));
        QVERIFY(getsIn(1));
        QVERIFY(letGo(1));
        QVERIFY(remove(m_path));
        QVERIFY(hold(1)); // made again
        QCOMPARE(childrenOf(m_path), QByteArrayList{nameOf(1)});
    }
};

LOCKSCOPE_TEST(TestRecipesKazoo)
#include "tst_recipes_kazoo.moc"
