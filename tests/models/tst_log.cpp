// SPDX-License-Identifier: Apache-2.0
// The ring of log entries and its filter.
#include "tests/support/testmain.h"
#include "ui/models/logmodel.h"

#include "tests/models/treetext.h"

#include <QAbstractItemModelTester>

using namespace lockscope::ui;
using operate::LogEntry;

namespace {

LogEntry entry(quint64 number, const QString &text, const QString &outcome = u"ok"_s,
               LogEntry::Kind kind = LogEntry::Kind::Sent, bool write = false)
{
    return LogEntry{.number = number,
                    .connection = ConnectionName("zk"_ba),
                    .kind = kind,
                    .write = write,
                    .text = text,
                    .outcome = outcome,
                    .took = outcome.isEmpty() ? 0us : 1250us};
}

} // namespace

class TestLog : public QObject {
    Q_OBJECT
private slots:
    void finishesInPlace()
    {
        LogModel model;
        QAbstractItemModelTester tester(&model);
        model.apply({entry(1, u"get /a"_s, {}), entry(2, u"get /b"_s, {})});
        QCOMPARE(treeText(model, {2, 3, 4, 5}), u"→ read|get /a|…|\n→ read|get /b|…|\n"_s);
        SignalWords signalWords(model);
        model.apply({entry(1, u"get /a"_s), entry(3, u"get /c"_s, {}), entry(3, u"get /c"_s, u"NoNode"_s)});
        QCOMPARE(signalWords.take(), QStringList({u"~ 0-0"_s, u"+ 2-2"_s}));
        QCOMPARE(treeText(model, {3, 4, 5}), u"get /a|ok|1.3\nget /b|…|\nget /c|NoNode|1.3\n"_s);
    }

    void dropsTheOldest()
    {
        LogModel model;
        std::vector<LogEntry> batch;
        for (quint64 i = 1; i <= LogModel::capacity; ++i)
            batch.push_back(entry(i, QString::number(i), {}));
        model.apply(batch);
        SignalWords signalWords(model);
        const auto next = static_cast<quint64>(LogModel::capacity) + 1;
        model.apply({entry(next, u"a"_s), entry(next + 1, u"b"_s), entry(10, u"10"_s)});
        QCOMPARE(signalWords.take(), QStringList({u"~ 9-9"_s, u"- 0-1"_s, u"+ 4998-4999"_s}));
        QCOMPARE(model.rowCount(), LogModel::capacity);
        QCOMPARE(model.at(0).number, 3u);
        QCOMPARE(model.at(7).outcome, u"ok"_s); // the tenth moved up by two
        model.apply({entry(3, u"3"_s)});
        QCOMPARE(model.at(0).outcome, u"ok"_s);
    }

    void takesABatchLargerThanItself()
    {
        LogModel model;
        QAbstractItemModelTester tester(&model);
        model.apply({entry(1, u"old"_s)});
        std::vector<LogEntry> batch;
        for (quint64 i = 2; i <= LogModel::capacity + 101; ++i)
            batch.push_back(entry(i, QString::number(i), {}));
        model.apply(batch);
        QCOMPARE(model.rowCount(), LogModel::capacity);
        QCOMPARE(model.at(0).number, 102u);
        model.apply({entry(102, u"102"_s, u"NoNode"_s)});
        QCOMPARE(model.at(0).outcome, u"NoNode"_s);
        QCOMPARE(model.rowCount(), LogModel::capacity);
    }

    void filters()
    {
        LogModel model;
        LogFilter filter;
        filter.setSourceModel(&model);
        auto refused = entry(4, u"delete /x"_s, u"read-only"_s, LogEntry::Kind::Sent, true);
        refused.refused = true;
        model.apply({entry(1, u"get /a"_s), entry(2, u"delete /b version 0"_s, u"ok"_s, LogEntry::Kind::Sent, true),
                     entry(3, u"children of /locks changed"_s, {}, LogEntry::Kind::Event), refused});
        QCOMPARE(filter.rowCount(), 4);
        filter.setOnlyWrites(true);
        QCOMPARE(treeText(filter, {2, 3}), u"→ write|delete /b version 0\n✕ refused|delete /x\n"_s);
        filter.setOnlyEvents(true);
        QCOMPARE(filter.rowCount(), 3);
        filter.setOnlyWrites(false);
        QCOMPARE(treeText(filter, {2, 3}), u"← event|children of /locks changed\n"_s);
        filter.setOnlyEvents(false);
        filter.setText(u"GET /A"_s);
        QCOMPARE(treeText(filter, {3}), u"get /a\n"_s);
    }

    void showsNoControlCharacters()
    {
        LogModel model;
        model.apply({entry(1, u"get /a\x1b[31m"_s, u"a\nb"_s)});
        QCOMPARE(model.lineOf(0).section(u'\t', 1), u"zk\t→ read\tget /a·[31m\ta·b\t1.3"_s);
    }
};

LOCKSCOPE_TEST(TestLog)
#include "tst_log.moc"
