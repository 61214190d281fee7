// SPDX-License-Identifier: Apache-2.0
// The program that lays graphs out by Graphviz, and one in its place that fails: the window says why and goes on.
#include "tests/support/testmain.h"
#include "ui/graph/dotgraph.h"

#include <QFile>
#include <QTemporaryDir>

#include <thread>

using ui::DotGraph;

namespace {

DotGraph chainOf(int boxes)
{
    DotGraph graph;
    for (int i = 0; i < boxes; ++i) {
        graph.boxes << QSizeF(140, 46);
        if (i > 0)
            graph.lines << std::pair(i - 1, i);
    }
    return graph;
}

} // namespace

class TestGraphLayout : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString programThat(const QByteArray &does)
    {
        QFile file(m_folder.filePath(u"layout"_s));
        [&] { QVERIFY(file.open(QIODevice::WriteOnly)); }();
        file.write("#!/bin/sh\n" + does + '\n');
        file.close();
        [&] { QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner)); }();
        return file.fileName();
    }

private slots:
    // Where numbers have commas, too: dot's have points.
    void everyGraphHasItsPlaces()
    {
        const auto before = qgetenv("LC_ALL");
        qputenv("LC_ALL", "de_DE.UTF-8");
        const auto places = ui::layOutByDot({chainOf(1), chainOf(3)}, {});
        before.isNull() ? qunsetenv("LC_ALL") : qputenv("LC_ALL", before);
        QVERIFY2(places, places ? "" : qPrintable(places.error().message));
        QCOMPARE(places->size(), 2);
        QCOMPARE((*places)[0].size, QSizeF(140, 46));
        const auto &chain = (*places)[1];
        QCOMPARE(chain.centres.size(), 3);
        QVERIFY(chain.centres[0].x() + 140 < chain.centres[1].x()
                && chain.centres[1].x() + 140 < chain.centres[2].x());
        QCOMPARE(chain.lines.size(), 2);
        QVERIFY(chain.lines[0].size() >= 4 && chain.lines[0].size() % 3 == 1);
    }

    void failedLayoutReportsItsCause_data()
    {
        const Rows<QByteArray, QString> row("does", "says");
        row("says why", "cat >/dev/null; echo 'no layout here' >&2; exit 1",
            u"could not lay this graph out: no layout here"_s);
        row("crashes", "cat >/dev/null; kill -SEGV $$", u"could not lay this graph out: Process crashed"_s);
        row("answers nothing", "cat >/dev/null", u"something else than what it was asked"_s);
        row("answers of another graph", "cat >/dev/null; head -c 4 /dev/zero",
            u"something else than what it was asked"_s);
        row("reads nothing", "exit 3", u"could not lay this graph out"_s);
    }
    void failedLayoutReportsItsCause()
    {
        QFETCH(const QByteArray, does);
        QFETCH(const QString, says);
        const auto places = ui::layOutBy(programThat(does), {chainOf(2)}, {});
        QVERIFY(!places);
        QVERIFY2(places.error().message.contains(says), qPrintable(places.error().message));
    }

    void aProgramThatIsNotThereIsNamed()
    {
        const auto places = ui::layOutBy(m_folder.filePath(u"none"_s), {chainOf(2)}, {});
        QVERIFY(!places);
        QVERIFY2(places.error().message.contains(m_folder.filePath(u"none"_s)), qPrintable(places.error().message));
    }

    // Closing the window does not wait for a layout.
    void aLayoutThatHangsIsStopped()
    {
        std::stop_source stop;
        const auto program = programThat("exec sleep 600");
        Result<QList<ui::DotPlaces>> places{QList<ui::DotPlaces>()};
        std::thread worker([&] { places = ui::layOutBy(program, {chainOf(2)}, stop.get_token()); });
        stop.request_stop();
        worker.join();
        QVERIFY(!places);
        QCOMPARE(places.error().code, ErrorCode::Cancelled);
    }
};

LOCKSCOPE_TEST(TestGraphLayout)

#include "tst_graph_layout.moc"
