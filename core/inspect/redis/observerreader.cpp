// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/observerreader.h"

#include <cmath>
#include <iterator>

namespace lockscope::inspect {

namespace {

using redis::Command;
using redis::Value;

// What is asked about one key beside its type and its time to live, in two rounds, and what the answers say of it.
// What is larger than a lock is not read, of a queue that is long not at once.

// A lock's value is a token, a lock's hash has a field per holder. What is larger is no lock, and
// reading it would cost the server and us.
constexpr QByteArrayView lastByteOfValue = "4095";
constexpr QByteArrayView lastAtFirst = "999"; // of a list or a sorted set: most have fewer
constexpr qint64 membersAtFirst = 1000;
constexpr qint64 membersAtMost = 20'000;
constexpr qint64 fieldsAtMost = 512;
constexpr qint64 hashBytesAtMost = 256 * 1024;

// Of a value that is a moment it tells whether it was written at that moment; of what ends soon, whether it was given
// more time than that.
bool asksIdle(const KeyView &view)
{
    constexpr auto soon = std::chrono::minutes(1);
    return view.type == KeyType::String && (!view.ttl || *view.ttl <= soon);
}

// Nothing for types that no lock has. `withExpiry`: the server knows PEXPIRETIME. Where asksIdle(), the first answer
// is that; then comes the value, or its size; the last is the size, or of a string when it ends.
std::vector<Command> firstQuestions(const KeyView &view, bool withExpiry)
{
    const auto &key = view.key.bytes();
    switch (view.type) {
    case KeyType::String: {
        std::vector<Command> asked{{"GETRANGE", key, "0", lastByteOfValue.toByteArray()}};
        if (withExpiry)
            asked.push_back({"PEXPIRETIME", key});
        // Before it is read, which counts as use.
        if (asksIdle(view))
            asked.insert(asked.begin(), {"OBJECT", "IDLETIME", key});
        return asked;
    }
    case KeyType::Hash: return {{"HLEN", key}, {"MEMORY", "USAGE", key}};
    case KeyType::List: return {{"LRANGE", key, "0", lastAtFirst.toByteArray()}, {"LLEN", key}};
    case KeyType::Set: return {{"SCARD", key}};
    case KeyType::SortedSet: return {{"ZRANGE", key, "0", lastAtFirst.toByteArray(), "WITHSCORES"}, {"ZCARD", key}};
    default: return {};
    }
}

// After those answers: the fields of a hash of a lock's size, before them when it ends (`withExpiry`); the whole of a
// queue that is long.
std::vector<Command> secondQuestions(const KeyView &view, const Value &first, const Value &size, bool withExpiry)
{
    const auto &key = view.key.bytes();
    const auto last = QByteArray::number(membersAtMost - 1);
    // An error (not allowed) says nothing about the size.
    const bool isLong = size.integer > membersAtFirst && size.integer <= membersAtMost;
    const bool isSmall = first.integer > 0 && first.integer <= fieldsAtMost && size.integer <= hashBytesAtMost;
    if (view.type == KeyType::Hash && isSmall && withExpiry)
        return {{"PEXPIRETIME", key}, {"HGETALL", key}}; // not later than its fields
    if (view.type == KeyType::Hash && isSmall)
        return {{"HGETALL", key}};
    if (view.type == KeyType::Set && size.integer > 0 && size.integer <= membersAtFirst)
        return {{"SMEMBERS", key}};
    if (view.type == KeyType::List && isLong)
        return {{"LRANGE", key, "0", last}};
    if (view.type == KeyType::SortedSet && isLong)
        return {{"ZRANGE", key, "0", last, "WITHSCORES"}};
    return {};
}

// Error replies (the key changed its type meanwhile, or may not be read) leave the view without values.
void fillValue(KeyView &view, const Value &answer)
{
    if (answer.isError())
        return;
    if (view.type == KeyType::String)
        view.value = answer.text;
    const bool isOfItems = view.type == KeyType::List || view.type == KeyType::Set;
    for (size_t i = 0; isOfItems && i < answer.items.size(); ++i)
        view.items.push_back(answer.items[i].text);
    for (size_t i = 0; view.type == KeyType::SortedSet && i + 1 < answer.items.size(); i += 2)
        view.scored.emplace_back(answer.items[i].text, answer.items[i + 1].text.toDouble());
    for (size_t i = 0; view.type == KeyType::Hash && i + 1 < answer.items.size(); i += 2)
        view.fields.emplace_back(answer.items[i].text, answer.items[i + 1].text);
}

// Of a sorted set that is too large no part is kept: which one came first says nothing about the others.
void fillSize(KeyView &view, const Value &size)
{
    const bool isCounted = view.type == KeyType::List || view.type == KeyType::Set || view.type == KeyType::SortedSet;
    if (!isCounted || size.isError())
        return;
    view.size = size.integer;
    if (view.size > membersAtMost)
        view.scored.clear();
}

// The moment a key ends, read beside its value: newer than the time to live that was read before. `now` is the
// server's.
void fillExpiry(KeyView &view, const Value &answer, ServerTime now)
{
    if (answer.isError())
        return;
    view.expiresAt.reset();
    if (answer.integer == -1)
        view.ttl.reset();
    if (answer.integer < 0)
        return;
    view.expiresAt = ServerTime(millisecondsOf(double(answer.integer)));
    if (!view.ttl)
        view.ttl = std::max(0ms, *view.expiresAt - now);
}

constexpr size_t refusedKeysKept = 10'000;
// Of fewer it is not worth a round trip of its own.
constexpr size_t missingTogether = 100;
const auto subscribersTopic = u"PUBSUB"_s;

std::vector<QByteArray> channelsOfAll(const std::vector<KeyReader::Gathered> &gathered)
{
    std::vector<QByteArray> channels;
    for (const auto &one : gathered)
        std::ranges::move(channelsToCount(one.main, one.companions), std::back_inserter(channels));
    return channels;
}

KeyType typeOf(const QByteArray &word)
{
    static const std::map<QByteArray, KeyType> types{
        {"none", KeyType::None}, {"string", KeyType::String},  {"hash", KeyType::Hash},    {"list", KeyType::List},
        {"set", KeyType::Set},   {"zset", KeyType::SortedSet}, {"stream", KeyType::Stream}};
    const auto at = types.find(word);
    return at == types.end() ? KeyType::Other : at->second;
}

} // namespace

void Refusals::noteKey(const RedisKey &key)
{
    if (m_keys.size() < refusedKeysKept)
        m_keys.insert(key);
}

std::vector<QString> Refusals::messages() const
{
    auto out = mapped<std::vector<QString>>(m_byTopic, [](const auto &one) { return one.second; });
    if (!m_keys.empty())
        out.push_back(u"no permission to read %1 keys, among them %2"_s.arg(m_keys.size())
                          .arg(label(m_keys.begin()->bytes(), 80)));
    return out;
}

std::vector<Coverage> coverageOf(const ConnectionName &connection, const QStringList &missing,
                                 const Refusals &refusals)
{
    std::vector<Coverage> out;
    for (const auto &message : missing) {
        if (!message.isEmpty())
            out.push_back({connection, false, message});
    }
    for (const auto &message : refusals.messages())
        out.push_back({connection, false, message});
    if (out.empty())
        out.push_back({connection, true, u"all key names were read"_s});
    return out;
}

Reply<std::vector<Value>> KeyReader::send(std::vector<Command> commands)
{
    m_requests += static_cast<qint64>(commands.size());
    const auto latest = std::min(m_deadline.when(), m_connection.loop().now() + redisAnswersWithin);
    const auto deadline = Deadline::at(latest);
    return m_connection.pipeline(std::move(commands), deadline);
}

Task<Result<std::vector<KeyView>>> KeyReader::look(std::vector<RedisKey> keys)
{
    std::vector<Command> commands{Command{"TIME"}};
    for (const auto &key : keys) {
        commands.push_back(Command{"TYPE", key.bytes()});
        commands.push_back(Command{"PTTL", key.bytes()});
    }
    const auto sentAt = datedNow(m_connection.loop());
    CO_TRY(auto &got, co_await send(std::move(commands)).taken());
    takeClock(got.front(), sentAt);
    std::vector<KeyView> views;
    views.reserve(keys.size());
    for (size_t i = 0; i < keys.size(); ++i)
        views.push_back(viewOf(keys[i], got[1 + 2 * i], got[2 + 2 * i]));
    co_return std::move(views);
}

KeyView KeyReader::viewOf(const RedisKey &key, const Value &type, const Value &ttl)
{
    KeyView view;
    view.key = key;
    if (type.isError()) {
        // A refused key and a refused command are told apart by the words only.
        if (type.text.contains("key"))
            m_refusals.noteKey(key);
        else
            m_refusals.note(u"TYPE"_s, u"TYPE refused: "_s + label(type.text));
        return view;
    }
    view.type = typeOf(type.text);
    if (ttl.isError())
        m_refusals.note(u"PTTL"_s, u"PTTL refused, times to live are unknown: %1"_s.arg(label(ttl.text)));
    else if (ttl.integer >= 0)
        view.ttl = std::chrono::milliseconds(ttl.integer);
    else if (ttl.integer == -2)
        view.type = KeyType::None; // went between the two questions
    return view;
}

void KeyReader::takeClock(const Value &time, std::chrono::system_clock::time_point sentAt)
{
    const auto wall = datedNow(m_connection.loop());
    const auto local = std::chrono::time_point_cast<std::chrono::milliseconds>(sentAt + (wall - sentAt) / 2);
    if (time.isError() || time.items.size() != 2) {
        m_refusals.note(u"TIME"_s, u"TIME refused, ages are by our own clock: %1"_s.arg(label(time.text)));
        m_clock = {local, 0ms};
        return;
    }
    m_clock.now = ServerTime(
        millisecondsOf(std::floor(time.items[0].text.toDouble() * 1000 + time.items[1].text.toDouble() / 1000)));
    // The two clocks stand still to each other; what seems to move within the time of the trip is noise.
    const auto ahead = m_clock.now - local;
    const auto noise = std::chrono::duration_cast<std::chrono::milliseconds>(wall - sentAt) / 2 + 5ms;
    if (!m_clockKnown || ahead > m_clock.ahead + noise || ahead < m_clock.ahead - noise)
        m_clock.ahead = ahead;
    m_clockKnown = true;
}

Task<Result<std::vector<KeyView>>> KeyReader::ofLockSize(std::vector<KeyView> views)
{
    std::vector<KeyView> small;
    if (views.empty())
        co_return std::move(small);
    auto commands = mapped<std::vector<Command>>(views, [](const auto &view) {
        return Command{"MEMORY", "USAGE", view.key.bytes()};
    });
    CO_TRY(auto &got, co_await send(std::move(commands)).taken());
    for (size_t i = 0; i < views.size(); ++i) {
        const auto &bytes = got[i];
        if (bytes.text.startsWith("NOPERM"))
            m_refusals.note(u"MEMORY"_s,
                            u"MEMORY USAGE refused: locks whose names do not suggest a lock were not searched for"_s);
        else if (!bytes.isError() && hasSizeOfLock(views[i].key, views[i].type, bytes.integer))
            small.push_back(std::move(views[i]));
    }
    co_return std::move(small);
}

Task<Result<std::vector<KeyView>>> KeyReader::samples(std::vector<RedisKey> keys)
{
    std::vector<KeyView> views;
    for (auto &key : keys) {
        auto &view = views.emplace_back();
        view.key = std::move(key);
        view.type = KeyType::SortedSet; // of all types the one that may be largest
    }
    CO_TRY(auto &small, co_await ofLockSize(std::move(views)));
    if (small.empty())
        co_return std::move(small);
    auto commands = mapped<std::vector<Command>>(small, [](const auto &view) {
        return Command{"GETRANGE", view.key.bytes(), "0", "511"};
    });
    CO_TRY(auto &got, co_await send(std::move(commands)).taken());
    for (size_t i = 0; i < small.size(); ++i) {
        small[i].type = got[i].isError() ? KeyType::Other : KeyType::String;
        if (got[i].text.startsWith("NOPERM"))
            m_refusals.noteKey(small[i].key);
        else
            fillValue(small[i], got[i]);
    }
    co_return std::move(small);
}

Task<Result<std::vector<KeyView>>> KeyReader::open(std::vector<KeyView> views)
{
    std::vector<Command> commands;
    for (const auto &view : views) {
        for (auto &question : firstQuestions(view, m_asksExpiry))
            commands.push_back(std::move(question));
    }
    if (commands.empty())
        co_return std::move(views);
    CO_TRY(auto &got, co_await send(std::move(commands)).taken());
    std::vector<size_t> again;
    std::vector<Command> second;
    const bool withExpiry = m_asksExpiry;
    size_t at = 0;
    for (size_t i = 0; i < views.size(); ++i) {
        auto &view = views[i];
        const auto asked = firstQuestions(view, withExpiry).size();
        if (asked == 0)
            continue;
        const bool withIdle = asksIdle(view);
        if (const auto &idle = got[at]; withIdle && !idle.isError() && !idle.isNil())
            view.idle = std::chrono::seconds(idle.integer);
        const auto &answer = got[at + (withIdle ? 1 : 0)];
        const auto &last = got[at + asked - 1];
        if (answer.text.startsWith("NOPERM"))
            m_refusals.noteKey(view.key);
        if (auto more = secondQuestions(view, answer, last, withExpiry); !more.empty()) {
            again.push_back(i);
            std::ranges::move(more, std::back_inserter(second));
        } else {
            fillValue(view, answer);
        }
        fillSize(view, last);
        if (view.type == KeyType::String && withExpiry) {
            fillExpiry(view, last, m_clock.now);
            m_asksExpiry = m_asksExpiry && !last.text.contains("unknown command");
        }
        at += asked;
    }
    if (second.empty())
        co_return std::move(views);
    CO_TRY(auto &whole, co_await send(std::move(second)).taken());
    auto next = whole.begin();
    for (const auto i : again) {
        auto &view = views[i];
        if (view.type == KeyType::Hash && withExpiry) {
            fillExpiry(view, *next, m_clock.now);
            m_asksExpiry = m_asksExpiry && !next->text.contains("unknown command");
            ++next;
        }
        fillValue(view, *next); // what came or went since the first answer is in it
        if (!next->isError() && view.membersRead() < membersAtMost)
            view.size = view.membersRead();
        ++next;
    }
    co_return std::move(views);
}

// Of most locks no companion is there, and one number says so of many. It does not count as use.
Task<Result<std::vector<RedisKey>>> KeyReader::withoutMissing(std::vector<RedisKey> keys)
{
    if (!m_asksTogether || keys.size() < missingTogether)
        co_return std::move(keys);
    std::vector<Command> commands;
    for (size_t i = 0; i < keys.size(); ++i) {
        if (i % missingTogether == 0)
            commands.push_back(Command{"EXISTS"});
        commands.back().push_back(keys[i].bytes());
    }
    auto got = co_await send(std::move(commands)).taken();
    if (!got && got.error().code != ErrorCode::BadInput)
        co_return got.error();
    m_asksTogether = bool(got);
    if (!got) // a cluster's: they are in several slots
        co_return std::move(keys);
    std::vector<RedisKey> some;
    for (size_t i = 0; i < keys.size(); ++i) {
        const auto &count = (*got)[i / missingTogether];
        m_asksTogether = m_asksTogether && !count.isError();
        if (count.isError() || count.integer > 0)
            some.push_back(std::move(keys[i]));
    }
    co_return std::move(some);
}

Task<Result<std::vector<KeyView>>> KeyReader::readBeside(std::vector<RedisKey> keys)
{
    std::erase_if(keys, [this](const RedisKey &key) { return !m_connection.isServed(key.bytes()); });
    CO_TRY(auto &some, co_await withoutMissing(std::move(keys)));
    if (some.empty())
        co_return std::vector<KeyView>();
    const auto mainsClock = m_clock; // times to live of the mains were read at that moment
    auto looked = co_await look(std::move(some));
    m_clock.now = mainsClock.now;
    if (!looked)
        co_return looked.error();
    std::erase_if(*looked, [](const KeyView &view) { return view.type == KeyType::None; });
    auto read = co_await open(std::move(*looked));
    co_return read;
}

Task<Result<std::vector<KeyReader::Gathered>>> KeyReader::gather(std::vector<KeyView> mains, bool isSecond)
{
    CO_TRY(auto &opened, co_await open(std::move(mains)));
    std::vector<Gathered> gathered;
    std::vector<RedisKey> besides;
    std::vector<size_t> owners;
    for (auto &main : opened) {
        for (auto &companion : companionsToRead(main)) {
            besides.push_back(std::move(companion));
            owners.push_back(gathered.size());
        }
        gathered.push_back({std::move(main), {}, {}});
    }
    // Most locks have no companion that knows of more channels: these are counted meanwhile.
    const auto early = channelsOfAll(gathered);
    auto counting = askForSubscribers(early);
    auto beside = co_await readBeside(besides);
    CO_TRY(auto &counted, co_await takeSubscribers(std::move(counting)));
    CO_TRY(auto &read, std::move(beside));
    std::map<RedisKey, KeyView> there;
    for (auto &view : read)
        there.emplace(view.key, std::move(view));
    for (size_t i = 0; i < owners.size(); ++i) {
        if (const auto found = there.find(besides[i]); found != there.end())
            gathered[owners[i]].companions.push_back(found->second);
    }
    auto channels = channelsOfAll(gathered);
    if (channels != early) {
        CO_TRY(counted, co_await countSubscribers(std::move(channels)));
    }
    for (auto &one : gathered) {
        for (const auto &channel : channelsToCount(one.main, one.companions)) {
            if (const auto at = counted.find(channel); at != counted.end())
                one.subscribers.insert(*at);
        }
    }
    // A reader of Redisson that unlocks between the reads of its field and of its keys seems to have lost its lease.
    for (auto &one : gathered) {
        const bool isRead =
            std::ranges::count(one.main.fields, std::pair(QByteArray("mode"), QByteArray("read"))) > 0;
        if (isSecond || !isRead || one.companions.size() == companionsToRead(one.main).size())
            continue;
        std::vector<KeyView> again(1, one.main);
        again.front().fields.clear();
        CO_TRY(auto &second, co_await gather(std::move(again), true));
        const auto first = std::exchange(one, std::move(second.front()));
        for (const auto &key : companionsToRead(one.main)) { // one that was there counts
            const auto before = std::ranges::find(first.companions, key, &KeyView::key);
            if (before != first.companions.end() && !std::ranges::count(one.companions, key, &KeyView::key))
                one.companions.push_back(*before);
        }
    }
    co_return std::move(gathered);
}

Task<Result<ConnectedClients>> KeyReader::listClients(std::vector<QByteArray> channels, QByteArray subscriber)
{
    std::vector<Command> commands{Command{"CLIENT", "ID"}, Command{"CLIENT", "LIST"}};
    if (!channels.empty())
        commands.push_back(Command{"PUBSUB", "NUMSUB"} + QByteArrayList(channels.begin(), channels.end()));
    CO_TRY(auto &got, co_await send(std::move(commands)).taken());
    const auto &list = got[1];
    if (list.isError()) {
        m_refusals.note(u"CLIENT LIST"_s, u"CLIENT LIST refused, clients are unknown: %1"_s.arg(label(list.text)));
        co_return ConnectedClients();
    }
    const QByteArrayList ours{QByteArray::number(got.front().integer), subscriber};
    co_return ConnectedClients(readClientList(list.text, ours), readChannelCounts(got.back()));
}

KeyReader::Asking KeyReader::askForSubscribers(const std::vector<QByteArray> &channels)
{
    if (channels.empty() || m_refusals.has(subscribersTopic))
        return std::nullopt;
    return ask(Command{"PUBSUB", "NUMSUB"} + Command(channels.begin(), channels.end()));
}

Task<Result<std::map<QByteArray, qint64>>> KeyReader::countSubscribers(std::vector<QByteArray> channels)
{
    auto counted = co_await takeSubscribers(askForSubscribers(channels));
    co_return counted;
}

Task<Result<std::map<QByteArray, qint64>>> KeyReader::takeSubscribers(Asking asking)
{
    if (!asking)
        co_return std::map<QByteArray, qint64>();
    CO_TRY(auto &got, co_await std::move(*asking).taken());
    const auto &answer = got.front();
    if (answer.isError())
        m_refusals.note(subscribersTopic,
                        u"PUBSUB refused, waiters of Redisson locks are unknown: %1"_s.arg(label(answer.text)));
    co_return readChannelCounts(answer);
}

} // namespace lockscope::inspect
