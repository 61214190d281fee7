// SPDX-License-Identifier: Apache-2.0
#include "core/redis/deployments.h"

#include "core/redis/clusternodes.h"
#include "core/redis/clusterwhole.h"
#include "core/redis/resp.h"

#include <QCryptographicHash>

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

} // namespace lockscope::redis
