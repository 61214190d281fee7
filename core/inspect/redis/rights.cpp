// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/observer.h"

namespace lockscope::inspect {

namespace {

// A user may have hundreds of patterns of keys; each costs a dozen questions.
constexpr std::size_t mostKeyPatterns = 8;

// What we do there, and the commands it takes, with this key.
struct RedisAbility {
    QString what;
    bool isOfKeys;
    bool isForPrimaries; // on a replica nobody hears of it
    std::vector<redis::Command> needs;
};

std::vector<RedisAbility> redisAbilities(const QByteArray &key)
{
    return {
        {u"find locks"_s, true, false, {{"SCAN", "0"}, {"TYPE", key}, {"PTTL", key}}},
        {u"read them"_s,
         true,
         false,
         {{"GET", key}, {"HGETALL", key}, {"LRANGE", key, "0", "1"}, {"ZRANGE", key, "0", "1"}}},
        {u"receive changes"_s, false, false, {{"CLIENT", "TRACKING", "ON"}}},
        {u"see clients"_s, false, false, {{"CLIENT", "LIST"}}},
        {u"acquire and release"_s, true, true, {{"EVALSHA", "x", "1", key}, {"SET", key, "x"}, {"DEL", key}}},
        {u"wake who waits"_s, true, true, {{"PUBLISH", "redisson_lock__channel:{" + key + '}', "0"}}},
    };
}

bool isInSet(const QByteArray &set, char one)
{
    for (qsizetype i = 0; i < set.size(); ++i) {
        if (set[i] == '\\' && i + 1 < set.size())
            ++i;
        if (i + 2 < set.size() && set[i + 1] == '-') {
            const char from = set[i], to = set[i + 2]; // in either order
            if (one >= std::min(from, to) && one <= std::max(from, to))
                return true;
            i += 2;
        } else if (set[i] == one) {
            return true;
        }
    }
    return false;
}

QByteArray oneOfSet(const QByteArray &set)
{
    const bool isNegated = set.startsWith('^');
    for (char one = 'z'; one > ' '; --one) {
        if (isInSet(set.mid(isNegated ? 1 : 0), one) != isNegated)
            return QByteArray(1, one);
    }
    return {};
}

struct RedisSaid {
    QString title = u"Redis"_s;
    QStringList versions; // of all nodes, each once
    QByteArrayList roles; // of each node
    int replicas = 0;
    QByteArray primaryHost, primaryPort; // of a replica
};

RedisSaid readInfo(const QByteArray &info)
{
    RedisSaid said;
    QByteArray version; // of one node: Valkey says two, its own last
    const auto endNode = [&] {
        if (!version.isEmpty() && !said.versions.contains(label(version, 40)))
            said.versions << label(version, 40);
        version.clear();
    };
    for (const auto &line : info.split('\n')) {
        const auto colon = line.indexOf(':');
        const auto field = line.left(colon), value = line.mid(colon + 1).trimmed();
        if (field == "redis_version") {
            endNode();
            version = value;
        } else if (field == "valkey_version") {
            said.title = u"Valkey"_s;
            version = value;
        } else if (field == "role") {
            said.roles << value;
        } else if (field == "connected_slaves") {
            said.replicas += value.toInt();
        } else if (field == "master_host") {
            said.primaryHost = value;
        } else if (field == "master_port") {
            said.primaryPort = value;
        }
    }
    endNode();
    return said;
}

// What the server says of each ability, asked with a key of each of the user's patterns.
class RedisTrial {
public:
    RedisTrial(QByteArray user, QByteArrayList patterns, bool areTold)
        : m_user(std::move(user)), m_patterns(std::move(patterns)), m_areTold(areTold)
    {
        m_untried = std::max<qsizetype>(m_patterns.size() - qsizetype(mostKeyPatterns), 0);
        m_patterns.resize(m_patterns.size() - m_untried);
        if (m_patterns.isEmpty())
            m_patterns << "*";
    }

    [[nodiscard]] std::vector<redis::Command> questions() const
    {
        std::vector<redis::Command> all;
        for (const auto &pattern : m_patterns) {
            for (const auto &ability : redisAbilities(redisKeyLike(pattern))) {
                for (const auto &command : ability.needs)
                    all.push_back(redis::Command{"ACL", "DRYRUN", m_user} + command);
            }
        }
        return all;
    }
    [[nodiscard]] QStringList sentences(const std::vector<redis::Value> &answers, bool takesWrites) const;

private:
    struct Outcome {
        QByteArrayList among; // keys of these patterns
        QString refusal;
    };
    [[nodiscard]] std::vector<Outcome> outcomes(const std::vector<redis::Value> &answers) const;
    [[nodiscard]] QString refused(const RedisAbility &ability, const Outcome &outcome) const;

    QByteArray m_user;
    QByteArrayList m_patterns;
    bool m_areTold;
    qsizetype m_untried;
};

std::vector<RedisTrial::Outcome> RedisTrial::outcomes(const std::vector<redis::Value> &answers) const
{
    std::vector<Outcome> all(redisAbilities({}).size());
    std::size_t at = 0;
    for (const auto &pattern : m_patterns) {
        const auto key = redisKeyLike(pattern);
        const auto abilities = redisAbilities(key);
        for (std::size_t i = 0; i < abilities.size(); ++i) {
            QByteArray refusal;
            for (std::size_t n = 0; n < abilities[i].needs.size() && at < answers.size(); ++n) {
                const auto &said = answers[at++].text;
                if (said != "OK" && refusal.isEmpty())
                    refusal = said;
            }
            if (refusal.isEmpty())
                all[i].among << (abilities[i].isOfKeys ? pattern : QByteArray("*"));
            // The key is made up, what it stands for is not.
            refusal.replace('\'' + key + '\'', '\'' + pattern + '\'').replace('{' + key + '}', '{' + pattern + '}');
            if (all[i].refusal.isEmpty() && !refusal.isEmpty())
                all[i].refusal = label(refusal, 200);
        }
    }
    return all;
}

QString RedisTrial::refused(const RedisAbility &ability, const Outcome &outcome) const
{
    const auto why = m_areTold ? QString() : u"the keys are unknown, because ACL GETUSER is refused"_s;
    return u"may not %1: %2"_s.arg(ability.what, outcome.refusal) + clause(ability.isOfKeys ? why : QString());
}

QStringList RedisTrial::sentences(const std::vector<redis::Value> &answers, bool takesWrites) const
{
    const auto abilities = redisAbilities({});
    const auto found = outcomes(answers);
    QStringList may, elsewhere, mayNot;
    std::vector<std::pair<QString, QStringList>> narrow; // by keys
    for (std::size_t i = 0; i < abilities.size(); ++i) {
        const auto &[among, refusal] = found[i];
        if (among.isEmpty()) {
            mayNot << refused(abilities[i], found[i]);
        } else if (abilities[i].isForPrimaries && !takesWrites) {
            elsewhere << abilities[i].what;
        } else if (among.contains("*")) {
            may << abilities[i].what;
        } else {
            const auto names = mapped<QStringList>(among, [](const auto &pattern) { return label(pattern, 60); });
            const auto keys = names.join(u", "_s);
            auto at = std::ranges::find(narrow, keys, &std::pair<QString, QStringList>::first);
            if (at == narrow.end())
                at = narrow.insert(at, {keys, {}});
            at->second << abilities[i].what;
        }
    }
    QStringList said;
    if (!may.isEmpty() || narrow.empty())
        said << u"may "_s + (may.isEmpty() ? u"nothing of what is needed"_s : may.join(u", "_s));
    for (const auto &[keys, what] : narrow)
        said << u"may %1 among the keys %2 only"_s.arg(what.join(u", "_s), keys);
    said += mayNot;
    if (!elsewhere.isEmpty())
        said << u"may not %1 here: a replica takes no writes"_s.arg(elsewhere.join(u", "_s));
    if (m_untried > 0)
        said << u"has %1 more patterns of keys, which were not asked about"_s.arg(m_untried);
    said.front().prepend(u"user %1 "_s.arg(label(m_user, 60)));
    return said;
}

} // namespace

QString redisServerOf(const QByteArray &info)
{
    const auto said = readInfo(info);
    if (said.versions.isEmpty())
        return {};
    const auto server = said.title + u' ' + said.versions.join(u" and "_s);
    if (said.roles.size() > 1)
        return u"%1 on %2 nodes, %3 of them primaries"_s.arg(server, QString::number(said.roles.size()),
                                                             QString::number(said.roles.count("master")));
    if (said.roles.value(0) == "slave")
        return u"%1, replica of %2:%3"_s.arg(server, label(said.primaryHost, 80), label(said.primaryPort, 10));
    if (said.roles.value(0) != "master")
        return server;
    if (said.replicas == 0)
        return u"%1, primary without a replica"_s.arg(server);
    return u"%1, primary with %2 replica%3"_s.arg(server, QString::number(said.replicas),
                                                  said.replicas == 1 ? QString() : u"s"_s);
}

Task<QString> redisServer(redis::Connection *connection, Deadline deadline)
{
    QByteArray info;
    for (const QByteArray section : {"server", "replication"}) {
        auto asking = connection->command({"INFO", section}, deadline);
        const auto answer = co_await asking;
        if (answer && !answer->isError())
            info += answer->text + '\n';
    }
    co_return redisServerOf(info);
}

QByteArray redisKeyLike(const QByteArray &pattern)
{
    QByteArray key;
    for (qsizetype i = 0; i < pattern.size(); ++i) {
        const auto end = pattern[i] == '[' ? pattern.indexOf(']', i) : -1;
        if (end >= 0) {
            key += oneOfSet(pattern.mid(i + 1, end - i - 1));
            i = end;
        } else if (pattern[i] == '*') {
            key += "a-key";
        } else if (pattern[i] == '?') {
            key += 'x';
        } else {
            if (pattern[i] == '\\' && i + 1 < pattern.size())
                ++i;
            key += pattern[i];
        }
    }
    return key;
}

QByteArrayList redisKeyPatterns(const redis::Value &user)
{
    QByteArrayList patterns;
    const auto take = [&patterns](const QByteArray &word) {
        const auto tilde = word.indexOf('~'); // "~app:*", "%R~app:*"
        const auto pattern = word == "allkeys" ? QByteArray("*") : word.mid(tilde + 1);
        if (!pattern.isEmpty() && !patterns.contains(pattern))
            patterns << pattern;
    };
    for (std::size_t i = 0; i + 1 < user.items.size(); i += 2) {
        const auto &value = user.items[i + 1];
        if (user.items[i].text == "selectors") {
            for (const auto &selector : value.items) {
                for (const auto &pattern : redisKeyPatterns(selector))
                    take(pattern);
            }
        } else if (user.items[i].text == "keys") {
            for (const auto &word : value.text.split(' '))
                take(word);
            for (const auto &word : value.items) // Redis 6
                take(word.text);
        }
    }
    return patterns;
}

Task<QStringList> redisRights(redis::Connection *connection, bool takesWrites, Deadline deadline)
{
    auto asking = connection->command({"ACL", "WHOAMI"}, deadline);
    const auto who = co_await asking;
    if (!who)
        co_return QStringList{u"could not read the user's rights: %1"_s.arg(who.error().message)};
    auto reading = connection->command({"ACL", "GETUSER", who->text}, deadline);
    const auto self = co_await reading;
    const bool isTold = self && !self->items.empty();
    const RedisTrial trial(who->text, isTold ? redisKeyPatterns(*self) : QByteArrayList{"*"}, isTold);
    const auto answers = co_await connection->pipeline(trial.questions(), deadline);
    const auto user = label(who->text, 60);
    if (!answers)
        co_return QStringList{u"user %1; what it may do cannot be asked: %2"_s.arg(user, answers.error().message)};
    const auto error = std::ranges::find_if(*answers, &redis::Value::isError);
    if (error != answers->end())
        co_return QStringList{u"user %1; what it may do cannot be asked: %2"_s.arg(user, label(error->text, 200))};
    co_return trial.sentences(*answers, takesWrites);
}

} // namespace lockscope::inspect
