// SPDX-License-Identifier: Apache-2.0
// Which forms of proof a server may ask for in a login. A client library answers as the server wants it: also with
// the password itself, in clear or encrypted for a key that the server names. Only a server whose certificate was
// verified may have it so; from others the library only hears of forms that prove the password by a hash with a
// nonce. Pure.
#pragma once

#include <QByteArray>
#include <QString>

namespace lockscope::passage {

// Of the far side: whether it was verified, and else whether what goes to it leaves this machine.
enum class Trust { Verified, SameMachine, None };
[[nodiscard]] Trust trustOf(const QString &host, bool isVerified);

// Of a packet of MariaDB's or MySQL's server, without its head: why the client must not get it; empty: it may.
class MySqlGuard {
public:
    explicit MySqlGuard(Trust trust) : m_trust(trust) {}
    [[nodiscard]] QString objectionToGreeting(const QByteArray &body, qsizetype capabilitiesAt);
    [[nodiscard]] QString objectionTo(const QByteArray &body);

private:
    [[nodiscard]] QString objectionToPlugin(const QByteArray &plugin) const;

    const Trust m_trust;
};

// Of a whole message of a PostgreSQL server ('R', length, code).
[[nodiscard]] QString objectionToPostgreSql(const QByteArray &message, Trust trust);

} // namespace lockscope::passage
