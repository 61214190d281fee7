// SPDX-License-Identifier: Apache-2.0
// The examples that each command's --help prints run as they are printed: on the demo of the sandbox, with its
// servers for those of the example.
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QFile>
#include <QRegularExpression>

#include <algorithm>

class TestCtlExamples : public QObject {
    Q_OBJECT
private:
    QStringList examplesOf(const QString &command)
    {
        const auto help = QString::fromUtf8(testing::run({command, u"--help"_s}).out);
        QStringList examples;
        for (const auto &line : help.mid(help.indexOf(u"\nExamples\n"_s)).split(u'\n')) {
            if (line.startsWith("  lockscopectl "_L1))
                examples << line.mid(15);
        }
        return examples;
    }
    QString holder()
    {
        const auto shown =
            testing::run({u"--connect"_s, m_uris[u"zk"_s], u"show"_s, u"zk:/locks/orders"_s, u"--json"_s}).json();
        const auto contenders = shown["lock"_L1]["contenders"_L1].toArray();
        return contenders.isEmpty() ? QString() : contenders[0].toObject()["id"_L1].toString();
    }
    // As a shell splits it, with the demo's servers, a holder of this moment, and files in a folder of ours.
    QStringList wordsOf(QString example)
    {
        static const QRegularExpression uri(u"(zk|redis|mariadb)=[a-z]+://\\S+"_s);
        for (auto found = uri.match(example); found.hasMatch(); found = uri.match(example, found.capturedStart() + 1))
            example.replace(found.captured(), m_uris[found.captured(1)]);
        example.replace(u"127.0.0.1:9877"_s, u"127.0.0.1:0"_s);
        example.replace(u"incident.lockscope"_s, m_folder.filePath(u"incident.lockscope"_s));
        example.replace(u"my-rules.json"_s, m_folder.filePath(u"my-rules.json"_s));
        if (example.contains(u"--holder ID"_s))
            example.replace(u"--holder ID"_s, u"--holder "_s + holder());
        return QProcess::splitCommand(example.replace(u'\'', u'"'));
    }
    Ran ranFor(const QString &example, bool isUntilInterrupted)
    {
        if (example.contains(u" record "_s))
            QFile::remove(m_folder.filePath(u"incident.lockscope"_s));
        if (!isUntilInterrupted)
            return testing::run(wordsOf(example));
        Ctl ctl(wordsOf(example));
        if (example.startsWith("sandbox"_L1) || example.contains("--listen"_L1))
            ctl.line();
        else if (!QTest::qWaitFor([&] { return QFile::exists(m_folder.filePath(u"incident.lockscope"_s)); },
                                  testing::patienceMs))
            return {-1, {}, "nothing was recorded"};
        ctl.signal(SIGINT);
        return ctl.finish();
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_folder.path().toUtf8());
        QVERIFY(QFile::copy(QFINDTESTDATA("../../docs/rules/acme-jobs.json"), m_folder.filePath(u"my-rules.json"_s)));
        m_demo = std::make_unique<Ctl>(
            QStringList{u"sandbox"_s, u"--zk"_s, u"--redis"_s, u"1"_s, u"--mariadb"_s, u"--demo"_s});
        for (int i = 0; i < 3; ++i) {
            const auto line = QString::fromUtf8(m_demo->line(60'000));
            m_uris[line.section(u'=', 0, 0)] = line;
        }
        QCOMPARE(m_uris.keys(), (QStringList{u"mariadb"_s, u"redis"_s, u"zk"_s}));
    }
    void cleanupTestCase()
    {
        m_demo->signal(SIGTERM);
        QCOMPARE(m_demo->finish().status, 0);
    }

    void eachExampleRuns_data()
    {
        const Rows<QString> row("command");
        for (
            const auto &command :
            u"locks show sessions findings graph note metrics mcp tree keys acquire force-release rehearse audit record "
            "replay recipes simulate lesson test recognise sandbox"_s.split(u' '))
            row(qPrintable(command), command);
    }
    void eachExampleRuns()
    {
        QFETCH(QString, command);
        const auto examples = examplesOf(command);
        QCOMPARE(examples.size(), 2);
        for (const auto &example : examples) {
            const bool isUntilInterrupted = command == "sandbox"_L1 || example.contains("--listen"_L1)
                                            || (command == "record"_L1 && !example.contains("--for"_L1));
            auto ran = ranFor(example, isUntilInterrupted);
            // The holder may have released the lock since it was asked for.
            for (int i = 0; i < 5 && ran.status == 4; ++i)
                ran = ranFor(example, isUntilInterrupted);
            QVERIFY2(ran.status == 0, example.toUtf8() + '\n' + ran.what());
            QVERIFY2(!ran.out.isEmpty() || isUntilInterrupted || command == "record"_L1 || command == "mcp"_L1,
                     example.toUtf8() + '\n' + ran.what());
        }
    }

    // A summary is one line of the general help: an imperative of at most ten words.
    void summariesAreShort()
    {
        const auto help = QString::fromUtf8(testing::run({u"--help"_s}).out);
        int commands = 0;
        for (const auto &line : help.split(u'\n')) {
            static const QRegularExpression command(u"^(?:[A-Z][A-Za-z ]{7}| {8})[a-z-]+ +(\\S.*)$"_s);
            const auto found = command.match(line);
            if (!found.hasMatch())
                continue;
            ++commands;
            QVERIFY2(found.captured(1).split(u' ').size() <= 10, qPrintable(line));
            QVERIFY2(line.size() <= 100, qPrintable(line));
        }
        QCOMPARE(commands, 22);
    }

private:
    QTemporaryDir m_folder;
    std::unique_ptr<Ctl> m_demo;
    QMap<QString, QString> m_uris; // "zk=zk://127.0.0.1:…" by name
};

LOCKSCOPE_TEST(TestCtlExamples)
#include "tst_ctl_examples.moc"
