// SPDX-License-Identifier: Apache-2.0
// How well typed letters fit a name.
#include "tests/support/testmain.h"
#include "ui/shell/palette.h"

using lockscope::ui::FuzzyQuery;

class TestFuzzy : public QObject {
    Q_OBJECT
private slots:
    void betterFitsScoreHigher_data()
    {
        const Rows<QString, QByteArray, QByteArray> row("typed", "better", "worse");
        row("the whole text before its beginning", u"orders"_s, "orders"_ba, "orders-2"_ba);
        row("a word before the middle of one", u"orders"_s, "/locks/orders"_ba, "/locks/reorders"_ba);
        row("together before scattered", u"ord"_s, "/a/record"_ba, "/o/r/d"_ba);
        row("first letters before any", u"nr"_s, "/locks/nightly-report"_ba, "/locks/banner"_ba);
        row("shorter before longer", u"job"_s, "/jobs"_ba, "/jobs/of/another/night"_ba);
        row("case counts for nothing", u"ORDERS"_s, "/Orders"_ba, "/xorders"_ba);
    }
    void betterFitsScoreHigher()
    {
        QFETCH(QString, typed);
        QFETCH(QByteArray, better);
        QFETCH(QByteArray, worse);
        const FuzzyQuery query(typed);
        QVERIFY(query.score(better).has_value());
        QVERIFY(query.score(better) > query.score(worse).value_or(0));
    }

    void everyWordHasToFit()
    {
        const FuzzyQuery query(u"orders prod"_s);
        QVERIFY(!query.score("/locks/orders"));
        QVERIFY(query.score("/prod/orders").has_value());
        QVERIFY(query.score("/locks/orders", "prod-eu").has_value());
        QVERIFY(query.score("/prod/orders") > query.score("/locks/orders", "prod-eu"));
        QVERIFY(!FuzzyQuery(u"x"_s).score("/locks/orders"));
        QVERIFY(!FuzzyQuery(u"sredro"_s).score("/locks/orders"));
        QVERIFY(!FuzzyQuery(u"ä"_s).score({}));
    }

    void nothingTypedFitsAll()
    {
        QVERIFY(FuzzyQuery(u"  "_s).isEmpty());
        QVERIFY(FuzzyQuery(u"  "_s).score("anything").has_value());
    }
};

LOCKSCOPE_TEST(TestFuzzy)
#include "tst_fuzzy.moc"
