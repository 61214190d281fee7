// SPDX-License-Identifier: Apache-2.0
// Failures are values: a Result holds either what was asked for or an Error that says what was
// tried, on what, and what to do next.
#pragma once

#include <QString>

#include <optional>
#include <utility>
#include <variant>

namespace lockscope {

enum class ErrorCode {
    BadInput,       // the caller's words are wrong; nothing was sent
    NotConnected,   // nothing was sent: there is no connection
    UnknownOutcome, // the connection broke (or the deadline passed) while the request was out
    SessionExpired, // the ZooKeeper session is over, its ephemeral nodes are gone; the SQL connection, its locks
    AuthFailed,     // the server refused the credentials
    NoPermission,   // an ACL (ZooKeeper, Redis) forbids this on this object
    NoNode,         // the znode (or its parent) does not exist
    NoRow,          // no row, or no table, of this name
    DeadlockVictim, // the server broke a deadlock by rolling our transaction back
    NodeExists,
    BadVersion, // it is another version by now
    NotEmpty,
    NoChildrenForEphemerals,
    TooLarge,       // more than a buffer or a cap of ours takes
    BudgetExceeded, // our own watch budget
    TimedOut,       // a wait ended at its deadline; nothing of ours was left behind
    Cancelled,
    Refused,     // a guard said no: read-only, not confirmed, identity changed
    NotHeld,     // release or extend of something that is not ours (any more)
    Unsupported, // this server, or this build, cannot
    Server,      // any other error the server reported
};

struct Error {
    ErrorCode code = ErrorCode::Server;
    QString message;        // one line for a person; no secrets
    bool retryable = false; // whether trying the same again can help
};

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return m_state.index() == 0; }
    [[nodiscard]] const T &operator*() const & { return std::get<0>(m_state); }
    [[nodiscard]] T &operator*() & { return std::get<0>(m_state); }
    [[nodiscard]] T &&operator*() && { return std::get<0>(std::move(m_state)); }
    [[nodiscard]] const T *operator->() const { return &std::get<0>(m_state); }
    [[nodiscard]] T *operator->() { return &std::get<0>(m_state); }
    [[nodiscard]] const Error &error() const { return std::get<1>(m_state); }

private:
    std::variant<T, Error> m_state;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)) {}

    explicit operator bool() const { return !m_error.has_value(); }
    [[nodiscard]] const Error &error() const { return *m_error; }

private:
    std::optional<Error> m_error;
};

} // namespace lockscope
