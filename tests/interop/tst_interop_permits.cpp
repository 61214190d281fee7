// SPDX-License-Identifier: Apache-2.0
// Clients whose holders are members of a set or fields of a hash: redis-semaphore of npm and of PyPI, Symfony's Lock,
// sidekiq-unique-jobs.
// Each holder is seen, by the name that its client gave it, and nobody who does not hold; also when the one before
// has given it back, or when it was taken away: then the next one is in, soon. So it is when a time was shortened.
#include "tests/interop/rediscross.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

namespace {

using Started = std::unique_ptr<ForeignClient>;

Started npm(const QString &kind, const QString &server)
{
    return std::make_unique<ForeignClient>(
        u"node"_s, QStringList{clientFile(u"node_mutex_client.js"_s), fetched("NODE_LOCKS"), kind, server});
}
Started pypi(const QString &, const QString &server)
{
    return std::make_unique<ForeignClient>(fetched("PYTHON_LOCKS"),
                                           QStringList{clientFile(u"redis_semaphore_client.py"_s), server});
}
Started sidekiq(const QString &, const QString &server)
{
    return std::make_unique<ForeignClient>(
        u"ruby"_s, QStringList{clientFile(u"sidekiq_client.rb"_s), fetched("SIDEKIQ"), server});
}
Started symfony(const QString &, const QString &server)
{
    return std::make_unique<ForeignClient>(u"php"_s, QStringList{clientFile(u"symfony_client.php"_s), server});
}

struct PermitClient {
    const char *kind;
    const char *key;  // %1: a number
    const char *what; // what their program wants to know beside the key
    const char *seenAs;
    const char *fetchedAs; // null: Debian's
    Started (*start)(const QString &kind, const QString &server);
    int together;     // contenders that hold at the same time
    int permitsEach;  // rows of each of them
    const char *mode; // of a holder
    bool canBeShortened = false;
    bool canBeForced = true;
};

// All but the last digit of an MD5.
#define DIGEST "0123456789abcdef0123456789abcde"

constexpr PermitClient permitClients[] = {
    {"semaphore", "semaphore:orders%1", " 180000", "redis-semaphore (npm)", "NODE_LOCKS", npm, 2, 1, "permit"},
    {"multi-semaphore", "semaphore:orders%1", " 180000", "redis-semaphore (npm)", "NODE_LOCKS", npm, 2, 2, "permit"},
    {"pypi", "orders%1:GRABBED", "", "redis-semaphore (PyPI, Ruby)", "PYTHON_LOCKS", pypi, 2, 1, "permit"},
    {"sidekiq while_executing", "uniquejobs:" DIGEST "%1:RUN:LOCKED", " while_executing", "sidekiq-unique-jobs",
     "SIDEKIQ", sidekiq, 2, 1, "permit", false, false},
    {"sidekiq until_executed", "uniquejobs:" DIGEST "%1:LOCKED", " until_executed", "sidekiq-unique-jobs", "SIDEKIQ",
     sidekiq, 1, 1, "exclusive", false, false},
    {"symfony write", "app:orders%1", " write", "Symfony Lock", nullptr, symfony, 1, 1, "exclusive", true},
    {"symfony read", "app:orders%1", " read", "Symfony Lock", nullptr, symfony, 3, 1, "read"},
};
#undef DIGEST

} // namespace

class TestInteropPermits : public RedisCross {
    Q_OBJECT

    PermitClient m_peer{};
    QByteArray m_lock;

    static void rows(bool (*takesPart)(const PermitClient &))
    {
        QTest::addColumn<int>("peer");
        for (int i = 0; i < int(std::size(permitClients)); ++i) {
            if (takesPart(permitClients[i]))
                QTest::newRow(permitClients[i].kind) << i;
        }
    }
    static bool all(const PermitClient &) { return true; }
    static bool keepOthersOut(const PermitClient &client)
    {
        return client.canBeForced && QLatin1StringView(client.mode) != "read"_L1;
    }
    static bool canBeShortened(const PermitClient &client) { return client.canBeShortened; }
    // Of those who hold; of a permit with a number also since when.
    QString seenAs(const QByteArray &name)
    {
        for (const auto one : seen(m_lock, 1)["contenders"_L1].toArray()) {
            if (const auto id = one.toObject()["id"_L1].toString(); id.startsWith(idOf(name)))
                return id;
        }
        return {};
    }
    // What it said if that was no success.
    QByteArray forced(const QString &holder, const QStringList &more)
    {
        QByteArray said;
        const auto answer = lockscopectl(QStringList{u"force-release"_s, u"redis:"_s + QString::fromLatin1(m_lock),
                                                     u"--holder"_s, holder, u"--yes"_s, u"--not-exact"_s}
                                             + more,
                                         1, &said);
        return answer.isEmpty() ? said + "(no success)" : QByteArray();
    }
    QByteArray begin()
    {
        m_peer = permitClients[*static_cast<int *>(QTest::qData("peer", qMetaTypeId<int>()))];
        m_lock = QString::fromLatin1(m_peer.key).arg(++m_locks).toLatin1();
        if (m_peer.fetchedAs && fetched(m_peer.fetchedAs).isEmpty())
            return whyNotFetched(m_peer.fetchedAs);
        if (!m_peer.fetchedAs && !QFile::exists(u"/usr/share/php/Symfony/Component/Lock/autoload.php"_s))
            return "Symfony's Lock is not installed; Debian's packages are php-cli, php-symfony-lock and php-nrk-predis";
        m_program = m_peer.start(QString::fromLatin1(m_peer.kind), servers(1).front());
        return m_program->says("ready") ? QByteArray() : "failed: " + m_program->everythingSaid();
    }
    QByteArray theirs() { return RedisCross::theirs(m_lock + m_peer.what); }
    // What their client called the hold.
    QString idOf(const QByteArray &name)
    {
        const auto id = m_program->heldWord(name, 2);
        return id.isEmpty() ? u"nothing"_s : QString::fromLatin1(id);
    }
    // Whether so many of these are seen to hold, and nobody else is.
    QString whatDiffers(const QByteArrayList &holders)
    {
        const auto lock = seen(m_lock, 1);
        const auto contenders = lock["contenders"_L1].toArray();
        if (contenders.size() != holders.size() * m_peer.permitsEach)
            return u"%1 contenders"_s.arg(contenders.size());
        QStringList ids;
        for (const auto one : contenders) {
            const auto contender = one.toObject();
            ids << contender["id"_L1].toString();
            if (contender["role"_L1] != "holder"_L1 || contender["mode"_L1] != QLatin1StringView(m_peer.mode))
                return u"a "_s + contender["role"_L1].toString() + u' ' + contender["mode"_L1].toString();
        }
        for (const auto &holder : holders) {
            // A permit's number comes again, so that the moment is part of it; one of several has its own number.
            const auto id = idOf(holder);
            const auto count = std::ranges::count_if(ids, [&](const QString &each) { return each.startsWith(id); });
            if (count != m_peer.permitsEach)
                return u"%1 is there %2 times in %3"_s.arg(id).arg(count).arg(ids.join(u", "_s));
        }
        return {};
    }

private slots:
    void initTestCase() { OK(startServers(1)); }
    void cleanup()
    {
        notifyWhatTheySaid();
        m_program.reset();
    }
    void cleanupTestCase() { stopServers(); }

    void eachHolderIsSeenAndNobodyElse_data() { rows(all); }
    void eachHolderIsSeenAndNobodyElse()
    {
        SKIP_FOR(begin());
        QByteArrayList holders;
        for (int i = 0; i < m_peer.together; ++i) {
            holders << theirs();
            QVERIFY2(theyHold(holders.back()), m_program->everythingSaid().constData());
        }
        const auto lock = seen(m_lock, 1);
        QCOMPARE(lock["client"_L1].toString(), QLatin1StringView(m_peer.seenAs));
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        QCOMPARE(lock["confidence"_L1].toString(), u"high"_s);
        QVERIFY(lock["findings"_L1].toArray().isEmpty());
        QCOMPARE(whatDiffers(holders), QString());
        // One more than there is room for gets the place of who leaves. Readers have room for everybody.
        const bool hasRoom = QLatin1StringView(m_peer.mode) == "read"_L1;
        const auto waiter = theirs();
        if (!hasRoom) {
            QVERIFY(theyWaitStill(waiter));
            QCOMPARE(whatDiffers(holders), QString());
        }
        QVERIFY(theyRelease(holders.takeFirst()));
        QVERIFY(theyHold(waiter));
        QCOMPARE(whatDiffers(holders + QByteArrayList{waiter}), QString());
    }

    void aForceReleaseLetsTheNextIn_data() { rows(keepOthersOut); }
    void aForceReleaseLetsTheNextIn()
    {
        SKIP_FOR(begin());
        QByteArrayList holders;
        for (int i = 0; i < m_peer.together; ++i) {
            holders << theirs();
            QVERIFY2(theyHold(holders.back()), m_program->everythingSaid().constData());
        }
        const auto next = theirs();
        QVERIFY(theyWaitStill(next));
        const auto victim = holders.takeFirst();
        for (int i = 0; i < m_peer.permitsEach; ++i)
            QCOMPARE(forced(seenAs(victim), {}), QByteArray());
        QVERIFY(theyAreIn(next, wokenWithinMs));
        QCOMPARE(whatDiffers(holders + QByteArrayList{next}), QString());
    }

    void aShorterTimeLetsTheNextIn_data() { rows(canBeShortened); }
    void aShorterTimeLetsTheNextIn()
    {
        SKIP_FOR(begin());
        const auto victim = theirs();
        QVERIFY2(theyHold(victim), m_program->everythingSaid().constData());
        const auto next = theirs();
        QVERIFY(theyWaitStill(next));
        QCOMPARE(forced(idOf(victim), {u"--method"_s, u"shorten-ttl"_s}), QByteArray());
        QVERIFY(theyHold(next));
        QCOMPARE(whatDiffers({next}), QString());
    }
};

LOCKSCOPE_TEST(TestInteropPermits)
#include "tst_interop_permits.moc"
