// SPDX-License-Identifier: Apache-2.0
// Rows of a CSV file: what a program reads back, and what a spreadsheet must not run.
#include "tests/support/testmain.h"
#include "ui/parts/tabletools.h"

using lockscope::ui::csvRow;

class TestCsv : public QObject {
    Q_OBJECT
private slots:
    void fieldsAreQuotedWhereTheyHaveTo_data()
    {
        const Rows<QStringList, QByteArray> row("fields", "row");
        row("plain", {u"/locks/orders"_s, u"3"_s}, "/locks/orders,3\r\n"_ba);
        row("empty", {QString(), QString()}, ",\r\n"_ba);
        row("comma", {u"a,b"_s}, "\"a,b\"\r\n"_ba);
        row("semicolon, which some countries part by", {u"a;b"_s}, "\"a;b\"\r\n"_ba);
        row("quote", {u"say \"no\""_s}, "\"say \"\"no\"\"\"\r\n"_ba);
        row("line end", {u"a\nb"_s}, "\"a\nb\"\r\n"_ba);
        row("UTF-8", {u"≤ 30 s"_s}, "≤ 30 s\r\n"_ba);
    }
    void fieldsAreQuotedWhereTheyHaveTo()
    {
        QFETCH(QStringList, fields);
        QTEST(csvRow(fields), "row");
    }

    void noFieldIsAFormula_data()
    {
        const Rows<QString, bool> row("field", "isGuarded");
        row("equals", u"=cmd|'/c calc'!A1"_s, true);
        row("plus", u"+1+cmd"_s, true);
        row("minus", u"-2+3+cmd"_s, true);
        row("at", u"@SUM(A1)"_s, true);
        row("tab", u"\t=1"_s, true);
        row("return", u"\r=1"_s, true);
        row("after spaces", u"  =1"_s, true);
        row("wide", u"\uff1d1"_s, true);
        row("number below zero", u"-12.5"_s, false);
        row("path", u"/locks/a=b"_s, false);
        row("host", u"10.0.3.7:56332"_s, false);
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
