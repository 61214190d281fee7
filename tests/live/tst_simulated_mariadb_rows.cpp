// SPDX-License-Identifier: Apache-2.0
// Which rows a statement locks, in the simulated MariaDB and in a real one: what it looks at, which is more than it
// finds where no index is used. That choice is the optimiser's, and is asked of EXPLAIN.
#include "core/simservers/mariadb/server.h"
#include "mariadbfixture.h"
#include "tests/simulate/sqlworld.h"
#include "tests/support/testmain.h"

class TestSimulatedMariaDbRows : public MariaDbFixture {
    Q_OBJECT

    // Rows 1 to `count`, with indexes on both columns that name them.
    void makeGoods(int count)
    {
        QByteArrayList rows;
        for (int id = 1; id <= count; ++id)
            rows << '(' + QByteArray::number(id) + ", '" + QByteArray::number(id) + "')";
        QVERIFY(run(*m_admin, "DROP TABLE IF EXISTS shop.goods"));
        QVERIFY(run(*m_admin,
                    "CREATE TABLE shop.goods (id INT NOT NULL, code VARCHAR(16) NOT NULL, version BIGINT NOT "
                    "NULL DEFAULT 1, number INT AUTO_INCREMENT PRIMARY KEY, KEY (id), KEY (code)) "
                    "ENGINE=InnoDB"));
        QVERIFY(run(*m_admin, "INSERT INTO shop.goods (id, code) VALUES " + rows.join(", ")));
        QVERIFY(run(*m_admin, "ANALYZE TABLE shop.goods"));
    }
    QByteArray lockedByReal(mariadb::Session &by)
    {
        QByteArrayList locked;
        for (const auto *id : {"1", "2", "3", "4", "5"}) {
            if (!run(by, "SELECT `id` FROM `shop`.`goods` WHERE `id` = ? FOR UPDATE NOWAIT", {id}))
                locked << id;
        }
        return locked.join(' ');
    }

private slots:
    void initTestCase()
    {
        OK(startServer());
        if (!m_admin->serverVersion().startsWith("10."))
            QSKIP("the simulated server's optimiser is that of MariaDB 10.11");
    }
    void cleanupTestCase() { endServer(); }

    void rowsThatAreReadAreLocked_data()
    {
        addColumns<bool, QByteArray>("isReadCommitted", "where");
        for (const bool isReadCommitted : {false, true}) {
            for (const auto *where : {"id >= 1", "id >= 2", "id >= 3", "id >= 4", "id >= 5", "id >= 6", "id = 3",
                                      "id = '3'", "code = '3'", "code = 3"})
                QTest::addRow("%s%s", where, isReadCommitted ? ", READ COMMITTED" : "")
                    << isReadCommitted << QByteArray(where);
        }
    }
    void rowsThatAreReadAreLocked()
    {
        QFETCH(bool, isReadCommitted);
        QFETCH(QByteArray, where);
        makeGoods(5);
        const QByteArray readCommitted("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
        const auto select = "SELECT * FROM shop.goods WHERE " + where + " FOR UPDATE";
        const auto holder = openConnected(), other = openConnected();
        SqlWorld sql;
        sql.open("ab");
        if (isReadCommitted) {
            QVERIFY(run(*holder, readCommitted));
            sql.run('a', readCommitted);
        }
        QVERIFY(run(*holder, "START TRANSACTION"));
        sql.begin('a');
        const auto found = run(*holder, select);
        QVERIFY2(found, textOf(found));
        sql.run('a', select);
        sim::SqlAnswer same{.rows = *found};
        QCOMPARE(sql.heard().last(), "a " + SqlWorld::words(same));
        QCOMPARE(sql.lockedGoods('b'), lockedByReal(*other));
        QVERIFY(run(*holder, "COMMIT"));
    }

    // And the lock goes to who waited.
    void writesAreRolledBackWithTheConnection()
    {
        makeGoods(5);
        const auto a = openConnected(), b = openConnected();
        QVERIFY(run(*a, "START TRANSACTION"));
        const auto written = run(*a, "UPDATE shop.goods SET version = version + 1 WHERE id = 3");
        QVERIFY2(written && written->affected == 1, textOf(written));
        auto out = b->execute({"SELECT * FROM shop.goods WHERE id = 3 FOR UPDATE", {}, std::nullopt, false}, soon());
        QVERIFY(someWait(1));
        QVERIFY(kill(*a));
        const auto row = answerOf(std::move(out));
        QVERIFY2(row && row->cell(0, "version") == "1", textOf(row));
    }

    // From both sides of the border: every range of every size of table.
    void theOptimiserChoosesAsItIsSaid_data()
    {
        QTest::addColumn<int>("rows");
        for (const int rows : {3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 100, 150, 200})
            QTest::addRow("%d rows", rows) << rows;
    }
    void theOptimiserChoosesAsItIsSaid()
    {
        QFETCH(int, rows);
        makeGoods(rows);
        int byIndex = 0, whole = 0;
        for (int found = 1; found <= rows; ++found) {
            const auto from = QByteArray::number(rows - found + 1);
            const auto plan = run(*m_admin, "EXPLAIN SELECT * FROM shop.goods WHERE id >= " + from + " FOR UPDATE");
            QVERIFY2(plan, textOf(plan));
            const bool isByIndex = plan->cell(0, "type").value_or("") == "range";
            QVERIFY2(isByIndex == sim::readsByIndex(std::size_t(found), std::size_t(rows)),
                     QByteArray::number(found) + " of " + QByteArray::number(rows));
            (isByIndex ? byIndex : whole) += 1;
        }
        QVERIFY(byIndex > 0 && whole > 0);
    }

    // READ COMMITTED lets go of what does not match, but waits for what another has, and keeps what it waited for.
    void readerOfAllRowsWaitsForAnothersRow_data()
    {
        const Rows<bool, QByteArrayList> row("isReadCommitted", "others");
        row("the first", false, {"1"});
        row("the first, READ COMMITTED", true, {"1"});
        row("two, READ COMMITTED", true, {"2", "4"});
        row("the one, READ COMMITTED", true, {"3"});
    }
    void readerOfAllRowsWaitsForAnothersRow()
    {
        QFETCH(bool, isReadCommitted);
        QFETCH(QByteArrayList, others);
        makeGoods(5);
        const auto prober = openConnected();
        std::map<char, std::unique_ptr<mariadb::Session>> real;
        SqlWorld sql;
        sql.open("abp");
        const auto both = [&](char name, const QByteArray &text, const QByteArrayList &parameters = {}) {
            sql.run(name, text, parameters);
            return bool(run(*real[name], text, parameters));
        };
        for (const char name : {'a', 'b'}) {
            real[name] = openConnected();
            QVERIFY(!isReadCommitted || both(name, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"));
            QVERIFY(both(name, "START TRANSACTION"));
        }
        for (const auto &id : others)
            QVERIFY(both('a', "SELECT `id` FROM `shop`.`goods` WHERE `id` = ? FOR UPDATE", {id}));
        const QByteArray all("SELECT * FROM shop.goods WHERE code = 3 FOR UPDATE");
        auto out = real['b']->execute({all, {}, std::nullopt, false}, soon());
        sql.run('b', all);
        QVERIFY(someWait(1));
        QCOMPARE(sql.lockedGoods('p'), lockedByReal(*prober));
        QVERIFY(both('a', "COMMIT"));
        const auto row = answerOf(std::move(out));
        QVERIFY2(row && row->rows.size() == 1 && row->rows[0][0] == "3", textOf(row));
        QVERIFY(sql.heard().contains("b row 3"));
        QCOMPARE(sql.lockedGoods('p'), lockedByReal(*prober));
        QVERIFY(both('b', "COMMIT"));
    }
};

LOCKSCOPE_TEST(TestSimulatedMariaDbRows)
#include "tst_simulated_mariadb_rows.moc"
