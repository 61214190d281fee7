// SPDX-License-Identifier: Apache-2.0
// Rules of the user's own, by the program and a real Redis: tried, listed, released with their wake-up, and refused
// with all their mistakes.
#include "core/redis/client.h"
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include <QSaveFile>

class TestCtlRules : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_redis;
    std::unique_ptr<redis::Connection> m_client;
    QTemporaryDir m_home;

    static QString example() { return QFINDTESTDATA("../../docs/rules/acme-jobs.json"); }
    QString uri() const { return u"redis://127.0.0.1:%1"_s.arg(m_redis->address().port); }
    Ran ctl(const QStringList &words) const { return run(QStringList{u"--connect"_s, uri()} + words); }
    void set(const redis::Command &command)
    {
        QVERIFY(await(m_client->command(command, Deadline::after(m_loop, patience))));
    }
    QByteArray valueOf(const QByteArray &key)
    {
        const auto got = await(m_client->command({"GET", key}, Deadline::after(m_loop, patience)));
        return got ? got->text : QByteArray("?");
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_CONFIG_HOME", m_home.filePath(u"config"_s).toUtf8());
        qputenv("XDG_STATE_HOME", m_home.filePath(u"state"_s).toUtf8());
        START_OR_SKIP(m_redis, sandbox::makeRedis({}));
        m_client = redis::openConnection(m_loop, {.host = m_redis->address()});
        QTRY_COMPARE_WITH_TIMEOUT(m_client->state(), redis::ConnectionState::Connected, patienceMs);
        set({"SET", "acme:job:42:owner", "web-3/17/00aa11bb22cc33dd", "PX", "600000"});
        set({"RPUSH", "acme:job:42:queue", "web-1", "web-2"});
        set({"SET", "acme:job:43:owner", "nobody", "PX", "600000"});
        set({"SET", "unrelated", "x"});
    }
    void cleanupTestCase()
    {
        m_client.reset();
        m_redis.reset();
    }

    void rulesAreTriedOnEveryKey()
    {
        const auto tried = ctl({u"recognise"_s, u"--rules"_s, example(), u"--json"_s});
        QVERIFY2(tried.status == 0, tried.what());
        const auto json = tried.json();
        const auto rule = json.value("rules"_L1).toArray().first().toObject();
        QCOMPARE(rule.value("name"_L1).toString(), u"Acme job lock"_s);
        QCOMPARE(rule.value("locks"_L1).toInt(), 1);
        QCOMPARE(rule.value("mismatches"_L1).toInt(), 1);
        const auto lock = json.value("locks"_L1).toArray().first().toObject();
        QCOMPARE(lock.value("lock"_L1).toString(), u"redis:acme:job:42:owner"_s);
        QCOMPARE(lock.value("client"_L1).toString(), u"Acme job lock"_s);
        QCOMPARE(lock.value("contenders"_L1).toArray().size(), 3);
        const auto text = ctl({u"recognise"_s, u"--rules"_s, example()});
        QVERIFY2(text.out.contains("redis:acme:job:43:owner is none by \"Acme job lock\": its value \"nobody\"")
                     && text.out.contains("1 lock; 1 more key has such a name, and is none"),
                 text.what());
    }

    // Each mistake on a line of its own; nothing is asked of any server.
    void mistakesAreToldAll()
    {
        const auto said =
            run({u"recognise"_s, u"--rules"_s, QFINDTESTDATA("../unit/corpus/rules/with-mistakes.json")});
        QVERIFY2(said.status == 2, said.what());
        QVERIFY2(said.err.count('\n') == 21, said.what());
        QVERIFY2(said.err.contains("with-mistakes.json:8: rules[0].vaule: "), said.what());
        const auto right = run({u"recognise"_s, u"--rules"_s, example()});
        QVERIFY2(right.status == 0 && right.out.contains("the rules are valid"), right.what());
    }

    void rulesOfTablesAreCheckedOnly()
    {
        const auto file = QFINDTESTDATA("../../docs/rules/acme-rows.json");
        const auto checked = run({u"--json"_s, u"recognise"_s, u"--rules"_s, file});
        QCOMPARE(checked.status, 0);
        const auto rules = checked.json().value("rules"_L1).toArray();
        QCOMPARE(rules.size(), 3);
        QCOMPARE(rules[0].toObject().value("name"_L1).toString(), u"Acme job lease"_s);
        QVERIFY(rules[0].toObject().value("locks"_L1).isNull());
        const auto text = run({u"recognise"_s, u"--rules"_s, file});
        QVERIFY2(text.out.contains("Acme import flag") && text.out.contains("the rule is valid"), text.what());
    }

    // In TOML, and by the other names of the two options.
    void aRuleInTomlIsTriedAgainstAServer()
    {
        set({"HSET", "acme:lease:eu-1", "owner", "web-3", "nonce", "00aa11bb22cc33dd", "ends", "4102444800"});
        set({"PEXPIRE", "acme:lease:eu-1", "600000"});
        const auto rules = QFINDTESTDATA("../../docs/rules/acme-leases.toml");
        const auto tried = run({u"recognise"_s, u"--rule"_s, rules, u"--against"_s, uri(), u"--json"_s});
        QVERIFY2(tried.status == 0, tried.what());
        const auto lock = tried.json().value("locks"_L1).toArray().first().toObject();
        QCOMPARE(lock.value("lock"_L1).toString(), u"redis:acme:lease:eu-1"_s);
        QCOMPARE(lock.value("client"_L1).toString(), u"Acme lease"_s);
        const auto named = run({u"--against"_s, u"here="_s + uri(), u"recognise"_s, u"--rule"_s, rules});
        QVERIFY2(named.status == 0 && named.out.contains("here:acme:lease:eu-1"), named.what());
        const auto elsewhere = run({u"locks"_s, u"--against"_s, uri()});
        QVERIFY2(elsewhere.status == 2, elsewhere.what());

        QFile wrong(m_home.filePath(u"wrong.toml"_s));
        QVERIFY(wrong.open(QFile::WriteOnly) && wrong.write("version = 1\n[[rules]]\nkye = 'a'\n") > 0);
        wrong.close();
        const auto said = run({u"recognise"_s, u"--rule"_s, wrong.fileName()});
        QVERIFY2(said.status == 2 && said.err.contains("wrong.toml:3: rules[0].kye: "), said.what());
    }
    void theFolderHasRulesInTomlToo()
    {
        QDir().mkpath(m_home.filePath(u"config/lockscope/rules"_s));
        const auto copy = m_home.filePath(u"config/lockscope/rules/leases.toml"_s);
        QVERIFY(QFile::copy(QFINDTESTDATA("../../docs/rules/acme-leases.toml"), copy));
        set({"SET", "acme:turn:mail", "web-3.000000000042", "PX", "600000"});
        const auto listed = ctl({u"locks"_s, u"--json"_s});
        QVERIFY2(listed.out.contains("by your rule \\\"Acme turn\\\" (leases.toml)"), listed.what());
        QVERIFY(QFile::remove(copy));
    }

    // A client known by its tokens alone, whatever its keys are called.
    void aFormOfTokensFindsItsLocks()
    {
        const QByteArray token = "acme1-0123456789ABCDEFGHJKMNPQRS";
        set({"SET", "shop:17", token, "PX", "600000"});
        const auto tokens = QFINDTESTDATA("../../docs/rules/acme-tokens.json");
        const auto unknown = ctl({u"locks"_s, u"--match"_s, u"shop:17"_s, u"--json"_s});
        QVERIFY2(unknown.status == 0 && unknown.json().value("locks"_L1).toArray().isEmpty(), unknown.what());
        const auto tried = ctl({u"recognise"_s, u"--rules"_s, tokens, u"--json"_s});
        QVERIFY2(tried.status == 0, tried.what());
        const auto forms = tried.json().value("rules"_L1).toArray();
        QCOMPARE(forms.size(), 2);
        QCOMPARE(forms[0]["name"_L1].toString(), u"acme-lock: acme1 and 26 characters of base32"_s);
        QCOMPARE(forms[0]["locks"_L1].toInt(), 1);
        QCOMPARE(forms[1]["locks"_L1].toInt(), 0);
        const auto listed = ctl({u"locks"_s, u"--rules"_s, tokens, u"--match"_s, u"shop:17"_s, u"--json"_s});
        const auto lock = listed.json().value("locks"_L1).toArray().first().toObject();
        QCOMPARE(lock.value("client"_L1).toString(), u"acme-lock"_s);
        QCOMPARE(lock.value("confidence"_L1).toString(), u"high"_s);
        const QStringList force{u"force-release"_s, u"redis:shop:17"_s,         u"--rules"_s,  tokens,
                                u"--holder"_s,      QString::fromLatin1(token), u"--reason"_s, u"test"_s};
        // Its clients poll, as far as the form of their token says.
        const auto plan = ctl(force + QStringList{u"--dry-run"_s});
        QVERIFY2(plan.out.contains("DEL shop:17") && !plan.out.contains("PUBLISH"), plan.what());
        const auto released = ctl(force + QStringList{u"--yes"_s});
        QVERIFY2(released.status == 0, released.what());
        QCOMPARE(valueOf("shop:17"), QByteArray());
    }

    // Of the folder, too, and by the gate: the whole value is compared, and the waiters are told.
    void theirLocksAreListedAndReleased()
    {
        QDir().mkpath(m_home.filePath(u"config/lockscope/rules"_s));
        QVERIFY(QFile::copy(example(), m_home.filePath(u"config/lockscope/rules/acme.json"_s)));
        const auto listed = ctl({u"locks"_s, u"--json"_s});
        QVERIFY2(listed.out.contains("by your rule \\\"Acme job lock\\\" (acme.json)"), listed.what());

        auto listener = redis::openConnection(m_loop, {.host = m_redis->address()});
        QTRY_COMPARE_WITH_TIMEOUT(listener->state(), redis::ConnectionState::Connected, patienceMs);
        QByteArray heard;
        const auto subscription = listener->subscribe(
            "acme:job:42:free", [&heard](const redis::Message &message) { heard = message.payload; });
        QTRY_COMPARE_WITH_TIMEOUT(subscribers(), 1, patienceMs);
        const QStringList words{u"force-release"_s, u"redis:acme:job:42:owner"_s,
                                u"--holder"_s,      u"00aa11bb22cc33dd"_s,
                                u"--reason"_s,      u"test"_s,
                                u"--yes"_s};
        const auto released = ctl(words);
        QVERIFY2(released.status == 0, released.what());
        QTRY_COMPARE_WITH_TIMEOUT(heard, QByteArray("acme:job:42:owner"), patienceMs);
        QCOMPARE(valueOf("acme:job:42:owner"), QByteArray());
        const auto again = ctl(words);
        QVERIFY2(again.status != 0, again.what());
    }

    // The hash as a whole, one member of the set: while it is that holder's, and who waits is told as the rule says.
    void hashesAndSetsAreReleasedWhereTheRuleSaysSo()
    {
        const QStringList rules{u"--rules"_s, QFINDTESTDATA("../../docs/rules/seats-and-slots.json")};
        const auto force = [&](const QString &lock, const QString &holder, const QStringList &more) {
            return ctl(rules + QStringList{u"force-release"_s, lock, u"--holder"_s, holder, u"--reason"_s, u"t"_s}
                       + more);
        };
        const auto until = QByteArray::number(QDateTime::currentMSecsSinceEpoch() + 600'000);
        set({"HSET", "seat:LH400:12A", "user", "ann", "session", "s-1", "kind", "book", "expires", until});
        set({"PEXPIRE", "seat:LH400:12A", "600000"});
        const auto plan = force(u"redis:seat:LH400:12A"_s, u"s-1"_s, {u"--dry-run"_s});
        QVERIFY2(plan.out.contains("DEL seat:LH400:12A, only if HGET seat:LH400:12A session is s-1"), plan.what());
        QVERIFY2(plan.out.contains("PUBLISH seat:LH400:12A:free seat:LH400:12A"), plan.what());
        const auto other = force(u"redis:seat:LH400:12A"_s, u"s-2"_s, {u"--yes"_s});
        QVERIFY2(other.status != 0, other.what());
        QCOMPARE(numberOf({"EXISTS", "seat:LH400:12A"}), 1);
        const auto seat = force(u"redis:seat:LH400:12A"_s, u"s-1"_s, {u"--yes"_s});
        QVERIFY2(seat.status == 0, seat.what());
        QCOMPARE(numberOf({"EXISTS", "seat:LH400:12A"}), 0);

        const QByteArray ann = "ann#11111111-1111-4111-8111-111111111111";
        const QByteArray bob = "bob#22222222-2222-4222-8222-222222222222";
        set({"ZADD", "render:slots:gpu", until, ann, until, bob});
        // Its rule names nobody who is woken: no other client's channel is guessed from the name.
        const auto quiet = force(u"redis:render:slots:gpu"_s, QString::fromLatin1(ann.mid(4)), {u"--dry-run"_s});
        QVERIFY2(quiet.status == 0 && !quiet.out.contains("PUBLISH") && quiet.out.contains("no client is notified"),
                 quiet.what());
        const auto slot = force(u"redis:render:slots:gpu"_s, QString::fromLatin1(ann.mid(4)), {u"--yes"_s});
        QVERIFY2(slot.status == 0, slot.what());
        QCOMPARE(numberOf({"ZCARD", "render:slots:gpu"}), 1);
        const auto again = force(u"redis:render:slots:gpu"_s, QString::fromLatin1(ann.mid(4)), {u"--yes"_s});
        QVERIFY2(again.status != 0, again.what());
        QCOMPARE(numberOf({"ZCARD", "render:slots:gpu"}), 1);
    }

    // What came between the last look and the script is another's: nothing of it goes.
    void theScriptOfARuleComparesWhatIsThereThen()
    {
        const auto script = redis::loadScript("rule-release");
        const auto outcome = [&](const QByteArray &key, const QByteArray &field, const QByteArray &mine) {
            const auto got = await(
                m_client->script(script, {key}, {field, mine, "", key + ":free"}, Deadline::after(m_loop, patience)));
            return got ? static_cast<int>(got->integer) : -9;
        };
        set({"HSET", "by:hash", "t", "mine", "u", "x"});
        QCOMPARE(outcome("by:hash", "t", "theirs"), 0);
        QCOMPARE(outcome("by:hash", "gone", "mine"), -1);
        QCOMPARE(outcome("by:none", "t", "mine"), -1);
        QCOMPARE(outcome("by:hash", "", "v"), -1);
        QCOMPARE(outcome("by:hash", "", "u"), 1); // a field that is a holder
        QCOMPARE(outcome("by:hash", "t", "mine"), 1);
        set({"SET", "by:text", "mine"});
        QCOMPARE(outcome("by:text", "", "mine"), 0);
        set({"ZADD", "by:set", "1", "mine"});
        QCOMPARE(outcome("by:set", "t", "mine"), 0);
        QCOMPARE(outcome("by:set", "", "mine"), 1);
    }

    // Of what goes on: a file that comes, changes or is spoilt while it runs, and what is said of it.
    void aWatchGoesByRulesThatComeLater()
    {
        QTemporaryDir config;
        const QMap<QString, QString> environment{{u"XDG_CONFIG_HOME"_s, config.path()}};
        set({"SET", "late:1", "ann", "PX", "600000"});
        set({"SET", "lock:first", "0b0e5e3a-5d2c-4d3a-9c1e-3f5a7f0e9b11", "PX", "600000"});
        const QStringList connect{u"--connect"_s, uri()};
        Ctl watch(connect + QStringList{u"locks"_s, u"--watch"_s}, environment);
        QVERIFY(nextChangeOf(watch, u"added"_s, u"redis:lock:first"_s));
        const auto recording = config.filePath(u"seen.lockscope"_s);
        Ctl record(connect + QStringList{u"record"_s, recording, u"--json"_s}, environment);
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(recording), patienceMs);

        QVERIFY(QDir(config.path()).mkpath(u"lockscope/rules"_s));
        const auto write = [&config](const QByteArray &text) {
            QSaveFile file(config.filePath(u"lockscope/rules/late.json"_s));
            return file.open(QFile::WriteOnly) && file.write(text) == text.size() && file.commit();
        };
        QVERIFY(write(
            R"({"version": 1, "rules": [{"name": "Late", "key": "late:\\d", "type": "string", "value": "\\w+"}]})"));
        QVERIFY(nextChangeOf(watch, u"added"_s, u"redis:late:1"_s));
        const QStringList replay{u"replay"_s, recording, u"show"_s, u"redis:late:1"_s};
        QTRY_COMPARE_WITH_TIMEOUT(testing::run(replay).status, 0, patienceMs);
        QVERIFY(write(R"({"version": 1, "rules": [{"name": "Late", "kee": "late:\\d"}]})"));
        QVERIFY(nextChangeOf(watch, u"removed"_s, u"redis:late:1"_s));
        for (auto *program : {&watch, &record}) {
            program->signal(SIGINT);
            const auto ran = program->finish();
            QVERIFY2(ran.err.contains("custom rules changed and are in force: rules: 1; token formats: 0"),
                     ran.what());
            QVERIFY2(program == &record || ran.err.contains("rules[0].kee: is not known here"), ran.what());
        }
    }

private:
    static bool nextChangeOf(Ctl &watch, const QString &kind, const QString &lock)
    {
        for (auto line = watch.jsonLine(); !line.isEmpty(); line = watch.jsonLine()) {
            if (line["change"_L1] == kind && line["lock"_L1]["lock"_L1] == lock)
                return true;
        }
        return false;
    }
    int numberOf(const redis::Command &command)
    {
        const auto got = await(m_client->command(command, Deadline::after(m_loop, patience)));
        return got ? static_cast<int>(got->integer) : -1;
    }
    int subscribers()
    {
        const auto got =
            await(m_client->command({"PUBSUB", "NUMSUB", "acme:job:42:free"}, Deadline::after(m_loop, patience)));
        return got && got->items.size() == 2 ? static_cast<int>(got->items[1].integer) : -1;
    }
};

LOCKSCOPE_TEST(TestCtlRules)
#include "tst_ctl_rules.moc"
