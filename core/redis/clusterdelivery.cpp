// SPDX-License-Identifier: Apache-2.0
#include "core/redis/clusterwhole.h"

#include "core/base/regularfile.h"
#include "core/base/text.h"
#include "core/redis/clusternodes.h"

#include <QSet>

#include <algorithm>

namespace lockscope::redis {

namespace {

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
