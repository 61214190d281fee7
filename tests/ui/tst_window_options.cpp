// SPDX-License-Identifier: Apache-2.0
// What the window takes from its command line, beside what lockscopectl takes too (tst_commandline).
#include "app/lockscope/options.h"
#include "tests/support/testmain.h"

#include <QApplication>

class TestWindowOptions : public QObject {
    Q_OBJECT

    static Result<app::WindowOptions> read(const QStringList &words)
    {
        const auto arguments = app::readArguments(words, app::windowOptions());
        if (!arguments)
            return arguments.error();
        return app::readWindowOptions(*arguments);
    }

private slots:
    // The page that was open last is in the settings; a default here would hide it.
    void onWhichPageItOpens_data()
    {
        const Rows<QStringList, QString> row("words", "page");
        row("where it was left", {}, {});
        row("where it is told to", {u"--page"_s, u"sessions"_s}, u"sessions"_s);
        row("a recording has locks", {u"--replay"_s, u"a.lockscope"_s}, u"locks"_s);
        row("or what is asked of it", {u"--replay"_s, u"a.lockscope"_s, u"--page"_s, u"findings"_s}, u"findings"_s);
    }
    void onWhichPageItOpens()
    {
        QFETCH(const QStringList, words);
        QFETCH(const QString, page);
        const auto options = read(words);
        QVERIFY(options);
        QCOMPARE(options->page, page);
    }

    void aPageThatIsNone()
    {
        const auto options = read({u"--page"_s, u"nowhere"_s});
        QVERIFY(!options);
        QVERIFY(options.error().message.contains(u"unknown page nowhere; pages: locks, graph"_s));
    }
};

LOCKSCOPE_TEST(TestWindowOptions)
#include "tst_window_options.moc"
