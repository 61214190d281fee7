// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/redis/server.h"

#include "core/simservers/redis/execution.h"

namespace lockscope::sim {

bool RedisSortedSet::put(const QByteArray &member, double score)
{
    if (const auto at = scores.find(member); at != scores.end() && at->second == score)
        return false; // 0 stays 0 when it becomes -0
    const bool isNew = !take(member);
    scores[member] = score;
    order.emplace(score, member);
    return isNew;
}

bool RedisSortedSet::take(const QByteArray &member)
{
    const auto at = scores.find(member);
    if (at == scores.end())
        return false;
    order.erase({at->second, at->first});
    scores.erase(at);
    return true;
}

const Keyspace::Entry *Keyspace::look(const QByteArray &key) const
{
    const auto at = m_entries.find(key);
    return at == m_entries.end() ? nullptr : &at->second;
}

RedisContent *Keyspace::change(const QByteArray &key)
{
    const auto at = m_entries.find(key);
    if (at == m_entries.end())
        return nullptr;
    remember(key);
    return &at->second.content;
}

RedisContent &Keyspace::put(const QByteArray &key, RedisContent content)
{
    remember(key);
    auto &entry = m_entries[key];
    forgetExpiry(key, entry);
    entry = {std::move(content), std::nullopt};
    return entry.content;
}

bool Keyspace::remove(const QByteArray &key)
{
    const auto at = m_entries.find(key);
    if (at == m_entries.end())
        return false;
    remember(key);
    forgetExpiry(key, at->second);
    m_entries.erase(at);
    return true;
}

void Keyspace::expireAt(const QByteArray &key, std::optional<Millis> when)
{
    remember(key);
    auto &entry = m_entries.at(key);
    forgetExpiry(key, entry);
    entry.expiresAt = when;
    if (when)
        m_expiring.emplace(*when, key);
}

void Keyspace::purge(Millis now)
{
    // A key lives through the whole millisecond at which it expires.
    while (!m_expiring.empty() && m_expiring.begin()->first < now) {
        const auto key = m_expiring.begin()->second; // a copy: the set's own goes away
        remove(key);
    }
}

void Keyspace::clear()
{
    for (const auto &key : keys())
        remove(key);
}

std::vector<QByteArray> Keyspace::keys() const
{
    std::vector<QByteArray> names;
    names.reserve(m_entries.size());
    for (const auto &[key, entry] : m_entries)
        names.push_back(key);
    return names;
}

void Keyspace::setMoment(Instant now)
{
    m_now = now;
    while (!m_changes.empty() && m_changes.front().at < now - m_memory)
        m_changes.pop_front();
}

void Keyspace::rewind(Instant moment)
{
    while (!m_changes.empty() && m_changes.back().at > moment) {
        const auto change = std::move(m_changes.back());
        m_changes.pop_back();
        if (const auto at = m_entries.find(change.key); at != m_entries.end()) {
            forgetExpiry(change.key, at->second);
            m_entries.erase(at);
        }
        if (!change.before)
            continue;
        m_entries[change.key] = *change.before;
        if (change.before->expiresAt)
            m_expiring.emplace(*change.before->expiresAt, change.key);
    }
}

void Keyspace::remember(const QByteArray &key)
{
    if (m_memory == Duration::zero())
        return;
    // Of one moment the first state is the one to come back to.
    if (!m_changes.empty() && m_changes.back().at == m_now && m_changes.back().key == key)
        return;
    const auto *entry = look(key);
    m_changes.push_back({m_now, key, entry ? std::optional(*entry) : std::nullopt});
}

void Keyspace::forgetExpiry(const QByteArray &key, const Entry &entry)
{
    if (entry.expiresAt)
        m_expiring.erase({*entry.expiresAt, key});
}

namespace {

bool isBetween(char least, char c, char most)
{
    // Values, not std::minmax's references to what is gone by the next line.
    const auto low = std::min(static_cast<uchar>(least), static_cast<uchar>(most));
    const auto high = std::max(static_cast<uchar>(least), static_cast<uchar>(most));
    return low <= static_cast<uchar>(c) && static_cast<uchar>(c) <= high;
}

// Whether `c` is in the class that begins after the bracket at `at`, which moves to the class's last character.
bool isInClass(QByteArrayView pattern, qsizetype &at, char c)
{
    ++at;
    const bool isNegated = at < pattern.size() && pattern[at] == '^';
    at += isNegated ? 1 : 0;
    bool found = false;
    for (; at < pattern.size() && pattern[at] != ']'; ++at) {
        if (pattern[at] == '\\' && at + 1 < pattern.size()) {
            found |= pattern[++at] == c;
        } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
            found |= isBetween(pattern[at], c, pattern[at + 2]);
            at += 2;
        } else {
            found |= pattern[at] == c;
        }
    }
    return found != isNegated;
}

} // namespace

bool matchesGlob(QByteArrayView pattern, QByteArrayView text)
{
    qsizetype at = 0, here = 0;
    for (; at < pattern.size(); ++at, ++here) {
        if (pattern[at] == '*') {
            const auto rest = pattern.sliced(at + 1);
            if (rest.isEmpty())
                return true;
            for (auto end = here; end <= text.size(); ++end) {
                if (matchesGlob(rest, text.sliced(end)))
                    return true;
            }
            return false;
        }
        if (here >= text.size())
            return false;
        bool matches = true;
        if (pattern[at] == '[') {
            matches = isInClass(pattern, at, text[here]);
        } else if (pattern[at] != '?') {
            if (pattern[at] == '\\' && at + 1 < pattern.size())
                ++at;
            matches = pattern[at] == text[here];
        }
        if (!matches)
            return false;
    }
    return here == text.size();
}

using redis::Command;
using redis::Value;

namespace {

constexpr qint64 requestLimitBytes = 64 * 1024 * 1024;

QByteArray unknown(const Command &command)
{
    constexpr qsizetype most = 128;
    QByteArray arguments;
    for (qsizetype i = 1; i < command.size() && arguments.size() < most; ++i)
        arguments += '\'' + beginning(command[i], most - arguments.size()) + "' ";
    return "ERR unknown command '" + beginning(command[0], most) + "', with args beginning with: " + arguments;
}

bool fits(const RedisCommand &known, const Command &command)
{
    return known.arity < 0 ? command.size() >= -known.arity : command.size() == known.arity;
}

bool isForSubscribers(const QByteArray &name)
{
    return name == "SUBSCRIBE" || name == "PSUBSCRIBE" || name == "UNSUBSCRIBE" || name == "PUNSUBSCRIBE"
           || name == "PING";
}

} // namespace

RedisServer::RedisServer(Network &network, int number)
    : m_network(network), m_number(number),
      m_scripts([this](const Command &command) { return runFromScript(command); })
{
}

RedisServer::~RedisServer() = default;

std::chrono::microseconds RedisServer::now() const
{
    const auto time = m_network.world().wallNow() + m_clockOffset;
    return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch());
}

// To the present: what has expired is gone.
void RedisServer::moveOn()
{
    m_keys.setMoment(m_network.world().now());
    m_keys.purge(std::chrono::duration_cast<Keyspace::Millis>(now()));
}

// --- Clients ---------------------------------------------------------------------------------------

qint64 RedisServer::accept(int process, std::function<void(const QByteArray &)> deliver)
{
    const auto id = ++m_lastSession;
    m_sessions.emplace(id, std::make_unique<RedisSession>(id, process, std::move(deliver), requestLimitBytes));
    return id;
}

RedisSession *RedisServer::sessionOf(qint64 id)
{
    const auto at = m_sessions.find(id);
    return at == m_sessions.end() ? nullptr : at->second.get();
}

void RedisServer::ended(qint64 session)
{
    auto *gone = sessionOf(session);
    if (!gone)
        return;
    m_publisher.removeAll(*gone);
    m_sessions.erase(session);
}

void RedisServer::received(qint64 session, const QByteArray &bytes)
{
    m_counts.bytesIn += bytes.size();
    if (auto *from = sessionOf(session))
        from->reader.feed(bytes);
    std::vector<Value> replies;
    // Looked up each time: a listener, or who judges a message, may bring the server down.
    for (auto *from = sessionOf(session); from; from = sessionOf(session)) {
        const auto command = from->reader.next();
        if (!command)
            break;
        if (command->isEmpty())
            continue;
        ++m_counts.commands;
        if (m_onCommand)
            m_onCommand(from->process, *command);
        if (!sessionOf(session))
            return;
        auto reply = run(*command, from, &replies);
        replies.push_back(std::move(reply));
    }
    if (!replies.empty())
        send(session, replies);
}

void RedisServer::send(qint64 session, const std::vector<Value> &replies)
{
    const auto *to = sessionOf(session);
    if (!to)
        return;
    QByteArray bytes;
    for (const auto &reply : replies)
        replies::appendTo(bytes, reply);
    m_counts.bytesOut += bytes.size();
    const auto deliver = to->deliver;
    (*deliver)(bytes);
}

// --- Commands --------------------------------------------------------------------------------------

Value RedisServer::run(const Command &command, RedisSession *session, std::vector<Value> *before)
{
    const auto *known = findCommand(command[0]);
    if (!known)
        return replies::error(unknown(command));
    if (!fits(*known, command))
        return replies::error(wrongCount(command[0]));
    if (session && session->subscriptions() > 0 && !isForSubscribers(command[0].toUpper()))
        return replies::error("ERR Can't execute '" + command[0].toLower()
                              + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this "
                                "context");
    moveOn();
    Execution execution(*this, m_keys, now(), session);
    auto reply = known->run(execution, command);
    if (before)
        std::move(execution.before.begin(), execution.before.end(), std::back_inserter(*before));
    return execution.isRefused() ? execution.refusal() : reply;
}

Value RedisServer::runFromScript(const Command &command)
{
    ++m_counts.fromScripts;
    const auto *known = findCommand(command[0]);
    if (!known)
        return replies::error(unknownInScript());
    if (!fits(*known, command))
        return replies::error("ERR Wrong number of args calling Redis command from script");
    if (known->where == RedisCommand::Where::NotInScripts)
        return replies::error("ERR This Redis command is not allowed from script");
    return run(command, nullptr, nullptr);
}

Value RedisServer::execute(const Command &command)
{
    return command.isEmpty() ? replies::error("ERR no command") : run(command, nullptr, nullptr);
}

std::vector<QByteArray> RedisServer::keys()
{
    moveOn();
    return m_keys.keys();
}

std::vector<RedisServer::Seen> RedisServer::look() const
{
    std::vector<Seen> all;
    for (const auto &key : m_keys.keys()) {
        const auto *entry = m_keys.look(key);
        const auto left = entry->expiresAt ? std::optional(*entry->expiresAt - now()) : std::nullopt;
        if (!left || left->count() > 0)
            all.push_back({key, entry->content, left});
    }
    return all;
}

qint64 RedisServer::publish(const QByteArray &channel, const QByteArray &payload)
{
    const auto copies = m_publisher.copiesOf(channel, payload);
    const auto hearers = static_cast<qint64>(copies.size());
    ++m_counts.published;
    if (hearers > 0 && m_publishesToLose > 0) {
        --m_publishesToLose;
        m_counts.lost += hearers;
        return hearers;
    }
    for (const auto &copy : copies)
        send(copy.session, {copy.message});
    m_counts.delivered += hearers;
    return hearers;
}

// --- What can go wrong -----------------------------------------------------------------------------

void RedisServer::goDown(Duration downFor)
{
    m_scripts.forgetAll();
    for (const auto &[id, session] : m_sessions)
        m_publisher.removeAll(*session);
    m_sessions.clear();
    m_network.setDown(m_number, true);
    const auto which = ++m_downs;
    if (downFor == Duration::zero()) {
        m_network.setDown(m_number, false);
        return;
    }
    auto &world = m_network.world();
    world.runAt(world.now() + downFor, [this, which] {
        // Unless it went down once more meanwhile.
        if (which == m_downs)
            m_network.setDown(m_number, false);
    });
}

void RedisServer::restart(Duration downFor)
{
    moveOn();
    const auto now = m_network.world().now();
    if (!m_hasAppendOnlyFile)
        m_keys.clear();
    else if (m_syncEvery > Duration::zero())
        m_keys.rewind(now - now.time_since_epoch() % m_syncEvery);
    goDown(downFor);
}

void RedisServer::setAppendOnlyFile(bool isKept, Duration syncEvery)
{
    m_hasAppendOnlyFile = isKept;
    m_syncEvery = syncEvery;
    m_keys.setMemory(std::max(m_replicaLag, syncEvery));
}

void RedisServer::setReplicaLag(Duration lag)
{
    m_replicaLag = lag;
    m_keys.setMemory(std::max(lag, m_syncEvery));
}

void RedisServer::failOver(Duration downFor)
{
    moveOn();
    m_keys.rewind(m_network.world().now() - m_replicaLag);
    goDown(downFor);
}

bool RedisServer::forceDelete(const QByteArray &key)
{
    moveOn();
    return m_keys.remove(key);
}

} // namespace lockscope::sim
