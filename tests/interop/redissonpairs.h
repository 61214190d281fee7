// SPDX-License-Identifier: Apache-2.0
// Each of our Redisson recipes and what of Redisson's it goes together with.
#pragma once

#include "tests/interop/rediscross.h"

#include "core/recipes/make.h"
#include "core/rules/turn.h"

namespace lockscope::interop {

struct RedissonPair {
    const char *name;
    QByteArray recipe; // ours
    bool read;         // ours is a reader
    QByteArray kind;   // how their program calls theirs
    bool alone;        // nobody shares, on either side
};

inline const std::vector<RedissonPair> &redissonPairs()
{
    static const std::vector<RedissonPair> all{
        {"redisson-lock, their lock", "redisson-lock", false, "lock", true},
        {"redisson-fair-lock, their fair lock", "redisson-fair-lock", false, "fair", true},
        {"redisson-fenced-lock, their fenced lock", "redisson-fenced-lock", false, "fenced", true},
        {"redisson-rwlock, their write lock", "redisson-rwlock", false, "write", true},
        {"redisson-rwlock reading, their write lock", "redisson-rwlock", true, "write", false},
        {"redisson-rwlock, their read lock", "redisson-rwlock", false, "read", false},
        {"redisson-semaphore, their semaphore", "redisson-semaphore", false, "semaphore", true},
    };
    return all;
}

class RedissonCross : public RedisCross {
protected:
    RedissonPair m_pair{};
    QByteArray m_lock;

    static void pairsAsRows(bool (*wanted)(const RedissonPair &))
    {
        QTest::addColumn<int>("pair");
        for (size_t i = 0; i < redissonPairs().size(); ++i) {
            if (wanted(redissonPairs()[i]))
                QTest::newRow(redissonPairs()[i].name) << int(i);
        }
    }
    static bool any(const RedissonPair &) { return true; }
    static bool alone(const RedissonPair &pair) { return pair.alone; }

    // A fresh lock for the pair of the row, or for this one.
    void begin() { begin(redissonPairs()[size_t(*static_cast<int *>(QTest::qData("pair", qMetaTypeId<int>())))]); }
    void begin(const RedissonPair &pair)
    {
        m_pair = pair;
        m_lock = newLock(pair.kind);
    }
    Ours &ours(int limit = 1)
    {
        recipes::AcquireOptions options{.readMode = m_pair.read, .limit = limit, .ttl = longLease};
        return keep(recipes::makeLock(m_pair.recipe, *m_client.front(), RedisKey(m_lock), options,
                                      Random(1000 + m_ours.size())));
    }
    QByteArray theirs(int limit = 1)
    {
        return RedisCross::theirs(m_pair.kind + ' ' + m_lock + ' ' + QByteArray::number(limit));
    }

    redis::Value ask(const redis::Command &command) { return m_nodes.front().ask(command); }
    // How many listen on the channels on which waiters of this lock are told: of a fair lock each of them has
    // one, of the others each program that waits has.
    int listeners()
    {
        const redis::RedissonKeys names(m_lock);
        QByteArrayList channels;
        if (m_pair.kind == "fair") {
            for (const auto &waiter : ask({"LRANGE", names.fairQueue(), "0", "-1"}).items)
                channels << names.channel() + ':' + waiter.text;
        } else if (m_pair.kind == "semaphore") {
            channels << names.semaphoreChannel();
        } else {
            channels << (m_pair.recipe == "redisson-rwlock" ? names.readWriteChannel() : names.channel());
        }
        int all = 0;
        for (const auto &channel : channels)
            all += int(ask({"PUBSUB", "NUMSUB", channel}).items.at(1).integer);
        return all;
    }
    bool listen(int count)
    {
        return QTest::qWaitFor([&] { return listeners() == count; }, patienceMs);
    }
    // What is left of the lock but for what Redisson keeps, too. (Some of its versions leave an unlock's latch to
    // end by itself.)
    QByteArrayList leftovers()
    {
        QByteArrayList all;
        for (const auto &key : ask({"KEYS", '*' + m_lock + '*'}).items) {
            const bool isKept = key.text.startsWith("redisson_lock_token:")
                                || key.text.startsWith("redisson_unlock_latch:") || m_pair.kind == "semaphore";
            if (!isKept)
                all << key.text;
        }
        return all;
    }
    QString startAll()
    {
        auto problem = startServers(1);
        if (!problem.isEmpty())
            return problem;
        m_program = redissonContenders(theirServer());
        return m_program->says("ready") ? QString() : QString::fromUtf8(m_program->everythingSaid());
    }
    [[nodiscard]] QStringList theirServer() const { return servers(1).front().split(u':'); }
    // Words of what they said when they got in: the id in Redis, and the fencing token.
    QByteArray theirId(const QByteArray &name) { return wordOf(name, 3); }
    QByteArray theirToken(const QByteArray &name) { return wordOf(name, 4); }

private:
    QByteArray wordOf(const QByteArray &name, int word) { return m_program->heldWord(name, word); }
};

} // namespace lockscope::interop
