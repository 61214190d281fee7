// SPDX-License-Identifier: Apache-2.0
#include "core/transport/speech.h"

#include "core/base/text.h"

#include <QHostAddress>
#include <QtEndian>

#include <array>

namespace lockscope::transport {

using namespace Qt::StringLiterals;

namespace {

constexpr char switchMark = '\xfe', moreDataMark = '\x01';
constexpr char fullAuthentication = '\x04'; // of caching_sha2_password
constexpr quint8 secureConnectionInSecondByte = 0x80, pluginsInThirdByte = 0x08;

QString refusal(const QString &asked)
{
    return u"the server asked for %1, and its identity is not verified by TLS. No password was sent. Connect with "
           u"tls=on and a certificate that can be verified (ca=FILE)"_s.arg(asked);
}

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

Trust trustOf(const QString &host, bool isVerified)
{
    const bool isHere = host == "localhost"_L1 || QHostAddress(host).isLoopback();
    return isVerified ? Trust::Verified : isHere ? Trust::SameMachine : Trust::None;
}

// Those that are not known may be anything.
QString MySqlGuard::objectionToPlugin(const QByteArray &plugin) const
{
    const std::array<const char *, 4> hashes{"mysql_native_password", "caching_sha2_password", "client_ed25519",
                                             "parsec"};
    const auto isIt = [&plugin](const char *one) { return plugin == one; };
    if (m_trust == Trust::Verified || std::ranges::any_of(hashes, isIt) || plugin == "auth_gssapi_client")
        return {};
    if (plugin == "sha256_password")
        return m_trust == Trust::SameMachine ? QString()
                                             : refusal(u"the password, encrypted for a key that it names itself "
                                                       "(sha256_password)"_s);
    return refusal(u"a login method that may reveal the password in clear text (%1)"_s.arg(label(plugin, 60)));
}

// After the capabilities: character set, status, more capabilities, a length, ten more bytes, the rest of the nonce.
QString MySqlGuard::objectionToGreeting(const QByteArray &body, qsizetype capabilitiesAt)
{
    constexpr qsizetype moreCapabilities = 5, nonceLength = 7, nonce = 18, leastNonce = 13, firstPart = 8;
    const auto byteAt = [&](qsizetype at) { return static_cast<quint8>(body.size() > at ? body[at] : '\0'); };
    if (m_trust == Trust::Verified)
        return {};
    if ((byteAt(capabilitiesAt + 1) & secureConnectionInSecondByte) == 0)
        return objectionToPlugin("mysql_old_password");
    if ((byteAt(capabilitiesAt + moreCapabilities) & pluginsInThirdByte) == 0)
        return {}; // its own one: mysql_native_password
    const auto length = std::max<qsizetype>(leastNonce, byteAt(capabilitiesAt + nonceLength) - firstPart);
    const auto name = body.mid(capabilitiesAt + nonce + length);
    return objectionToPlugin(name.left(name.indexOf('\0')));
}

QString MySqlGuard::objectionTo(const QByteArray &body)
{
    if (m_trust == Trust::Verified || body.isEmpty())
        return {};
    if (body[0] == switchMark) {
        const auto name = body.mid(1);
        return objectionToPlugin(body.size() == 1 ? QByteArray("mysql_old_password") : name.left(name.indexOf('\0')));
    }
    // The key comes next, and the password for whoever made it.
    const bool isForKey =
        body[0] == moreDataMark && (body.mid(1) == QByteArray(1, fullAuthentication) || body.contains("PUBLIC KEY"));
    if (isForKey && m_trust == Trust::None)
        return refusal(u"the password, encrypted for a key that it names itself (caching_sha2_password; it does so "
                       "where it has not yet seen this user)"_s);
    return {};
}

QString objectionToPostgreSql(const QByteArray &message, Trust trust)
{
    constexpr qsizetype codeAt = 5, size = 9;
    if (trust == Trust::Verified || !message.startsWith('R'))
        return {};
    const auto code = message.size() < size ? QByteArray() : message.mid(codeAt, 4);
    const std::array<char, 8> hashes{0, 5, 7, 8, 9, 10, 11, 12}; // done, MD5, GSSAPI and SSPI, SCRAM
    const bool isKnown = code.startsWith(QByteArray(3, '\0')) && std::ranges::find(hashes, code[3]) != hashes.end();
    if (isKnown)
        return {};
    const bool isClear = code == QByteArray("\0\0\0\3", 4);
    return refusal(isClear ? u"the password in clear text (AuthenticationCleartextPassword)"_s
                           : u"a login method that may reveal the password in clear text"_s);
}

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

QByteArray PostgreSqlPrelude::request() const
{
    return m_state == State::Asking ? QByteArray("\0\0\0\x08\x04\xd2\x16\x2f", 8) : QByteArray();
}

Prelude::Step PostgreSqlPrelude::fromServer(const QByteArray &bytes)
{
    Step step;
    if (m_state == State::Over) {
        step.toClient = bytes;
    } else if (m_state == State::Login) {
        return login(bytes);
    } else if (!bytes.startsWith('S')) {
        step.problem = u"TLS: the server does not offer it"_s;
    } else if (bytes.size() > 1) {
        // Who stands in between could have put there what then passes for the server's own words.
        step.problem = u"TLS: the server sent unencrypted data after it agreed to TLS"_s;
    } else {
        step.startTls = true;
    }
    return step;
}

// Messages of a type, a length that counts itself, and what they say; an error of a very old server has no length.
Prelude::Step PostgreSqlPrelude::login(const QByteArray &bytes)
{
    constexpr qsizetype head = 5;
    constexpr quint32 longest = 64 * 1024;
    Step step;
    m_fromServer += bytes;
    while (m_fromServer.size() >= head && m_fromServer[0] != 'E') {
        const auto length = qFromBigEndian<quint32>(m_fromServer.constData() + 1);
        if (length < head - 1 || length > longest) {
            step.problem = u"the server does not use the protocol of PostgreSQL"_s;
            return step;
        }
        if (m_fromServer.size() < qsizetype(length) + 1)
            return step;
        const auto message = m_fromServer.left(qsizetype(length) + 1);
        step.problem = objectionToPostgreSql(message, m_trust);
        step.isRefusal = m_isRefused = !step.problem.isEmpty();
        if (m_isRefused)
            return step;
        step.toClient += message;
        m_fromServer.remove(0, message.size());
        if (message.startsWith('R') && message.mid(head) == QByteArray(4, '\0')) {
            m_state = State::Over;
            break;
        }
    }
    if (m_fromServer.startsWith('E'))
        m_state = State::Over;
    if (m_state == State::Over)
        step.toClient += std::exchange(m_fromServer, {});
    return step;
}

// Before TLS nobody is asked for any of it, and none of it may go out.
Prelude::Step PostgreSqlPrelude::fromClient(const QByteArray &bytes)
{
    Step step;
    if (m_state != State::Asking)
        step.toServer = bytes;
    else
        step.problem = u"TLS: the client sent data before TLS had begun"_s;
    return step;
}

Prelude::Step PostgreSqlPrelude::tlsStarted()
{
    m_state = m_trust == Trust::Verified ? State::Over : State::Login;
    return {};
}

// In the words of a server, so that the client library does not try again by another form.
QByteArray PostgreSqlPrelude::failure(const QString &why, bool) const
{
    if (!m_isRefused)
        return {};
    constexpr char end = '\0';
    const auto message = u"authentication failed: %1"_s.arg(why).toUtf8();
    const auto fields = QByteArray("SFATAL") + end + "C28000" + end + 'M' + message + end + end;
    QByteArray length(4, '\0');
    qToBigEndian(static_cast<quint32>(fields.size() + length.size()), length.data());
    return 'E' + length + fields;
}

} // namespace lockscope::transport
