// SPDX-License-Identifier: Apache-2.0
#include "core/transport/postgresqlprelude.h"

#include <QtEndian>

namespace lockscope::transport {

using namespace Qt::StringLiterals;

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
