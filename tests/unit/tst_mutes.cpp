// SPDX-License-Identifier: Apache-2.0
// Muting: what a mute covers, when it ends, and what a file of them may say.
#include "core/workspace/mutes.h"
#include "tests/support/testmain.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>

using inspect::FindingCode;
using inspect::LockName;
using inspect::Severity;

namespace {

const MuteTime mutesNoon{1'763'812'800s}; // 2025-11-22 12:00 UTC

LockName lockNamed(const QByteArray &name)
{
    return {ConnectionName("zk"), name};
}

Mute aMute()
{
    return {u"zk:/locks/a"_s, {}, FindingCode::LongHeld, u"a migration, OPS-7"_s, mutesNoon, mutesNoon + 1h};
}

} // namespace

class TestMutes : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QString path() const { return m_folder.filePath(u"mutes.json"_s); }
    void write(const QByteArray &text)
    {
        QFile file(path());
        QVERIFY(file.open(QFile::WriteOnly));
        file.write(text);
    }

private slots:
    void init() { QFile::remove(path()); }

    // As the terminal does while the window is open: the first one, which makes the file, and the next.
    void anotherProgramsChangeIsSeen()
    {
        MuteStore window(path());
        window.follow();
        MuteStore terminal(path());
        QVERIFY(terminal.add(aMute()));
        QTRY_COMPARE(window.all().size(), std::size_t(1));
        QVERIFY(terminal.remove(aMute()));
        QTRY_VERIFY(window.all().empty());
        write("not JSON");
        QTRY_VERIFY(!window.loadError().isEmpty());
    }

    void coversOneFindingOfOneLock()
    {
        const auto mute = aMute();
        QVERIFY(covers(mute, lockNamed("/locks/a"), FindingCode::LongHeld, Severity::Warning));
        QVERIFY(!covers(mute, lockNamed("/locks/a"), FindingCode::LongWait, Severity::Warning));
        QVERIFY(!covers(mute, lockNamed("/locks/ab"), FindingCode::LongHeld, Severity::Warning));
        QVERIFY(!covers(mute, {ConnectionName("zk2"), "/locks/a"}, FindingCode::LongHeld, Severity::Warning));
    }

    void coversWhateverIsFoundOfALock()
    {
        auto mute = aMute();
        mute.code.reset();
        QVERIFY(covers(mute, lockNamed("/locks/a"), FindingCode::Herd, Severity::Info));
        QVERIFY(covers(mute, lockNamed("/locks/a"), FindingCode::Deadlock, Severity::Critical));
    }

    void aPatternIsOfNameOrConnectionAndName()
    {
        auto mute = aMute();
        mute.lock.clear();
        for (const auto &[pattern, isCovered] : {std::pair("/locks/*", true), std::pair("zk:/locks/*", true),
                                                 std::pair("zk2:*", false), std::pair("*", true)}) {
            mute.pattern = QString::fromLatin1(pattern);
            QCOMPARE(covers(mute, lockNamed("/locks/a/b"), FindingCode::LongHeld, Severity::Warning), isCovered);
        }
    }

    // A pattern must not hide what nobody has looked at.
    void criticalFindingIsMutedLockByLockOnly()
    {
        Mute mute{{}, u"*"_s, {}, u"noise"_s, mutesNoon, mutesNoon + 1h};
        QVERIFY(!covers(mute, lockNamed("/a"), FindingCode::Deadlock, Severity::Critical));
        QVERIFY(!covers(mute, lockNamed("/a"), FindingCode::PersistentNode, Severity::Critical));
        QVERIFY(!covers(mute, lockNamed("/a"), FindingCode::NoTtl, Severity::Info)); // critical as a rule
        QVERIFY(covers(mute, lockNamed("/a"), FindingCode::LongHeld, Severity::Warning));
        mute.code = FindingCode::NoTtl;
        QVERIFY(objectionTo(mute).startsWith(u"lock "_s));
        mute.pattern.clear();
        mute.lock = u"zk:/a"_s;
        QCOMPARE(objectionTo(mute), QString());
        QVERIFY(covers(mute, lockNamed("/a"), FindingCode::NoTtl, Severity::Critical));
    }

    void neverWithoutAnEndOrAReason()
    {
        auto mute = aMute();
        QCOMPARE(objectionTo(mute), QString());
        mute.until = mute.since + longestMute;
        QCOMPARE(objectionTo(mute), QString());
        mute.until += 1s;
        QVERIFY(objectionTo(mute).startsWith(u"until "_s));
        mute.until = mute.since;
        QVERIFY(objectionTo(mute).startsWith(u"until "_s));
        mute = aMute();
        mute.reason = u"  "_s;
        QVERIFY(objectionTo(mute).startsWith(u"reason "_s));
        mute = aMute();
        mute.pattern = u"*"_s;
        QVERIFY(objectionTo(mute).startsWith(u"lock "_s));
    }

    // Without its connection a lock would never match.
    void lockNeedsItsConnection()
    {
        auto mute = aMute();
        for (const auto *name : {"/locks/orders", "orders", "/locks:orders", ":orders", "zk:"}) {
            mute.lock = QString::fromLatin1(name);
            QCOMPARE(objectionTo(mute), u"lock must be CONNECTION:NAME, for example zk:/locks/orders"_s);
        }
        mute.lock = u"zk-2.prod:/locks/orders"_s;
        QCOMPARE(objectionTo(mute), QString());
    }

    void theLongestCounts()
    {
        auto longer = aMute();
        longer.code.reset();
        longer.until += 1h;
        const std::vector mutes{aMute(), longer};
        QCOMPARE(muteOf(mutes, lockNamed("/locks/a"), FindingCode::LongHeld, Severity::Warning)->until, longer.until);
        QVERIFY(!muteOf(mutes, lockNamed("/locks/b"), FindingCode::LongHeld, Severity::Warning));
    }

    void isKeptInTheFile()
    {
        MuteStore store(path());
        QSignalSpy changed(&store, &MuteStore::changed);
        QVERIFY(store.all().empty() && store.loadError().isEmpty());
        QVERIFY(store.add(aMute()));
        QCOMPARE(changed.size(), 1);
        QCOMPARE(MuteStore(path()).all(), std::vector{aMute()});
        QVERIFY(!(QFile::permissions(path()) & (QFile::ReadGroup | QFile::ReadOther)));
        // Said again it replaces, and what is over goes.
        auto later = aMute();
        later.since += 2h;
        later.until = later.since + 1h;
        auto other = later;
        other.lock = u"zk:/locks/b"_s;
        QVERIFY(store.add(other));
        QVERIFY(store.add(later));
        QCOMPARE(store.all(), (std::vector{other, later}));
        QVERIFY(store.remove(other));
        QVERIFY(MuteStore(path()).all().size() <= 1);
    }

    // The other program wrote it meanwhile: nothing of that is lost.
    void twoProgramsWriteOneFile()
    {
        MuteStore ours(path()), theirs(path());
        QVERIFY(theirs.add(aMute()));
        auto mute = aMute();
        mute.lock = u"zk:/locks/b"_s;
        QVERIFY(ours.add(mute));
        QCOMPARE(MuteStore(path()).all().size(), 2u);
    }

    void brokenFile_data()
    {
        const Rows<QByteArray, QString> row("text", "says");
        row("no JSON", "{", u"byte "_s);
        row("no version", "{}", u"version: is missing"_s);
        row("newer", QByteArray(R"({"version":2})"), u"version: 2 is not 1"_s);
        row("no list", QByteArray(R"({"version":1,"mutes":7})"), u"mutes: must be an array"_s);
        const QByteArray one =
            R"({"version":1,"mutes":[{"lock":"zk:/a","reason":"r","since":"2025-11-22T12:00:00Z",)";
        row("no end", one + "}]}", u"byte"_s);
        row("endless", one + R"("code":"long-held"}]})", u"mutes[0].until: must be a time"_s);
        row("too long", one + R"("until":"2026-11-22T12:00:00Z"}]})", u"mutes[0].until: must be after"_s);
        row("unknown code", one + R"("until":"2025-11-22T13:00:00Z","code":"nonsense"}]})",
            u"mutes[0].code: must be a finding code"_s);
        row("unknown field", one + R"("until":"2025-11-22T13:00:00Z","Code":"long-held"}]})",
            u"mutes[0].Code: is not known here"_s);
    }
    // It says the file and the field, mutes nothing, and is left as it is.
    void brokenFile()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, says);
        write(text);
        MuteStore store(path());
        QVERIFY(store.all().empty());
        QVERIFY2(store.loadError().contains(path() + u": "_s + says), qPrintable(store.loadError()));
        QVERIFY(!store.add(aMute()));
        QFile file(path());
        QVERIFY(file.open(QFile::ReadOnly));
        QCOMPARE(file.readAll(), text);
        // Mended, it is read.
        file.remove();
        QSignalSpy changed(&store, &MuteStore::changed);
        QVERIFY(store.add(aMute()));
        QVERIFY(store.loadError().isEmpty() && !changed.isEmpty());
    }
};

LOCKSCOPE_TEST(TestMutes)
#include "tst_mutes.moc"
