// SPDX-License-Identifier: Apache-2.0
// Which keys are read at all: by name and type alone.
#include "core/inspect/redis/recognise.h"
#include "core/rules/userrules.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;
using std::chrono::milliseconds;

class TestRedisSuspects : public QObject {
    Q_OBJECT

private slots:
    void cleanup() { recipes::setUserRules({}); }

    void suspects()
    {
        const auto suspect = [](const char *key, KeyType type, bool ttl, bool all = false) {
            return isSuspect(RedisKey(key), type, ttl ? std::optional(milliseconds(1)) : std::nullopt, all);
        };
        QVERIFY(suspect("orders-lock", KeyType::String, false));
        QVERIFY(suspect("redlock:orders", KeyType::String, true));
        QVERIFY(!suspect("block", KeyType::String, true));
        QVERIFY(suspect("orders", KeyType::Hash, true));
        QVERIFY(!suspect("user:7", KeyType::Hash, false));
        QVERIFY(suspect("user:7", KeyType::String, false, true));
        QVERIFY(suspect("orders-lock", KeyType::List, false));
        QVERIFY(!suspect("orders-lock-stats", KeyType::Set, false));
        QVERIFY(!suspect("orders-lock", KeyType::Stream, true));
        QVERIFY2(!suspect("redisson_lock_token:{my-lock}", KeyType::String, false), "read with its lock");
    }

    // SCAN tells hashes from all else and no more.
    void withoutATypeItIsWhateverOneTypeWouldBe_data()
    {
        QTest::addColumn<QByteArray>("key");
        for (const QByteArray key :
             {"orders-lock", "redlock:orders", "block", "user:7", "semaphore:gpu", "redisson_lock_token:{my-lock}",
              "lock-signal:orders", "jobsMutex", "acme:job:7", "acme:set:7", "{orders}:timeout", ""})
            QTest::addRow("%s", key.constData()) << key;
    }
    void withoutATypeItIsWhateverOneTypeWouldBe()
    {
        QFETCH(QByteArray, key);
        const RedisKey name(key);
        const auto check = [&name] {
            for (const bool all : {false, true}) {
                const bool any =
                    std::ranges::any_of(std::array{KeyType::String, KeyType::SortedSet, KeyType::Set, KeyType::List,
                                                   KeyType::Stream, KeyType::Other},
                                        [&](KeyType type) { return isSuspect(name, type, std::nullopt, all); });
                QCOMPARE(isSuspectUnlessHash(name, all), any);
            }
        };
        check();
        auto read = recipes::readRuleFile(R"({"version": 1, "rules": [
            {"name": "a", "key": "acme:job:\\d", "type": "string", "value": "x"},
            {"name": "b", "key": "acme:set:\\d", "type": "sorted-set", "members": "x"}],
            "tokens": [{"why": "x", "key": "user:.*", "value": "x"}]})",
                                          QStringLiteral("f"));
        QVERIFY(read.problems.empty());
        recipes::setUserRules(std::move(read));
        check();
    }
};

LOCKSCOPE_TEST(TestRedisSuspects)
#include "tst_redis_suspects.moc"
