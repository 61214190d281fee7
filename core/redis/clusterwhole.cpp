// SPDX-License-Identifier: Apache-2.0

#include "core/base/text.h"
#include "core/redis/clusternodes.h"

namespace lockscope::redis {

bool ClusterTopics::isSaidByEach(const QByteArray &name)
{
    return name.startsWith("__redis__:") || name.startsWith("__keyspace@") || name.startsWith("__keyevent@");
}

// Stays where it is while that node is there. True when it had another one before.
bool ClusterTopics::chooseHome()
{
    const auto &all = m_nodes.primaries();
    const bool isThere = m_home && std::ranges::find(all, *m_home) != all.end();
    if (all.empty() || (isThere && m_nodes.isConnected(*m_home)))
        return false;
    const auto *other = m_nodes.anyone();
    if (isThere && !other)
        return false;
    const bool isMove = m_home.has_value();
    m_home = other ? *other : all.front();
    return isMove;
}

Subscription ClusterTopics::add(const QByteArray &name, bool isPattern, Listener listener)
{
    (void)chooseHome();
    auto topic = std::make_shared<Topic>(Topic{name, isPattern, std::move(listener), {}, {}, {}});
    std::erase_if(m_topics, [](const auto &one) { return one.expired(); });
    m_topics.push_back(topic);
    place(topic);
    (void)placeShard(topic);
    return Subscription(std::move(topic));
}

bool ClusterTopics::place()
{
    const bool isMove = chooseHome();
    bool isAnyPlain = false, isShardMoved = false;
    for (const auto &one : m_topics) {
        if (const auto topic = one.lock()) {
            isAnyPlain |= !isSaidByEach(topic->name);
            place(topic);
            isShardMoved |= placeShard(topic);
        }
    }
    return (isMove && isAnyPlain) || isShardMoved;
}

std::vector<HostPort> ClusterTopics::hostsFor(const Topic &topic) const
{
    if (isSaidByEach(topic.name))
        return m_nodes.primaries();
    return m_home ? std::vector{*m_home} : std::vector<HostPort>();
}

const HostPort *ClusterTopics::shardOf(const Topic &topic) const
{
    const bool isPlain = !topic.isPattern && !isSaidByEach(topic.name);
    return isPlain ? m_nodes.ownerOf(hashSlot(topic.name)) : nullptr;
}

// True when it was at another node before. One whose slot nobody has stays where it is.
bool ClusterTopics::placeShard(const std::shared_ptr<Topic> &topic)
{
    const auto *owner = shardOf(*topic);
    const auto name = owner ? displayHost(*owner) : topic->shard;
    if (name == topic->shard)
        return false;
    const bool isMove = !std::exchange(topic->shard, name).isEmpty();
    const auto heard = [weak = std::weak_ptr(topic)](const Message &message) {
        if (const auto alive = weak.lock())
            alive->listener(message);
    };
    auto *node = dynamic_cast<ShardedSubscriber *>(&m_nodes.at(*owner));
    topic->onShard = node ? node->subscribeSharded(topic->name, heard) : Subscription();
    return isMove;
}

void ClusterTopics::place(const std::shared_ptr<Topic> &topic)
{
    const auto hosts = hostsFor(*topic);
    std::erase_if(topic->on, [&hosts](const auto &placed) {
        return std::ranges::find(hosts, placed.first, &displayHost) == hosts.end();
    });
    const auto heard = [weak = std::weak_ptr(topic)](const Message &message) {
        if (const auto alive = weak.lock())
            alive->listener(message);
    };
    for (const auto &host : hosts) {
        const auto name = displayHost(host);
        if (topic->on.contains(name))
            continue;
        auto &node = m_nodes.at(host);
        topic->on[name] = topic->isPattern ? node.subscribePattern(topic->name, heard) //
                                           : node.subscribe(topic->name, heard);
    }
}

std::vector<HostPort> ClusterTopics::inUse()
{
    (void)chooseHome();
    std::vector<HostPort> hosts;
    for (const auto &one : m_topics) {
        const auto topic = one.lock();
        auto of = topic ? hostsFor(*topic) : std::vector<HostPort>();
        if (const auto *shard = topic ? shardOf(*topic) : nullptr)
            of.push_back(*shard);
        for (const auto &host : of) {
            if (std::ranges::find(hosts, host) == hosts.end())
                hosts.push_back(host);
        }
    }
    if (hosts.empty() && m_home)
        hosts.push_back(*m_home);
    return hosts;
}

namespace {

// A cursor of ours: generation of the primaries, number of the node, its own cursor. Those stay far below.
constexpr int cursorBits = 44;
constexpr int nodeBits = 12;
constexpr quint64 cursorMask = (quint64(1) << cursorBits) - 1;
constexpr quint64 nodeMask = (quint64(1) << nodeBits) - 1;

QByteArray cursorOf(int generation, quint64 node, quint64 cursor)
{
    return QByteArray::number(quint64(generation) << (cursorBits + nodeBits) | node << cursorBits | cursor);
}

Value errorValue(const QByteArray &words)
{
    return {Value::Kind::Error, 0, words, {}};
}

Value integerValue(qint64 number)
{
    return {Value::Kind::Integer, number, {}, {}};
}

bool isSub(const Command &command, const char *name, const char *sub)
{
    return command.first().toUpper() == name && command.value(1).toUpper() == sub;
}

// What is asked of each node for this.
std::vector<Command> questionsFor(const Command &command)
{
    std::vector<Command> questions;
    if (isSub(command, "CLIENT", "LIST"))
        questions.push_back({"CLIENT", "ID"});
    questions.push_back(command);
    for (const auto *sub : {"NUMSUB", "CHANNELS"}) {
        if (!isSub(command, "PUBSUB", sub))
            continue;
        auto sharded = command;
        sharded[1] = QByteArray("SHARD") + sub;
        questions.push_back(sharded);
    }
    return questions;
}

using Answers = std::vector<std::vector<Value>>;

Value sumOf(const Answers &answers)
{
    qint64 sum = 0;
    for (const auto &answer : answers)
        sum += answer.front().integer;
    return integerValue(sum);
}

Value unionOf(const Answers &answers)
{
    Value all{Value::Kind::Array, 0, {}, {}};
    for (const auto &one : answers) {
        for (const auto &part : one) {
            for (const auto &item : part.items) {
                const auto isIt = [&item](const Value &known) { return known.text == item.text; };
                if (one.size() == 1 || std::ranges::none_of(all.items, isIt))
                    all.items.push_back(item);
            }
        }
    }
    return all;
}

// [name, count, name, count …] each time, with the same names: of plain channels, and perhaps of sharded ones. A
// Redisson waits on one kind, all on the same as far as they are of one version; a Lockscope, which cannot know
// which, on both. So whichever kind more listen to, that many are there: the sum would count each Lockscope twice.
Value countsOf(const Answers &answers)
{
    Value all = answers.front().front();
    for (std::size_t i = 0; i + 1 < all.items.size(); i += 2) {
        std::array<qint64, 2> listening{};
        for (const auto &answer : answers) {
            for (std::size_t kind = 0; kind < std::min(answer.size(), listening.size()); ++kind) {
                const auto &counted = answer[kind].items;
                if (i + 1 < counted.size() && counted[i].text == all.items[i].text)
                    listening[kind] += counted[i + 1].integer;
            }
        }
        all.items[i + 1].integer = std::ranges::max(listening);
    }
    return all;
}

// Of SCAN; nothing is on it.
Value lastPage()
{
    Value page{Value::Kind::Array, 0, {}, {}};
    page.items.push_back(Value{Value::Kind::Bulk, 0, "0", {}});
    page.items.push_back(Value{Value::Kind::Array, 0, {}, {}});
    return page;
}

bool isSame(const Value &one, const Value &other)
{
    return std::ranges::equal(one.items, other.items, {}, &Value::text, &Value::text);
}

Value settingOf(const Answers &answers)
{
    const auto &first = answers.front().front();
    const bool agree = std::ranges::all_of(answers, [&first](const auto &one) { return isSame(one.front(), first); });
    return agree ? first : errorValue("ERR the nodes of the cluster are set differently");
}

} // namespace

Task<Result<Value>> ClusterWhole::ask(Command command, Deadline deadline)
{
    const auto name = command.first().toUpper();
    if (name == "SCAN") {
        auto page = co_await scan(command, deadline);
        co_return page;
    }
    if (isSub(command, "CLIENT", "TRACKING")) {
        auto tracked = co_await track(command, deadline);
        co_return tracked;
    }
    if (isSub(command, "CLIENT", "ID"))
        co_return integerValue(0);
    auto questions = mapped<std::vector<Question>>(m_nodes.serving(), [&](const auto &host) {
        return Question{host, questionsFor(command)};
    });
    CO_TRY(auto &got, co_await askAll(questions, deadline));
    const auto &answers = got;
    for (const auto &answer : answers) {
        // SHARD… is Redis 7's: an older one counts without it.
        const auto &asked = isSub(command, "CLIENT", "LIST") ? answer.back() : answer.front();
        if (asked.isError())
            co_return asked;
    }
    if (isSub(command, "CLIENT", "LIST"))
        co_return clients(questions, answers);
    if (name == "DBSIZE" || isSub(command, "PUBSUB", "NUMPAT"))
        co_return sumOf(answers);
    if (name == "KEYS" || isSub(command, "PUBSUB", "CHANNELS"))
        co_return unionOf(answers);
    if (isSub(command, "PUBSUB", "NUMSUB"))
        co_return countsOf(answers);
    if (isSub(command, "CONFIG", "GET"))
        co_return settingOf(answers);
    auto first = answers.front().front();
    if (name == "INFO") {
        first.text.clear();
        for (std::size_t i = 0; i < answers.size(); ++i)
            first.text += "# Node " + displayHost(questions[i].host).toUtf8() + "\r\n" + answers[i].front().text;
    }
    co_return first;
}

Task<Result<ClusterWhole::Answers>> ClusterWhole::askAll(std::vector<Question> questions, Deadline deadline)
{
    const bool isWhole = !questions.empty() && std::ranges::all_of(questions, [this](const Question &question) {
        return m_nodes.isConnected(question.host);
    });
    if (!isWhole)
        co_return m_nodes.notConnected();
    std::vector<Reply<std::vector<Value>>> replies;
    for (auto &question : questions)
        replies.push_back(m_nodes.at(question.host).pipeline(std::move(question.commands), deadline));
    Answers answers;
    for (auto &reply : replies) {
        CO_TRY(auto &got, co_await reply);
        answers.push_back(std::move(got));
    }
    co_return std::move(answers);
}

Task<Result<Value>> ClusterWhole::scan(Command command, Deadline deadline)
{
    const auto generation = m_nodes.generation();
    const auto cursor = command.value(1).toULongLong();
    auto node = (cursor >> cursorBits) & nodeMask;
    auto own = cursor & cursorMask;
    const auto count = m_nodes.primaries().size();
    if (cursor >> (cursorBits + nodeBits) != quint64(generation) || node >= count)
        node = own = 0;
    if (count == 0)
        co_return m_nodes.notConnected();
    const auto serving = m_nodes.serving();
    while (node < count && std::ranges::find(serving, m_nodes.primaries()[node]) == serving.end()) {
        ++node;
        own = 0;
    }
    if (node == count) // the last ones are away
        co_return lastPage();
    command[1] = QByteArray::number(own);
    std::vector<Question> questions;
    questions.push_back(Question{m_nodes.primaries()[node], {command}});
    CO_TRY(auto &got, co_await askAll(std::move(questions), deadline));
    auto page = got.front().front();
    if (page.isError() || page.items.size() != 2)
        co_return page;
    auto &next = page.items[0].text;
    const auto nextOwn = next.toULongLong();
    if (nextOwn > cursorMask)
        co_return errorValue("ERR the node's cursor is too large");
    if (nextOwn != 0)
        next = cursorOf(generation, node, nextOwn);
    else
        next = node + 1 < count ? cursorOf(generation, node + 1, 0) : QByteArray("0");
    co_return page;
}

Task<Result<Value>> ClusterWhole::track(Command command, Deadline deadline)
{
    const auto word =
        std::ranges::find_if(command, [](const QByteArray &one) { return one.toUpper() == "REDIRECT"; });
    const auto at = word - command.begin() + 1;
    const bool isRedirected = at < command.size() && command[at] != "0";
    std::vector<Question> questions;
    for (const auto &host : m_nodes.serving()) {
        if (isRedirected) {
            CO_TRY(const auto &id, co_await m_nodes.at(host).subscriberId(deadline));
            m_subscribers[displayHost(host)] = id;
            command[at] = QByteArray::number(id);
        }
        questions.push_back(Question{host, {command}});
    }
    CO_TRY(auto &got, co_await askAll(std::move(questions), deadline));
    for (const auto &one : got) {
        if (one.front().isError())
            co_return one.front();
    }
    co_return got.front().front();
}

Value ClusterWhole::clients(const std::vector<Question> &questions, const Answers &answers) const
{
    Value all{Value::Kind::Bulk, 0, {}, {}};
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto node = displayHost(questions[i].host);
        const auto subscriber = m_subscribers.find(node);
        QByteArrayList ours{"id=" + QByteArray::number(answers[i].front().integer)};
        if (subscriber != m_subscribers.end())
            ours << "id=" + QByteArray::number(subscriber->second);
        for (const auto &line : answers[i].back().text.split('\n')) {
            const auto id = line.left(line.indexOf(' '));
            if (line.startsWith("id=") && !ours.contains(id))
                all.text += id + '@' + node.toUtf8() + line.mid(id.size()) + '\n';
        }
    }
    return all;
}

Task<Result<qint64>> ClusterWhole::subscriberId(Deadline deadline)
{
    auto hosts = m_topics.inUse();
    const auto serving = m_nodes.serving();
    std::erase_if(hosts, [&](const HostPort &host) { return std::ranges::find(serving, host) == serving.end(); });
    if (hosts.empty())
        co_return m_nodes.notConnected();
    auto replies = mapped<std::vector<Reply<qint64>>>(
        hosts, [&](const auto &host) { return m_nodes.at(host).subscriberId(deadline); });
    std::optional<qint64> first;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        CO_TRY(const auto &id, co_await replies[i]);
        m_subscribers[displayHost(hosts[i])] = id;
        first = first.value_or(id);
    }
    co_return *first;
}

} // namespace lockscope::redis
