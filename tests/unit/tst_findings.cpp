// SPDX-License-Identifier: Apache-2.0
// The table of findings: it has a row for every code that is reported and for no other, and the documents say what it
// says.
#include "core/inspect/findings.h"
#include "core/inspect/json.h"
#include "tests/support/testmain.h"

#include <QDirIterator>
#include <QRegularExpression>

using namespace lockscope::inspect;

namespace {

// By a file that the build has no namesake of.
const QString sources = QFileInfo(QFINDTESTDATA("../../ARCHITECTURE.md")).absolutePath() + u'/';

QString textOfFile(const QString &path)
{
    QFile file(sources + path);
    return file.open(QFile::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

// "no-ttl" is FindingCode::NoTtl in the source.
QString enumeratorOf(const FindingKind &kind)
{
    QString name;
    for (const auto &part : word(kind.code).split(u'-'))
        name += part.left(1).toUpper() + part.mid(1);
    return name;
}

QString page()
{
    QString text = uR"(# Findings

Each finding names a problem of one lock. `lockscopectl findings` lists them; in the window they are
shown above the lock and on the page Findings. The table has the usual severity: a finding is less
severe where less is known or less is at stake.

| code | severity | it means | how to confirm it | what to do |
|---|---|---|---|---|
)"_s;
    for (const auto &kind : findingKinds())
        text += u"| `%1` | %2 | %3 | %4 | %5 |\n"_s.arg(word(kind.code), word(kind.severity), kind.meaning,
                                                        kind.confirm, kind.remedy);
    return text + u"\nMade from `resources/findings.txt`: `tests/unit/tst_findings.cpp` says how.\n"_s;
}

QString manualSection()
{
    QString text = u".SH FINDINGS\n"_s;
    for (const auto &kind : findingKinds())
        text += u".TP\n.B %1\n%2\n"_s.arg(word(kind.code).replace(u'-', u"\\-"_s), kind.meaning);
    return text + u".SH "_s;
}

// Whoever changes the table copies the text printed here into the document.
bool contains(const QString &document, const QString &text)
{
    const bool isThere = document.contains(text);
    if (!isThere)
        qInfo().noquote() << u"the document has to say:\n"_s + text;
    return isThere;
}

} // namespace

class TestFindings : public QObject {
    Q_OBJECT
private slots:
    // A code is the number of its row, so a row in another place would be another finding.
    void rowsAreInTheOrderOfTheCodes()
    {
        const std::pair<FindingCode, const char *> rows[] = {
            {FindingCode::Deadlock, "deadlock"},
            {FindingCode::HolderDisconnected, "holder-disconnected"},
            {FindingCode::NoTtl, "no-ttl"},
            {FindingCode::ExpiredValue, "expired-value"},
            {FindingCode::LostWakeup, "lost-wakeup"},
            {FindingCode::WrongWatch, "wrong-watch"},
            {FindingCode::Herd, "herd"},
            {FindingCode::PersistentNode, "persistent-node"},
            {FindingCode::NoQuorum, "no-quorum"},
            {FindingCode::LongHeld, "long-held"},
            {FindingCode::LongWait, "long-wait"},
            {FindingCode::StaleQueue, "stale-queue"},
            {FindingCode::ForeignNode, "foreign-node"},
            {FindingCode::LeftoverKeys, "leftover-keys"},
            {FindingCode::SequenceOverflow, "sequence-overflow"},
            {FindingCode::RevocationRequested, "revocation-requested"},
            {FindingCode::IdleInTransaction, "idle-in-transaction"},
            {FindingCode::SelfWait, "self-wait"},
            {FindingCode::UnexplainedWait, "unexplained-wait"},
            {FindingCode::DeadlockEnded, "deadlock-ended"},
        };
        QCOMPARE(std::size(rows), findingKinds().size());
        for (const auto &[code, name] : rows)
            QCOMPARE(kindOf(code).name, QByteArray(name));
        QCOMPARE(kindOf(FindingCode::NoTtl).severity, Severity::Critical);
        QCOMPARE(kindOf(FindingCode::LongHeld).severity, Severity::Warning);
        QCOMPARE(kindOf(FindingCode::Herd).severity, Severity::Info);
    }

    void everyRowIsWhole()
    {
        QSet<QString> names;
        for (const auto &kind : findingKinds()) {
            names.insert(word(kind.code));
            QVERIFY2(kind.title.size() > 3 && !kind.title.endsWith(u'.'), kind.name);
            for (const auto text : {kind.meaning, kind.confirm, kind.remedy}) // sentences, for a cell of a table
                QVERIFY2(!text.contains(u'|') && text.endsWith(u'.') && !text.front().isLower(), kind.name);
        }
        QCOMPARE(static_cast<std::size_t>(names.size()), findingKinds().size());
    }

    void reportedFindingsAreTheTablesRows()
    {
        static const QRegularExpression reported(u"addFinding\\([^;]*?FindingCode::(\\w+)"_s);
        QSet<QString> found;
        QDirIterator files(sources + u"core/inspect"_s, {u"*.cpp"_s}, QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            QFile file(files.next());
            QVERIFY(file.open(QFile::ReadOnly));
            auto matches = reported.globalMatch(QString::fromUtf8(file.readAll()));
            while (matches.hasNext())
                found.insert(matches.next().captured(1));
        }
        QSet<QString> rows;
        for (const auto &kind : findingKinds())
            rows.insert(enumeratorOf(kind));
        QCOMPARE(QStringList((found - rows).values()), QStringList());
        QCOMPARE(QStringList((rows - found).values()), QStringList());
    }

    void isAsSevereAsTheTableUnlessTold()
    {
        LockSnapshot lock;
        addFinding(lock, FindingCode::NoTtl, u"for ever"_s, {"a"});
        addFinding(lock, FindingCode::LongHeld, Severity::Info, u"at most"_s);
        QCOMPARE(lock.findings[0], (Finding{FindingCode::NoTtl, Severity::Critical, u"for ever"_s, {"a"}}));
        QCOMPARE(lock.find(FindingCode::LongHeld)->severity, Severity::Info);
        QVERIFY(!lock.find(FindingCode::Herd));
    }

    void aMessageGoesOnCounting()
    {
        LockSnapshot lock{.observed = ServerTime(1h)};
        Wording message = u"silent for "_s;
        message.since(lock.observed - 44s) << u"; it expires "_s;
        message.until(lock.observed + 2600ms) << u", perhaps"_s;
        addFinding(lock, FindingCode::HolderDisconnected, message, {"a"});
        const auto &finding = lock.findings.front();
        QCOMPARE(finding.message, u"silent for 44 s; it expires in 2.6 s, perhaps"_s);
        QCOMPARE(messageAt(finding, lock.observed), finding.message);
        QCOMPARE(messageAt(finding, lock.observed + 1min), u"silent for 1 m 44 s; it expires now, perhaps"_s);
        QCOMPARE(messageAt({FindingCode::NoTtl, Severity::Critical, u"no %1"_s, {}}, lock.observed), u"no %1"_s);
    }

    void waitForTheOwnSessionIsReported_data()
    {
        const Rows<QByteArray, QString, std::chrono::seconds, bool> row("recipe", "waiter", "waits", "isTold");
        row("an election at once", "curator-leader", u"0x1"_s, 1s, true);
        row("an election with another session", "curator-leader", u"0x2"_s, 1h, false);
        row("threads of one client take turns", "curator-mutex", u"0x1"_s, 10s, false);
        row("a mutex for long", "curator-mutex", u"0x1"_s, 10min, true);
        row("a mutex of another session", "curator-mutex", u"0x2"_s, 10min, false);
    }
    void waitForTheOwnSessionIsReported()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(QString, waiter);
        QFETCH(std::chrono::seconds, waits);
        QFETCH(bool, isTold);
        LockSnapshot lock{.lock = {ConnectionName("zk"), "/a"}, .recipe = recipe, .observed = ServerTime(2h)};
        lock.contenders = {
            {.id = "h", .role = Role::Holder, .session = u"0x1"_s},
            {.id = "w", .role = Role::Waiter, .session = waiter, .waitingSince = lock.observed - waits}};
        addAgeFindings(lock, {});
        const auto *finding = lock.find(FindingCode::SelfWait);
        QCOMPARE(finding != nullptr, isTold);
        if (finding)
            QCOMPARE(finding->contenders, (std::vector<QByteArray>{"h", "w"}));
    }

    void candidatesOfOneNameAreReported_data()
    {
        const Rows<QByteArray, QByteArray, QByteArray, bool> row("recipe", "holder", "waiter", "isReported");
        row("one name in two sessions", "curator-leader", "cleaner@dCacheDomain", "cleaner@dCacheDomain", true);
        row("an election of etcd", "etcd-election", "pod-7", "pod-7", true);
        row("two names", "curator-leader", "nifi-1:11443", "nifi-2:11443", false);
        row("an address, which is a host's", "curator-leader", "10.0.0.7", "10.0.0.7", false);
        row("no name", "curator-leader", "", "", false);
        row("a mutex, whose clients have threads", "curator-mutex", "billing-1", "billing-1", false);
    }
    void candidatesOfOneNameAreReported()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(QByteArray, holder);
        QFETCH(QByteArray, waiter);
        QFETCH(bool, isReported);
        LockSnapshot lock{.lock = {ConnectionName("zk"), "/a"}, .recipe = recipe, .observed = ServerTime(2h)};
        lock.contenders = {{.id = "h", .role = Role::Holder, .session = u"0x1"_s, .identity = holder},
                           {.id = "w", .role = Role::Waiter, .session = u"0x2"_s, .identity = waiter}};
        addAgeFindings(lock, {});
        QCOMPARE(lock.find(FindingCode::SelfWait) != nullptr, isReported);
        QVERIFY(lock.findings.empty() || lock.worst() == Severity::Info);
    }

    // Five thousand in one queue are one finding, and the one who waits longest is named in it.
    void aLongQueueIsOneFinding()
    {
        LockSnapshot lock{.observed = ServerTime(1h)};
        for (int i = 0; i < 5000; ++i) {
            Contender one;
            one.id = "w" + QByteArray::number(i);
            one.waitingSince = ServerTime(std::chrono::seconds(i == 7 ? 0 : 600));
            lock.contenders.push_back(one);
        }
        addAgeFindings(lock, {});
        QCOMPARE(lock.findings.size(), size_t(1));
        QCOMPARE(lock.findings.front().contenders.size(), size_t(5000));
        QVERIFY2(lock.findings.front().message.contains(u"5000"_s)
                     && lock.findings.front().message.contains(u"w7,"_s),
                 qPrintable(lock.findings.front().message));
        LockSnapshot alone = lock;
        alone.findings.clear();
        alone.contenders.resize(1);
        addAgeFindings(alone, {});
        QVERIFY(alone.findings.front().message.startsWith(u"has waited for"_s));
    }

    // Its node is two hours old, and a moment ago it waited: nothing is odd about its hold.
    void newHolderIsNotHeldForLong()
    {
        LockSnapshot before{.observed = ServerTime(2h)};
        before.contenders.resize(2);
        before.contenders[0].id = "first";
        before.contenders[0].role = Role::Holder;
        before.contenders[1].id = "next";
        LockSnapshot lock = before;
        lock.observed += 300ms;
        lock.contenders.erase(lock.contenders.begin());
        lock.contenders[0].role = Role::Holder;
        lock.contenders[0].heldSince = ServerTime(0h);
        lock.contenders[0].heldAtMost = true;
        addAgeFindings(lock, {});
        QVERIFY(lock.find(FindingCode::LongHeld));
        boundHolds(lock, before);
        QVERIFY(lock.findings.empty());
        QCOMPARE(lock.contenders[0].heldSince, before.observed);
        QVERIFY(lock.contenders[0].heldAtMost);
        LockSnapshot untouched = before; // who held before holds for as long as it did
        untouched.contenders[0].heldSince = ServerTime(0h);
        addAgeFindings(untouched, {});
        boundHolds(untouched, before);
        QVERIFY(untouched.find(FindingCode::LongHeld));
        QCOMPARE(untouched.contenders[0].heldSince, ServerTime(0h));
    }

    void theDocumentsSayTheSame()
    {
        QVERIFY(contains(textOfFile(u"docs/findings.md"_s), page()));
        QVERIFY(contains(textOfFile(u"installer/man/lockscopectl.1.in"_s), manualSection()));
    }
};

LOCKSCOPE_TEST(TestFindings)
#include "tst_findings.moc"
