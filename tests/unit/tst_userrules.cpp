// SPDX-License-Identifier: Apache-2.0
// Recognisers without a compiler (docs/rules.md): what a file may say, what is told of its mistakes, the locks that
// rules make of keys, and how these are given back.
#include "tests/support/testmain.h"
#include "znodetable.h"

#include "core/inspect/findings.h"
#include "core/inspect/mariadb/poll.h"
#include "core/inspect/redis/userrulelocks.h"
#include "core/operate/forcereleaseplan.h"
#include "core/rules/turn.h"
#include "core/workspace/rulefolder.h"

#include <QFile>
#include <QTemporaryDir>

using namespace lockscope::inspect;
using recipes::readRuleFile;
using recipes::RuleFile;
using std::chrono::milliseconds;

namespace {

const ServerTime ruleNow{milliseconds(1'700'000'000'000)};

QString examplePath(const QString &name)
{
    return QStringLiteral(CORPUS "/../../../docs/rules/") + name;
}

QStringList textsOf(const RuleFile &read)
{
    QStringList lines;
    for (const auto &problem : read.problems)
        lines << problem.text();
    return lines;
}

RuleFile ruleOf(const QByteArray &fields)
{
    return readRuleFile("{\"version\": 1, \"rules\": [{\"name\": \"r\", " + fields + "}]}", u"f"_s);
}

KeyView ruleKey(const QByteArray &key, KeyType type, std::optional<milliseconds> ttl = milliseconds(30'000))
{
    return KeyView{.key = RedisKey(key), .type = type, .ttl = ttl};
}

KeyView ruleString(const QByteArray &key, const QByteArray &value,
                   std::optional<milliseconds> ttl = milliseconds(30'000))
{
    auto view = ruleKey(key, KeyType::String, ttl);
    view.value = value;
    return view;
}

RedisContext ruleContext()
{
    return RedisContext{.connection = ConnectionName("redis"), .observed = ruleNow};
}

QByteArray drawnByRule(const KeyView &main, const std::vector<KeyView> &companions = {})
{
    const auto lock = recognise(main, companions, ruleContext());
    return lock ? table::draw(std::vector<LockSnapshot>{*lock}) : QByteArray();
}

} // namespace

class TestUserRules : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        auto read = readRuleFiles({examplePath(u"acme-jobs.json"_s), examplePath(u"seats-and-slots.json"_s)});
        QCOMPARE(textsOf(read), QStringList());
        QCOMPARE(read.rules.size(), size_t(4));
        recipes::setUserRules(std::move(read));
    }
    void cleanup() { recipes::setUserRules({}); }

    void everyMistakeIsToldAtOnceByLineAndField()
    {
        const auto path = QStringLiteral(CORPUS "/rules/with-mistakes.json");
        QFile file(path);
        QVERIFY(file.open(QFile::ReadOnly));
        const auto read = readRuleFile(file.readAll(), u"with-mistakes.json"_s);
        QVERIFY(read.rules.empty());
        // As docs/rules.md has them.
        QFile page(examplePath(u"../rules.md"_s));
        QVERIFY(page.open(QFile::ReadOnly));
        QStringList documented;
        for (const auto &line : QString::fromUtf8(page.readAll()).split(u'\n')) {
            if (line.trimmed().startsWith(u"with-mistakes.json:"_s))
                documented << line.trimmed();
        }
        QCOMPARE(textsOf(read).join(u'\n'), documented.join(u'\n'));
        QCOMPARE(documented.size(), 21);
    }

    // What does not hang on it is told beside a wrong type.
    void aWrongTypeHidesNoOtherMistake()
    {
        const auto read = readRuleFile("version = 1\n[[rules]]\nname = \"x\"\nkey = 'x:(?<a>\\w+)'\ntype = \"hsh\"\n"
                                       "ttl = \"maybe\"\nrelease = \"delete\"\n",
                                       u"x.toml"_s);
        const QStringList fields{u"x.toml:5: rules[0].type: "_s, u"x.toml:6: rules[0].ttl: "_s,
                                 u"x.toml:7: rules[0].release: "_s};
        const auto told = textsOf(read);
        QCOMPARE(told.size(), fields.size());
        for (qsizetype i = 0; i < fields.size(); ++i)
            QVERIFY2(told[i].startsWith(fields[i]), qPrintable(told[i]));
    }

    // The same in TOML, by the same lines and fields.
    void tomlSaysTheSame()
    {
        auto read = readRuleFiles({examplePath(u"acme-leases.toml"_s)});
        QCOMPARE(textsOf(read), QStringList());
        QCOMPARE(read.rules.size(), size_t(2));
        QCOMPARE(read.tokens.size(), size_t(1));
        QCOMPARE(read.rules[0].file, u"acme-leases.toml"_s);
        QCOMPARE(read.rules[0].fields.size(), size_t(3));
        QCOMPARE(read.rules[1].wakeList, QByteArray("acme:turn:${queue}:wake"));
        QVERIFY(read.rules[1].value->match("web-3.000000000042"));
        recipes::setUserRules(std::move(read));
        QCOMPARE(drawnByRule(ruleString("acme:turn:mail", "web-3.000000000042")),
                 QByteArray("acme:turn:mail redis-set-nx high held (Acme turn)\n"
                            "000000000042 holds exclusive -"));
    }
    void tomlMistakes()
    {
        const auto read = readRuleFile(R"(version = 2
[[rules]]
name = "a"
type = "string"
vaule = "."

[[rules]]
name = 1979-05-27
key = 'k:(\d'
type = "list"
wakeUp = {chanel = "${key}"}
[[tokens]]
why = "x"
value = ".*"
)",
                                       u"f.TOML"_s);
        QVERIFY(read.isEmpty());
        const auto lines = textsOf(read);
        const auto said = lines.join(u'\n');
        for (const char *wanted :
             {"f.TOML:1: version: must be 1", "f.TOML:2: rules[0].key: is missing",
              "f.TOML:5: rules[0].vaule: ", "f.TOML:8: rules[1].name: must be a text",
              "f.TOML:9: rules[1].key: is not a valid regular expression", "f.TOML:10: rules[1].type: must be",
              "f.TOML:11: rules[1].wakeUp.chanel: is not known here", "f.TOML:14: tokens[0].value: fits any value"})
            QVERIFY2(said.contains(QLatin1StringView(wanted)), qPrintable(said));
        const auto broken = readRuleFile("version = 1\n[[rules]\n", u"f.toml"_s);
        QCOMPARE(broken.problems.size(), size_t(1));
        QCOMPARE(broken.problems.front().line, 2);
        QVERIFY2(broken.problems.front().why.startsWith(u"is not valid TOML: "_s),
                 qPrintable(broken.problems.front().why));
        QVERIFY(!readRuleFile(QByteArray(5000, '['), u"f.toml"_s).problems.empty());
        // A letter where only ASCII may stand; in a comment and in a text it may.
        const auto letter = readRuleFile("version = 1 # \u00e9\n\u00e9t\u00e9 = 1\n", u"f.toml"_s);
        QCOMPARE(letter.problems.size(), size_t(1));
        QCOMPARE(letter.problems.front().line, 2);
        QVERIFY(!readRuleFile("a = " + QByteArray(5000, '['), u"f.toml"_s).problems.empty());
    }

    void mistakes_data()
    {
        const Rows<QByteArray, QString> row("fields", "says");
        row("no value", R"j("key": "k:\\d", "type": "string")j", u"rules[0].value: is missing"_s);
        row("no member", R"j("key": "k:\\d", "type": "sorted-set")j", u"rules[0].members: is missing"_s);
        row("not of its type", R"j("key": "k:\\d", "type": "string", "value": "(?<token>.+)", "score": "until")j",
            u"rules[0].score: is for the type \"sorted-set\" only"_s);
        row("a hash without an owner", R"j("key": "k:\\d", "type": "hash", "fields": {"until": "end"})j",
            u"rules[0].fields: needs \"holder\" or \"token\""_s);
        row("one name for all", R"j("key": "k:\\d", "type": "string", "value": ".", "waiters": "queue")j",
            u"rules[0].waiters: is the same for every lock"_s);
        row("deleted without comparing",
            R"j("key": "k:\\d", "type": "hash", "fields": {"holder": "h"}, "release": "compare-and-delete")j",
            u"rules[0].release: of this type needs a \"token\": nothing else tells a hold from a later one"_s);
        row("taken out without a token",
            R"j("key": "k:\\d", "type": "sorted-set", "members": "(?<holder>.+)x", "release": "compare-and-delete")j",
            u"rules[0].release: of this type needs a \"token\""_s);
        row("woken without a release",
            R"j("key": "k:(\\d)", "type": "hash", "fields": {"token": "t"}, "wakeUp": {"channel": "${key}:free"})j",
            u"rules[0].wakeUp: is sent with a release, and there is none"_s);
        row("a mode of its own", R"j("key": "k:\\d", "type": "string", "value": ".", "mode": "shared")j",
            u"rules[0].mode: must be"_s);
        row("out of the pattern", R"j("key": "k:\\d)|(.*", "type": "string", "value": ".")j",
            u"rules[0].key: is not a valid regular expression"_s);
        row("endless", "\"key\": \"k:" + QByteArray(600, 'x') + "\", \"type\": \"string\", \"value\": \".\"",
            u"rules[0].key: is longer than"_s);
    }
    void mistakes()
    {
        QFETCH(QByteArray, fields);
        QFETCH(QString, says);
        const auto read = ruleOf(fields);
        QVERIFY(read.rules.empty());
        QVERIFY2(textsOf(read).join(u'\n').contains(says), qPrintable(textsOf(read).join(u'\n')));
    }

    // A release that may not be is none that is missing.
    void oneMistakeIsToldOnce()
    {
        const auto read = ruleOf(R"j("key": "k:(\\d)", "type": "hash", "fields": {"holder": "h"},
            "release": "compare-and-delete", "wakeUp": {"channel": "${key}:free"})j");
        QCOMPARE(textsOf(read).size(), 1);
        QVERIFY2(textsOf(read)[0].contains(u"rules[0].release: of this type"), qPrintable(textsOf(read)[0]));
    }

    void invalidJsonIsReportedWithItsLine()
    {
        const auto read = readRuleFile("{\n  \"version\": 1,\n  \"rules\": [\n    {,}\n  ]\n}", u"f.json"_s);
        QCOMPARE(read.problems.size(), size_t(1));
        QVERIFY2(textsOf(read)[0].startsWith(u"f.json:4: is not valid JSON"_s), qPrintable(textsOf(read)[0]));
        QVERIFY(readRuleFile("[]", u"f"_s).problems.size() == 1);
        QVERIFY(!readRuleFile(QByteArray(2 << 20, ' '), u"f"_s).problems.empty());
    }

    void locks_data()
    {
        const Rows<KeyView, QByteArray> row("main", "expected");
        row("a token of its own", ruleString("acme:job:42:owner", "web-3/17/00aa11bb22cc33dd"),
            "acme:job:42:owner redis-set-nx high held (Acme job lock)\n00aa11bb22cc33dd holds exclusive -");
        row("no end where there should be one",
            ruleString("acme:job:42:owner", "web-3/17/00aa11bb22cc33dd", std::nullopt),
            "acme:job:42:owner redis-set-nx high held (Acme job lock) !no-ttl\n00aa11bb22cc33dd holds exclusive -");
        row("no end, as it should be", ruleString("acme:maintenance:eu", "ann since 1699990000", std::nullopt),
            "acme:maintenance:eu redis-rule high held (Acme maintenance switch)\nann since 1699990000 holds exclusive "
            "-");
        row("another value", ruleString("acme:job:42:owner", "nobody"), "");
        row("another name behind it", ruleString("acme:job:42:owner:old", "web-3/17/00aa11bb22cc33dd"), "");

        auto seat = ruleKey("seat:LH400:12A", KeyType::Hash, milliseconds(90'000));
        seat.fields = {{"user", "ann"}, {"session", "s-1"}, {"kind", "book"}, {"expires", "1700000060"}};
        row("a hash that says so", seat, "seat:LH400:12A redis-rule high held (Seat reservation)\ns-1 holds write -");
        seat.fields[3].second = "1699999999";
        row("a hash whose moment is over", seat, "seat:LH400:12A redis-rule high free (Seat reservation)");
        seat.fields = {{"user", "ann"}};
        row("a hash without its token", seat, "");

        auto taken = ruleKey("render:slots:gpu", KeyType::SortedSet, std::nullopt);
        taken.scored = {{"ann#11111111-1111-4111-8111-111111111111", 1'700'000'050'000.0},
                        {"bob#22222222-2222-4222-8222-222222222222", 1'699'999'999'000.0},
                        {"odd", 1'700'000'050'000.0}};
        row("a member each", taken,
            "render:slots:gpu redis-rule high held (Render slots)\n"
            "11111111-1111-4111-8111-111111111111 holds permit -");
    }
    void locks()
    {
        QFETCH(KeyView, main);
        QFETCH(QByteArray, expected);
        QCOMPARE(drawnByRule(main), expected);
        if (!expected.isEmpty()) {
            const auto lock = recognise(main, {}, ruleContext());
            QVERIFY2(lock->why.startsWith(u"by your rule \""_s), qPrintable(lock->why));
            QVERIFY(lock->byUserRule);
            QVERIFY(isSuspect(main.key, main.type, main.ttl, false));
        }
    }

    void theirWaitersStandInTheirOrder()
    {
        const auto main = ruleString("acme:job:42:owner", "web-3/17/00aa11bb22cc33dd");
        const auto beside = companionsToRead(main);
        QCOMPARE(beside.at(0), RedisKey("acme:job:42:meta"));
        QCOMPARE(beside.at(1), RedisKey("acme:job:42:queue"));
        auto queue = ruleKey("acme:job:42:queue", KeyType::List);
        queue.items = {"web-1", "web-2", "web-1"};
        const auto lock = recognise(main, {queue}, ruleContext());
        QVERIFY(lock && lock->waitersKnown);
        QCOMPARE(lock->state, LockState::Contended);
        QCOMPARE(table::draw(lock->contenders[1]), QByteArray("web-1 waits exclusive 1"));
        QCOMPARE(table::draw(lock->contenders[2]), QByteArray("web-2 waits exclusive 2"));
        QCOMPARE(lock->contenders.size(), size_t(3));
        QCOMPARE(lock->companions, (std::vector<QByteArray>{"acme:job:42:meta", "acme:job:42:queue"}));
    }

    // A value that the next holder may write as well is told apart by its end, as everywhere.
    void withoutATokenTheEndTellsHoldsApart()
    {
        auto read = ruleOf(R"j("key": "sw:\\w+", "type": "string", "value": "(?<holder>\\w+)")j");
        QCOMPARE(textsOf(read), QStringList());
        recipes::setUserRules(std::move(read));
        auto main = ruleString("sw:a", "ann");
        main.expiresAt = ruleNow + milliseconds(5000);
        const auto lock = recognise(main, {}, ruleContext());
        QVERIFY(lock);
        QCOMPARE(lock->recipe, QByteArray("redis-setnx-expire"));
        QCOMPARE(lock->contenders[0].id, QByteArray("ann@1700000005000"));
        QCOMPARE(lock->contenders[0].identity, QByteArray("ann"));
    }

    void whyAKeyIsNoneIsTold()
    {
        const auto said = [](const KeyView &main) {
            const auto trials = tryUserRules(main, {}, ruleContext());
            return trials.size() == 1 && !trials[0].lock ? trials[0].misfit : QString();
        };
        QCOMPARE(said(ruleString("acme:job:42:owner", "no\x01"
                                                      "body")),
                 u"its value \"no\\x01body\" does not fit (?<holder>[^/]+/\\d+)/(?<token>[0-9a-f]{16})"_s);
        QCOMPARE(said(ruleKey("acme:job:42:owner", KeyType::List)), u"the key is a list, the rule's is a string"_s);
        auto seat = ruleKey("seat:LH400:12A", KeyType::Hash);
        QCOMPARE(said(seat), u"the hash has no field user, session, or an empty one"_s);
        QCOMPARE(said(ruleString("other", "x")), QString());
    }

    // What is compared is the whole value; who waits is woken as the rule says.
    void theyAreGivenBackThroughTheSameGate()
    {
        const auto lock = recognise(ruleString("acme:job:42:owner", "web-3/17/00aa11bb22cc33dd"), {}, ruleContext());
        const auto plan = operate::planForceRelease(*lock, "00aa11bb22cc33dd");
        QVERIFY(plan);
        QVERIFY(plan->exact);
        QVERIFY2(plan->commands.contains(u"in the script: DEL acme:job:42:owner, only if GET acme:job:42:owner is "
                                         u"web-3/17/00aa11bb22cc33dd"_s),
                 qPrintable(plan->commands.join(u'\n')));
        QVERIFY(plan->commands.contains(u"and then: PUBLISH acme:job:42:free acme:job:42:owner"_s));
        QVERIFY2(plan->wakes.contains(u"a publish on acme:job:42:free, as your rule \"Acme job lock\" states"_s),
                 qPrintable(plan->wakes));
        QCOMPARE(recipes::wakeSignalsOf("acme:job:42:owner").channels, QByteArrayList{"acme:job:42:free"});
        QCOMPARE(recipes::wakeSignalsOf("lock:orders").list, QByteArray("lock-signal:orders"));
    }

    // A rule that says of no wake-up says that its clients poll, whatever its keys are called.
    void aRuleWithoutWakeUpWakesNobody()
    {
        auto read = recipes::readRuleFile(R"x({"version": 1, "rules": [{"name": "Shop", "key": "lock:shop:\\d+",
            "type": "string", "value": "(?<token>[0-9a-f-]{36})"}]})x",
                                          u"f"_s);
        QVERIFY(read.problems.empty());
        recipes::setUserRules(std::move(read));
        QVERIFY(recipes::wakeSignalsOf("lock:shop:7").isEmpty());
        QVERIFY(!recipes::wakeSignalsOf("lock:other:7").isEmpty());
        const QByteArray token = "6fd7eb8c-2a92-4520-a1fe-105f6b49e9f5";
        const auto lock = recognise(ruleString("lock:shop:7", token), {}, ruleContext());
        const auto plan = operate::planForceRelease(*lock, token);
        QVERIFY(plan);
        QVERIFY2(!plan->commands.join(u' ').contains(u"PUBLISH"_s), qPrintable(plan->commands.join(u'\n')));
        QVERIFY2(plan->wakes.contains(u"poll"_s), qPrintable(plan->wakes));
    }

    void ruleWithoutReleaseMethodIsNotReleased()
    {
        const auto lock =
            recognise(ruleString("acme:maintenance:eu", "ann since 1699990000", std::nullopt), {}, ruleContext());
        const auto plan = operate::planForceRelease(*lock, lock->contenders[0].id);
        QVERIFY(!plan);
        QVERIFY2(plan.error().message.contains(u"no way of release"_s), qPrintable(plan.error().message));
    }

    // Neither a pattern nor a value of a stranger's keeps us busy.
    void endlesslyBacktrackingPatternDoesNotMatch()
    {
        auto read = ruleOf(R"j("key": "k:(a+)+b", "type": "string", "value": "(x*)*y")j");
        QCOMPARE(textsOf(read), QStringList());
        recipes::setUserRules(std::move(read));
        QCOMPARE(drawnByRule(ruleString("k:" + QByteArray(4000, 'a'), "y")), QByteArray());
        QCOMPARE(drawnByRule(ruleString("k:aab", QByteArray(4000, 'x'))), QByteArray());
        QVERIFY(!drawnByRule(ruleString("k:aab", "xxy")).isEmpty());
    }

    void patternsFitBytesAsAWhole()
    {
        const auto fits = [](const QString &pattern, const QByteArray &text) {
            const auto read = recipes::RulePattern::read(pattern);
            const auto *whole = std::get_if<recipes::RulePattern>(&read);
            return whole && whole->match(text).has_value();
        };
        QVERIFY(fits(u"a|ab"_s, "ab"));
        QVERIFY(!fits(u"a"_s, "ab"));
        QVERIFY(!fits(u"a"_s, "a\n"));
        QVERIFY(fits(u"ключ:."_s, QByteArray("ключ:\xff")));
        QVERIFY(fits(u"ab*"_s, "a"));
        QVERIFY(fits(u"[|]x"_s, "|x"));
        QVERIFY(fits(u"\\(a|b"_s, "b"));
    }

    void builtInFormsOfTokensAreSuchAFile()
    {
        const auto &forms = recipes::builtInTokenForms();
        QVERIFY(forms.size() > 10);
        for (const auto &form : forms) {
            QVERIFY(form.file.isEmpty());
            QVERIFY(!form.why.isEmpty() && form.value);
        }
    }

    void formsOfTokensAreAskedBeforeThoseBuiltIn_data()
    {
        const Rows<KeyView, QByteArray> row("main", "expected");
        const QByteArray proof = "acme1-0123456789ABCDEFGHJKMNPQRS";
        row("what is proof needs no name", ruleString("session:17", proof),
            "session:17 redis-set-nx high held (acme-lock)\n" + proof + " holds exclusive -");
        row("and no end either, which is said", ruleString("session:17", proof, std::nullopt),
            "session:17 redis-set-nx high held (acme-lock) !no-ttl\n" + proof + " holds exclusive -");
        row("its key's name, and one that behaves like a lock", ruleString("orders:mutex", "web-3/00aa11bb22cc"),
            "orders:mutex redis-set-nx medium held (acme-lock (old))\nweb-3/00aa11bb22cc holds exclusive -");
        row("another key", ruleString("orders:page", "web-3/00aa11bb22cc"), "");
        row("another value: as without the file", ruleString("orders:mutex", QByteArray(40, 'A')),
            "orders:mutex redis-set-nx medium held (redlock-cpp)\n" + QByteArray(40, 'A') + " holds exclusive -");
    }
    void formsOfTokensAreAskedBeforeThoseBuiltIn()
    {
        auto read = readRuleFiles({examplePath(u"acme-tokens.json"_s)});
        QCOMPARE(textsOf(read), QStringList());
        QCOMPARE(read.tokens.size(), size_t(2));
        recipes::setUserRules(std::move(read));
        QFETCH(KeyView, main);
        QFETCH(QByteArray, expected);
        QCOMPARE(drawnByRule(main), expected);
        const auto trial = tryUserTokenForms(main, {}, ruleContext());
        QCOMPARE(trial.has_value(), expected.contains("acme-lock"));
        if (!trial)
            return;
        QCOMPARE(trial->file, u"acme-tokens.json"_s);
        const auto lock = recognise(main, {}, ruleContext());
        QVERIFY2(lock->why.startsWith(u"by your form of tokens (acme-tokens.json): "_s), qPrintable(lock->why));
        QVERIFY(lock->byUserRule);
        QCOMPARE(isSuspect(main.key, main.type, main.ttl, false), main.key.bytes().endsWith(":mutex"));
    }

    // A name that Lockscope knows brings along what it knows.
    void aFormByAKnownNameIsThatClients()
    {
        auto read = readRuleFile(R"({"version": 1, "tokens": [{"client": "redsync", "why": "two dashes",
            "value": "--[a-z]+", "proof": true}, {"why": "a dash", "value": "-[a-z]+", "proof": true}]})",
                                 u"f"_s);
        QCOMPARE(textsOf(read), QStringList());
        recipes::setUserRules(std::move(read));
        const auto known = recognise(ruleString("a", "--x"), {}, ruleContext());
        QVERIFY(known && known->clientTraits.notices);
        const auto several = recognise(ruleString("a", "-x"), {}, ruleContext());
        QVERIFY(several && !several->client);
    }

    void aFileNeedsRulesOrForms()
    {
        const auto said = [](const QByteArray &rest) {
            return textsOf(readRuleFile("{\"version\": 1" + rest + "}", u"f"_s)).join(u'\n');
        };
        QCOMPARE(said({}), u"f: rules: must be an array of at most 200 rules"_s);
        QCOMPARE(said(", \"tokens\": []"), u"f:1: tokens: must be an array of at most 200 tokens"_s);
        QCOMPARE(said(R"(, "tokens": [{"value": "x"}])"),
                 u"f:1: tokens[0].why: must describe the value, in at most 160 characters"_s);
        QCOMPARE(
            said(R"(, "tokens": [{"why": "w", "value": "x", "beside": "him", "confidence": "low"}])"),
            u"f:1: tokens[0].confidence: must be \"high\" or \"medium\"\nf:1: tokens[0].beside: must be \"wake-up list\""_s);
    }

    void mistakesOfTables_data()
    {
        const Rows<QByteArray, QString> row("fields", "says");
        row("no table", R"j("name": "n", "lock": "job")j", u"tables[0].table: must be the name of the table"_s);
        row("several tables", R"j("name": "n", "table": "a,b", "lock": "job")j",
            u"tables[0].table: must be the name of the table"_s);
        row("no lock", R"j("name": "n", "table": "t")j", u"tables[0].lock: must be the column"_s);
        row("a name without letters", R"j("name": "- -", "table": "t", "lock": "job")j",
            u"tables[0].name: must be"_s);
        row("no column", R"j("name": "n", "table": "t", "lock": ["job", ""])j",
            u"tables[0].lock[1]: must be the name of a column"_s);
        row("a time of nothing", R"j("name": "n", "table": "t", "lock": "job", "untilTime": "utc")j",
            u"tables[0].untilTime: describes the column of \"until\", which is missing"_s);
        row("a zone of its own", R"j("name": "n", "table": "t", "lock": "job", "until": "u", "untilTime": "cet")j",
            u"tables[0].untilTime: must be \"seconds\" or \"server\" or \"unclear\" or \"utc\""_s);
        const QByteArray flagged(R"j("name": "n", "table": "t", "lock": "job", "flag": "s", )j");
        row("held without free", flagged + R"j("held": ["a"])j", u"tables[0].held: needs \"free\""_s);
        row("free without held", flagged + R"j("free": ["a"])j", u"tables[0].held: needs \"free\""_s);
        row("held without a flag", R"j("name": "n", "table": "t", "lock": "job", "held": ["a"], "free": ["b"])j",
            u"tables[0].held: needs \"free\" and \"flag\""_s);
        row("held and free", flagged + R"j("held": ["a"], "free": ["b", "a"])j",
            u"tables[0].free: has \"a\", as \"held\" has"_s);
        row("a number", flagged + R"j("held": [1], "free": ["b"])j",
            u"tables[0].held: must be an array of at most 20 texts"_s);
        row("nothing is free", flagged + R"j("held": ["a"], "free": [])j",
            u"tables[0].free: must be an array of at most 20 texts"_s);
        row("not true or false", R"j("name": "n", "table": "t", "lock": "job", "since": "s", "sinceRenewed": 1)j",
            u"tables[0].sinceRenewed: must be true or false"_s);
    }
    void mistakesOfTables()
    {
        QFETCH(QByteArray, fields);
        QFETCH(QString, says);
        const auto read = readRuleFile("{\"version\": 1, \"tables\": [{" + fields + "}]}", u"f"_s);
        QVERIFY(read.tables.empty());
        QCOMPARE(read.problems.size(), std::size_t(1));
        QVERIFY2(textsOf(read)[0].contains(says), qPrintable(textsOf(read)[0]));
    }

    void tableIsKnownByItsColumns_data()
    {
        const Rows<QByteArray, QByteArray, QByteArray> row("table", "columns", "prefix");
        row("its own", "acme_job_leases", "job worker taken_at expires_at", "RULE-ACME-JOB-LEASE#");
        row("more columns, in capitals", "ACME_JOB_LEASES", "id job worker taken_at expires_at",
            "RULE-ACME-JOB-LEASE#");
        row("two columns name it", "acme_imports", "tenant source is_running run_id", "RULE-ACME-IMPORT-FLAG#");
        row("a text tells whether it is held", "acme_exports", "id status worker changed_at",
            "RULE-ACME-EXPORT-STATUS#");
        row("a column is missing", "acme_job_leases", "job worker taken_at", "");
        row("another table", "acme_job_leases_old", "job worker taken_at expires_at", "");
        row("built in", "cache_locks", "key owner expiration", "LARAVEL#");
    }
    void tableIsKnownByItsColumns()
    {
        QFETCH(QByteArray, table);
        QFETCH(QByteArray, columns);
        auto read = readRuleFiles({examplePath(u"acme-rows.json"_s)});
        QVERIFY(read.problems.empty());
        QCOMPARE(read.tables.size(), std::size_t(3));
        recipes::setUserRules(std::move(read));
        const auto *layout = recipes::rowLayoutOf(table, columns.split(' '));
        QTEST(layout ? layout->prefix : QByteArray(), "prefix");
        if (!layout || layout->table.isEmpty())
            return;
        QCOMPARE(recipes::rowLayoutNamed(layout->prefix + "shop.t#x"), layout);
        recipes::setUserRules(readRuleFiles({examplePath(u"acme-rows.json"_s)}));
        QCOMPARE(recipes::rowLayoutOf(table, columns.split(' ')), layout); // its address stays
        recipes::setUserRules({});
        QVERIFY(!recipes::rowLayoutOf(table, columns.split(' ')));
    }

    // As within one file: locks of one would be found by the other.
    void twoFilesMustNotDescribeOneTable()
    {
        const QByteArray first = R"({"version": 1, "tables": [{"name": "A", "table": "t", "lock": "job"}]})";
        auto read = readRuleFile(first, u"1.json"_s);
        read.add(readRuleFile(QByteArray(first).replace("\"A\"", "\"B\""), u"2.json"_s));
        QCOMPARE(read.tables.size(), std::size_t(1));
        QCOMPARE(read.problems.size(), std::size_t(1));
        QCOMPARE(read.problems[0].file, u"2.json"_s);
        read.add(readRuleFile(QByteArray(first).replace("\"t\"", "\"u\""), u"3.json"_s));
        QCOMPARE(read.tables.size(), std::size_t(1));
        QCOMPARE(read.problems.size(), std::size_t(2));
        read.add(readRuleFile(QByteArray(first).replace("\"t\"", "\"u\"").replace("\"A\"", "\"C\""), u"4.json"_s));
        QCOMPARE(read.tables.size(), std::size_t(2));
    }

    void rowOfATableRuleIsALock()
    {
        recipes::setUserRules(readRuleFiles({examplePath(u"acme-rows.json"_s)}));
        const auto lockOf = [](SqlLockRow row) {
            LockSnapshot empty;
            empty.backend = BackendKind::MariaDb;
            empty.observed = ServerTime(1'700'000'100s);
            empty.lock = {ConnectionName("db"), lockRowName(row)};
            return lockOfRow(row, empty);
        };
        SqlLockRow lease{.layout = recipes::userRowLayoutOf("acme_job_leases"),
                         .schema = "shop",
                         .table = "acme_job_leases",
                         .names = {"nightly"},
                         .lockedBy = "web-3",
                         .stamp = "2026-11-22 10:00:00"};
        lease.since = ServerTime(1'700'000'000s);
        lease.ends = ServerTime(1'700'000'128s);
        const auto lock = lockOf(lease);
        QCOMPARE(lock.lock.name, QByteArray("RULE-ACME-JOB-LEASE#shop.acme_job_leases#nightly"));
        QCOMPARE(lock.recipe, QByteArray("sql-row-lock"));
        QCOMPARE(lock.client, std::optional(u"Acme job lease"_s));
        QVERIFY2(lock.byUserRule && lock.why.startsWith(u"by your rule \"Acme job lease\": "_s),
                 qPrintable(lock.why));
        QCOMPARE(lock.contenders[0].identity, std::optional<QByteArray>("web-3"));
        QCOMPARE(lock.contenders[0].expiresAt, lease.ends);
        QCOMPARE(lock.contenders[0].heldSince, lease.since);
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(!plan);
        QVERIFY2(plan.error().message.contains(u"DELETE FROM `shop`.`acme_job_leases` WHERE `job` = 'nightly'"_s),
                 qPrintable(plan.error().message));

        const SqlLockRow flag{.layout = recipes::userRowLayoutOf("acme_imports"),
                              .schema = "shop",
                              .table = "acme_imports",
                              .names = {"eu", "a,b"},
                              .lockedBy = "r-17"};
        const auto taken = lockOf(flag);
        QCOMPARE(taken.lock.name, QByteArray("RULE-ACME-IMPORT-FLAG#shop.acme_imports#eu,`a,b`"));
        QCOMPARE(taken.contenders[0].id, QByteArray("r-17"));
        const auto back = lockRowNamed(taken.lock.name);
        QVERIFY(back && back->layout == flag.layout && back->names == flag.names);
        const SqlLockRow status{.layout = recipes::userRowLayoutOf("acme_exports"),
                                .schema = "shop",
                                .table = "acme_exports",
                                .names = {"7"},
                                .lockedBy = "web-3",
                                .flag = "RUNNING"};
        const auto exporting = lockOf(status);
        QVERIFY2(exporting.why.endsWith(u"status is LOCKED or RUNNING"_s), qPrintable(exporting.why));
        const auto ended = operate::planForceRelease(exporting, exporting.contenders[0].id);
        QVERIFY2(!ended
                     && ended.error().message.contains(
                         u"UPDATE `shop`.`acme_exports` SET `status` = 'NEW' WHERE `id` = '7' AND `status` IN "
                         u"('LOCKED', 'RUNNING') AND `worker` = 'web-3'"_s),
                 qPrintable(ended.error().message));
        const auto freed = operate::planForceRelease(taken, "r-17");
        QVERIFY(!freed);
        QVERIFY2(freed.error().message.contains(u"UPDATE `shop`.`acme_imports` SET `is_running` = '0' WHERE"_s),
                 qPrintable(freed.error().message));
    }

    // As an editor saves: the file is used as it is now, or not at all.
    void filesAreReadAgainWhenTheyChange()
    {
        QTemporaryDir folder;
        const auto path = folder.filePath(u"settings/rules/mine.json"_s);
        const auto write = [&path](const QByteArray &text) {
            QFile file(path);
            if (file.open(QFile::WriteOnly))
                file.write(text);
        };
        recipes::setUserRules({});
        RuleWatch watch({}, folder.filePath(u"settings/rules"_s));
        int changes = 0;
        connect(&watch, &RuleWatch::rulesChanged, this, [&changes] { ++changes; });
        QVERIFY(recipes::userRules()->isEmpty());
        // A folder that is made later is seen where there was none above it either.
        QVERIFY(QDir(folder.path()).mkdir(u"settings"_s) && QDir(folder.path()).mkdir(u"settings/rules"_s));
        write(R"({"version": 1, "rules": [{"name": "r", "key": "k:\\d", "type": "string", "value": "."}]})");
        QTRY_COMPARE(recipes::userRules()->rules.size(), size_t(1));
        QCOMPARE(watch.problems(), QStringList());
        QCOMPARE(changes, 1);
        write("{}");
        QTRY_VERIFY(!watch.problems().isEmpty());
        QVERIFY2(watch.problems()[0].startsWith(path), qPrintable(watch.problems()[0]));
        QVERIFY(recipes::userRules()->isEmpty());
        QCOMPARE(changes, 2);
        QFile::remove(path);
        QTRY_VERIFY(watch.problems().isEmpty());
        QCOMPARE(changes, 2); // there were none
    }
};

LOCKSCOPE_TEST(TestUserRules)
#include "tst_userrules.moc"
