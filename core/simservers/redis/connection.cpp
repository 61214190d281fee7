// SPDX-License-Identifier: Apache-2.0
#include "core/redis/client.h"
#include "core/simservers/redis/execution.h"

#include <locale.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace lockscope::sim::replies {

using redis::Value;
using ValueKind = redis::Value::Kind;

namespace {

// A status or an error is one line.
void appendLine(QByteArray &bytes, char sign, const QByteArray &text)
{
    bytes += sign;
    const auto begin = bytes.size();
    bytes += text;
    if (text.contains('\r') || text.contains('\n'))
        std::replace_if(
            bytes.begin() + begin, bytes.end(), [](char byte) { return byte == '\r' || byte == '\n'; }, ' ');
}

void appendNumber(QByteArray &bytes, char sign, qint64 number)
{
    std::array<char, 24> text{sign};
    const auto *const end = std::to_chars(text.data() + 1, text.data() + text.size(), number).ptr;
    bytes.append(text.data(), end - text.data());
}

Value make(ValueKind kind, const QByteArray &text)
{
    Value value;
    value.kind = kind;
    value.text = text;
    return value;
}

} // namespace

Value ok()
{
    return make(ValueKind::Status, QByteArrayLiteral("OK"));
}

Value status(const QByteArray &text)
{
    return make(ValueKind::Status, text);
}

Value error(const QByteArray &text)
{
    return make(ValueKind::Error, text);
}

Value integer(qint64 number)
{
    Value value;
    value.kind = ValueKind::Integer;
    value.integer = number;
    return value;
}

Value bulk(const QByteArray &bytes)
{
    return make(ValueKind::Bulk, bytes);
}

Value nil()
{
    return {};
}

Value array(std::vector<Value> items)
{
    Value value;
    value.kind = ValueKind::Array;
    value.items = std::move(items);
    return value;
}

void appendTo(QByteArray &bytes, const Value &reply)
{
    switch (reply.kind) {
    case ValueKind::Nil: bytes += "$-1"; break;
    case ValueKind::Status: appendLine(bytes, '+', reply.text); break;
    case ValueKind::Error: appendLine(bytes, '-', reply.text); break;
    case ValueKind::Integer: appendNumber(bytes, ':', reply.integer); break;
    case ValueKind::Bulk:
        bytes.reserve(bytes.size() + reply.text.size() + 16);
        appendNumber(bytes, '$', reply.text.size());
        bytes += "\r\n";
        bytes += reply.text;
        break;
    case ValueKind::Array:
        appendNumber(bytes, '*', static_cast<qint64>(reply.items.size()));
        bytes += "\r\n";
        for (const auto &item : reply.items)
            appendTo(bytes, item);
        return;
    }
    bytes += "\r\n";
}

} // namespace lockscope::sim::replies

namespace lockscope::sim {

std::optional<qint64> redisInteger(const QByteArray &text)
{
    const bool isNegative = text.startsWith('-');
    const auto digits = QByteArrayView(text).sliced(isNegative ? 1 : 0);
    if (digits.isEmpty() || (digits.front() == '0' && text.size() > 1))
        return std::nullopt;
    qint64 number = 0;
    const auto *end = text.constData() + text.size();
    const auto [stopped, problem] = std::from_chars(text.constData(), end, number);
    if (problem != std::errc() || stopped != end)
        return std::nullopt;
    return number;
}

namespace {

// What the C library reads, whatever the user's locale takes for a decimal point; empty when something is left.
std::optional<double> cDouble(const QByteArray &text)
{
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    char *stopped = nullptr;
    const double number = strtod_l(text.constData(), &stopped, plain);
    if (stopped != text.constData() + text.size() || std::isnan(number))
        return std::nullopt;
    return number;
}

} // namespace

std::optional<double> redisDouble(const QByteArray &text)
{
    if (text.isEmpty() || std::isspace(static_cast<unsigned char>(text.front())))
        return std::nullopt;
    return cDouble(text);
}

std::optional<double> redisBound(const QByteArray &text)
{
    return cDouble(text);
}

QByteArray redisText(double number)
{
    if (std::isinf(number))
        return number > 0 ? "inf" : "-inf";
    return QByteArray::number(number, 'g', 17);
}

} // namespace lockscope::sim

namespace lockscope::sim {

namespace {

class WireTransport final : public redis::Transport {
public:
    WireTransport(Process &process, RedisServer &server, Callbacks callbacks)
        : m_process(process), m_server(server), m_callbacks(std::make_shared<Callbacks>(std::move(callbacks)))
    {
        m_retry = m_process.callAt(m_process.now(), [this] { connectNow(); });
    }
    ~WireTransport() override
    {
        if (m_link)
            m_link->close(End::Client);
    }

    void write(const QByteArray &bytes) override
    {
        m_link->toServer([&server = m_server, session = m_session, bytes] { server.received(session, bytes); });
    }

private:
    void connectNow()
    {
        auto &network = m_server.network();
        m_link = network.connect(m_process, m_server.number());
        if (m_link) {
            opened();
        } else if (isCutOff()) {
            // What asks for a connection is lost on the way, and sent again until somebody gives up.
            m_retry = m_process.callAt(m_process.now() + 1s, [this] { connectNow(); });
        } else {
            const auto callbacks = m_callbacks; // we may go away by it
            callbacks->broken(u"connection refused"_s, false);
        }
    }
    [[nodiscard]] bool isCutOff() const
    {
        const auto &network = m_server.network();
        const auto process = m_process.number(), server = m_server.number();
        return network.isBlocked(process, server, Direction::ToServer)
               || network.isBlocked(process, server, Direction::ToClient);
    }
    void opened()
    {
        // What arrives finds nobody once we are gone.
        const std::weak_ptr<Callbacks> weak = m_callbacks;
        m_session = m_server.accept(m_process.number(), [link = m_link, weak](const QByteArray &bytes) {
            link->toClient([weak, bytes] {
                if (const auto callbacks = weak.lock())
                    callbacks->received(bytes);
            });
        });
        m_link->onBroken(End::Server, [&server = m_server, session = m_session] { server.ended(session); });
        m_link->onBroken(End::Client, [weak] {
            if (const auto callbacks = weak.lock())
                callbacks->broken(u"the connection broke"_s, false);
        });
        m_callbacks->opened();
    }

    Process &m_process;
    RedisServer &m_server;
    const std::shared_ptr<Callbacks> m_callbacks;
    LocalShared<NetworkLink> m_link;
    qint64 m_session = 0;
    Timer m_retry;
};

} // namespace

std::unique_ptr<redis::Connection> openRedis(Process &process, RedisServer &server)
{
    redis::ConnectionOptions options;
    options.host = {u"simulated-%1"_s.arg(server.number()), 6379};
    options.logs = false;
    return redis::openConnection(process, options, [&process, &server](redis::Transport::Callbacks callbacks) {
        return std::make_unique<WireTransport>(process, server, std::move(callbacks));
    });
}

namespace {

// More than any of a recipe's; below what the parser limits.
constexpr qsizetype mostBytesCut = 64 * 1024;

// Of more words than bytes nothing need be reserved.
constexpr qsizetype mostWords = 1024;

bool isLineEnd(QByteArrayView bytes, qsizetype at)
{
    return at + 2 <= bytes.size() && bytes.data()[at] == '\r' && bytes.data()[at + 1] == '\n';
}

// "*3\r\n": the number.
std::optional<qsizetype> takeHead(QByteArrayView bytes, qsizetype &at, char sign)
{
    const auto *const end = bytes.data() + bytes.size();
    const auto *next = bytes.data() + at;
    if (next == end || *next != sign)
        return std::nullopt;
    qsizetype number = 0;
    const auto *const first = ++next;
    for (; next != end && *next >= '0' && *next <= '9' && number < mostBytesCut; ++next)
        number = 10 * number + (*next - '0');
    const auto lineEnd = next - bytes.data();
    if (next == first || !isLineEnd(bytes, lineEnd))
        return std::nullopt;
    at = lineEnd + 2;
    return number;
}

} // namespace

void RequestReader::feed(const QByteArray &bytes)
{
    if (m_isParsed) {
        m_reader.feed(bytes);
        return;
    }
    m_bytes = bytes;
    m_at = 0;
}

std::optional<redis::Command> RequestReader::next()
{
    if (!m_isParsed) {
        if (m_at == m_bytes.size())
            return std::nullopt;
        const auto begin = m_at;
        if (auto command = takeWhole())
            return command;
        m_isParsed = true;
        m_reader.feed(QByteArrayView(m_bytes).sliced(begin));
        m_bytes.clear();
    }
    const auto request = m_reader.next();
    if (!request || !*request)
        return std::nullopt;
    redis::Command command;
    for (const auto &part : (*request)->items)
        command << part.text;
    return command;
}

std::optional<redis::Command> RequestReader::takeWhole()
{
    if (m_bytes.size() > mostBytesCut)
        return std::nullopt;
    const auto bytes = QByteArrayView(m_bytes);
    const auto words = takeHead(bytes, m_at, '*');
    if (!words || *words == 0 || *words > mostWords)
        return std::nullopt;
    redis::Command command;
    command.reserve(*words);
    for (qsizetype i = 0; i < *words; ++i) {
        const auto size = takeHead(bytes, m_at, '$');
        if (!size || *size + 2 > bytes.size() - m_at || !isLineEnd(bytes, m_at + *size))
            return std::nullopt;
        command.append(QByteArray(bytes.data() + m_at, *size));
        m_at += *size + 2;
    }
    return command;
}

bool Publisher::add(RedisSession &session, Kind kind, const QByteArray &name)
{
    auto &own = kind == Kind::Channel ? session.channels : session.patterns;
    if (std::find(own.begin(), own.end(), name) != own.end())
        return false;
    own.push_back(name);
    (kind == Kind::Channel ? m_channels : m_patterns)[name].push_back(&session);
    return true;
}

bool Publisher::remove(RedisSession &session, Kind kind, const QByteArray &name)
{
    auto &own = kind == Kind::Channel ? session.channels : session.patterns;
    auto &topics = kind == Kind::Channel ? m_channels : m_patterns;
    if (std::erase(own, name) == 0)
        return false;
    const auto at = topics.find(name);
    std::erase(at->second, &session);
    if (at->second.empty())
        topics.erase(at);
    return true;
}

void Publisher::removeAll(RedisSession &session)
{
    const auto channels = session.channels, patterns = session.patterns;
    for (const auto &name : channels)
        remove(session, Kind::Channel, name);
    for (const auto &name : patterns)
        remove(session, Kind::Pattern, name);
}

std::vector<Publisher::Copy> Publisher::copiesOf(const QByteArray &channel, const QByteArray &payload) const
{
    using namespace replies;
    std::vector<Copy> copies;
    if (const auto at = m_channels.find(channel); at != m_channels.end()) {
        const auto message = array({bulk("message"), bulk(channel), bulk(payload)});
        for (const auto *session : at->second)
            copies.push_back({session->id, message});
    }
    for (const auto &[pattern, sessions] : m_patterns) {
        if (!matchesGlob(pattern, channel))
            continue;
        const auto message = array({bulk("pmessage"), bulk(pattern), bulk(channel), bulk(payload)});
        for (const auto *session : sessions)
            copies.push_back({session->id, message});
    }
    return copies;
}

} // namespace lockscope::sim
