// SPDX-License-Identifier: Apache-2.0
// The audit file: on disk before append returns, chained, private, and honest about damage.
#include <version>

#include "core/operate/audit.h"
#include "tests/support/testmain.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QSysInfo>
#include <QTest>

#include <csignal>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace lockscope;
using namespace lockscope::operate;
using namespace Qt::StringLiterals;

namespace {

AuditRecord intent(const QByteArray &lock)
{
    AuditRecord record;
    record.action = u"force-release"_s;
    record.lock = lock;
    record.holder = "h\x01";
    record.reason = u"stuck since noon, \"really\""_s;
    record.phase = u"intent"_s;
    record.before = QJsonObject{{u"state"_s, u"held"_s}};
    return record;
}

QByteArray contents(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void overwrite(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    QCOMPARE(file.write(bytes), bytes.size());
}

QStringList problemsOf(const AuditFile &file)
{
    QStringList problems;
    const auto records = file.read(&problems);
    return records ? problems : QStringList{records.error().message};
}

} // namespace

class TestAudit : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;
    int m_count = 0;
    QString freshPath() { return m_folder.filePath(u"state%1/lockscope/audit.jsonl"_s.arg(++m_count)); }

private slots:
    void writtenRecordsAreReadBack()
    {
        AuditFile file(freshPath());
        QVERIFY(file.append(intent("zk:/locks/\xff")));
        auto result = intent("zk:/locks/\xff");
        result.phase = u"result"_s;
        result.outcome = u"released"_s;
        QVERIFY(file.append(result));
        QStringList problems;
        const auto records = file.read(&problems);
        QVERIFY(records);
        QCOMPARE(problems, QStringList());
        QCOMPARE(records->size(), 2U);
        const auto &first = records->front();
        QCOMPARE(first.lock, QByteArray("zk:/locks/\xff"));
        QCOMPARE(first.holder, QByteArray("h\x01"));
        QCOMPARE(first.reason, u"stuck since noon, \"really\""_s);
        QCOMPARE(first.actor, currentActor());
        QCOMPARE(first.before.value("state"_L1).toString(), u"held"_s);
        QCOMPARE(first.hash.size(), 64);
        QVERIFY(first.time > std::chrono::system_clock::now() - std::chrono::hours(1));
        QCOMPARE(records->back().outcome, u"released"_s);
    }

    void onlyTheOwnerMayReadIt()
    {
        AuditFile file(freshPath());
        QVERIFY(file.append(intent("zk:/a")));
        struct stat info = {};
        QCOMPARE(::stat(QFile::encodeName(file.path()).constData(), &info), 0);
        QCOMPARE(info.st_mode & 0777U, 0600U);
    }

    void readableFileIsMadePrivate()
    {
        const auto folder = m_folder.filePath(u"open/lockscope"_s);
        QVERIFY(QDir().mkpath(folder));
        AuditFile file(folder + u"/audit.jsonl"_s);
        overwrite(file.path(), {});
        QCOMPARE(::chmod(QFile::encodeName(file.path()).constData(), 0644), 0);
        QCOMPARE(::chmod(QFile::encodeName(folder).constData(), 0755), 0);
        QVERIFY(file.append(intent("zk:/a")));
        struct stat info = {};
        QCOMPARE(::stat(QFile::encodeName(file.path()).constData(), &info), 0);
        QCOMPARE(info.st_mode & 0777U, 0600U);
        QCOMPARE(::stat(QFile::encodeName(folder).constData(), &info), 0);
        QCOMPARE(info.st_mode & 0777U, 0700U);
    }

    // As on a full disk: part of a record fits.
    void halfAWriteLeavesNothing()
    {
        AuditFile file(freshPath());
        QVERIFY(file.append(intent("zk:/a")));
        const auto before = contents(file.path());
        struct rlimit limit = {};
        QCOMPARE(::getrlimit(RLIMIT_FSIZE, &limit), 0);
        const auto unlimited = limit;
        limit.rlim_cur = static_cast<rlim_t>(before.size()) + 20;
        std::signal(SIGXFSZ, SIG_IGN);
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &limit), 0);
        const auto written = file.append(intent("zk:/b"));
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &unlimited), 0);
        std::signal(SIGXFSZ, SIG_DFL);
        QVERIFY(!written);
        QCOMPARE(contents(file.path()), before);
        QVERIFY(file.append(intent("zk:/c")));
        QCOMPARE(problemsOf(file), QStringList());
    }

    void theActorIsThePersonToo()
    {
        QVERIFY(currentActor().contains(u'@' + QSysInfo::machineHostName()));
        QFile login(u"/proc/self/loginuid"_s);
        const bool isKnown = login.open(QIODevice::ReadOnly) && login.readAll().trimmed() != "4294967295";
        if (::geteuid() != 0 || isKnown)
            QSKIP("sudo is believed only by root, and only where the kernel does not know who logged in");
        qputenv("SUDO_UID", "4711");
        QVERIFY2(currentActor().endsWith(u" (logged in as uid 4711)"_s), qPrintable(currentActor()));
        qunsetenv("SUDO_UID");
        QVERIFY(!currentActor().contains(u"logged in"_s));
    }

    void theDefaultPathFollowsXdg()
    {
        qputenv("XDG_STATE_HOME", "/somewhere/state");
        QCOMPARE(AuditFile().path(), u"/somewhere/state/lockscope/audit.jsonl"_s);
        qputenv("XDG_STATE_HOME", "relative");
        QCOMPARE(AuditFile().path(), QDir::homePath() + u"/.local/state/lockscope/audit.jsonl"_s);
        qunsetenv("XDG_STATE_HOME");
    }

    void aMissingFileHoldsNothing()
    {
        const AuditFile file(freshPath());
        const auto records = file.read(nullptr);
        QVERIFY(records && records->empty());
    }

    void twoWritersAtOnceKeepOneChain()
    {
        const auto path = freshPath();
        constexpr int each = 40;
        bool fine[2] = {true, true};
        const auto write = [&](int who) {
            AuditFile file(path);
            for (int i = 0; i < each; ++i)
                fine[who] = file.append(intent("zk:/by" + QByteArray::number(who))) && fine[who];
        };
        std::thread other(write, 1);
        write(0);
        other.join();
        QVERIFY(fine[0] && fine[1]);
        QStringList problems;
        const auto records = AuditFile(path).read(&problems);
        QVERIFY(records);
        QCOMPARE(problems, QStringList());
        QCOMPARE(records->size(), 2U * each);
    }

    void aChangedLineShows()
    {
        AuditFile file(freshPath());
        for (const char *lock : {"zk:/a", "zk:/b", "zk:/c"})
            QVERIFY(file.append(intent(lock)));
        overwrite(file.path(), contents(file.path()).replace("zk:/b", "zk:/x"));
        const auto problems = problemsOf(file);
        QCOMPARE(problems.size(), 1);
        QVERIFY2(problems.front().contains(u"line 2"_s), qPrintable(problems.front()));
    }

    // More nanoseconds than fit, so no time; that the line was changed is said.
    void aYearThatNoClockHasIsNoTime()
    {
        AuditFile file(freshPath());
        QVERIFY(file.append(intent("zk:/a")));
        const auto year = contents(file.path()).mid(contents(file.path()).indexOf("\"time\":\"") + 8, 4);
        overwrite(file.path(), contents(file.path()).replace(year + '-', "9999-"));
        QStringList problems;
        const auto records = file.read(&problems);
        QVERIFY(records);
        QCOMPARE(records->size(), 1U);
        QCOMPARE(records->front().time, std::chrono::system_clock::time_point());
        QCOMPARE(problems.size(), 1);
    }

    void aRemovedLineShows()
    {
        AuditFile file(freshPath());
        for (const char *lock : {"zk:/a", "zk:/b", "zk:/c"})
            QVERIFY(file.append(intent(lock)));
        auto lines = contents(file.path()).split('\n');
        lines.removeAt(0);
        overwrite(file.path(), lines.join('\n'));
        const auto problems = problemsOf(file);
        QCOMPARE(problems.size(), 1);
        QVERIFY2(problems.front().contains(u"line 1"_s), qPrintable(problems.front()));
    }

    void aCutEndShows()
    {
        AuditFile file(freshPath());
        for (const char *lock : {"zk:/a", "zk:/b", "zk:/c"})
            QVERIFY(file.append(intent(lock)));
        auto lines = contents(file.path()).split('\n');
        lines.removeAt(2);
        overwrite(file.path(), lines.join('\n'));
        QCOMPARE(problemsOf(file).size(), 1);
        QVERIFY2(problemsOf(file).front().contains(u"missing"_s), qPrintable(problemsOf(file).front()));
        // Whatever is written after it does not hide that.
        QVERIFY(file.append(intent("zk:/d")));
        QCOMPARE(problemsOf(file).size(), 1);
        QVERIFY2(problemsOf(file).front().contains(u"line 3"_s), qPrintable(problemsOf(file).front()));
    }

    void aRemovedFileShows()
    {
        AuditFile file(freshPath());
        QVERIFY(file.append(intent("zk:/a")));
        QVERIFY(QFile::remove(file.path()));
        QCOMPARE(problemsOf(file).size(), 1);
        QVERIFY(file.append(intent("zk:/b")));
        QCOMPARE(problemsOf(file).size(), 1);
        // Put away with its head, it is no loss.
        QVERIFY(QFile::remove(file.path()) && QFile::remove(file.path() + u".head"_s));
        QCOMPARE(problemsOf(file), QStringList());
    }

    void removedHeadStaysReported()
    {
        AuditFile file(freshPath());
        for (const char *lock : {"zk:/a", "zk:/b"})
            QVERIFY(file.append(intent(lock)));
        auto lines = contents(file.path()).split('\n');
        lines.removeAt(1); // the last record is cut off, and what would tell so
        overwrite(file.path(), lines.join('\n'));
        QVERIFY(QFile::remove(file.path() + u".head"_s));
        QVERIFY(file.append(intent("zk:/c")));
        QVERIFY(file.append(intent("zk:/d")));
        const auto problems = problemsOf(file);
        QCOMPARE(problems.size(), 1);
        QVERIFY2(problems.front().contains(u"line 2: was written while"_s), qPrintable(problems.front()));
    }

    // It may have died between the record and its hash beside it.
    void aHeadThatIsOneRecordLateIsNoLoss()
    {
        AuditFile file(freshPath());
        QVERIFY(file.append(intent("zk:/a")));
        const auto head = contents(file.path() + u".head"_s);
        QVERIFY(file.append(intent("zk:/b")));
        overwrite(file.path() + u".head"_s, head);
        QCOMPARE(problemsOf(file), QStringList());
        QVERIFY(file.append(intent("zk:/c")));
        QCOMPARE(problemsOf(file), QStringList());
    }

    void anIntentThatNoResultFollowsIsMarked()
    {
        AuditFile file(freshPath());
        auto result = intent("zk:/a");
        result.phase = u"result"_s;
        QVERIFY(file.append(intent("zk:/a")));
        QVERIFY(file.append(intent("zk:/b")));
        QVERIFY(file.append(intent("zk:/a"))); // its program was killed, and this one came after it
        QVERIFY(file.append(result));
        const auto records = file.read(nullptr);
        QVERIFY(records);
        QVERIFY((*records)[0].lacksResult);
        QVERIFY((*records)[1].lacksResult);
        QVERIFY(!(*records)[2].lacksResult && !(*records)[3].lacksResult);
    }

    void halfALineLosesOnlyItself()
    {
        AuditFile file(freshPath());
        QVERIFY(file.append(intent("zk:/a")));
        const auto whole = contents(file.path());
        overwrite(file.path(), whole + whole.left(whole.size() / 2));
        QVERIFY(file.append(intent("zk:/b")));
        QStringList problems;
        const auto records = file.read(&problems);
        QVERIFY(records);
        QCOMPARE(records->size(), 2U);
        QCOMPARE(problems.size(), 1);
        QVERIFY2(problems.front().contains(u"line 2: is half a record"_s), qPrintable(problems.front()));
        overwrite(file.path(), contents(file.path()) + "hello\n");
        problems.clear();
        QVERIFY(file.read(&problems));
        QVERIFY2(problems.value(1).contains(u"line 4: is not an audit record"_s), qPrintable(problems.value(1)));
    }

    void recordsLargerThanABlockAreFollowed()
    {
        AuditFile file(freshPath());
        auto large = intent("zk:/a");
        large.before[u"contenders"_s] = QString(300'000, u'x');
        QVERIFY(file.append(large));
        QVERIFY(file.append(intent("zk:/b")));
        QCOMPARE(problemsOf(file), QStringList());
    }

    void unwritableFile_errorNamesThePath()
    {
        // A file where the folder should be: fails for root too.
        const auto blocker = m_folder.filePath(u"blocker"_s);
        overwrite(blocker, "x");
        AuditFile file(blocker + u"/lockscope/audit.jsonl"_s);
        const auto written = file.append(intent("zk:/a"));
        QVERIFY(!written);
        QVERIFY2(written.error().message.contains(file.path()), qPrintable(written.error().message));
        AuditFile folder(m_folder.path());
        const auto onFolder = folder.append(intent("zk:/a"));
        QVERIFY(!onFolder);
        QVERIFY2(onFolder.error().message.contains(folder.path()), qPrintable(onFolder.error().message));
    }
};

LOCKSCOPE_TEST(TestAudit)
#include "tst_audit.moc"
