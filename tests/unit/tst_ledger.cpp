// SPDX-License-Identifier: Apache-2.0
// The ledger groups entries that no lock accounts for.
#include "core/inspect/coverage.h"
#include "tests/support/testmain.h"

#include <numeric>

using namespace lockscope::inspect;

class TestLedger : public QObject {
    Q_OBJECT

private slots:
    void replacesWhatTellsSiblingsApart_data();
    void replacesWhatTellsSiblingsApart();
    void countsEntriesOfOnePattern();
    void joinsSiblings();
    void namesOneEntryWithoutAPattern();
    void joinsFoldersWhereThereAreManyPatterns();
    void makesOneGroupOfWhatIsTooMuch();
    void keepsFewPatternsOfManyNames();
};

namespace {

const Ledger::Texts texts{u"1 entry"_s, u"%1 entries like %2"_s};

QStringList lines(const Ledger &ledger)
{
    QStringList all;
    for (const auto &group : ledger.groups(texts))
        all << group.text + u" | "_s + QString::fromUtf8(group.example);
    return all;
}

} // namespace

void TestLedger::replacesWhatTellsSiblingsApart_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("pattern");
    QTest::newRow("number") << "/brokers/ids/17"_ba
                            << "/brokers/ids/*"_ba;
    QTest::newRow("address") << "/dubbo/providers/10.0.3.7:20880"_ba
                             << "/dubbo/providers/*.*.*.*:*"_ba;
    QTest::newRow("uuid") << "session:7c9e6679-7425-40de-944b-e07fc1f90ae7"_ba
                          << "session:*"_ba;
    QTest::newRow("hex") << "job:9f2c41aa"_ba
                         << "job:*"_ba;
    QTest::newRow("word with a digit") << "app.v2.leader"_ba
                                       << "app.*.leader"_ba;
    QTest::newRow("words only") << "/config/leader"_ba
                                << "/config/leader"_ba;
    QTest::newRow("empty") << ""_ba
                           << ""_ba;
}

void TestLedger::replacesWhatTellsSiblingsApart()
{
    QFETCH(const QByteArray, name);
    QTEST(namePattern(name), "pattern");
}

void TestLedger::countsEntriesOfOnePattern()
{
    Ledger ledger;
    ledger.add("/svc/b2");
    ledger.add("/svc/a1");
    ledger.add("/other", 5);
    QCOMPARE(lines(ledger), QStringList({u"5 entries like /other | /other"_s, u"2 entries like /svc/* | /svc/a1"_s}));
}

void TestLedger::joinsSiblings()
{
    Ledger ledger;
    for (const auto *name : {"/svc/api/host-a", "/svc/api/host-b", "/svc/web/host-a", "leader", "member"})
        ledger.add(name);
    QCOMPARE(lines(ledger),
             QStringList({u"2 entries like /svc/api/* | /svc/api/host-a"_s, u"1 entry | /svc/web/host-a"_s,
                          u"1 entry | leader"_s, u"1 entry | member"_s}));
}

void TestLedger::namesOneEntryWithoutAPattern()
{
    Ledger ledger;
    QVERIFY(ledger.isEmpty());
    ledger.add("/svc/a1");
    QCOMPARE(lines(ledger), QStringList(u"1 entry | /svc/a1"_s));
}

void TestLedger::joinsFoldersWhereThereAreManyPatterns()
{
    Ledger ledger;
    for (char c = 'a'; c <= 'z'; ++c)
        ledger.add(QByteArray("/dubbo/Service") + c + "/providers/10");
    QCOMPARE(lines(ledger), QStringList(u"26 entries like /dubbo/* | /dubbo/Servicea/providers/10"_s));
}

void TestLedger::makesOneGroupOfWhatIsTooMuch()
{
    Ledger ledger;
    for (char c = 'a'; c <= 'z'; ++c)
        ledger.add(QByteArray("word") + c, c == 'q' ? 9 : 1);
    const auto all = lines(ledger);
    QCOMPARE(all.size(), qsizetype(Ledger::mostGroups));
    QCOMPARE(all.front(), u"9 entries like wordq | wordq"_s);
    QVERIFY2(all.back().startsWith(u"17 entries like other names"_s), qPrintable(all.back()));
}

void TestLedger::keepsFewPatternsOfManyNames()
{
    Ledger ledger;
    const auto letters = [](int number) {
        QByteArray word;
        for (int at = 0; at < 4; ++at, number /= 20)
            word += static_cast<char>('a' + number % 20);
        return word;
    };
    constexpr int names = 50'000;
    for (int number = 0; number < names; ++number)
        ledger.add(letters(number));
    const auto groups = ledger.groups(texts);
    QCOMPARE(groups.size(), Ledger::mostGroups);
    QCOMPARE(std::accumulate(groups.begin(), groups.end(), qint64(0),
                             [](qint64 sum, const Unexplained &group) { return sum + group.count; }),
             names);
}

LOCKSCOPE_TEST(TestLedger)
#include "tst_ledger.moc"
