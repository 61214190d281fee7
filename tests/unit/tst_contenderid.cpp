// SPDX-License-Identifier: Apache-2.0
// What a contender is called: never by a name that comes to mean another one.
#include <version>

#include "core/rules/turn.h"
#include "tests/support/testmain.h"

using namespace lockscope::recipes;

class TestContenderId : public QObject {
    Q_OBJECT

private slots:
    void namesThatComeAgainAreCalledWithTheirCzxid_data()
    {
        const Rows<QByteArray, QByteArray> row("name", "id");
        const QByteArray uuid = "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a20";
        const QByteArray hex = "0e7d6b1a7c8e4b6e9a3e2f5d1c4b3a2f";
        const QByteArray digits = "01234567890123456789012345678901";
        const auto once = [&](const char *what, const QByteArray &name) { row(what, name, name); };
        const auto again = [&](const char *what, const QByteArray &name) { row(what, name, name + "@4294967301"); };
        once("Curator", "_c_" + uuid + "-lock-0000000041");
        once("Curator's writer", "_c_" + uuid + "-__WRIT__0000000041");
        once("Curator after 2^31 creates", "_c_" + uuid + "-lock--2147483648");
        once("go-zookeeper", "_c_" + hex + "-lock-0000000041");
        once("kazoo", hex + "__lock__0000000041");
        again("one ephemeral", "leader");
        again("a number, and its folder can be made anew", "lock-0000000041");
        again("the flat layout", "stock_lock_0000000041");
        again("the shared layout", "10.0.0.7-R-0000000041");
        again("kazoo's lease, which its client uses again", hex);
        again("the same, if it happens to look like a number", digits);
        again("a UUID without a number", uuid);
        again("a session, which may come twice into one folder", "x-72057594037927936-0000000041");
        again("an at sign of its own", "leader@7");
    }
    void namesThatComeAgainAreCalledWithTheirCzxid()
    {
        QFETCH(const QByteArray, name);
        QFETCH(const QByteArray, id);
        QCOMPARE(nodeContenderId(NodeName(name), 4294967301), id);
    }

    void aBareNameIsToldFromItsFullForm_data()
    {
        const Rows<QByteArray, QByteArray, bool> row("id", "bare", "is");
        row("the name", "leader@12", "leader", true);
        row("the full form itself", "leader@12", "leader@12", false);
        row("a longer name", "leader2@12", "leader", false);
        row("no number", "ADDED:x@host", "ADDED:x", false);
        row("a mark without a number", "leader@", "leader", false);
        row("another mark", "leader@12", "leader@1", false);
    }
    void aBareNameIsToldFromItsFullForm()
    {
        QFETCH(const QByteArray, id);
        QFETCH(const QByteArray, bare);
        QFETCH(const bool, is);
        QCOMPARE(isFullFormOf(id, bare), is);
    }

    void aConstantIsCalledWithItsExpiry()
    {
        QCOMPARE(constantContenderId("1", 1763780400123), QByteArray("1@1763780400123"));
    }
};

LOCKSCOPE_TEST(TestContenderId)
#include "tst_contenderid.moc"
