// SPDX-License-Identifier: Apache-2.0
// What a Redis server says: RESP cut anywhere, a connection whose answers mean nothing, CLIENT LIST, keys of any name
// and value, and a whole observer of a server that answers whatever it likes.
#include "core/async/virtualloop.h"
#include "core/base/text.h"
#include "core/inspect/redis/observerreader.h"
#include "core/inspect/redis/observer.h"
#include "core/redis/client.h"
#include "core/redis/pubsub.h"
#include "tests/fuzz/locks.h"

using namespace lockscope;
using namespace lockscope::fuzz;
using namespace lockscope::inspect;
using redis::RespReader;
using redis::Value;
using namespace std::chrono_literals;

namespace {

constexpr qint64 mostOfReply = 64 * 1024;

QByteArray shownValue(const Value &value)
{
    QByteArray out = QByteArray::number(static_cast<int>(value.kind)) + ' ' + QByteArray::number(value.integer) + ' '
                     + value.text.toHex() + '[';
    for (const auto &item : value.items)
        out += shownValue(item);
    return out + ']';
}

// All whole values in the reader now; after a failure the list ends with it.
void drain(RespReader &reader, QByteArrayList &into)
{
    while (into.isEmpty() || !into.last().startsWith('!')) {
        const auto next = reader.next();
        if (!next)
            into << "!" + QByteArray::number(static_cast<int>(next.error().code));
        else if (*next)
            into << shownValue(**next);
        else
            break;
    }
}

void readResp(const QByteArray &input)
{
    RespReader whole(mostOfReply);
    whole.feed(input);
    QByteArrayList values;
    drain(whole, values);
    RespReader broken(mostOfReply);
    const QByteArrayView bytes(input);
    QByteArrayList got;
    // Byte by byte, and cut once at places all over it.
    for (qsizetype at = 0; at < std::min<qsizetype>(bytes.size(), 600); ++at) {
        broken.feed(bytes.sliced(at, 1));
        drain(broken, got);
    }
    broken.feed(bytes.sliced(std::min<qsizetype>(bytes.size(), 600)));
    drain(broken, got);
    must(got == values, "replies do not depend on where they are cut");
    const auto step = std::max<qsizetype>(1, bytes.size() / 16);
    for (qsizetype cut = 0; cut < bytes.size(); cut += step) {
        RespReader reader(mostOfReply);
        QByteArrayList halves;
        reader.feed(bytes.first(cut));
        drain(reader, halves);
        reader.feed(bytes.sliced(cut));
        drain(reader, halves);
        must(halves == values, "replies do not depend on where they are cut in two");
    }
    const redis::Command command = input.split(' ');
    RespReader own(64 * mostOfReply);
    own.feed(redis::encode(command));
    const auto back = own.next();
    must(back && *back && (*back)->items.size() == static_cast<std::size_t>(command.size()), "a command is an array");
    for (qsizetype i = 0; i < command.size(); ++i)
        must((*back)->items[static_cast<std::size_t>(i)].text == command[i], "of its words");
}

// A server of bytes: whoever connects gets what there is.
struct ScriptedServer {
    struct Link final : redis::Transport {
        Link(ScriptedServer &server, Callbacks callbacks) : of(server), calls(std::move(callbacks))
        {
            of.links.push_back(this);
        }
        ~Link() override { std::erase(of.links, this); }
        Link(const Link &) = delete;
        Link &operator=(const Link &) = delete;
        void write(const QByteArray &bytes) override { of.heard(*this, bytes); }

        ScriptedServer &of;
        Callbacks calls;
    };

    explicit ScriptedServer(Loop &onLoop) : loop(onLoop) {}
    redis::MakeTransport maker()
    {
        return [this](redis::Transport::Callbacks callbacks) {
            auto link = std::make_unique<Link>(*this, std::move(callbacks));
            say(*link, [](Link &to) { to.calls.opened(); });
            return link;
        };
    }
    // Later, and only if it is still there.
    void say(Link &to, std::function<void(Link &)> what)
    {
        loop.post([this, link = &to, what = std::move(what)] {
            if (std::ranges::find(links, link) != links.end())
                what(*link);
        });
    }
    void heard(Link &link, const QByteArray &bytes)
    {
        if (onRequest)
            onRequest(link, bytes);
    }

    Loop &loop;
    std::vector<Link *> links;
    std::function<void(Link &, const QByteArray &)> onRequest;
};

// The first line says what is done in turn: p asks for a PING on the command connection, s subscribes, u
// unsubscribes, c turns to the other connection, a digit lets it have the next bytes of the rest (twice as many
// with each), a all of them, b breaks it, t and T let a second and half a minute pass.
void readLink(const QByteArray &input)
{
    auto bytes = input;
    const auto steps = takeLine(bytes).left(200);
    VirtualLoop loop;
    ScriptedServer server(loop);
    qsizetype asked = 0;
    qsizetype answered = 0;
    qsizetype at = 0;
    {
        redis::ConnectionOptions options;
        options.logs = false;
        options.replyLimitBytes = mostOfReply;
        options.password = "x";
        options.database = 3;
        redis::RespConnection connection(loop, options, server.maker(), {[] {}, {}});
        const auto pubSub = std::make_shared<redis::PubSub>(loop, options, server.maker(), [] {});
        std::vector<Subscription> subscriptions;
        std::size_t which = 0;
        const auto give = [&](qsizetype count) {
            const auto some = bytes.mid(at, count);
            at += some.size();
            if (which < server.links.size() && !some.isEmpty())
                server.links[which]->calls.received(some);
        };
        for (const char step : steps) {
            loop.runReady();
            if (step == 'p' && connection.state() == redis::ConnectionState::Connected) {
                ++asked;
                connection.send(redis::encode({"PING"}), 1, [&](const auto &) { ++answered; });
            } else if (step == 's') {
                subscriptions.push_back(
                    pubSub->subscribe(redis::PubSub::Kind::Channel, "news", [](const redis::Message &) {}));
                ++asked;
                const Reply<qint64> number(loop);
                number.then([&](const Result<qint64> &) { ++answered; });
                pubSub->giveId(number, Deadline::after(loop, 5s));
            } else if (step == 'u') {
                subscriptions.clear();
            } else if (step == 'c') {
                which = 1 - which;
            } else if (step >= '0' && step <= '9') {
                give(qsizetype(1) << (step - '0'));
            } else if (step == 'a') {
                give(bytes.size());
            } else if (step == 'b' && which < server.links.size()) {
                server.links[which]->calls.broken(QStringLiteral("broken"), false);
            } else if (step == 't' || step == 'T') {
                loop.advance(step == 't' ? Duration(1s) : Duration(31s));
            }
            mustBeHarmless(connection.lastError(), "why a connection broke is harmless text");
        }
        subscriptions.clear();
    }
    loop.advance(10s);
    must(asked == answered, "whoever asked is answered, and once");
}

void readClients(const QByteArray &input)
{
    const auto listed = readClientList(input, {"7"});
    const auto clients = sessionsOf(listed, ConnectionName("redis"));
    must(clients.size() <= static_cast<std::size_t>(input.count('\n') + 1), "no more clients than lines");
    for (const auto &client : clients) {
        must(client.session != QStringLiteral("7"), "our own connections are left out");
        useSession(client);
    }
}

// A line of a key: type, time to live in ms or -, name, and its values; all escaped, parted by tabs.
KeyView viewIn(const QByteArray &line)
{
    const auto words = line.split('\t');
    const auto word = [&](qsizetype at) {
        const auto raw = words.value(at);
        return unescaped(QString::fromUtf8(raw)).value_or(raw);
    };
    KeyView view;
    view.key = RedisKey(word(2));
    const auto milliseconds = word(1).toLongLong();
    constexpr qint64 most = 1'000'000'000'000'000;
    if (words.value(1) != "-")
        view.ttl = std::chrono::milliseconds(std::clamp<qint64>(milliseconds, 0, most));
    const QByteArray types = "shlztxo";
    view.type = static_cast<KeyType>(1 + std::max<qsizetype>(0, types.indexOf(words.value(0).left(1))) % 7);
    if (view.type == KeyType::String) {
        view.type = KeyType::String;
        view.value = word(3);
        view.idle = std::chrono::seconds(word(4).toInt());
    }
    for (qsizetype at = 3; view.type != KeyType::String && at < words.size(); at += 2) {
        view.fields.emplace_back(word(at), word(at + 1));
        view.items.push_back(word(at));
        view.scored.emplace_back(word(at), word(at + 1).toDouble());
    }
    return view;
}

void readKeys(const QByteArray &input)
{
    std::vector<KeyView> views;
    for (const auto &line : input.split('\n')) {
        if (!line.isEmpty() && views.size() < 40)
            views.push_back(viewIn(line));
    }
    if (views.empty())
        return;
    RedisContext context;
    context.connection = ConnectionName("redis");
    context.observed = ServerTime(std::chrono::milliseconds(1'763'805'600'000));
    std::vector<LockSnapshot> locks;
    std::vector<RedisKey> keys;
    for (const auto &view : views) {
        keys.push_back(view.key);
        if (const auto main = companionOf(view.key))
            must(*main != view.key, "a key is not its own companion");
        for (const bool all : {false, true}) {
            context.includeLowConfidence = all;
            (void)isSuspect(view.key, view.type, view.ttl, all);
        }
        (void)(isWorthMeasuring(view.key, view.type, view.ttl) && hasSizeOfLock(view.key, view.type, 100));
        must(companionsToRead(view).size() <= 70 * view.fields.size() + 20,
             "so many keys at most stand beside a lock");
        must(view.key.bytes().startsWith(familyOf(view.key.bytes())), "a family is how a name begins");
        for (const auto &channel : channelsToCount(view))
            context.subscribers[channel] = 2;
        const auto lock = recognise(view, views, context);
        must(lock == recognise(view, views, context), "the same key is the same lock");
        if (lock)
            locks.push_back(*lock);
    }
    attributeToRegistries(locks);
    for (const auto &lock : locks)
        useLock(lock);
    const auto prefixes = prefixesOf(keys);
    for (const auto &key : keys)
        must(std::ranges::any_of(prefixes, [&](const auto &prefix) { return key.bytes().startsWith(prefix); }),
             "prefixes cover the keys that they are of");
}

struct CountingSink : ObserverSink {
    void take(Change::What change) override
    {
        if (const auto *news = std::get_if<SnapshotChange>(&change))
            useLock(news->lock);
        if (const auto *seen = std::get_if<SessionsSeen>(&change))
            std::ranges::for_each(seen->sessions, &useSession);
        if (const auto *seen = std::get_if<CoverageSeen>(&change)) {
            for (const auto &one : seen->coverage)
                mustBeHarmless(one.message, "what was not seen is told in harmless text");
        }
    }
};

// Each command is answered with the next reply of the input, one that there is none for with an error.
void readServer(const QByteArray &input)
{
    VirtualLoop loop;
    ScriptedServer server(loop);
    RespReader script(mostOfReply);
    script.feed(input);
    bool isOver = false;
    const auto nextReply = [&]() -> QByteArray {
        const auto next = script.next();
        isOver = isOver || !next || !*next;
        if (isOver)
            return "-ERR no more\r\n";
        std::function<QByteArray(const Value &)> encoded = [&](const Value &value) -> QByteArray {
            const auto size = QByteArray::number(value.text.size());
            switch (value.kind) {
            case Value::Kind::Nil: return "$-1\r\n";
            case Value::Kind::Status: return '+' + value.text + "\r\n";
            case Value::Kind::Error: return '-' + value.text + "\r\n";
            case Value::Kind::Integer: return ':' + QByteArray::number(value.integer) + "\r\n";
            case Value::Kind::Bulk: return '$' + size + "\r\n" + value.text + "\r\n";
            case Value::Kind::Array: break;
            }
            auto all = '*' + QByteArray::number(static_cast<qint64>(value.items.size())) + "\r\n";
            for (const auto &item : value.items)
                all += encoded(item);
            return all;
        };
        return encoded(**next);
    };
    server.onRequest = [&](ScriptedServer::Link &link, const QByteArray &bytes) {
        RespReader requests(64 * mostOfReply);
        requests.feed(bytes);
        QByteArray replies;
        for (auto request = requests.next(); request && *request; request = requests.next()) {
            const bool isLogin = (*request)->items.size() > 1 && (*request)->items[1].text == "SETNAME";
            replies += isLogin ? QByteArray("+OK\r\n") : nextReply();
        }
        server.say(link, [replies](ScriptedServer::Link &to) { to.calls.received(replies); });
    };
    redis::ConnectionOptions options;
    options.logs = false;
    options.replyLimitBytes = 16 * mostOfReply;
    const auto connection = redis::openConnection(loop, options, server.maker());
    CountingSink sink;
    RedisObserver observer(*connection, ConnectionName("redis"), ObserverOptions{}, sink);
    observer.start();
    loop.advance(7s);
    for (const auto &lock : observer.snapshots())
        useLock(lock);
}

const QByteArrayList respWords{"\r\n",
                               "$-1\r\n",
                               "*-1\r\n",
                               "*2\r\n",
                               "$5\r\n",
                               ":1\r\n",
                               "+OK\r\n",
                               "-ERR no\r\n",
                               "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\nx\r\n",
                               "%1\r\n",
                               "~1\r\n",
                               ">1\r\n",
                               "_\r\n",
                               "#t\r\n",
                               ",1.5\r\n",
                               "(1\r\n",
                               "*1\r\n*1\r\n*1\r\n",
                               "$1000000000\r\n",
                               "*1000000000\r\n",
                               "-NOAUTH x\r\n",
                               "-LOADING x\r\n",
                               "-NOPERM x\r\n",
                               "-NOSCRIPT x\r\n"};
const QByteArrayList serverWords{"$4\r\nhash\r\n",
                                 "$6\r\nstring\r\n",
                                 "+hash\r\n",
                                 "+string\r\n",
                                 "+list\r\n",
                                 "+zset\r\n",
                                 "+none\r\n",
                                 "$36\r\n0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11\r\n",
                                 ":-1\r\n",
                                 ":-2\r\n",
                                 ":30000\r\n",
                                 "*2\r\n$1\r\n0\r\n*1\r\n$6\r\norders\r\n",
                                 "*2\r\n$10\r\n1763805600\r\n$1\r\n5\r\n"};
const QByteArrayList keyWords{"redisson_lock_queue:{",
                              "redisson_lock_timeout:{",
                              ":rwlock_timeout:",
                              "}:timeout",
                              "lock:",
                              "lock-signal:",
                              "0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11",
                              ":1",
                              ":write",
                              "mode",
                              "read",
                              "write",
                              "bull:",
                              ":lock",
                              "1763805600000",
                              "1763805599",
                              "MACHINE_77_",
                              "laravel_",
                              "{",
                              "}",
                              "\t",
                              "0f3c2a1497a14d7e8c552f8f2a0d9b11",
                              "redlock:",
                              "job-lock:",
                              "ADDED:2025-11-22T10:00:00.000Z@"};
constexpr Limits ofServers{.blocks = 20'000'000,
                           .blocksPerByte = 200'000,
                           .allocations = 400'000,
                           .allocationsPerByte = 3000,
                           .memory = 16 << 20,
                           .memoryPerByte = 4000};

const Registration respParser(
    {"resp",
     readResp,
     Form::Bytes,
     {0.4, 20'000},
     respWords,
     4096,
     {.blocks = 1'000'000, .blocksPerByte = 40'000, .allocations = 40'000, .allocationsPerByte = 400}});
const Registration linkParser({"link", readLink, Form::Bytes, {0.3, 60'000}, respWords, 4096, ofServers});
const Registration clientsParser({"clientlist",
                                  readClients,
                                  Form::Lines,
                                  {0.5, 60'000},
                                  {"id=", "addr=", "name=", "laddr=", "fd=", "=", " ", "id=7 ", "user=default",
                                   "resp=2"}});
const Registration keysParser({"keys", readKeys, Form::Lines, {0.5, 20'000}, keyWords, 4096, ofServers});
const Registration serverParser(
    {"redisserver", readServer, Form::Bytes, {0.3, 10'000}, respWords + serverWords, 4096, ofServers});

} // namespace
