// SPDX-License-Identifier: Apache-2.0
// What lockscopectl shows on a terminal and prints on a pipe: incidents first, names whole, cells between tabs.
#include "tests/support/asked.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>

#include <array>

class TestCtlTerminal : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_redis;
    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    std::array<std::unique_ptr<zk::Session>, 2> m_sessions;
    std::vector<std::unique_ptr<zk::Watch>> m_watches;
    std::array<QByteArray, 2> m_alice; // holder, waiter
    QTemporaryDir m_state;

    void redis(const QStringList &command) const
    {
        const auto status = QProcess::execute(
            u"redis-cli"_s, QStringList{u"-p"_s, QString::number(m_redis->address().port)} + command);
        QCOMPARE(status, 0);
    }
    [[nodiscard]] QStringList asked(const QStringList &words) const
    {
        return QStringList{u"--connect"_s, u"cart=redis://127.0.0.1:%1"_s.arg(m_redis->address().port)} + words;
    }
    // On a terminal that wide; line ends as programs write them.
    [[nodiscard]] QByteArray shown(const QStringList &words, unsigned short columns,
                                   const std::map<QString, QString> &environment = {{u"NO_COLOR"_s, u"1"_s}}) const
    {
        testing::AskedCommand command(asked(words), columns, environment);
        return command.whole().replace("\r\n", "\n");
    }
    [[nodiscard]] static QByteArray shownOf(const sandbox::ZooKeeperServer &server, const QStringList &words,
                                            int columns,
                                            const std::map<QString, QString> &environment = {{u"NO_COLOR"_s, u"1"_s}})
    {
        auto uri = u"zk://127.0.0.1:%1"_s.arg(server.address().port);
        if (server.adminPort() != 0)
            uri += u"?admin=%1"_s.arg(server.adminPort());
        testing::AskedCommand command(QStringList{u"--connect"_s, uri} + words, static_cast<unsigned short>(columns),
                                      environment);
        return command.whole().replace("\r\n", "\n");
    }
    [[nodiscard]] QByteArray shownOfZooKeeper(const QStringList &words, int columns,
                                              const std::map<QString, QString> &environment = {
                                                  {u"NO_COLOR"_s, u"1"_s}}) const
    {
        return shownOf(*m_zooKeeper, words, columns, environment);
    }
    static void widths()
    {
        const Rows<int> row("columns");
        row("narrow", 60);
        row("usual", 80);
        row("wide", 200);
    }
    static bool makeNode(zk::Session &session, const QByteArray &path)
    {
        const auto creating =
            session.create(ZPath(path), {}, zk::CreateMode::Persistent, zk::openAcl(), Deadline::never());
        return bool(testing::await(creating));
    }
    // A node as kazoo's Lock makes it: the name that the server gave it.
    QByteArray contend(zk::Session &session, const QByteArray &lock, const QByteArray &client)
    {
        const QByteArray name = QByteArray(32, client.back()) + "__lock__";
        auto creating = session.create(ZPath(lock + '/' + name), client, zk::CreateMode::EphemeralSequential,
                                       zk::openAcl(), Deadline::never());
        const auto created = testing::await(creating);
        return created ? created->path.name().bytes() : QByteArray();
    }
    void watch(zk::Session &session, const QByteArray &node)
    {
        m_watches.push_back(std::make_unique<zk::Watch>(m_loop));
        auto reading = session.get(ZPath(node), *m_watches.back(), Deadline::never());
        QVERIFY(testing::await(reading));
    }
    void startDeadlock()
    {
        for (auto &session : m_sessions) {
            session = zk::openSession(m_loop, {.hosts = {m_zooKeeper->address()}});
            QVERIFY(testing::waitForState(*session, zk::SessionState::Connected));
        }
        QVERIFY(makeNode(*m_sessions[0], "/alice") && makeNode(*m_sessions[0], "/bob"));
        m_alice[0] = contend(*m_sessions[0], "/alice", "transfer-a");
        const auto bob = contend(*m_sessions[1], "/bob", "transfer-b");
        m_alice[1] = contend(*m_sessions[1], "/alice", "transfer-b");
        contend(*m_sessions[0], "/bob", "transfer-a");
        watch(*m_sessions[1], "/alice/" + m_alice[0]);
        watch(*m_sessions[0], "/bob/" + bob);
    }
    static int longest(const QByteArray &text)
    {
        int most = 0;
        for (const auto &line : QString::fromUtf8(text).split(u'\n'))
            most = std::max(most, int(line.size()));
        return most;
    }

    const QByteArray m_long = "lock:" + QByteArray("settlement-of-the-day-").repeated(6);

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
        qputenv("XDG_CONFIG_HOME", m_state.path().toUtf8());
        START_OR_SKIP(m_redis, sandbox::makeRedis({}));
        START_OR_SKIP(m_zooKeeper, sandbox::makeZooKeeper());
        startDeadlock();
        redis({u"SET"_s, u"lock:cart"_s, u"b0f1c2d3-e4a5-4687-8869-5a4b3c2d1e0f"_s});
        redis({u"SET"_s, QString::fromUtf8(m_long), u"a1b2c3d4-e4a5-4687-8869-5a4b3c2d1e0f"_s, u"EX"_s, u"600"_s});
        redis(
            {u"SET"_s, u"lock:tab\tand\x1b[31mred"_s, u"c1d2e3f4-e4a5-4687-8869-5a4b3c2d1e0f"_s, u"EX"_s, u"600"_s});
    }
    void cleanupTestCase()
    {
        m_watches.clear();
        for (auto &session : m_sessions)
            session.reset();
        zk::waitForClosingSessions(std::chrono::seconds(5));
        m_zooKeeper.reset();
        m_redis.reset();
    }

    void incidentsComeFirst()
    {
        const auto text = shown({u"locks"_s}, 100);
        QVERIFY2(text.startsWith("INCIDENTS"), text);
        QVERIFY2(text.contains("1 critical, 0 warnings"), text);
        QVERIFY2(text.simplified().contains("holds cart:lock:cart, which has no - expiry."),
                 text); // its age is unknown
        QVERIFY2(text.indexOf("INCIDENTS") < text.indexOf("STATE "), text);
        const auto findings = shown({u"findings"_s}, 100);
        QVERIFY2(findings.startsWith("INCIDENTS") && findings.count("no expiry") == 1, findings);
    }

    void namesAreWholeAtAnyWidth_data() { widths(); }
    void namesAreWholeAtAnyWidth()
    {
        QFETCH(int, columns);
        const auto text = shown({u"locks"_s}, static_cast<unsigned short>(columns));
        QVERIFY2(text.contains(m_long), text);
        QVERIFY2(text.contains("b0f1c2d3-e4a5-4687-8869-5a4b3c2d1e0f"), text);
        QVERIFY2(longest(text) <= std::max({columns, 16 + int(m_long.size()), 120}), text);
    }

    void colorFollowsItsOptionAndVariable()
    {
        const auto isColored = [](const QByteArray &text) {
            return text.contains("\x1b[1;31m") || text.contains("\x1b[33m");
        };
        QVERIFY(isColored(shown({u"locks"_s}, 80, {{u"TERM"_s, u"xterm"_s}, {u"NO_COLOR"_s, {}}})));
        QVERIFY(!isColored(shown({u"locks"_s}, 80)));
        QVERIFY(isColored(shown({u"locks"_s, u"--color"_s, u"always"_s}, 80)));
        QVERIFY(!isColored(shown({u"locks"_s, u"--color"_s, u"never"_s}, 80, {{u"NO_COLOR"_s, {}}})));
        const auto refused = testing::run(asked({u"locks"_s, u"--color"_s, u"red"_s}));
        QCOMPARE(refused.status, 2);
        QVERIFY2(refused.err.contains("--color takes auto, always or never"), refused.what());
    }

    void signsAreAsciiWhereTheLocaleIs()
    {
        const auto text = shown({u"locks"_s}, 80, {{u"LC_ALL"_s, u"C"_s}, {u"NO_COLOR"_s, u"1"_s}});
        QVERIFY2(text.contains("\nN no expiry"), text);
        for (const char c : text)
            QVERIFY2(static_cast<unsigned char>(c) < 128, text);
    }

    void onAPipeALockIsALine()
    {
        const auto ran = testing::run(asked({u"locks"_s}));
        const auto lines = ran.out.chopped(1).split('\n');
        QVERIFY2(lines.size() == 3, ran.what());
        for (const auto &line : lines)
            QVERIFY2(line.count('\t') == 6, ran.what());
        QVERIFY2(lines.front().startsWith("no expiry\tcart:lock:cart\t"), ran.what());
        QVERIFY2(ran.out.contains(R"(cart:lock:tab\x09and\x1B[31mred)")
                     || ran.out.contains(R"(lock:tab\x09and\x1b[31mred)"),
                 ran.what());
        QVERIFY2(ran.out.contains(m_long) && !ran.out.contains('\x1b'), ran.what());
    }

    // Two sessions, each of which holds one lock and waits for the other's.
    void queueHasRailsAndTheMarkOfADeadlock_data() { widths(); }
    void queueHasRailsAndTheMarkOfADeadlock()
    {
        QFETCH(int, columns);
        const auto text = shownOfZooKeeper({u"show"_s, u"zk:/alice"_s}, columns);
        QVERIFY2(text.startsWith("✕ deadlock  zk\n"), text);
        const auto lines = QString::fromUtf8(text).split(u'\n');
        const auto first = lines.indexOf(QRegularExpression(u"^●┐ +transfer-a .*"_s));
        QVERIFY2(first > 0 && lines[first + 1].startsWith(u"│✕ "_s), text); // solid: the server reports the watch
        const auto second = lines.indexOf(QRegularExpression(u"^○┘ 1 +transfer-b .*"_s));
        QVERIFY2(second > first, text);
        for (auto i = first + 2; i < second; ++i)
            QVERIFY2(lines[i].startsWith(u"││ "_s), text);
        QVERIFY2(text.contains("│ reported by the server") && !text.contains("┊"), text);
        QVERIFY2(text.contains("also waits for zk:/bob\n") && text.contains("also holds zk:/bob\n"), text);
        // Names and IDs are complete, and nothing else is wider than the terminal.
        for (const auto &line : lines) {
            if (!line.contains(u"ID "_s) && !line.startsWith(u"Try: "_s))
                QVERIFY2(line.size() <= columns, qPrintable(line));
        }
        QVERIFY2(text.contains("ID " + m_alice[0] + '\n') && text.contains("ID " + m_alice[1] + '\n'), text);
        QVERIFY2(text.contains("After a release, transfer-b acquires the lock.\n"), text);
    }

    // As a shell reads it.
    void suggestedCommandRunsAsPrinted()
    {
        const auto text = QString::fromUtf8(shownOfZooKeeper({u"show"_s, u"zk:/alice"_s}, 80));
        static const QRegularExpression tried(u"\nTry: lockscopectl (.*)\n"_s);
        const auto found = tried.match(text);
        QVERIFY2(found.hasMatch() && found.captured(1).contains(u"--connect 'zk=zk://127.0.0.1:"_s),
                 qPrintable(text));
        QProcess shell;
        shell.start(u"/bin/sh"_s, {u"-c"_s, QStringLiteral(LOCKSCOPECTL) + u' ' + found.captured(1)});
        QVERIFY(shell.waitForFinished(testing::patienceMs));
        QVERIFY2(shell.exitCode() == 0, shell.readAllStandardError());
        // In the list of incidents it is the same.
        const auto incidents = QString::fromUtf8(shownOfZooKeeper({u"locks"_s}, 80));
        QVERIFY2(incidents.contains(u" Try: lockscopectl rehearse zk:/"_s)
                     && incidents.contains(u"--connect 'zk=zk:"_s),
                 qPrintable(incidents));
    }

    void queueIsAsciiWhereTheLocaleIs()
    {
        const auto text =
            shownOfZooKeeper({u"show"_s, u"zk:/alice"_s}, 80, {{u"LC_ALL"_s, u"C"_s}, {u"NO_COLOR"_s, u"1"_s}});
        QVERIFY2(text.contains("\n*+ ") && text.contains("\n|X ") && text.contains("\no+ 1 "), text);
        for (const char c : text)
            QVERIFY2(static_cast<unsigned char>(c) < 128, text);
    }

    // A server that reports no watches: they follow from the recipe.
    void inferredWatchIsDashedAndWhatIsMissingIsNamed_data() { widths(); }
    void inferredWatchIsDashedAndWhatIsMissingIsNamed()
    {
        QFETCH(int, columns);
        std::unique_ptr<sandbox::ZooKeeperServer> server;
        START_OR_SKIP(server, sandbox::makeZooKeeper({.adminServer = false, .fourLetterWords = "srvr"}));
        const auto session = zk::openSession(m_loop, {.hosts = {server->address()}});
        QVERIFY(testing::waitForState(*session, zk::SessionState::Connected));
        QVERIFY(makeNode(*session, "/jobs"));
        for (const auto *client : {"job-a", "job-b", "job-c"})
            contend(*session, "/jobs", client);
        const auto text = shownOf(*server, {u"show"_s, u"zk:/jobs"_s}, columns);
        const auto lines = QString::fromUtf8(text).split(u'\n');
        const auto first = lines.indexOf(QRegularExpression(u"^● +job-a .*"_s));
        const auto second = lines.indexOf(QRegularExpression(u"^○ 1 +job-b .*"_s));
        const auto third = lines.indexOf(QRegularExpression(u"^○ 2 +job-c .*"_s));
        QVERIFY2(first > 0 && second > first && third > second, text);
        for (auto i = first + 1; i < third; ++i)
            QVERIFY2(i == second || lines[i].startsWith(u"┊ "_s), text);
        QVERIFY2(text.contains("┊ inferred\n") && !text.contains("│") && !text.contains("✕"), text);
        QVERIFY2(text.contains("\nIncomplete: zk: "), text);
        const auto unseen = shown({u"show"_s, QString::fromUtf8("cart:" + m_long)}, 200);
        QVERIFY2(unseen.contains("Incomplete: the server does not report all clients that wait for this lock.\n"),
                 unseen);
    }

    void aStricterLevelIsNoAllClear()
    {
        redis({u"DEL"_s, u"lock:cart"_s});
        const auto none = testing::run(asked({u"findings"_s, u"--severity"_s, u"critical"_s}));
        QVERIFY2(none.out.startsWith("no problems found"), none.what());
        redis({u"SET"_s, u"lock:old"_s, u"1000000000.5"_s}); // ended long ago by its value
        const auto fewer = testing::run(asked({u"findings"_s, u"--severity"_s, u"critical"_s}));
        QVERIFY2(fewer.out.startsWith("no finding is critical; 1 less severe finding exists"), fewer.what());
        QCOMPARE(testing::run(asked({u"findings"_s, u"--severity"_s, u"some"_s})).status, 2);
    }
};

LOCKSCOPE_TEST(TestCtlTerminal)
#include "tst_ctl_terminal.moc"
