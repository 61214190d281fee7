// SPDX-License-Identifier: Apache-2.0
#include "core/zookeeper/evidence.h"

#include "core/base/text.h"

namespace lockscope::zk {

namespace {

// "zk2:2888:3888:participant", "[::1]:2888": what stands before the first colon that is not in brackets.
QString hostOf(const QByteArray &address)
{
    if (address.startsWith('[')) {
        const auto end = address.indexOf(']');
        return end < 0 ? QString() : QString::fromUtf8(address.mid(1, end - 1));
    }
    const auto colon = address.indexOf(':');
    return QString::fromUtf8(colon < 0 ? address : address.left(colon));
}

bool isAnyAddress(const QString &host)
{
    return host.isEmpty() || host == "0.0.0.0"_L1 || host == "::"_L1 || host == "0:0:0:0:0:0:0:0"_L1;
}

// "0.0.0.0:2181" or "2181".
std::optional<HostPort> clientAddress(const QByteArray &text, const QString &host)
{
    const auto colon = text.lastIndexOf(':');
    bool isNumber = false;
    const auto port = text.mid(colon + 1).trimmed().toUShort(&isNumber);
    if (!isNumber || port == 0)
        return std::nullopt;
    const auto named = colon < 0 ? QString() : hostOf(text.startsWith('[') ? text : text.left(colon));
    return HostPort{isAnyAddress(named) ? host : named, port};
}

std::optional<ConfiguredServer> readServer(const QByteArray &line)
{
    const auto equals = line.indexOf('=');
    bool isNumber = false;
    ConfiguredServer server;
    server.id = line.mid(7, equals - 7).toLongLong(&isNumber);
    if (equals < 0 || !isNumber)
        return std::nullopt;
    const auto value = line.mid(equals + 1).trimmed();
    const auto semicolon = value.indexOf(';');
    // Several addresses of one server are parted by bars; the first is as good.
    server.host = hostOf((semicolon < 0 ? value : value.left(semicolon)).split('|').front());
    if (server.host.isEmpty())
        return std::nullopt;
    if (semicolon >= 0)
        server.client = clientAddress(value.mid(semicolon + 1), server.host);
    return server;
}

} // namespace

std::vector<ConfiguredServer> readConfiguration(const QByteArray &text)
{
    constexpr qsizetype most = 255; // servers; myid is between 1 and 255
    std::vector<ConfiguredServer> servers;
    for (const auto &raw : text.split('\n')) {
        const auto line = raw.trimmed();
        auto server = line.startsWith("server.") ? readServer(line) : std::nullopt;
        const bool isNew = server && std::ranges::find(servers, server->id, &ConfiguredServer::id) == servers.end();
        if (isNew && servers.size() < most)
            servers.push_back(std::move(*server));
    }
    return servers;
}

std::vector<Membership::Place> Membership::places() const
{
    std::vector<Place> places;
    for (const auto &host : m_named) {
        const auto same = std::ranges::find(m_configured, std::optional(host), &ConfiguredServer::client);
        if (std::ranges::find(places, host, &Place::at) == places.end())
            places.push_back({host, same == m_configured.end() ? std::nullopt : std::optional(same->id)});
    }
    for (const auto &server : m_configured) {
        if (server.client && std::ranges::find(places, *server.client, &Place::at) == places.end())
            places.push_back({*server.client, server.id});
    }
    return places;
}

void Membership::learn(const std::vector<std::pair<HostPort, MemberFacts>> &said)
{
    bool isEnsemble = false;
    std::size_t standalone = 0;
    for (const auto &[at, facts] : said) {
        standalone += facts.isStandalone();
        isEnsemble |= !facts.mode.isEmpty() && !facts.isStandalone();
        if (!facts.configured.empty())
            m_configured = facts.configured;
        if (facts.serverId && !facts.isStandalone())
            m_seenAt[*facts.serverId] = at;
    }
    if (isEnsemble)
        m_isStandalone = false;
    else if (standalone > 0 && m_configured.empty())
        m_isStandalone = true;
}

void Membership::learnConfiguration(const QByteArray &text)
{
    if (auto servers = readConfiguration(text); !servers.empty())
        m_configured = std::move(servers);
}

std::optional<qint64> Membership::whoIs(const Place &place, const MemberFacts &said) const
{
    const auto isConfigured = [this](qint64 id) {
        return std::ranges::find(m_configured, id, &ConfiguredServer::id) != m_configured.end();
    };
    if (said.serverId)
        return isConfigured(*said.serverId) ? said.serverId : std::nullopt;
    return place.expected;
}

std::optional<int> Membership::size() const
{
    if (!m_configured.empty())
        return static_cast<int>(m_configured.size());
    return m_isStandalone ? std::optional(static_cast<int>(m_named.size())) : std::nullopt;
}

QString Membership::nameOf(qint64 id) const
{
    const auto at = std::ranges::find(m_configured, id, &ConfiguredServer::id);
    auto where = at != m_configured.end() && at->client ? displayHost(*at->client) : QString();
    if (const auto seen = m_seenAt.find(id); where.isEmpty() && seen != m_seenAt.end())
        where = displayHost(seen->second);
    if (where.isEmpty() && at != m_configured.end())
        where = at->host;
    return where.isEmpty() ? u"server %1"_s.arg(id) : u"server %1 (%2)"_s.arg(QString::number(id), where);
}

QByteArray versionIn(const QByteArray &said)
{
    const auto text = said.trimmed();
    const auto end = std::ranges::find_if(text, [](char c) { return c == '-' || c == ',' || c == ' '; });
    return text.left(end - text.begin());
}

QString serverWords(const std::vector<MemberFacts> &members, int silent)
{
    QStringList versions;
    std::map<QByteArray, int> modes;
    for (const auto &member : members) {
        if (const auto version = label(member.version, 40); !version.isEmpty() && !versions.contains(version))
            versions << version;
        ++modes[member.mode];
    }
    if (versions.isEmpty())
        return {};
    const auto server = u"ZooKeeper "_s + versions.join(u" and "_s);
    if (members.size() == 1 && silent == 0 && members.front().isStandalone())
        return server + u", standalone"_s;
    QStringList roles;
    for (const QByteArray mode : {"leader", "follower", "observer", "standalone"}) {
        if (const int count = modes[mode]; count > 0)
            roles << u"%1 %2%3"_s.arg(QString::number(count), QString::fromLatin1(mode),
                                      count == 1 ? QString() : u"s"_s);
    }
    return u"%1 on %2 member%3: %4%5"_s.arg(server, QString::number(members.size()),
                                            members.size() == 1 ? QString() : u"s"_s, roles.join(u", "_s),
                                            clause(silent > 0 ? u"%1 did not report"_s.arg(silent) : QString()));
}

bool Evidence::isComplete(const QByteArray &command) const
{
    const auto at = answers.find(command);
    return membersUnknown.isEmpty() && at != answers.end() && at->second.members > 0
           && at->second.answered == at->second.members;
}

bool Evidence::hasAny(const QByteArray &command) const
{
    const auto at = answers.find(command);
    return at != answers.end() && at->second.answered > 0;
}

void Evidence::settle()
{
    using std::chrono::milliseconds;
    // Its newest response is the latest moment this member's monotonic clock is known to have shown:
    // what lies between is at least as long as computed, never shorter.
    // 0 is no moment: a connection that was opened (again) and has not been answered since says so.
    std::erase_if(raw.lastResponses, [](const auto &entry) { return entry.second <= milliseconds::zero(); });
    milliseconds now{};
    for (const auto &[session, response] : raw.lastResponses)
        now = std::max(now, response);
    if (now > milliseconds::zero()) {
        for (const auto &[session, response] : raw.lastResponses)
            if (const auto at = connections.find(session); at != connections.end())
                at->second.silence = now - response;
        for (const auto &[session, expiry] : raw.expiries)
            expiresIn[session] = std::max(milliseconds::zero(), expiry - now);
    }
    if (raw.watchTotal && raw.dataWatchTotal)
        childWatchTotal = std::max<qint64>(0, *raw.watchTotal - *raw.dataWatchTotal);
    if (!raw.member.mode.isEmpty())
        members = {raw.member};
    raw = {};
}

void Evidence::merge(const Evidence &other)
{
    for (const auto &[command, answer] : other.answers) {
        auto &mine = answers[command];
        mine.members += answer.members;
        mine.answered += answer.answered;
        mine.ways.insert(answer.ways.begin(), answer.ways.end());
        if (mine.refusal.isEmpty())
            mine.refusal = answer.refusal;
    }
    // A member that lags behind may still show, or not yet show, a node; the first answer is as good.
    for (const auto &[session, paths] : other.ephemerals)
        ephemerals.try_emplace(session, paths);
    for (const auto &[session, facts] : other.connections)
        connections[session] = facts;
    for (const auto &[session, left] : other.expiresIn)
        expiresIn[session] = left;
    for (const auto &[path, sessions] : other.dataWatches)
        dataWatches[path].insert(sessions.begin(), sessions.end());
    members.insert(members.end(), other.members.begin(), other.members.end());
    if (other.requestsServed)
        requestsServed = requestsServed.value_or(0) + *other.requestsServed;
    if (other.childWatchTotal)
        childWatchTotal = childWatchTotal.value_or(0) + *other.childWatchTotal;
}

} // namespace lockscope::zk
