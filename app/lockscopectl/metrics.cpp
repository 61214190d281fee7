// SPDX-License-Identifier: Apache-2.0
// metrics: locks, findings and what is unknown in the text format of OpenMetrics, once or for a scraper. The names of
// the metrics, in this order, and their help: resources/metrics.json.
#include "app/lockscopectl/foundfindings.h"
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

#include <QHostAddress>
#include <QTcpServer>
#include <QTcpSocket>

#include <ctime>

namespace lockscope::ctl {

namespace {

using inspect::FindingCode;
using namespace std::chrono_literals;

constexpr auto restsAtLeast = 5s, restsAtMost = 30s;
static_assert(CLOCKS_PER_SEC == 1'000'000);
constexpr int restPerWork = 20; // Of its processor time. Waiting for a server is no work.
constexpr std::size_t mostSeries = 2'000;
constexpr std::size_t seriesPerGroup = 5;
constexpr std::size_t seriesPerConnection = 8 + seriesPerGroup; // and its group "other"
const auto otherNames = u"other"_s;
constexpr int longestPattern = 200; // characters of a label

// # TYPE, # UNIT and # HELP of each metric.
const std::vector<std::pair<QByteArray, QByteArray>> &metricHeads()
{
    static const auto all = [] {
        std::vector<std::pair<QByteArray, QByteArray>> heads;
        readResourceList(u"metrics.json"_s, "metrics", [&heads](FieldReader &reader) {
            const auto name = reader.text("name").toUtf8();
            const auto help = reader.text("help").toUtf8();
            auto head = "# TYPE lockscope_" + name + " gauge\n";
            if (const auto unit = reader.text("unit", QString()).toUtf8(); !unit.isEmpty())
                head += "# UNIT lockscope_" + name + ' ' + unit + '\n';
            heads.emplace_back(name, head + "# HELP lockscope_" + name + ' ' + help + '\n');
        });
        return heads;
    }();
    return all;
}

QByteArray quoted(const QString &value)
{
    auto bytes = value.toUtf8();
    return '"' + bytes.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n") + '"';
}

class Exposition {
public:
    using Labels = std::vector<std::pair<const char *, QString>>;

    // A sample of a metric in the table. Label values may hold anything.
    void add(const QByteArray &metric, const Labels &labels, double value)
    {
        QByteArrayList pairs;
        for (const auto &[name, text] : labels)
            pairs << name + QByteArray("=") + quoted(text);
        const auto inBraces = pairs.isEmpty() ? QByteArray() : '{' + pairs.join(',') + '}';
        m_samples[metric] += "lockscope_" + metric + inBraces + ' ' + QByteArray::number(value, 'g', 15) + '\n';
    }

    [[nodiscard]] QByteArray text() const
    {
        QByteArray text;
        for (const auto &[name, head] : metricHeads()) {
            if (const auto samples = m_samples.find(name); samples != m_samples.end())
                text += head + samples->second;
        }
        return text + "# EOF\n";
    }

private:
    std::map<QByteArray, QByteArray> m_samples; // lines, by metric
};

// The locks of one connection whose names have one pattern. Empty values are unknown for all of them.
struct LockGroup {
    qint64 locks = 0;
    qint64 held = 0;
    qint64 waiters = 0;
    bool areWaitersReported = false; // of some of them
    std::optional<std::chrono::milliseconds> longestHold{};
    std::optional<std::chrono::milliseconds> longestWait{};

    void add(const LockGroup &other)
    {
        locks += other.locks;
        held += other.held;
        waiters += other.waiters;
        areWaitersReported = areWaitersReported || other.areWaitersReported;
        longestHold = std::max(longestHold, other.longestHold); // an unknown one is less than any
        longestWait = std::max(longestWait, other.longestWait);
    }
};

LockGroup groupOf(const inspect::LockSnapshot &lock, inspect::ServerTime now)
{
    const auto since = [now](const std::optional<inspect::ServerTime> &begin) {
        return begin ? std::optional(std::max(now - *begin, std::chrono::milliseconds(0))) : std::nullopt;
    };
    LockGroup group{.locks = 1, .held = lock.holderCount() > 0 ? 1 : 0, .waiters = lock.waiterCount()};
    group.areWaitersReported = lock.waitersKnown || group.waiters > 0;
    if (group.held == 0)
        group.longestHold = std::chrono::milliseconds(0);
    if (group.waiters == 0 && lock.waitersKnown)
        group.longestWait = std::chrono::milliseconds(0);
    for (const auto &contender : lock.contenders) {
        if (contender.role == inspect::Role::Holder)
            group.longestHold = std::max(group.longestHold, since(contender.heldSince));
        else
            group.longestWait = std::max(group.longestWait, since(contender.waitingSince));
    }
    return group;
}

// Joins locks by the pattern of their names, in a bounded number of groups: a server can have any number of names.
class LockGroups {
public:
    using Key = std::pair<QString, QString>; // connection and pattern, escaped
    struct Joined {
        std::map<Key, LockGroup> groups;
        qint64 collapsed = 0; // locks whose name is longer than its pattern tells
        qint64 leftOut = 0;   // locks in the group "other" of their connection
    };
    static constexpr std::size_t most = 300;

    // A pattern that has a group keeps it while locks have that pattern: no series comes and goes with the load.
    [[nodiscard]] Joined join(const std::vector<std::pair<inspect::LockName, LockGroup>> &locks, std::size_t atMost)
    {
        Joined joined;
        std::map<Key, LockGroup> all;
        for (const auto &[name, group] : locks) {
            const auto pattern = inspect::namePattern(name.name);
            joined.collapsed += pattern != name.name ? 1 : 0;
            all[Key(escaped(name.connection.bytes()), label(pattern, longestPattern))].add(group);
        }
        std::vector<std::tuple<bool, qint64, qint64, Key>> order;
        for (const auto &[key, group] : all) {
            if (key.second != otherNames) // a lock of that very name is one of the others
                order.emplace_back(!m_kept.contains(key), -group.waiters, -group.locks, key);
        }
        std::ranges::sort(order);
        order.resize(std::min(order.size(), atMost));
        m_kept = mapped<std::set<Key>>(order, [](const auto &one) { return std::get<Key>(one); });
        for (const auto &[key, group] : all) {
            const bool isKept = m_kept.contains(key);
            joined.leftOut += isKept ? 0 : group.locks;
            joined.groups[isKept ? key : Key(key.first, otherNames)].add(group);
        }
        return joined;
    }

private:
    std::set<Key> m_kept;
};

constexpr int mostConnections = 16;
constexpr qint64 longestRequest = 8 * 1024;
constexpr std::chrono::seconds connectionWithin(10);

QByteArray httpAnswer(const QByteArray &status, const QByteArray &body,
                      const QByteArray &type = "text/plain; charset=utf-8", const QByteArray &more = {})
{
    return "HTTP/1.1 " + status + "\r\nContent-Type: " + type
           + "\r\nContent-Length: " + QByteArray::number(body.size())
           + "\r\nConnection: close\r\nCache-Control: no-store\r\n" + more + "\r\n" + body;
}

// Of a request's first line.
QByteArray answerTo(const QByteArray &line, const QByteArray &text)
{
    const auto words = line.split(' ');
    if (words.size() != 3 || !words[2].startsWith("HTTP/1."))
        return httpAnswer("400 Bad Request", "not an HTTP/1.1 request\n");
    if (words[1].split('?').front() != "/metrics")
        return httpAnswer("404 Not Found", "only /metrics exists\n");
    if (words[0] != "GET")
        return httpAnswer("405 Method Not Allowed", "only GET is allowed\n", "text/plain; charset=utf-8",
                          "Allow: GET\r\n");
    if (text.isEmpty())
        return httpAnswer("503 Service Unavailable", "the first scan is not complete\n");
    return httpAnswer("200 OK", text, "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

// As much of an HTTP/1.1 server as a scraper needs: GET /metrics, one answer per connection. What it answers is given
// to it; a request costs nothing else.
class MetricsServer {
public:
    struct Address {
        QHostAddress host;
        quint16 port = 0; // 0: any that is free
    };
    // "[ADDRESS:]PORT": of this machine only where no address is given.
    [[nodiscard]] static Result<Address> parseAddress(const QString &text)
    {
        const auto colon = text.lastIndexOf(u':');
        auto host = colon < 0 ? QString() : text.left(colon);
        if (host.startsWith(u'[') && host.endsWith(u']'))
            host = host.sliced(1).chopped(1);
        if (host.isEmpty() || host == "localhost"_L1)
            host = u"127.0.0.1"_s;
        bool isPort = false;
        const Address address{QHostAddress(host), text.mid(colon + 1).toUShort(&isPort)};
        if (!isPort || address.host.isNull())
            return Error{ErrorCode::BadInput,
                         u"metrics: --listen takes [ADDRESS:]PORT, such as 127.0.0.1:9877, not \"%1\""_s.arg(text)};
        return address;
    }

    MetricsServer()
    {
        QObject::connect(&m_server, &QTcpServer::newConnection, &m_server, [this] {
            while (auto *socket = m_server.nextPendingConnection())
                accept(socket);
        });
    }

    // Where it listens then.
    [[nodiscard]] Result<HostPort> listen(const Address &address)
    {
        if (!m_server.listen(address.host, address.port))
            return Error{ErrorCode::Server,
                         u"metrics: could not listen on %1: %2"_s.arg(
                             displayHost({address.host.toString(), address.port}), m_server.errorString())};
        return HostPort{address.host.toString(), m_server.serverPort()};
    }

    void setText(QByteArray text) { m_text = std::move(text); }

private:
    void accept(QTcpSocket *socket)
    {
        QObject::connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
        QObject::connect(socket, &QObject::destroyed, &m_server, [this] { --m_open; });
        if (++m_open > mostConnections)
            return socket->abort();
        socket->setReadBufferSize(longestRequest);
        QObject::connect(socket, &QTcpSocket::readyRead, &m_server, [this, socket] { read(socket); });
        QTimer::singleShot(connectionWithin, socket, [socket] { socket->abort(); });
        read(socket);
    }

    void read(QTcpSocket *socket)
    {
        const auto head = socket->peek(longestRequest);
        const bool isTooLong = head.size() >= longestRequest;
        if (!isTooLong && !head.contains("\r\n\r\n"))
            return;
        QObject::disconnect(socket, &QTcpSocket::readyRead, &m_server, nullptr);
        socket->readAll(); // what is unread when a socket closes makes the other end drop the answer
        socket->write(isTooLong ? httpAnswer("431 Request Header Fields Too Large", "the request is too long\n")
                                : answerTo(head.left(head.indexOf("\r\n")), m_text));
        socket->disconnectFromHost();
    }

    QTcpServer m_server;
    QByteArray m_text; // empty: nothing is known yet
    int m_open = 0;
};

double secondsOf(std::chrono::milliseconds span)
{
    return std::chrono::duration<double>(span).count();
}

void addLockMetrics(Exposition &metrics, CommandContext &context, const std::vector<inspect::LockSnapshot> &locks,
                    LockGroups &groups)
{
    std::vector<std::pair<inspect::LockName, LockGroup>> all;
    for (const auto &lock : locks) {
        if (isMatched(context, lock.lock))
            all.emplace_back(lock.lock, groupOf(lock, context.pictures.serverNow(lock)));
    }
    const auto taken = inspect::findingKinds().size() + 10 + context.workspace.links().size() * seriesPerConnection;
    const auto room = (mostSeries - std::min(taken, mostSeries)) / seriesPerGroup;
    const auto joined = groups.join(all, std::min(LockGroups::most, room));
    for (const auto &[key, group] : joined.groups) {
        const Exposition::Labels labels{{"connection", key.first}, {"pattern", key.second}};
        metrics.add("locks", labels, double(group.locks));
        metrics.add("locks_held", labels, double(group.held));
        if (group.areWaitersReported)
            metrics.add("waiters", labels, double(group.waiters));
        if (group.longestHold)
            metrics.add("held_seconds", labels, secondsOf(*group.longestHold));
        if (group.longestWait)
            metrics.add("oldest_wait_seconds", labels, secondsOf(*group.longestWait));
    }
    metrics.add("names_collapsed", {}, double(joined.collapsed));
    metrics.add("names_left_out", {}, double(joined.leftOut));
}

// All codes and kinds, those that do not occur too: an alert on a missing series does not fire.
void addProblems(Exposition &metrics, CommandContext &context, FindingsLook &look)
{
    std::map<std::pair<FindingCode, inspect::Severity>, int> findings;
    for (const auto &kind : inspect::findingKinds())
        findings[{kind.code, kind.severity}] = 0;
    for (const auto &found : look.all) {
        if (!found.muted)
            ++findings[{found.finding.code, found.finding.severity}];
    }
    for (const auto &[kind, count] : findings)
        metrics.add("findings", {{"code", inspect::word(kind.first)}, {"severity", inspect::word(kind.second)}},
                    count);
    metrics.add("findings_muted", {}, double(std::ranges::count_if(look.all, [](const FoundFinding &found) {
                    return found.muted.has_value();
                })));
    for (auto &lock : look.locks)
        addDeadlocks(lock, look.graph, look.graph.cycles);
    auto incidents = inspect::incidentsOf(look.graph, look.locks, context.pictures.coverage());
    removeMuted(incidents, mutesAt(context.pictures.now()));
    std::map<QString, int> kinds;
    for (const auto code :
         {FindingCode::Deadlock, FindingCode::LostWakeup, FindingCode::NoTtl, FindingCode::HolderDisconnected,
          FindingCode::IdleInTransaction, FindingCode::LongWait, FindingCode::DeadlockEnded}) {
        inspect::Incident incident;
        incident.code = code;
        kinds[inspect::kindWord(incident)] = 0;
    }
    for (const auto &incident : incidents) {
        const auto isOne = [&](const inspect::LockName &lock) { return isMatched(context, lock); };
        kinds[inspect::kindWord(incident)] +=
            incident.locks.empty() || std::ranges::any_of(incident.locks, isOne) ? 1 : 0;
    }
    for (const auto &[kind, count] : kinds)
        metrics.add("incidents", {{"kind", kind}}, count);
}

void addConnections(Exposition &metrics, CommandContext &context)
{
    const auto coverage = context.pictures.coverage();
    for (const auto *link : context.workspace.links()) {
        const auto &name = link->spec().name;
        const Exposition::Labels labels{{"connection", escaped(name.bytes())}};
        auto named = labels;
        if (const auto backend = backendOf(link->spec().scheme))
            named.emplace_back("backend", infoOf(*backend).word);
        metrics.add("up", named, link->isConnected() ? 1 : 0);
        bool isComplete = true;
        qint64 unexplained = 0, hidden = 0;
        for (const auto &part : coverage) {
            if (part.connection != name)
                continue;
            isComplete = isComplete && part.complete;
            hidden += part.hidden.count;
            for (const auto &entry : part.unexplained)
                unexplained += entry.count;
        }
        metrics.add("complete", labels, isComplete ? 1 : 0);
        metrics.add("unexplained_entries", labels, double(unexplained));
        metrics.add("hidden_locks", labels, double(hidden));
        const auto age = context.pictures.now() - std::chrono::floor<std::chrono::milliseconds>(link->heardAt());
        if (link->heardAt().time_since_epoch().count() > 0)
            metrics.add("snapshot_age_seconds", labels, secondsOf(std::max(age, std::chrono::milliseconds(0))));
        if (!context.has(u"listen"_s))
            continue; // no rate is known of a single read
        metrics.add("observer_requests_per_second", labels, link->cost().requestsPerSecond);
        metrics.add("observer_watches", labels, link->cost().watches);
        metrics.add("observer_watched_bytes", labels, double(link->cost().watchedBytes));
    }
}

QByteArray metricsOf(CommandContext &context, FindingsLook &look, LockGroups &groups)
{
    Exposition metrics;
    addConnections(metrics, context);
    addLockMetrics(metrics, context, look.locks, groups);
    addProblems(metrics, context, look);
    return metrics.text();
}

// Servers are read at their observers' pace. A scrape gets what was made last.
Task<Result<Exit>> serve(CommandContext &context)
{
    CO_TRY(const auto &address, MetricsServer::parseAddress(context.arguments.value(u"listen"_s)));
    MetricsServer server;
    CO_TRY(const auto &bound, server.listen(address));
    if (!address.host.isLoopback())
        printError(u"metrics: any host that reaches %1 can read the names of locks"_s.arg(displayHost(bound)));
    print(u"serving http://%1/metrics"_s.arg(displayHost(bound)));
    reportBreaks(context);
    LockGroups groups;
    const UntilInterrupted untilInterrupted(context.loop(), context.interrupts);
    while (!untilInterrupted.isOver()) {
        const auto begun = std::clock();
        auto look = co_await lookForFindings(context);
        server.setText(metricsOf(context, look, groups));
        const auto rest = std::chrono::microseconds((std::clock() - begun) * restPerWork);
        look = {};
        const auto rested = untilInterrupted.pause(std::clamp<Duration>(rest, restsAtLeast, restsAtMost));
        (void)co_await rested;
    }
    co_return Exit::Done;
}

} // namespace

Task<Result<Exit>> runMetrics(CommandContext &context)
{
    if (context.json)
        co_return fail({ErrorCode::BadInput, u"metrics: the format is OpenMetrics; --json does not exist here"_s});
    if (context.has(u"listen"_s)) {
        const auto served = co_await serve(context);
        co_return served;
    }
    const auto looked = co_await context.pictures.look(context);
    auto look = co_await lookForFindings(context);
    LockGroups groups;
    printStyled(QString::fromUtf8(metricsOf(context, look, groups)));
    co_return looked;
}

} // namespace lockscope::ctl
