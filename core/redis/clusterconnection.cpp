// SPDX-License-Identifier: Apache-2.0
#include "core/redis/client.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/redis/resp.h"

#include <QCryptographicHash>
#include <QSet>

namespace lockscope::redis {

namespace {

// A reply that is given in any case: with the end of whoever owes it at the latest.
template <class T>
class Owed {
public:
    explicit Owed(Reply<T> reply) : m_reply(std::move(reply)) {}
    Owed(Owed &&other) noexcept : m_reply(std::move(other.m_reply)), m_isOwed(std::exchange(other.m_isOwed, false)) {}
    Owed &operator=(Owed &&other) = delete;
    Q_DISABLE_COPY(Owed)
    ~Owed()
    {
        if (m_isOwed)
            m_reply.complete(Error{ErrorCode::UnknownOutcome,
                                   u"the connection to the Redis Cluster was closed while a command was out"_s,
                                   false});
    }
    void give(Result<T> result) const { m_reply.complete(std::move(result)); }
    [[nodiscard]] bool isGiven() const { return m_reply.isComplete(); }

private:
    Reply<T> m_reply;
    bool m_isOwed = true;
};

// In front of a script that publishes. In one line, so that what is said of the script's lines stays true.
constexpr char onShardsToo[] =
    "local redis = (function(plain) " // prose: ok (a script)
    "local function both(call) return function(name, ...) "
    "local told = call(name, ...) "
    "if name ~= 'PUBLISH' or type(told) ~= 'number' then return told end "
    "local more = plain.pcall('SPUBLISH', ...) " // an error before Redis 7, and where the slot is another one
    "return type(more) == 'number' and told + more or told end end "
    "return setmetatable({call = both(plain.call), pcall = both(plain.pcall)}, {__index = plain}) "
    "end)(redis) ";

Script withShards(Script script)
{
    if (!script.text.contains("'PUBLISH'"))
        return script;
    script.text.prepend(onShardsToo);
    script.sha = QCryptographicHash::hash(script.text, QCryptographicHash::Sha1).toHex();
    return script;
}

Result<Value> errorsApart(Result<Value> got)
{
    if (got && got->isError())
        return errorFrom(*got);
    return got;
}

class ClusterConnection final : public EndPort<Connection> {
public:
    ClusterConnection(Loop &loop, std::vector<HostPort> seeds, OpenNode open)
        : EndPort(loop),
          m_nodes(loop, std::move(seeds), std::move(open), [this](bool mayHaveMissed) { changed(mayHaveMissed); }),
          m_topics(m_nodes), m_delivery(m_nodes, loop), m_whole(m_nodes, m_topics), m_work(loop)
    {
    }

    ConnectionState state() const override { return m_nodes.state(); }
    QString lastError() const override { return m_nodes.lastError(); }
    bool isExplained() const override { return m_nodes.isExplained(); }
    QString missing() const override { return m_nodes.missing(); }
    bool isServed(const QByteArray &key) const override { return m_nodes.isServed(hashSlot(key)); }

    void send(Request &&request) override
    {
        std::visit([this](auto &asked) { submit(asked); }, request);
    }

    Subscription subscribe(QByteArray channel, std::function<void(const Message &)> listener) override
    {
        return m_topics.add(channel, false, std::move(listener));
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const Message &)> listener) override
    {
        return m_topics.add(pattern, true, std::move(listener));
    }

private:
    void submit(Asked<CommandRequest> &asked)
    {
        if (auto problem = unfit(asked.request.command, asked.deadline))
            asked.reply.complete(*problem);
        else
            m_work.launch(runOne(std::move(asked.request.command), asked.deadline, Owed(asked.reply)));
    }
    void submit(Asked<PipelineRequest> &asked)
    {
        for (const auto &command : asked.request.commands) {
            if (auto problem = unfit(command, asked.deadline))
                return asked.reply.complete(*problem);
        }
        m_work.launch(runAll(std::move(asked.request.commands), asked.deadline, Owed(asked.reply)));
    }
    void submit(Asked<ScriptRequest> &asked)
    {
        auto &[script, keys, args] = asked.request;
        const auto destination = destinationOfKeys(keys);
        if (auto problem = unfit(Command{"EVALSHA"}, asked.deadline))
            asked.reply.complete(*problem);
        else if (!destination)
            asked.reply.complete(destination.error());
        else
            m_work.launch(runScript(withShards(std::move(script)),
                                    QByteArrayList{QByteArray::number(keys.size())} + keys + args, destination->slot,
                                    asked.deadline, Owed(asked.reply)));
    }
    void submit(const Asked<SubscriberIdRequest> &asked)
    {
        m_work.launch(runSubscriberId(asked.deadline, Owed(asked.reply)));
    }

    // Why it must not be sent; what changes the protocol each node's own connection refuses.
    [[nodiscard]] std::optional<Error> unfit(const Command &command, Deadline deadline) const
    {
        if (command.isEmpty())
            return Error{ErrorCode::BadInput, u"this command cannot be sent on a shared connection"_s, false};
        if (!m_nodes.isKnown() || m_nodes.state() == ConnectionState::AuthFailed)
            return m_nodes.notConnected();
        if (deadline.hasPassed(loop()))
            return Error{ErrorCode::TimedOut, u"too late to send it to the Redis Cluster"_s, false};
        return std::nullopt;
    }

    void changed(bool mayHaveMissed)
    {
        const bool hasMoved = m_topics.place();
        const auto now = m_nodes.state();
        const bool isConnected = now == ConnectionState::Connected;
        // While connected only what was missed is worth a word.
        if (!isConnected || !std::exchange(m_isConnected, isConnected) || mayHaveMissed || hasMoved)
            notifyState(now);
        m_isConnected = isConnected;
    }

    Task<void> runOne(Command command, Deadline deadline, Owed<Value> owed)
    {
        auto got = co_await raw(std::move(command), deadline);
        owed.give(errorsApart(std::move(got)));
    }
    // An error reply stays a value.
    Task<Result<Value>> raw(Command command, Deadline deadline)
    {
        CO_TRY(const auto &destination, destinationOf(command));
        if (destination.kind == Destination::Kind::Everyone) {
            auto whole = co_await m_whole.ask(std::move(command), deadline);
            co_return whole;
        }
        std::vector<Parcel> parcels;
        parcels.push_back(Parcel{std::move(command), destination.slot});
        CO_TRY(auto &answers, co_await m_delivery.deliver(std::move(parcels), deadline));
        co_return std::move(answers.front());
    }

    // What has keys first, in one go; then what concerns the whole, one after the other.
    Task<void> runAll(std::vector<Command> commands, Deadline deadline, Owed<std::vector<Value>> owed)
    {
        std::vector<Value> answers(commands.size());
        std::vector<Parcel> parcels;
        std::vector<std::size_t> delivered, whole;
        for (std::size_t i = 0; i < commands.size(); ++i) {
            const auto destination = destinationOf(commands[i]);
            if (!destination) {
                owed.give(destination.error());
                co_return;
            }
            if (destination->kind == Destination::Kind::Everyone) {
                whole.push_back(i);
                continue;
            }
            delivered.push_back(i);
            parcels.push_back(Parcel{commands[i], destination->slot});
        }
        if (!parcels.empty()) {
            auto got = co_await m_delivery.deliver(std::move(parcels), deadline);
            if (!got) {
                owed.give(got.error());
                co_return;
            }
            for (std::size_t i = 0; i < delivered.size(); ++i)
                answers[delivered[i]] = std::move((*got)[i]);
        }
        for (const auto i : whole) {
            auto got = co_await m_whole.ask(commands[i], deadline);
            if (!got) {
                owed.give(got.error());
                co_return;
            }
            answers[i] = std::move(*got);
        }
        owed.give(std::move(answers));
    }

    Task<void> runScript(Script script, QByteArrayList rest, int slot, Deadline deadline, Owed<Value> owed)
    {
        std::vector<Parcel> bySha;
        bySha.push_back(Parcel{Command{"EVALSHA", script.sha} + rest, slot});
        auto got = co_await m_delivery.deliver(std::move(bySha), deadline);
        // Who was told "unknown outcome" already must not have it happen after all.
        if (got && got->front().text.startsWith("NOSCRIPT") && got->front().isError() && !owed.isGiven()) {
            std::vector<Parcel> withText;
            withText.push_back(Parcel{Command{"EVAL", script.text} + rest, slot});
            got = co_await m_delivery.deliver(std::move(withText), deadline);
        }
        if (!got)
            owed.give(got.error());
        else
            owed.give(errorsApart(std::move(got->front())));
    }

    Task<void> runSubscriberId(Deadline deadline, Owed<qint64> owed)
    {
        auto id = co_await m_whole.subscriberId(deadline);
        owed.give(std::move(id));
    }

    bool m_isConnected = false;
    ClusterNodes m_nodes;
    ClusterTopics m_topics;
    ClusterDelivery m_delivery;
    ClusterWhole m_whole;
    Scope m_work; // last, so that it goes first
};

// Where the keys of a command stand.
enum class Keys { None, First, FirstTwo, Second, All, AllFromSecond, EveryOther, Counted, CountedAfterKey, ButLast };

const QHash<QByteArray, Keys> &knownKeys()
{
    static const auto table = [] {
        QHash<QByteArray, Keys> made;
        int position = 0;
        for (const auto &line : readResource(u"rules/redis-key-positions.txt"_s).split('\n')) {
            const auto words = line.split(' ');
            if (!words.first().endsWith(':')) // a comment
                continue;
            for (const auto &name : words.mid(1))
                made.insert(name, static_cast<Keys>(position));
            ++position;
        }
        return made;
    }();
    return table;
}

QByteArrayList counted(const Command &command, qsizetype at)
{
    bool isNumber = false;
    const auto count = command.value(at).toLongLong(&isNumber);
    return isNumber && count > 0 ? command.mid(at + 1, count) : QByteArrayList();
}

// XREAD … STREAMS key key id id
QByteArrayList streams(const Command &command)
{
    const auto at = std::ranges::find_if(command, [](const QByteArray &word) { return word.toUpper() == "STREAMS"; });
    const auto from = at - command.begin() + 1;
    return from >= command.size() ? QByteArrayList() : command.mid(from, (command.size() - from) / 2);
}

bool isForEveryone(const Command &command)
{
    static const QSet<QByteArray> whole{"PING", "INFO",   "CLIENT",   "DBSIZE", "KEYS",
                                        "SCAN", "PUBSUB", "FLUSHALL", "FLUSHDB"};
    const auto name = command.first().toUpper();
    const auto sub = command.value(1).toUpper();
    if (name == "CONFIG" || name == "SCRIPT")
        return sub != "HELP" && sub != "EXISTS";
    return whole.contains(name);
}

} // namespace

std::unique_ptr<Connection> openCluster(Loop &loop, std::vector<HostPort> seeds, OpenNode open)
{
    return std::make_unique<ClusterConnection>(loop, std::move(seeds), std::move(open));
}

std::unique_ptr<Connection> openCluster(Loop &loop, std::vector<HostPort> seeds, const ConnectionOptions &options)
{
    auto common = options;
    common.database = 0;
    return openCluster(loop, std::move(seeds), [&loop, common](const HostPort &host) {
        auto own = common;
        own.host = host;
        return openConnection(loop, own);
    });
}

QByteArrayList keysOf(const Command &command)
{
    if (command.size() < 2)
        return {};
    const auto name = command.first().toUpper();
    if (name == "XREAD" || name == "XREADGROUP")
        return streams(command);
    switch (knownKeys().value(name, Keys::First)) {
    case Keys::None: return {};
    case Keys::First: return command.mid(1, 1);
    case Keys::FirstTwo: return command.mid(1, 2);
    case Keys::Second: return command.mid(2, 1);
    case Keys::All: return command.mid(1);
    case Keys::AllFromSecond: return command.mid(2);
    case Keys::EveryOther: break;
    case Keys::Counted: return counted(command, 1);
    case Keys::CountedAfterKey: {
        const bool isStored = name.startsWith('Z');
        return (isStored ? command.mid(1, 1) : QByteArrayList()) + counted(command, 2);
    }
    case Keys::ButLast: return command.mid(1, command.size() - 2);
    }
    QByteArrayList keys;
    for (qsizetype i = 1; i < command.size(); i += 2)
        keys << command[i];
    return keys;
}

Result<Destination> destinationOfKeys(const QByteArrayList &keys)
{
    if (keys.isEmpty())
        return Destination{};
    const int slot = hashSlot(keys.first());
    for (const auto &key : keys) {
        if (hashSlot(key) != slot)
            return Error{
                ErrorCode::BadInput,
                u"the keys %1 and %2 are in different slots of the Redis Cluster, and no node takes a command "
                u"over both. Keys with the same {hash tag} share one"_s.arg(label(keys.first(), 80), label(key, 80)),
                false};
    }
    return Destination{Destination::Kind::Slot, slot};
}

Result<Destination> destinationOf(const Command &command)
{
    if (!command.isEmpty() && isForEveryone(command))
        return Destination{Destination::Kind::Everyone};
    return destinationOfKeys(keysOf(command));
}

// A failover takes a node's timeout and an election, some seconds in all. Without a deadline this is the end, too.
constexpr int triesAtMost = 60;
constexpr int redirectsAtMost = 8; // one after the other, without a pause
constexpr Duration waitAtMost = 500ms;
constexpr Duration firstWait = 20ms;

struct ClusterDelivery::Round {
    std::vector<Item> open;
    std::vector<Group> groups;
    std::vector<Item> again;
    std::vector<Value> answers; // an error that passes stays here when it is the last
    bool isAnyDone = false;     // some were executed
    bool wantsPause = false;
};

std::optional<HostPort> ClusterDelivery::hostFor(const Item &item, const Parcel &parcel)
{
    if (item.ask)
        return item.ask;
    const auto *host = parcel.slot < 0 ? m_nodes.anyone() : m_nodes.ownerOf(parcel.slot);
    return host ? std::optional(*host) : std::nullopt;
}

void ClusterDelivery::send(Round &round, const std::vector<Parcel> &parcels, Deadline deadline)
{
    std::map<QString, Group> groups;
    for (auto &item : std::exchange(round.open, {})) {
        const auto host = hostFor(item, parcels[item.index]);
        if (!host || !m_nodes.isConnected(*host)) {
            round.wantsPause = true;
            round.again.push_back({item.index, {}});
            continue;
        }
        // What an ASK sent on needs a word before it, and only there.
        const auto name = displayHost(*host) + (item.ask ? u" ask"_s : QString());
        auto at = groups.try_emplace(name, Group{*host, {}, Reply<std::vector<Value>>(m_loop)}).first;
        at->second.items.push_back(std::move(item));
    }
    for (auto &[name, group] : groups) {
        std::vector<Command> commands;
        for (const auto &item : group.items) {
            if (item.ask)
                commands.push_back({"ASKING"});
            commands.push_back(parcels[item.index].command);
        }
        group.reply = m_nodes.at(group.host).pipeline(std::move(commands), deadline);
        round.groups.push_back(std::move(group));
    }
}

void ClusterDelivery::take(Round &round, const Group &group, const std::vector<Value> &answers)
{
    std::size_t at = 0;
    for (const auto &item : group.items) {
        at += item.ask ? 1 : 0;
        if (at >= answers.size())
            return;
        const auto &answer = answers[at++];
        const auto redirect = redirectOf(answer, group.host);
        if (!redirect)
            round.answers[item.index] = answer;
        if (redirect && redirect->kind == Redirect::Kind::Ask) {
            round.again.push_back({item.index, redirect->to});
        } else if (redirect) {
            m_nodes.moved(*redirect);
            round.again.push_back({item.index, {}});
        } else if (isWorthRepeating(answer)) {
            m_nodes.askAgain();
            round.wantsPause = true;
            round.again.push_back({item.index, {}});
        } else {
            round.isAnyDone = true;
        }
    }
}

Task<Result<std::vector<Value>>> ClusterDelivery::deliver(std::vector<Parcel> parcels, Deadline deadline)
{
    Round round;
    round.answers.resize(parcels.size());
    for (std::size_t i = 0; i < parcels.size(); ++i)
        round.open.push_back({i, {}});
    Duration pause = firstWait;
    int redirects = 0;
    for (int tries = 1;; ++tries) {
        send(round, parcels, deadline);
        const auto groups = std::exchange(round.groups, {});
        for (const auto &group : groups) {
            const auto answers = co_await group.reply;
            if (answers) {
                take(round, group, *answers);
                continue;
            }
            if (answers.error().code != ErrorCode::NotConnected)
                co_return answers.error();
            round.wantsPause = true;
            for (const auto &item : group.items)
                round.again.push_back({item.index, {}});
        }
        round.open = std::exchange(round.again, {});
        if (round.open.empty())
            co_return std::move(round.answers);
        if (tries >= triesAtMost || deadline.hasPassed(m_loop) || m_nodes.state() == ConnectionState::AuthFailed
            || !m_nodes.isKnown())
            break;
        if (!std::exchange(round.wantsPause, false) && ++redirects < redirectsAtMost)
            continue;
        redirects = 0;
        co_await m_nodes.nextChange(Deadline::at(std::min(deadline.when(), m_loop.now() + pause)));
        pause = std::min(pause * 2, waitAtMost);
    }
    // What a node said last is the answer, where each said something.
    const bool isSaid =
        std::ranges::all_of(round.open, [&round](const Item &item) { return round.answers[item.index].isError(); });
    if (isSaid)
        co_return std::move(round.answers);
    auto why = m_nodes.notConnected();
    if (round.isAnyDone)
        why.code = ErrorCode::UnknownOutcome;
    co_return why;
}

} // namespace lockscope::redis
