// SPDX-License-Identifier: Apache-2.0
#include "core/transport/mysqlprelude.h"

#include <optional>

namespace lockscope::transport {

using namespace Qt::StringLiterals;

namespace {

constexpr int noConnection = 2003, noTls = 2026; // of MariaDB's client
constexpr int noSuchLogin = 1251;                // of its server: a form of login that the client does not have
constexpr qsizetype headSize = 4;                // three bytes of length, one number
constexpr int numberAt = 3;
constexpr char tlsInSecondByte = 0x08; // CLIENT_SSL is 0x0800
constexpr qsizetype loginHead = 32;    // capabilities, packet size, character set, 23 more
constexpr qsizetype mostPacket = 64 * 1024;
constexpr char okMark = '\x00', errorMark = '\xff';

qsizetype sizeOf(const QByteArray &bytes)
{
    const auto at = [&bytes](int i) { return static_cast<qsizetype>(static_cast<quint8>(bytes[i])); };
    return at(0) | at(1) << 8 | at(2) << 16;
}

// The first whole packet, with its head.
std::optional<QByteArray> takePacket(QByteArray &bytes)
{
    if (bytes.size() < headSize || bytes.size() < headSize + sizeOf(bytes))
        return std::nullopt;
    auto packet = bytes.left(headSize + sizeOf(bytes));
    bytes.remove(0, packet.size());
    return packet;
}

bool isTooLong(const QByteArray &bytes)
{
    return bytes.size() >= headSize && sizeOf(bytes) > mostPacket;
}

void renumber(QByteArray &packet, int by)
{
    packet[numberAt] = static_cast<char>(packet[numberAt] + by);
}

QByteArray packed(const QByteArray &body, int number)
{
    QByteArray head(headSize, '\0');
    for (int i = 0; i < 3; ++i)
        head[i] = static_cast<char>((body.size() >> (8 * i)) & 0xff);
    head[numberAt] = static_cast<char>(number);
    return head + body;
}

Prelude::Step failed(const QString &why)
{
    Prelude::Step step;
    step.problem = why;
    return step;
}

const QString notUnderstood = u"the server does not use the protocol of MariaDB or MySQL"_s;

} // namespace

Prelude::Step MySqlPrelude::fromServer(const QByteArray &bytes)
{
    Step all;
    m_fromServer += bytes;
    if (m_state == State::Over) {
        all.toClient = std::exchange(m_fromServer, {});
        return all;
    }
    if (isTooLong(m_fromServer))
        return failed(notUnderstood);
    while (m_state == State::Greeting || m_state == State::Answers) {
        auto packet = takePacket(m_fromServer);
        if (!packet)
            return all;
        if (m_state == State::Greeting)
            return greeting(*packet);
        const char mark = packet->size() > headSize ? (*packet)[headSize] : errorMark;
        renumber(*packet, m_isTls ? -1 : 0);
        if (const auto why = m_guard.objectionTo(packet->mid(headSize)); !why.isEmpty())
            return refused(why, static_cast<quint8>((*packet)[numberAt]));
        all.toClient += *packet;
        if (mark == okMark || mark == errorMark)
            m_state = State::Over;
    }
    if (m_state == State::Over) {
        all.toClient += std::exchange(m_fromServer, {});
        all.toServer += std::exchange(m_fromClient, {});
    }
    return all;
}

Prelude::Step MySqlPrelude::greeting(QByteArray packet)
{
    Step step;
    if (packet.size() > headSize && packet[headSize] == errorMark) { // too many connections
        m_state = State::Over;
        step.toClient = packet + std::exchange(m_fromServer, {});
        return step;
    }
    // Protocol version, the server's version up to a zero, connection id, 8 bytes and a zero, capabilities.
    const auto versionEnd = packet.indexOf('\0', headSize + 1);
    const auto capabilities = versionEnd + 1 + 4 + 8 + 1;
    if (packet.size() <= headSize || packet[headSize] != 10 || versionEnd < 0 || packet.size() < capabilities + 2)
        return failed(notUnderstood);
    if (const auto why = m_guard.objectionToGreeting(packet.mid(headSize), capabilities - headSize); !why.isEmpty())
        return refused(why, 0);
    if (!m_isTls) {
        m_state = State::Answers;
        step.toClient = packet;
        return step;
    }
    char &second = packet.data()[capabilities + 1];
    if ((second & tlsInSecondByte) == 0)
        return failed(u"TLS: the server does not offer it"_s);
    second = static_cast<char>(second & ~tlsInSecondByte);
    m_state = State::Login;
    step.toClient = packet;
    return step;
}

Prelude::Step MySqlPrelude::fromClient(const QByteArray &bytes)
{
    m_fromClient += bytes;
    Step all;
    if (m_state == State::Over) {
        all.toServer = std::exchange(m_fromClient, {});
        return all;
    }
    if (m_state == State::Login) {
        auto packet = takePacket(m_fromClient);
        return packet ? login(*packet) : all;
    }
    while (m_state == State::Answers) {
        auto packet = takePacket(m_fromClient);
        if (!packet)
            break;
        renumber(*packet, m_isTls ? 1 : 0);
        all.toServer += *packet;
    }
    return all;
}

Prelude::Step MySqlPrelude::refused(const QString &why, int number)
{
    m_refusedNumber = number;
    auto step = failed(why);
    step.isRefusal = true;
    return step;
}

Prelude::Step MySqlPrelude::login(QByteArray packet)
{
    if (packet.size() < headSize + loginHead)
        return failed(u"TLS: the client library uses a protocol that is too old for it"_s);
    packet[headSize + 1] = static_cast<char>(packet[headSize + 1] | tlsInSecondByte);
    Step step;
    step.toServer = packed(packet.mid(headSize, loginHead), packet[numberAt]);
    step.startTls = true;
    renumber(packet, 1);
    m_login = packet;
    m_state = State::StartingTls;
    return step;
}

Prelude::Step MySqlPrelude::tlsStarted()
{
    Step step;
    step.toServer = std::exchange(m_login, {});
    m_state = State::Answers;
    return step;
}

QByteArray MySqlPrelude::failure(const QString &why, bool isOfTls) const
{
    const bool isRefused = m_refusedNumber >= 0;
    const int number = isRefused ? noSuchLogin : isOfTls ? noTls : noConnection;
    QByteArray body(1, errorMark);
    body += static_cast<char>(number & 0xff);
    body += static_cast<char>(number >> 8);
    // Before the greeting nobody knows yet that there are states.
    const bool isGreeted = m_state != State::Greeting;
    if (isGreeted)
        body += "#HY000";
    constexpr int afterLogin = 2;
    return packed(body + why.toUtf8().left(500), isRefused ? m_refusedNumber : isGreeted ? afterLogin : 0);
}

} // namespace lockscope::transport
