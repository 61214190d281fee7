// SPDX-License-Identifier: Apache-2.0
// --watch of locks, show and graph: a view in place on a terminal, and lines on a pipe.
#include "core/redis/client.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/screenrun.h"
#include "tests/support/testmain.h"

#include <QUuid>

using testing::ScreenRun;

class TestCtlLive : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::unique_ptr<redis::Connection> m_client;

    void run(const QByteArrayList &command) { QVERIFY(await(m_client->command(command, m_servers.soon()))); }
    // With an expiry: nothing about it is worth an incident.
    void take(const QByteArray &name)
    {
        run({"SET", name, QUuid::createUuid().toByteArray(QUuid::WithoutBraces), "PX", "3600000"});
    }
    [[nodiscard]] QStringList asked(const QStringList &words) const
    {
        return QStringList{u"--connect"_s, u"cart="_s + m_servers.redisUri()} + words;
    }
    [[nodiscard]] static bool isSame(const termios &a, const termios &b)
    {
        return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag && a.c_lflag == b.c_lflag
               && std::ranges::equal(a.c_cc, b.c_cc);
    }
    static qsizetype rowOf(const ScreenRun &run, const QString &text)
    {
        const auto lines = run.lines();
        const auto at = std::ranges::find_if(lines, [&](const QString &line) { return line.contains(text); });
        return at == lines.end() ? -1 : std::distance(lines.begin(), at);
    }

private slots:
    void initTestCase()
    {
        SKIP_FOR(m_servers.start());
        m_client = redis::openConnection(m_servers.loop, {.host = m_servers.redis->address()});
        QTRY_COMPARE(m_client->state(), redis::ConnectionState::Connected);
    }
    void cleanupTestCase()
    {
        m_client.reset();
        m_servers.stop();
    }
    void init() { run({"FLUSHALL"}); }

    void locksAreRedrawnInPlace()
    {
        take("lock:alpha");
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}));
        QVERIFY2(watch.shows(u"lock:alpha"_s), watch.written());
        QVERIFY2(watch.isAlternate() && watch.shows(u"● live "_s), watch.written());
        const auto row = rowOf(watch, u"lock:alpha"_s);
        take("lock:beta");
        QVERIFY2(watch.shows(u"lock:beta"_s) && watch.shows(u"2 locks, 0 contended"_s), watch.written());
        QCOMPARE(rowOf(watch, u"lock:alpha"_s), row);
        run({"DEL", "lock:beta"});
        QVERIFY2(watch.hides(u"lock:beta"_s) && watch.shows(u"1 lock, 0 contended"_s), watch.written());
        QVERIFY2(!watch.written().contains('\n'), watch.written()); // nothing scrolls
    }

    void unchangedRowsAreNotSentAgain()
    {
        take("lock:alpha");
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}));
        QVERIFY2(watch.shows(u"lock:alpha"_s) && watch.shows(u"● live "_s), watch.written());
        const auto sent = watch.written().size();
        auto state = watch.lines().front();
        for (int i = 0; i < 3; ++i) { // the marker: the snapshot is read again, and again
            QVERIFY(watch.becomes([&] { return watch.lines().front() != state; }));
            state = watch.lines().front();
        }
        const auto news = watch.written().mid(sent);
        QVERIFY2(!news.contains(" PgUp ") && news.count("live ") >= 3, news);
    }

    void theTerminalIsRestored_data()
    {
        const Rows<QByteArray, int> row("keys", "signal");
        row("q", "q", 0);
        row("Ctrl+C", "\x03", 0);
        row("SIGTERM", "", SIGTERM);
    }
    void theTerminalIsRestored()
    {
        QFETCH(const QByteArray, keys);
        QFETCH(const int, signal);
        take("lock:alpha");
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}));
        const auto before = watch.settings();
        QVERIFY2(watch.shows(u"lock:alpha"_s), watch.written());
        QVERIFY(!isSame(watch.settings(), before) && (watch.settings().c_lflag & ECHO) == 0);
        watch.type(keys);
        if (signal != 0)
            watch.signal(signal);
        QCOMPARE(watch.finish(), 0);
        QVERIFY(isSame(watch.settings(), before));
        QVERIFY2(!watch.isAlternate() && watch.written().contains("\x1b[?25h"), watch.written());
        QVERIFY2(watch.screen().contains(u"1 lock, 0 contended, "_s), watch.written()); // the last line stays
    }

    // With a terminal that takes nothing: its reader waits for the end.
    void stalledTerminalDelaysNoEnd()
    {
        for (int i = 0; i < 100; ++i)
            take("lock:" + QByteArray(150, 'n') + QByteArray::number(100 + i));
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}), 200, 100);
        const auto before = watch.settings();
        QVERIFY2(watch.shows(u"100 locks, "_s) && watch.shows(u"● live "_s), watch.written());
        QVERIFY(watch.stalls("\x0c"));
        watch.signal(SIGTERM);
        QVERIFY(watch.ends());
        QVERIFY(isSame(watch.settings(), before));
    }

    void stopAndCrashRestoreTheTerminal()
    {
        take("lock:alpha");
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}));
        const auto before = watch.settings();
        QVERIFY2(watch.shows(u"lock:alpha"_s), watch.written());
        watch.type("\x0c"); // Ctrl+L
        QVERIFY2(watch.becomes([&] { return watch.written().count("\x1b[2J") == 3; }), watch.written());
        // No shell could continue it: the system does not stop it, and it goes on at once.
        watch.signal(SIGTSTP);
        QVERIFY2(watch.becomes([&] { return watch.written().count("\x1b[?1049l") == 1; }), watch.written());
        QVERIFY2(watch.becomes([&] { return watch.isAlternate(); }) && watch.shows(u"lock:alpha"_s), watch.written());
        watch.signal(SIGSTOP);
        watch.signal(SIGCONT);
        QVERIFY2(watch.becomes([&] { return watch.written().count("\x1b[?1049h") == 3; }), watch.written());
        QVERIFY2(watch.shows(u"lock:alpha"_s), watch.written());
        QVERIFY(!isSame(watch.settings(), before));
        watch.signal(SIGSEGV);
        QVERIFY(watch.finish() != 0);
        QVERIFY2(!watch.isAlternate() && isSame(watch.settings(), before), watch.written());
    }

    void keyInTwoPartsIsNoEscape()
    {
        for (int i = 0; i < 60; ++i)
            take("lock:" + QByteArray::number(100 + i));
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}));
        QVERIFY2(watch.shows(u"lock:100"_s) && watch.shows(u"60 locks, "_s), watch.written());
        // A slow machine may take the parts for two keys: again, then.
        QVERIFY2(watch.becomes([&] {
            watch.type("\x1b");
            const bool isTaken = watch.becomes([&] { return watch.unread() == 0; });
            watch.type("[6~");
            return isTaken && !watch.screen().contains(u"lock:100"_s);
        }),
                 watch.written());
    }

    void narrowWindowsAreDrawn()
    {
        run({"SET", "lock:worst", "0f8f3a0e6a2b4d389d7c2f1f4b6f8a11"}); // no expiry
        take("lock:alpha");
        for (const auto &words : {QStringList{u"locks"_s}, {u"show"_s, u"cart:lock:worst"_s}, {u"graph"_s}}) {
            ScreenRun watch(asked(words + QStringList{u"--watch"_s}));
            QVERIFY2(watch.shows(u"● live "_s), watch.written());
            for (unsigned short columns = 1; columns <= 20; ++columns) {
                watch.resize(columns, 24);
                const auto foot = u"q quit  / filter"_s.first(std::min<qsizetype>(columns, 16)).trimmed();
                QVERIFY2(watch.becomes([&] { return watch.lines().last().startsWith(foot); }), watch.written());
            }
        }
    }

    void incidentsWithoutRoomAreCounted()
    {
        for (int i = 0; i < 9; ++i)
            run({"SET", "lock:worst" + QByteArray::number(i), QUuid::createUuid().toByteArray(QUuid::Id128)});
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}), 80, 12);
        QVERIFY2(watch.shows(u"… and 6 more incidents"_s) && watch.shows(u"● live "_s), watch.written());
        QVERIFY2(watch.lines().front().startsWith(u"9 locks, 0 contended"_s), watch.written());
    }

    // What is wrong with a lock is shown under any filter.
    void filterKeepsStatusAndFindings()
    {
        run({"SET", "lock:worst", "0f8f3a0e6a2b4d389d7c2f1f4b6f8a11"});
        ScreenRun watch(asked({u"show"_s, u"cart:lock:worst"_s, u"--watch"_s}));
        QVERIFY2(watch.shows(u"no-ttl"_s) && watch.shows(u"QUEUE"_s), watch.written());
        watch.type("/zeta\r");
        QVERIFY2(watch.hides(u"QUEUE"_s) && watch.shows(u"no line matches the filter"_s), watch.written());
        QVERIFY2(watch.screen().contains(u"no expiry  cart"_s) && watch.screen().contains(u"no-ttl"_s),
                 watch.written());
    }

    void filterHidesTheOtherLocks()
    {
        for (const auto *name : {"lock:alpha", "lock:beta", "lock:gamma"})
            take(name);
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}));
        QVERIFY2(watch.shows(u"lock:gamma"_s), watch.written());
        watch.type("/BETq\x7f");
        QVERIFY2(watch.hides(u"lock:alpha"_s) && watch.shows(u"/BET_"_s), watch.written());
        QVERIFY(watch.screen().contains(u"lock:beta"_s) && !watch.screen().contains(u"lock:gamma"_s));
        watch.type("\r");
        QVERIFY2(watch.shows(u"/ filter: BET"_s), watch.written());
        watch.type("/zeta\r");
        QVERIFY2(watch.hides(u"lock:beta"_s), watch.written());
        watch.type("\x1b");
        QVERIFY2(watch.shows(u"lock:alpha"_s) && watch.shows(u"lock:gamma"_s), watch.written());
    }

    void sortChangesTheOrder()
    {
        take("lock:zeta");
        run({"HSET", "zeta", "0f8f3a0e-6a2b-4d38-9d7c-2f1f4b6f8a11:1", "1"});
        run({"PEXPIRE", "zeta", "3600000"});
        take("lock:alpha");
        run({"SET", "lock:worst", "0f8f3a0e6a2b4d389d7c2f1f4b6f8a11"}); // no expiry
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}));
        QVERIFY2(watch.shows(u"sort: worst first"_s) && watch.shows(u" lock:worst"_s), watch.written());
        const auto isAbove = [&](const QString &one, const QString &other) {
            return watch.becomes([&] {
                const auto first = rowOf(watch, one);
                return first >= 0 && first < rowOf(watch, other);
            });
        };
        QVERIFY2(isAbove(u"no expiry     lock:worst"_s, u"  lock:alpha"_s), watch.written());
        watch.type("s");
        QVERIFY2(watch.shows(u"sort: name"_s), watch.written());
        QVERIFY2(isAbove(u"  lock:alpha"_s, u"no expiry     lock:worst"_s), watch.written());
    }

    void longListsScrollByKeys()
    {
        for (int i = 0; i < 60; ++i)
            take("lock:" + QByteArray::number(100 + i));
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}));
        QVERIFY2(watch.shows(u"lock:100"_s) && watch.shows(u"60 locks"_s), watch.written());
        QVERIFY(!watch.screen().contains(u"lock:159"_s));
        watch.type("\x1b[6~");
        QVERIFY2(watch.hides(u"lock:100"_s), watch.written());
        watch.type("\x1b[5~");
        QVERIFY2(watch.shows(u"lock:100"_s), watch.written());
        watch.type("\x1bOF"); // End, of a terminal in application mode
        QVERIFY2(watch.shows(u"lock:159"_s), watch.written());
        watch.type("\x1b[H");
        QVERIFY2(watch.shows(u"lock:100"_s) && watch.hides(u"lock:159"_s), watch.written());
        watch.type("\x1b[B\x1b[B\x1b[B");
        QVERIFY2(watch.hides(u"STATE"_s), watch.written());
    }

    void windowSizeIsRespected()
    {
        for (int i = 0; i < 40; ++i)
            take("lock:" + QByteArray(70, 'n') + QByteArray::number(100 + i));
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}));
        QVERIFY2(watch.shows(u"40 locks"_s), watch.written());
        for (const auto &[columns, rows] : {std::pair<unsigned short, unsigned short>{160, 50}, {40, 12}, {80, 24}}) {
            watch.resize(columns, rows);
            QVERIFY2(watch.becomes([&] { return watch.lines().last().startsWith(u"q quit"_s); }), watch.written());
            QVERIFY(watch.lines().front().startsWith(u"40 locks"_s));
            QVERIFY(watch.becomes([&] {
                return std::ranges::any_of(watch.lines(), [columns = columns](const QString &line) {
                    return line == QString(columns, u'─');
                });
            }));
        }
        // A name that is wider than the window is complete, on two rows.
        watch.resize(40, 12);
        QVERIFY2(watch.shows(u"nnnnnnnnnn100"_s), qPrintable(watch.screen()));
    }

    void lostServerIsReportedAndItsLocksArePast()
    {
        std::unique_ptr<sandbox::Server> server;
        START_OR_SKIP(server, sandbox::makeRedis({}));
        const auto client = redis::openConnection(m_servers.loop, {.host = server->address()});
        QTRY_COMPARE(client->state(), redis::ConnectionState::Connected);
        QVERIFY(await(client->command({"SET", "lock:lost", "0f8f3a0e6a2b4d389d7c2f1f4b6f8a11"}, m_servers.soon())));
        const auto uri = u"gone=redis://127.0.0.1:%1"_s.arg(server->address().port);
        ScreenRun one(QStringList{u"--connect"_s, uri, u"locks"_s, u"--watch"_s});
        take("lock:there");
        ScreenRun both(asked({u"--connect"_s, uri, u"locks"_s, u"--watch"_s}));
        ScreenRun lock(QStringList{u"--connect"_s, uri, u"show"_s, u"gone:lock:lost"_s, u"--watch"_s});
        ScreenRun graph(QStringList{u"--connect"_s, uri, u"graph"_s, u"--watch"_s});
        for (auto *run : {&one, &both, &lock})
            QVERIFY2(run->shows(u"lock:lost"_s) && run->shows(u"● live "_s), run->written());
        QVERIFY2(graph.shows(u"1 lock is held"_s) && graph.shows(u"No waiting client found"_s), graph.written());
        Ctl lines(QStringList{u"--connect"_s, uri, u"graph"_s, u"--watch"_s});
        QCOMPARE(lines.jsonLine()["clients"_L1].toArray().size(), 1);
        server.reset();
        for (auto *run : {&one, &both, &lock, &graph}) {
            QVERIFY2(run->shows(u"! not connected: gone, last snapshot "_s), run->written());
            QVERIFY2(run->screen().contains(u"! gone is not connected"_s), run->written());
            QVERIFY2(!run->screen().contains(u"live"_s), run->written());
        }
        QVERIFY(!lines.jsonLine()["coverage"_L1][0]["complete"_L1].toBool(true));
        // Lines of before are marked where nothing else is there to show, and else they are not shown.
        for (auto *run : {&one, &lock, &graph})
            QVERIFY2(run->shows(u"The lines below are from before the connection was lost."_s), run->written());
        QVERIFY2(both.hides(u"lock:lost"_s) && both.shows(u"lock:there"_s) && both.shows(u"1 lock, 0 contended"_s),
                 both.written());
        one.type("q");
        QCOMPARE(one.finish(), 0);
    }

    // A name of a server that is a terminal's language reaches the terminal as text.
    void hostileNamesAreText()
    {
        take("lock:\x1b[2J\x1b]0;owned\x07\x9b"
             "1;1H\r\n\xe2\x80\xaeright");
        ScreenRun watch(asked({u"locks"_s, u"--watch"_s}));
        QVERIFY2(watch.shows(u"right"_s) && watch.screen().contains(u"owned"_s), watch.written());
        auto text = QString::fromUtf8(watch.written());
        QCOMPARE(text.count(u"\x1b[2J"_s), 2); // as it begins, and of the first frame
        text.remove(QRegularExpression(u"\x1b\\[(\\?[0-9]+[hl]|[0-9;]*[HKJm])"_s));
        for (const auto c : text)
            QVERIFY2(c.isPrint() || c == u' ', watch.written());
    }

    void signsAndSequencesFollowTheTerminal()
    {
        take("lock:alpha");
        ScreenRun plain(asked({u"locks"_s, u"--watch"_s}), 80, 24, {{"LC_ALL", "C"}});
        QVERIFY2(plain.shows(u"* live "_s) && plain.shows(u"lock:alpha"_s), plain.written());
        QVERIFY2(!plain.written().contains('m' + QByteArray("* live")) && !plain.written().contains("\x1b[36m"),
                 plain.written());
        for (const char c : plain.written())
            QVERIFY2(static_cast<unsigned char>(c) < 128, plain.written());
        ScreenRun colored(asked({u"locks"_s, u"--watch"_s}), 80, 24, {{"NO_COLOR", {}}});
        QVERIFY2(colored.shows(u"lock:alpha"_s) && colored.written().contains("\x1b[36m"), colored.written());
        ScreenRun dumb(asked({u"locks"_s, u"--watch"_s}), 80, 24, {{"TERM", "dumb"}});
        QVERIFY2(dumb.becomes([&] { return dumb.written().contains("\"change\":\"added\""); }), dumb.written());
        ScreenRun json(asked({u"locks"_s, u"--watch"_s, u"--json"_s}));
        QVERIFY2(json.becomes([&] { return json.written().contains("\"change\":\"added\""); }), json.written());
        for (auto *run : {&dumb, &json})
            QVERIFY2(!run->written().contains('\x1b'), run->written());
    }

    void showFollowsItsLock()
    {
        ScreenRun watch(asked({u"show"_s, u"cart:lock:alpha"_s, u"--watch"_s}));
        QVERIFY2(watch.shows(u"cart:lock:alpha"_s) && watch.shows(u"● live "_s), watch.written());
        QVERIFY2(watch.shows(u"no lock is at the key lock:alpha"_s), watch.written());
        take("lock:alpha");
        QVERIFY2(watch.shows(u"● held  cart"_s) && watch.shows(u"QUEUE"_s), watch.written());
        run({"DEL", "lock:alpha"});
        QVERIFY2(watch.hides(u"● held  cart"_s), watch.written());
        watch.type("q");
        QCOMPARE(watch.finish(), 0);
    }

    void onAPipeAChangeIsALine()
    {
        take("lock:other");
        Ctl show(asked({u"show"_s, u"cart:lock:alpha"_s, u"--watch"_s}));
        Ctl graph(asked({u"graph"_s, u"--watch"_s}));
        const auto first = graph.jsonLine();
        QVERIFY(first.contains("time"_L1) && first["cycles"_L1].isArray());
        QCOMPARE(first["clients"_L1].toArray().size(), 1);
        take("lock:alpha");
        QCOMPARE(graph.jsonLine()["clients"_L1].toArray().size(), 2);
        const auto added = show.jsonLine();
        QCOMPARE(added["change"_L1].toString(), u"added"_s);
        QCOMPARE(added["lock"_L1]["lock"_L1].toString(), u"cart:lock:alpha"_s);
        run({"DEL", "lock:alpha"});
        QCOMPARE(graph.jsonLine()["clients"_L1].toArray().size(), 1);
        for (auto *watch : {&show, &graph}) {
            watch->signal(SIGINT);
            const auto ran = watch->finish();
            QVERIFY2(ran.status == 0 && !ran.out.contains('\x1b'), ran.what());
        }
    }

    void badCombinationsAreRefused_data()
    {
        const Rows<QStringList, QByteArray> row("words", "message");
        row("a drawing", {u"graph"_s, u"--dot"_s}, "remove --watch or --dot");
        row("a history", {u"show"_s, u"cart:a"_s, u"--timeline"_s}, "--watch takes neither --timeline nor");
        row("a dump", {u"show"_s, u"cart:a"_s, u"--thread-dump"_s, u"x"_s}, "--watch takes neither --timeline nor");
    }
    void badCombinationsAreRefused()
    {
        QFETCH(const QStringList, words);
        QFETCH(const QByteArray, message);
        const auto ran = testing::run(asked(words + QStringList{u"--watch"_s}));
        QCOMPARE(ran.status, 2);
        QVERIFY2(ran.err.contains(message), ran.what());
    }
};

LOCKSCOPE_TEST(TestCtlLive)
#include "tst_ctl_live.moc"
