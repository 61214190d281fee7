// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/waits/clients.h"

#include "core/base/text.h"
#include "core/inspect/redis/naming.h"

#include <QHostAddress>
#include <QRegularExpression>

#include <cctype>
#include <fnmatch.h>
#include <map>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

constexpr int nameLength = 64;

// One session, connection or client id on one connection, and what its contenders tell of it.
struct Native {
    ConnectionName connection;
    QByteArray id;
    std::set<QByteArray> threads;
    std::set<QByteArray> contenders;
    std::set<QByteArray> identities;
    std::set<QByteArray> programs;
    std::set<QByteArray> accounts;
    std::set<qint64> pids;
    std::vector<QString> endpoints;
    std::optional<QString> session;
    bool isSessionOneClient = false;
    bool isNumberedOnly = false; // Contender::isOnlyCounted
};

struct Seat {
    std::size_t native = 0;
    QByteArray thread; // empty where it is not known
};

// "billing"; with its process also "billing-4711", "billing:4711" …
std::set<QByteArray> namesOf(const Native &native)
{
    auto names = mapped<std::set<QByteArray>>(native.identities, [&](const auto &identity) { return identity; });
    for (const auto &program : native.programs) {
        names.insert(program);
        for (const auto pid : native.pids) {
            for (const char *between : {"-", ":", "/", "@", ".", " ", "_"})
                names.insert(program + between + QByteArray::number(pid));
        }
    }
    std::erase_if(names, [](const QByteArray &name) { return !isClientName(name); });
    return names;
}

// Two of different hosts may call themselves the same. What comes over loopback may come from anywhere's tunnel.
bool canBeOneHost(const Native &a, const Native &b)
{
    for (const auto &endpoint : a.endpoints) {
        for (const auto &other : b.endpoints) {
            const auto left = hostOfEndpoint(endpoint), right = hostOfEndpoint(other);
            if (left != right && !isLoopbackHost(left) && !isLoopbackHost(right))
                return false;
        }
    }
    return true;
}

// What its contenders share; which of its threads it is, and whether a client wrote that.
struct Whose {
    QByteArray key, thread;
    bool isWritten = false;
};

// What Redisson writes names client and thread; a session is a client; else nothing is shared.
Whose sharedBy(const Contender &one, const LockName &lock, BackendKind backend)
{
    const bool areThreadsNamed = infoOf(backend).areThreadsNamed;
    auto field = areThreadsNamed ? readHolder(one.identity.value_or(one.id)) : std::nullopt;
    if (areThreadsNamed && !field)
        field = readHolder(one.id);
    if (field)
        return {field->client, field->thread, true};
    // All that one prepared transaction holds is one client's, although it has no session.
    const bool isPrepared =
        infoOf(backend).isIdentityAnAccount && (one.id.startsWith("prepared:") || one.id.startsWith("xa:"));
    const auto alone = isPrepared ? one.id : lock.name + '#' + one.id;
    return {one.session ? one.session->toUtf8() : alone, {}, false};
}

void describeNative(Native &native, const Contender &one, const LockName &lock, BackendKind kind, const Whose &whose)
{
    const auto &backend = infoOf(kind);
    native.connection = lock.connection;
    native.id = lock.connection.bytes() + ':' + whose.key;
    native.contenders.insert(one.id);
    native.session = one.session;
    native.isSessionOneClient = backend.isSessionOneClient;
    native.isNumberedOnly = !whose.isWritten && one.isOnlyCounted();
    if (!whose.thread.isEmpty())
        native.threads.insert(whose.thread);
    if (one.endpoint && std::ranges::find(native.endpoints, *one.endpoint) == native.endpoints.end())
        native.endpoints.push_back(*one.endpoint);
    if (one.identity && !whose.isWritten)
        (backend.isIdentityAnAccount ? native.accounts : native.identities).insert(*one.identity);
    if (one.program)
        native.programs.insert(*one.program);
    if (one.pid)
        native.pids.insert(*one.pid);
}

bool labelMatches(const ClientLabel &label, const QByteArray &text)
{
    return ::fnmatch(label.pattern.constData(), text.constData(), 0) == 0;
}
bool labelMatchesAny(const ClientLabel &label, const std::set<QByteArray> &texts)
{
    return std::ranges::any_of(texts, [&label](const QByteArray &one) { return labelMatches(label, one); });
}
// Whether the label names this one; and whether exactly this one, or whoever has its host, account or name.
enum class LabelFit { None, Vague, Exact };
LabelFit labelFit(const ClientLabel &label, const Native &native)
{
    const bool isPattern = label.pattern.contains('*') || label.pattern.contains('?') || label.pattern.contains('[');
    const auto precise = isPattern ? LabelFit::Vague : LabelFit::Exact;
    const bool isItsId = labelMatchesAny(label, native.contenders);
    if (labelMatches(label, native.id) || (isItsId && !native.isNumberedOnly)
        || (native.session && labelMatches(label, native.session->toUtf8())))
        return precise;
    if (isItsId)
        return LabelFit::Vague;
    for (const auto &endpoint : native.endpoints) {
        if (labelMatches(label, endpoint.toUtf8()))
            return precise;
        if (labelMatches(label, hostOfEndpoint(endpoint).toUtf8()))
            return LabelFit::Vague;
    }
    const bool isNamed = labelMatchesAny(label, native.identities) || labelMatchesAny(label, native.programs)
                         || labelMatchesAny(label, native.accounts);
    return isNamed ? LabelFit::Vague : LabelFit::None;
}

class Grouping {
public:
    Grouping(const std::vector<LockSnapshot> &locks, const std::vector<ClientLabel> &labels) : m_labels(labels)
    {
        for (const auto &lock : locks) {
            auto &seats = m_seats.emplace_back();
            for (const auto &contender : lock.contenders)
                seats.push_back(seatOf(lock, contender));
        }
        for (std::size_t i = 0; i < m_natives.size(); ++i)
            m_parent.push_back(i);
        m_join.resize(m_natives.size(), Join::SameSession);
        m_because.resize(m_natives.size());
        m_label.resize(m_natives.size());
        m_said.resize(m_natives.size());
        joinBySession();
        joinByLabel();
        joinByName();
        for (std::size_t i = 0; i < m_natives.size(); ++i)
            m_members[root(i)].push_back(i);
    }

    [[nodiscard]] ClientsOfLocks result()
    {
        ClientsOfLocks all;
        std::map<std::size_t, int> numbers;
        for (std::size_t i = 0; i < m_natives.size(); ++i) {
            if (numbers.emplace(root(i), static_cast<int>(numbers.size())).second)
                all.clients.push_back(clientOf(root(i)));
        }
        std::map<std::pair<int, QByteArray>, int> agents;
        for (const auto &seats : m_seats) {
            auto &clients = all.client.emplace_back();
            auto &own = all.agent.emplace_back();
            for (const auto &seat : seats) {
                const int client = numbers.at(root(seat.native));
                // Which of its threads a session elsewhere belongs to is not known.
                const bool isAlone = all.clients[static_cast<std::size_t>(client)].join == Join::SameSession;
                const std::pair key(client, isAlone ? seat.thread : QByteArray());
                const auto [at, isNew] = agents.emplace(key, static_cast<int>(agents.size()));
                if (isNew)
                    all.clientOfAgent.push_back(client);
                clients.push_back(client);
                own.push_back(at->second);
            }
        }
        all.agents = static_cast<int>(agents.size());
        return all;
    }

private:
    Seat seatOf(const LockSnapshot &lock, const Contender &one)
    {
        const auto whose = sharedBy(one, lock.lock, lock.backend);
        const auto [at, isNew] = m_known.emplace(std::pair(lock.lock.connection, whose.key), m_natives.size());
        if (isNew)
            m_natives.emplace_back();
        describeNative(m_natives[at->second], one, lock.lock, lock.backend, whose);
        return {at->second, whose.thread};
    }

    [[nodiscard]] std::size_t root(std::size_t i) const
    {
        while (m_parent[i] != i)
            i = m_parent[i];
        return i;
    }
    void unite(std::size_t a, std::size_t b, Join join, const QString &because)
    {
        const auto into = std::min(root(a), root(b)), from = std::max(root(a), root(b));
        const auto weakest = std::max({m_join[into], m_join[from], join});
        QStringList reasons = m_because[into].split(u"; "_s, Qt::SkipEmptyParts) + QStringList(because);
        reasons.removeAll(QString());
        reasons.removeDuplicates();
        m_because[into] = reasons.join(u"; "_s);
        if (m_label[into].isEmpty())
            m_label[into] = m_label[from];
        m_parent[from] = into;
        m_join[into] = weakest;
    }

    // Two of our connections to one ensemble.
    void joinBySession()
    {
        std::map<std::pair<QString, std::vector<QString>>, std::size_t> first;
        for (std::size_t i = 0; i < m_natives.size(); ++i) {
            const auto &native = m_natives[i];
            if (!native.isSessionOneClient || !native.session || native.endpoints.empty())
                continue;
            const auto [at, isNew] = first.emplace(std::pair(*native.session, native.endpoints), i);
            if (!isNew)
                unite(at->second, i, Join::SameSession, {});
        }
    }

    void joinByLabel()
    {
        std::map<QString, std::vector<std::pair<std::size_t, LabelFit>>> labelled;
        std::map<std::pair<QString, ConnectionName>, int> vague;
        for (std::size_t i = 0; i < m_natives.size(); ++i) {
            for (const auto &label : m_labels) {
                const auto how = labelFit(label, m_natives[i]);
                if (how == LabelFit::None)
                    continue;
                m_label[i] = label.name;
                labelled[label.name].emplace_back(i, how);
                vague[{label.name, m_natives[i].connection}] += how == LabelFit::Vague ? 1 : 0;
                break;
            }
        }
        for (auto &[name, members] : labelled) {
            // Several of one host, of one name or of one number are several clients: called so, but not made one.
            std::erase_if(members, [&, &called = name](const auto &one) {
                return one.second == LabelFit::Vague && vague[{called, m_natives[one.first].connection}] > 1;
            });
            for (std::size_t i = 1; i < members.size(); ++i)
                unite(members.front().first, members[i].first, Join::Label,
                      u"label "_s + label(name.toUtf8(), nameLength));
        }
    }

    void joinByName()
    {
        std::map<QByteArray, std::vector<std::size_t>> named;
        for (std::size_t i = 0; i < m_natives.size(); ++i) {
            m_names.push_back(namesOf(m_natives[i]));
            for (const auto &name : m_names[i])
                named[name].push_back(i);
        }
        for (const auto &[name, members] : named) {
            if (isUnmistakable(members))
                for (std::size_t i = 1; i < members.size(); ++i) {
                    unite(members.front(), members[i], Join::SelfReported, u"calls itself "_s + nameLabel(name));
                    m_said[root(members.front())] = name;
                }
        }
    }
    // One on each connection, of one host as far as that is known. Several of one server are several clients, unless
    // they say that they are one process, or are one connection.
    [[nodiscard]] bool isUnmistakable(const std::vector<std::size_t> &members) const
    {
        for (std::size_t i = 0; i < members.size(); ++i) {
            for (std::size_t j = i + 1; j < members.size(); ++j) {
                const auto &a = m_natives[members[i]];
                const auto &b = m_natives[members[j]];
                const bool isOneProcess =
                    (!a.pids.empty() && a.pids == b.pids) || (!a.endpoints.empty() && a.endpoints == b.endpoints);
                if (!canBeOneHost(a, b) || (a.connection == b.connection && !isOneProcess))
                    return false;
                if (!a.pids.empty() && !b.pids.empty() && a.pids != b.pids)
                    return false;
            }
        }
        return true;
    }

    [[nodiscard]] Client clientOf(std::size_t top)
    {
        Client client;
        client.join = m_join[top];
        client.because = m_because[top];
        auto said = m_said[top];
        for (const auto i : m_members[top]) {
            for (const auto &endpoint : m_natives[i].endpoints) {
                if (std::ranges::find(client.endpoints, endpoint) == client.endpoints.end())
                    client.endpoints.push_back(endpoint);
            }
            for (const auto &name : m_names[i]) {
                const bool isBare = m_natives[i].identities.contains(name) || m_natives[i].programs.contains(name);
                if (said.isEmpty() && isBare)
                    said = name;
            }
        }
        const auto &native = m_natives[top];
        client.name = !m_label[top].isEmpty()     ? label(m_label[top].toUtf8(), nameLength)
                      : !said.isEmpty()           ? nameLabel(said)
                      : !client.endpoints.empty() ? label(client.endpoints.front().toUtf8(), nameLength)
                                                  : label(native.id, nameLength);
        client.id = client.join == Join::SameSession ? native.id
                    : !m_label[top].isEmpty()        ? m_label[top].toUtf8()
                                                     : said;
        if (!m_ids.insert(client.id).second)
            client.id += '#' + native.id;
        return client;
    }

    const std::vector<ClientLabel> &m_labels;
    std::vector<Native> m_natives;
    std::map<std::pair<ConnectionName, QByteArray>, std::size_t> m_known;
    std::vector<std::vector<Seat>> m_seats; // by lock and contender
    std::vector<std::size_t> m_parent;
    std::map<std::size_t, std::vector<std::size_t>> m_members;
    std::vector<std::set<QByteArray>> m_names; // by native
    std::vector<Join> m_join;
    std::vector<QString> m_because, m_label;
    std::vector<QByteArray> m_said; // the name it was joined by
    std::set<QByteArray> m_ids;
};

bool isShort(const QByteArray &text)
{
    return text.size() <= 40;
}

// A long text is the name of a process, with its host or pod. With anything else in it, it is data; of hexadecimal
// digits only, a token, or an address with a UUID.
bool isOneWord(const QByteArray &text)
{
    constexpr qsizetype longest = 2000;
    const auto isOfNames = [](QChar c) { return c.isLetterOrNumber() || u"@.:/_-+#~ ()"_s.contains(c); };
    const auto isOfToken = [](char c) {
        return QByteArrayView("-:. ").contains(c) || std::isxdigit(static_cast<uchar>(c));
    };
    return text.size() <= longest && std::ranges::all_of(QString::fromUtf8(text), isOfNames)
           && !std::ranges::all_of(text, isOfToken);
}

// "17" of "17:billing" is none, though it may be read as one.
bool isHostAddress(const QString &host)
{
    return (host.contains(u'.') || host.contains(u':')) && !QHostAddress(host).isNull();
}

// A top-level text of a JSON object, which may be cut off: what a client writes about itself is read up to a limit.
QByteArray textInJson(const QByteArray &object, const char *field)
{
    const QRegularExpression form(uR"re("%1"\s*:\s*"([^"\\]*)")re"_s.arg(QLatin1StringView(field)));
    return form.match(QString::fromUtf8(object)).captured(1).toUtf8();
}

// Vitess (go/vt/topo/locks.go) and Terraform (internal/states/statemgr/locker.go) write an object that says what a
// client does, and where. Anything else stays as it is.
QByteArray readable(const QByteArray &name)
{
    constexpr std::pair<const char *, const char *> forms[] = {{"Action", "HostName"}, {"Operation", "Who"}};
    if (!name.startsWith('{'))
        return name;
    for (const auto &[action, actor] : forms) {
        const auto does = textInJson(name, action);
        const auto who = textInJson(name, actor);
        if (!does.isEmpty() && !who.isEmpty())
            return does + " by " + who;
    }
    return name;
}

} // namespace

bool isClientName(const QByteArray &text)
{
    constexpr qsizetype shortest = 3;
    const auto read = QString::fromUtf8(text);
    const auto isLetter = [](QChar c) { return c.isLetter(); };
    const auto isOfAddress = [](char c) { return c == '.' || std::isxdigit(static_cast<uchar>(c)); };
    const bool isAddress = (text.contains(':') || std::ranges::all_of(text, isOfAddress))
                           && (!QHostAddress(plainHost(read)).isNull() || isHostAddress(hostOfEndpoint(read)));
    return text.size() >= shortest && !isAddress && std::ranges::any_of(read, isLetter) && read != "localhost"_L1
           && read != "lock"_L1 && read != "locked"_L1 && read != "true"_L1;
}

std::optional<QByteArray> selfNameOf(const Contender &one, BackendKind backend)
{
    const auto isName = [](const QByteArray &text) {
        return isClientName(text) && (isShort(text) || isOneWord(text));
    };
    if (one.program && isName(*one.program))
        return one.program;
    if (!one.identity || infoOf(backend).isIdentityAnAccount || *one.identity == one.id || !isName(*one.identity))
        return std::nullopt;
    return one.identity;
}

QString nameLabel(const QByteArray &name)
{
    constexpr qsizetype longest = 200, longestHost = 100;
    const auto text = label(readable(name), 2000);
    if (text.size() <= longest)
        return text;
    const auto at = text.lastIndexOf(u'@');
    const auto host = at >= 0 && text.size() - at <= longestHost ? text.sliced(at) : text.last(longestHost / 2);
    return text.first(longest - host.size() - 1) + u'…' + host;
}

std::optional<QByteArray> nameBeside(const Contender &one, BackendKind backend)
{
    if (!one.label.isEmpty())
        return one.label.toUtf8();
    return one.endpoint ? selfNameOf(one, backend) : std::nullopt;
}

void addLabel(Contender &one, const LockName &lock, BackendKind backend, const std::vector<ClientLabel> &labels)
{
    Native native;
    describeNative(native, one, lock, backend, sharedBy(one, lock, backend));
    const auto found = std::ranges::find_if(
        labels, [&native](const auto &label) { return labelFit(label, native) != LabelFit::None; });
    one.label = found == labels.end() ? QString() : found->name;
}

void addLabels(LockSnapshot &lock, const std::vector<ClientLabel> &labels)
{
    for (auto &contender : lock.contenders)
        addLabel(contender, lock.lock, lock.backend, labels);
}

std::optional<ClientLabel> readClientLabel(const QString &text)
{
    const auto equals = text.lastIndexOf(u'=');
    if (equals <= 0 || text.mid(equals + 1).trimmed().isEmpty())
        return std::nullopt;
    return ClientLabel{text.left(equals).toUtf8(), text.mid(equals + 1).trimmed()};
}

ClientsOfLocks clientsOf(const std::vector<LockSnapshot> &locks, const std::vector<ClientLabel> &labels)
{
    return Grouping(locks, labels).result();
}

} // namespace lockscope::inspect
