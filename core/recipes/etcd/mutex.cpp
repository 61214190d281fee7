// SPDX-License-Identifier: Apache-2.0
// Source: etcd, client/v3/concurrency, mutex.go, key.go, session.go.
//   1. Get a lease. In one transaction: if there is no key PREFIX/<lease in hexadecimal>, put it, with the lease; and
//      read the oldest key below PREFIX/.
//   2. Who has the oldest key, by the revision that created it, holds the lock.
//   3. Otherwise look for the youngest key that is older than ours, watch that one until it is deleted, and look
//      again, until there is none.
//   4. See that our own key is still there: its lease may have run out meanwhile. Then we begin again, at the end
//      of the queue (the Go client reports an error).
//   5. To release, delete the key if it is the one of that revision. The lease, which is this hold's alone, is
//      revoked.
// Ours alone: 1 also reads the key PREFIX itself, by which clients of another form lock. Where that has a lease, we
// leave: neither would keep the other out.
// The lease is kept alive all the while. The fencing token is the revision that created the key.
#include "core/recipes/make.h"
#include "core/base/text.h"
#include "core/recipes/lockbase.h"

namespace lockscope::recipes {

using etcd::Operation;

// Keeps a lease of etcd alive, as the Go client's session does: asks anew when a third of its time has passed. And
// says when it may no longer be believed in. Loop thread only; the client outlives it. Destroying it ends that.
class LeaseKeeper {
public:
    // `asked`: when the request that granted it was sent: by then plus its time it may be over. `onEnd` is called at
    // most once, from the loop, and must not destroy this.
    LeaseKeeper(etcd::Client &client, etcd::LeaseId id, std::chrono::seconds ttl, Instant asked,
                std::function<void()> onEnd)
        : m_client(client), m_id(id), m_onEnd(std::move(onEnd)), m_keeping(client.loop())
    {
        granted(ttl, asked);
        m_keeping.launch(keep());
    }

    // The server said that it is gone before its time: somebody revoked it.
    [[nodiscard]] bool wasRevoked() const { return m_wasRevoked; }
    [[nodiscard]] Instant validUntil() const { return m_validUntil; }
    [[nodiscard]] bool isOver() const { return m_isEnded || m_client.loop().now() >= m_validUntil; }

private:
    Task<void> keep()
    {
        auto &loop = m_client.loop();
        for (;;) {
            const auto until = std::min(m_next, m_validUntil);
            co_await sleepUntil(loop, until);
            if (loop.now() < until)
                continue;
            if (loop.now() >= m_validUntil)
                break;
            const auto asked = loop.now();
            const auto kept =
                co_await m_client.keepAlive(m_id, Deadline::at(std::min(m_validUntil, asked + m_ttl / 3)));
            const bool isGone = kept ? kept->ttl <= 0s : kept.error().code == ErrorCode::NoNode;
            if (isGone) {
                m_wasRevoked = loop.now() < m_validUntil;
                break;
            }
            if (kept)
                granted(kept->ttl, asked);
            else
                m_next = loop.now() + std::max<Duration>(m_ttl / 20, 50ms); // trouble: there is time to try again
        }
        end();
    }
    // For 1 % less than its time, as clocks differ.
    void granted(std::chrono::seconds ttl, Instant asked)
    {
        m_ttl = ttl;
        m_next = asked + m_ttl / 3;
        m_validUntil = asked + m_ttl - m_ttl / 100;
    }
    void end()
    {
        m_isEnded = true;
        m_onEnd();
    }

    etcd::Client &m_client;
    const etcd::LeaseId m_id;
    std::function<void()> m_onEnd;
    Duration m_ttl{};
    Instant m_next{};
    Instant m_validUntil{};
    bool m_isEnded = false, m_wasRevoked = false;
    Scope m_keeping;
};

namespace {

constexpr auto requestTakesAtMost = 5s;
constexpr auto restAfterTrouble = 100ms;

// A lease that nobody renews goes by itself: it is worth some tries, and no more.
Task<void> revokeLater(etcd::Client *client, etcd::LeaseId lease)
{
    for (int i = 0; i < 5; ++i) {
        const auto limit = Deadline::after(client->loop(), requestTakesAtMost);
        const auto revoked = co_await client->revoke(lease, limit);
        if (revoked || !isConnectionError(revoked.error()))
            co_return;
        co_await sleepFor(client->loop(), 500ms);
    }
}

etcd::RangeRequest oldestBelow(const QByteArray &prefix)
{
    etcd::RangeRequest request;
    request.key = prefix;
    request.end = etcd::endOfPrefix(prefix);
    request.limit = 1;
    request.order = etcd::Order::OldestFirst;
    request.keysOnly = true;
    return request;
}

// Our own key is reused where a first try's answer was lost.
etcd::Transaction joining(const QByteArray &prefix, const QByteArray &key, etcd::LeaseId lease, bool readsFixed)
{
    etcd::RangeRequest own, fixed;
    own.key = key;
    own.keysOnly = true;
    fixed.key = prefix.chopped(1);
    fixed.keysOnly = true;
    etcd::Transaction transaction;
    transaction.conditions.push_back({key, 0});
    transaction.then = {{Operation::Kind::Put, own, {}, lease}, {Operation::Kind::Range, own, {}, 0}};
    transaction.otherwise = {{Operation::Kind::Range, own, {}, 0}};
    transaction.then.push_back({Operation::Kind::Range, oldestBelow(prefix), {}, 0});
    transaction.otherwise.push_back({Operation::Kind::Range, oldestBelow(prefix), {}, 0});
    if (!readsFixed)
        return transaction;
    transaction.then.push_back({Operation::Kind::Range, fixed, {}, 0});
    transaction.otherwise.push_back({Operation::Kind::Range, fixed, {}, 0});
    return transaction;
}

QString keyText(const etcd::KeyValue &entry)
{
    const auto key = label(entry.key, 120);
    return entry.lease == 0 ? u"%1, which has no lease and never ends by itself"_s.arg(key)
                            : u"%1 with the lease %2"_s.arg(key, QString::fromLatin1(etcd::leaseText(entry.lease)));
}

std::optional<Error> refusalBeside(const etcd::TransactionAnswer &joined)
{
    const auto fixed = joined.ranges.size() > 2 ? joined.ranges[2].entries : std::vector<etcd::KeyValue>();
    if (fixed.empty() || fixed.front().lease == 0)
        return std::nullopt;
    return Error{ErrorCode::Refused,
                 u"the key %1 is there: a client may hold a lock by it, and would not be kept out; "
                 u"nothing was taken"_s.arg(keyText(fixed.front()))};
}

} // namespace

// The mutex of etcd's Go client (client/v3/concurrency, and `etcdctl lock`), which queues with both.
class EtcdMutex : public LockBase, public Leased {
public:
    EtcdMutex(etcd::Client &client, QByteArray lock, std::chrono::milliseconds ttl, Random random)
        : LockBase(client.loop(), lock), m_client(client), m_prefix(lock + '/'),
          m_ttl(std::max(std::chrono::ceil<std::chrono::seconds>(ttl), 1s)), m_random(std::move(random)),
          m_news(client.loop())
    {
    }
    ~EtcdMutex() override { shutDown(); }

    // 5
    Task<Result<void>> release(Deadline deadline) override
    {
        if (!std::exchange(m_isHeld, false))
            co_return Error{ErrorCode::NotHeld, u"%1 is not held by this object"_s.arg(name())};
        const auto lease = std::exchange(m_lease, 0);
        auto &client = m_client;
        etcd::Transaction transaction;
        transaction.conditions.push_back({m_key, m_created});
        transaction.then.resize(1);
        transaction.then.front().kind = Operation::Kind::Remove;
        transaction.then.front().range.key = m_key;
        m_keeper.reset(); // before the wait: afterwards it may be the one of the next hold
        const auto removed = co_await client.commit(transaction, deadline);
        if (!removed) {
            client.background().launch(revokeLater(&client, lease)); // and the key with it
            Error why = removed.error();
            why.message = u"cannot release %1: %2"_s.arg(name(), why.message);
            co_return why;
        }
        auto revoking = client.revoke(lease, Deadline::after(client.loop(), requestTakesAtMost));
        (void)co_await revoking; // without it the lease ends by itself
        if (!removed->held)
            co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(name())};
        co_return Result<void>();
    }
    Task<Result<bool>> isStillMine(Deadline deadline) override
    {
        if (!m_isHeld)
            co_return false;
        etcd::RangeRequest own;
        own.key = m_key;
        own.keysOnly = true;
        CO_TRY(const auto &answer, co_await m_client.range(own, deadline));
        co_return m_isHeld && !answer.entries.empty() && answer.entries.front().created == m_created;
    }
    [[nodiscard]] Instant validUntil() const override { return m_keeper ? m_keeper->validUntil() : Instant(); }
    void noteTakenAway(const Grant &grant) override
    {
        if (!m_isHeld || grant.fencingToken != m_created)
            return;
        letGo();
        lose(Loss::TakenAway);
    }

protected:
    Task<Result<Grant>> take(Deadline deadline) override
    {
        for (;;) {
            auto place = co_await join(deadline);
            if (place && *place == Place::Behind) {
                place = co_await untilFirst(deadline);
            }
            if (!place) {
                auto error = co_await giveUp(place.error());
                co_return error;
            }
            // Its answer may have been long in coming, or we in hearing it.
            if (*place == Place::First && !m_keeper->isOver())
                break;
            letGo(); // 4
        }
        m_isHeld = true;
        Grant grant;
        grant.id = etcd::leaseText(m_lease) + '@' + QByteArray::number(m_created);
        grant.fencingToken = m_created;
        co_return grant;
    }
    [[nodiscard]] bool isHeld() const override { return m_isHeld; }
    void letGo() override
    {
        m_keeper.reset();
        m_isHeld = false;
        if (const auto lease = std::exchange(m_lease, 0); lease != 0)
            m_client.background().launch(revokeLater(&m_client, lease));
    }

private:
    enum class Place { First, Behind, Gone };
    // 1, 2
    Task<Result<Place>> join(Deadline deadline)
    {
        CO_TRY_VOID(co_await haveLease(deadline));
        m_key = m_prefix + etcd::leaseText(m_lease);
        auto transaction = joining(m_prefix, m_key, m_lease, true);
        for (;;) {
            const auto joined = co_await m_client.commit(transaction, forRequest(deadline));
            if (joined && (joined->ranges.size() < 2 || joined->ranges[0].entries.empty()))
                co_return Error{ErrorCode::Server, u"etcd's answer lacks our own key"_s};
            if (joined) {
                if (const auto refused = refusalBeside(*joined))
                    co_return *refused;
                m_created = joined->ranges[0].entries.front().created;
                const auto &oldest = joined->ranges[1].entries;
                co_return oldest.empty() || oldest.front().created == m_created ? Place::First : Place::Behind;
            }
            // A user may have rights below the prefix only: what such a one cannot read keeps nobody from the queue.
            if (joined.error().code == ErrorCode::NoPermission && transaction.then.size() > 3) {
                transaction = joining(m_prefix, m_key, m_lease, false);
                continue;
            }
            // Sent again: it finds what the first one did.
            if (!isConnectionError(joined.error()) || m_keeper->isOver() || deadline.hasPassed(m_client.loop()))
                co_return joined.error();
            co_await sleepFor(m_client.loop(), restAfterTrouble);
        }
    }
    // Where the answer was lost another one is asked for, and the first is revoked: without a key it holds up nobody.
    Task<Result<void>> haveLease(Deadline deadline)
    {
        auto &loop = m_client.loop();
        for (;;) {
            m_lease = static_cast<etcd::LeaseId>(m_random.next() >> 1) | 1;
            const auto asked = loop.now();
            const auto granted = co_await m_client.grant(m_lease, m_ttl, forRequest(deadline));
            if (granted) {
                m_keeper =
                    std::make_unique<LeaseKeeper>(m_client, m_lease, granted->ttl, asked, [this] { leaseEnded(); });
                co_return Result<void>();
            }
            auto why = granted.error();
            if (!isConnectionError(why))
                co_return why;
            if (deadline.hasPassed(loop)) {
                why.code = ErrorCode::NotConnected; // nothing contends for us
                co_return why;
            }
            if (const auto lease = std::exchange(m_lease, 0); why.code == ErrorCode::UnknownOutcome)
                m_client.background().launch(revokeLater(&m_client, lease));
            co_await sleepFor(loop, restAfterTrouble);
        }
    }
    // 3
    Task<Result<Place>> untilFirst(Deadline deadline)
    {
        auto &loop = m_client.loop();
        for (;;) {
            if (m_keeper->isOver())
                co_return Place::Gone;
            const auto place = co_await look(deadline);
            if (place && *place != Place::Behind)
                co_return *place;
            if (!place && !isConnectionError(place.error()))
                co_return place.error();
            if (deadline.hasPassed(loop))
                co_return m_before
                    ? Error{ErrorCode::TimedOut, u"it waits for the key "_s + keyText(*m_before), true, true}
                    : Error{ErrorCode::TimedOut, u"another client holds it"_s, true};
            if (place) {
                co_await untilGone(m_before->key, m_seen, deadline);
                continue;
            }
            co_await sleepFor(loop, restAfterTrouble);
        }
    }
    // Who is before us; nobody: whether our own key is there.
    Task<Result<Place>> look(Deadline deadline)
    {
        auto request = oldestBelow(m_prefix);
        request.order = etcd::Order::NewestFirst;
        request.createdUpTo = m_created - 1;
        CO_TRY(const auto &before, co_await m_client.range(request, forRequest(deadline)));
        if (!before.entries.empty()) {
            m_before = before.entries.front();
            m_seen = before.revision;
            co_return Place::Behind;
        }
        etcd::RangeRequest own;
        own.key = m_key;
        own.keysOnly = true;
        CO_TRY(const auto &mine, co_await m_client.range(own, forRequest(deadline)));
        const bool isThere = !mine.entries.empty() && mine.entries.front().created == m_created;
        co_return isThere && !m_keeper->isOver() ? Place::First : Place::Gone;
    }
    // Nothing is left of the attempt, or it is said that this is not known.
    Task<Result<Grant>> giveUp(Error why)
    {
        const auto lease = std::exchange(m_lease, 0);
        m_keeper.reset();
        const auto revoked = co_await m_client.revoke(lease, Deadline::after(m_client.loop(), requestTakesAtMost));
        if (revoked || revoked.error().code == ErrorCode::NoNode)
            co_return why;
        m_client.background().launch(revokeLater(&m_client, lease));
        const bool isLost = isConnectionError(revoked.error()) && why.code != ErrorCode::NotConnected;
        if (isLost)
            why.code = ErrorCode::UnknownOutcome;
        co_return why;
    }
    // Or until the watch is over, or our lease: then it is looked again.
    Task<void> untilGone(QByteArray key, etcd::Revision seen, Deadline deadline)
    {
        auto &loop = m_client.loop();
        const Completion<bool> news(loop);
        m_news = news;
        news.completeAt(deadline, false);
        const etcd::WatchRequest request{key, {}, seen + 1};
        const auto watching = m_client.watch(request, [news](const etcd::WatchNews &told) {
            if (told.over || std::ranges::any_of(told.events, &etcd::WatchEvent::isRemoved))
                news.complete(!told.over);
        });
        const bool isGone = co_await news;
        if (isGone || deadline.hasPassed(loop))
            co_return;
        co_await sleepFor(loop, restAfterTrouble);
    }
    void leaseEnded()
    {
        m_news.complete(false);
        if (!std::exchange(m_isHeld, false))
            return;
        m_lease = 0;
        lose(m_keeper->wasRevoked() ? Loss::TakenAway : Loss::LeaseOver);
    }
    // For one request: a try that does not wait takes the time of its requests, too.
    [[nodiscard]] Deadline forRequest(Deadline deadline) const
    {
        const auto patient = m_client.loop().now() + requestTakesAtMost;
        return Deadline::at(deadline.isNever() ? patient : std::max<Instant>(deadline.when(), patient));
    }

    etcd::Client &m_client;
    const QByteArray m_prefix;
    const std::chrono::seconds m_ttl;
    Random m_random;
    etcd::LeaseId m_lease = 0; // 0: none of ours is there
    QByteArray m_key;
    etcd::Revision m_created = 0;
    bool m_isHeld = false;
    std::optional<etcd::KeyValue> m_before; // whom we wait for
    etcd::Revision m_seen = 0;              // when it was looked
    Completion<bool> m_news;                // of the one before us, or of our lease
    std::unique_ptr<LeaseKeeper> m_keeper;
};

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, etcd::Client &client, const QByteArray &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, BackendKind::Etcd, options))
        return *no;
    if (lock.isEmpty())
        return Error{ErrorCode::BadInput, u"a lock on etcd is a prefix of keys, and cannot be empty"_s};
    if (lock.startsWith("KEY#"))
        return Error{ErrorCode::BadInput,
                     u"KEY#… names a lock that is one key by itself, which can be seen but not acquired"_s};
    if (options.ttl.count() < 1)
        return Error{ErrorCode::BadInput, u"a lease needs a TTL of at least one second"_s};
    return std::unique_ptr<Lock>(std::make_unique<EtcdMutex>(client, lock, options.ttl, std::move(random)));
}

} // namespace lockscope::recipes
