// SPDX-License-Identifier: Apache-2.0
// What lockscopectl shows on a terminal and prints on a pipe: incidents first, names whole, cells between tabs.
#include "tests/support/asked.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

class TestCtlTerminal : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::Server> m_redis;
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
        redis({u"SET"_s, u"lock:cart"_s, u"b0f1c2d3-e4a5-4687-8869-5a4b3c2d1e0f"_s});
        redis({u"SET"_s, QString::fromUtf8(m_long), u"a1b2c3d4-e4a5-4687-8869-5a4b3c2d1e0f"_s, u"EX"_s, u"600"_s});
        redis(
            {u"SET"_s, u"lock:tab\tand\x1b[31mred"_s, u"c1d2e3f4-e4a5-4687-8869-5a4b3c2d1e0f"_s, u"EX"_s, u"600"_s});
    }
    void cleanupTestCase() { m_redis.reset(); }

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

    void namesAreWholeAtAnyWidth_data()
    {
        const Rows<int> row("columns");
        row("narrow", 60);
        row("usual", 80);
        row("wide", 200);
    }
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
