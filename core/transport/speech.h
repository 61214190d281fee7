// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QString>

#include <memory>

namespace lockscope::transport {

// How TLS begins inside of a protocol, for a client that knows nothing of it: what goes to either side until it has.
// And how a login goes on, where the server may not have the password itself (speech.cpp). Each protocol has
// one of its own. Pure.
class Prelude {
public:
    struct Step {
        QByteArray toClient, toServer; // in clear until TLS has started, encrypted from then on
        bool startTls = false;         // once toServer is out; then tlsStarted()
        QString problem;               // not empty: tell the client (failure()) and close
        bool isRefusal = false;        // the problem is what the server asked for
    };
    virtual ~Prelude() = default;

    // What the server is asked before the client may say anything: nothing of it is sent until TLS has started.
    [[nodiscard]] virtual QByteArray request() const { return {}; }
    [[nodiscard]] virtual Step fromServer(const QByteArray &bytes) = 0;
    [[nodiscard]] virtual Step fromClient(const QByteArray &bytes) = 0;
    [[nodiscard]] virtual Step tlsStarted() = 0;
    // From then on every byte goes through as it is.
    [[nodiscard]] virtual bool isOver() const = 0;
    // What a server would say instead of going on; empty: the end of the connection says it.
    [[nodiscard]] virtual QByteArray failure(const QString &, bool /*isOfTls*/) const { return {}; }
};

// What is spoken on the far side of a door.
struct Speech {
    bool isTls = false; // or what the client says, as it is
    // Of a protocol in which TLS begins later, or whose login is watched; null: TLS at once, or nothing.
    std::unique_ptr<Prelude> (*prelude)(const QString &host) = nullptr;
    friend bool operator==(const Speech &, const Speech &) = default;
};

// Of a protocol whose login may ask for the password itself: as verified as the way is.
struct SqlSpeech {
    Speech verified;   // by TLS
    Speech unverified; // TLS with whoever answers
    Speech plain;
};

inline constexpr Speech asItIs{};
inline constexpr Speech throughoutTls{true};

// Which forms of proof a server may ask for in a login. A client library answers as the server wants it: also with
// the password itself, in clear or encrypted for a key that the server names. Only a server whose certificate was
// verified may have it so; from others the library only hears of forms that prove the password by a hash with a
// nonce. Pure.

// Of the far side: whether it was verified, and else whether what goes to it leaves this machine.
enum class Trust { Verified, SameMachine, None };
[[nodiscard]] Trust trustOf(const QString &host, bool isVerified);

template <class Own, bool isTls, bool isVerified>
std::unique_ptr<Prelude> makePrelude(const QString &host)
{
    return std::make_unique<Own>(isTls, trustOf(host, isVerified));
}
template <class Own>
inline constexpr SqlSpeech speechOf{{true, makePrelude<Own, true, true>},
                                    {true, makePrelude<Own, true, false>},
                                    {false, makePrelude<Own, false, false>}};

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

// How TLS begins in MariaDB's and MySQL's protocol, for a client that knows nothing of it: the server greets in
// clear; who wants TLS answers with the head of its login only, starts TLS, and logs in. The client is shown a
// server without TLS, and its login is held back until the server has been verified. One packet more goes to the
// server than came from the client, so that the numbers of packets are mended until the login is over. Pure.
// Without TLS nothing is changed, and what the server asks for in the login is watched (speech.h).
// Sources: the MySQL internals manual, Connection Phase; MariaDB's knowledge base, Connecting.
class MySqlPrelude final : public Prelude {
public:
    MySqlPrelude(bool isTls, Trust trust) : m_isTls(isTls), m_guard(trust) {}
    [[nodiscard]] Step fromServer(const QByteArray &bytes) override;
    [[nodiscard]] Step fromClient(const QByteArray &bytes) override;
    [[nodiscard]] Step tlsStarted() override;
    [[nodiscard]] bool isOver() const override { return m_state == State::Over; }
    [[nodiscard]] QByteArray failure(const QString &why, bool isOfTls) const override;

private:
    enum class State { Greeting, Login, StartingTls, Answers, Over };
    [[nodiscard]] Step greeting(QByteArray packet);
    [[nodiscard]] Step login(QByteArray packet);
    [[nodiscard]] Step refused(const QString &why, int number);

    const bool m_isTls;
    MySqlGuard m_guard;
    int m_refusedNumber = -1; // of the packet that the client is not given
    State m_state = State::Greeting;
    QByteArray m_fromServer, m_fromClient; // not yet a whole packet
    QByteArray m_login;                    // waits for TLS
};

inline constexpr SqlSpeech mySqlSpeech = speechOf<MySqlPrelude>;

// How TLS begins in PostgreSQL's protocol: the server is asked for it (SSLRequest), and answers with one byte.
// And until the login is over: what the server asks for. Source: PostgreSQL's documentation, Frontend/Backend
// Protocol, SSL Session Encryption and Message Formats.
class PostgreSqlPrelude final : public Prelude {
public:
    PostgreSqlPrelude(bool isTls, Trust trust) : m_trust(trust), m_state(isTls ? State::Asking : State::Login) {}
    [[nodiscard]] QByteArray request() const override;
    [[nodiscard]] Step fromServer(const QByteArray &bytes) override;
    [[nodiscard]] Step fromClient(const QByteArray &bytes) override;
    [[nodiscard]] Step tlsStarted() override;
    [[nodiscard]] bool isOver() const override { return m_state == State::Over; }
    [[nodiscard]] QByteArray failure(const QString &why, bool isOfTls) const override;

private:
    enum class State { Asking, Login, Over };
    [[nodiscard]] Step login(const QByteArray &bytes);

    const Trust m_trust;
    State m_state;
    QByteArray m_fromServer; // not yet a whole message
    bool m_isRefused = false;
};

inline constexpr SqlSpeech postgreSqlSpeech = speechOf<PostgreSqlPrelude>;

} // namespace lockscope::transport
