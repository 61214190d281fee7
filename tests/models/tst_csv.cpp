// SPDX-License-Identifier: Apache-2.0
// Rows of a CSV file: what a program reads back, and what a spreadsheet must not run.
#include "tests/support/testmain.h"
#include "ui/parts/tabletools.h"

#include <QTest>

using lockscope::ui::csvRow;
using namespace Qt::StringLiterals;

class TestCsv : public QObject {
    Q_OBJECT
private slots:
    void fieldsAreQuotedWhereTheyHaveTo_data()
    {
        QTest::addColumn<QStringList>("fields");
        QTest::addColumn<QByteArray>("row");
        QTest::newRow("plain") << QStringList{u"/locks/orders"_s, u"3"_s} << "/locks/orders,3\r\n"_ba;
        QTest::newRow("empty") << QStringList{QString(), QString()} << ",\r\n"_ba;
        QTest::newRow("comma") << QStringList{u"a,b"_s} << "\"a,b\"\r\n"_ba;
        QTest::newRow("semicolon, which some countries part by") << QStringList{u"a;b"_s} << "\"a;b\"\r\n"_ba;
        QTest::newRow("quote") << QStringList{u"say \"no\""_s} << "\"say \"\"no\"\"\"\r\n"_ba;
        QTest::newRow("line end") << QStringList{u"a\nb"_s} << "\"a\nb\"\r\n"_ba;
        QTest::newRow("UTF-8") << QStringList{u"≤ 30 s"_s} << "≤ 30 s\r\n"_ba;
    }
    void fieldsAreQuotedWhereTheyHaveTo()
    {
        QFETCH(QStringList, fields);
        QTEST(csvRow(fields), "row");
    }

    void noFieldIsAFormula_data()
    {
        QTest::addColumn<QString>("field");
        QTest::addColumn<bool>("isGuarded");
        QTest::newRow("equals") << u"=cmd|'/c calc'!A1"_s << true;
        QTest::newRow("plus") << u"+1+cmd"_s << true;
        QTest::newRow("minus") << u"-2+3+cmd"_s << true;
        QTest::newRow("at") << u"@SUM(A1)"_s << true;
        QTest::newRow("tab") << u"\t=1"_s << true;
        QTest::newRow("return") << u"\r=1"_s << true;
        QTest::newRow("after spaces") << u"  =1"_s << true;
        QTest::newRow("wide") << u"\uff1d1"_s << true;
        QTest::newRow("number below zero") << u"-12.5"_s << false;
        QTest::newRow("path") << u"/locks/a=b"_s << false;
        QTest::newRow("host") << u"10.0.3.7:56332"_s << false;
    }
    void noFieldIsAFormula()
    {
        QFETCH(QString, field);
        QFETCH(bool, isGuarded);
        QByteArray row = csvRow({field});
        if (row.startsWith('"'))
            row = row.mid(1);
        QCOMPARE(row.startsWith('\''), isGuarded);
    }
};

LOCKSCOPE_TEST(TestCsv)
#include "tst_csv.moc"
