// SPDX-License-Identifier: Apache-2.0
// Failures are values: a Result holds either what was asked for or an Error that says what was
// tried, on what, and what to do next.
#pragma once

#include <QString>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace lockscope {

// For every file that includes this one.
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

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
    // The message says why, as whoever answered did, or what to do: advice on what it might be would mislead.
    bool isExplained = false;
};

namespace detail {

// An error in a place of its own. Failures are rare, and every frame that waits has room for a Result, most for
// several: a pointer takes a fifth of it.
class KeptError {
public:
    KeptError() = default; // none
    explicit KeptError(Error error);
    KeptError(const KeptError &other);
    KeptError(KeptError &&other) noexcept = default;
    KeptError &operator=(KeptError other) noexcept
    {
        m_error.swap(other.m_error);
        return *this;
    }
    ~KeptError() = default;

    explicit operator bool() const { return bool(m_error); }
    // What is not there is never read: asking for it ends the program.
    [[nodiscard]] const Error &operator*() const
    {
        if (!m_error)
            std::terminate();
        return *m_error;
    }

private:
    std::unique_ptr<const Error> m_error;
};

} // namespace detail

// A union of its own: a std::variant's layers, instantiated for each T, were a fifth of the compiler's time.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_value(std::move(value)), m_hasValue(true) {}
    Result(Error error) : m_error(std::move(error)), m_hasValue(false) {}
    Result(const Result &other) : m_hasValue(other.m_hasValue)
    {
        if (m_hasValue)
            std::construct_at(&m_value, other.m_value);
        else
            std::construct_at(&m_error, other.m_error);
    }
    Result(Result &&other) noexcept : m_hasValue(other.m_hasValue) { take(std::move(other)); }
    Result &operator=(Result other) noexcept // by value: a copy is made before anything is given up
    {
        end();
        m_hasValue = other.m_hasValue;
        take(std::move(other));
        return *this;
    }
    ~Result() { end(); }

    explicit operator bool() const { return m_hasValue; }
    // What is not there is never read: asking for it ends the program.
    [[nodiscard]] const T &operator*() const & { return require(m_hasValue), m_value; }
    [[nodiscard]] T &operator*() & { return require(m_hasValue), m_value; }
    [[nodiscard]] T &&operator*() && { return require(m_hasValue), std::move(m_value); }
    [[nodiscard]] const T *operator->() const { return &**this; }
    [[nodiscard]] T *operator->() { return &**this; }
    [[nodiscard]] const Error &error() const { return require(!m_hasValue), *m_error; }

private:
    static void require(bool isThere)
    {
        if (!isThere)
            std::terminate();
    }
    void take(Result &&other) noexcept
    {
        if (m_hasValue)
            std::construct_at(&m_value, std::move(other.m_value));
        else
            std::construct_at(&m_error, std::move(other.m_error));
    }
    void end() noexcept
    {
        if (m_hasValue)
            std::destroy_at(&m_value);
        else
            std::destroy_at(&m_error);
    }

    union {
        T m_value;
        detail::KeptError m_error; // empty when moved from
    };
    bool m_hasValue;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)) {}

    explicit operator bool() const { return !m_error; }
    [[nodiscard]] const Error &error() const { return *m_error; }

private:
    detail::KeptError m_error;
};

// Makes one visitor of several functions.
template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

} // namespace lockscope

// What most callers do with a failure: they pass it on. `TRY(const auto &node, read(path));` names the value of a
// Result, or leaves the function with its error; TRY_VOID() is for a Result whose value is not needed. CO_TRY() and
// CO_TRY_VOID() are the same in a coroutine, where the last argument may be one `co_await`. The value lives as long
// as the block around it. Each is more than one statement: an `if` or a loop around it needs braces (tests/lint).
#define LOCKSCOPE_JOINED(a, b) a##b
#define LOCKSCOPE_NAME_OF_LINE(prefix, line) LOCKSCOPE_JOINED(prefix, line)
#define LOCKSCOPE_TRY(leave, result, ...)                                                                            \
    auto result = __VA_ARGS__;                                                                                       \
    if (!result)                                                                                                     \
    leave result.error()
#define LOCKSCOPE_TRY_VALUE(leave, result, declaration, ...)                                                         \
    LOCKSCOPE_TRY(leave, result, __VA_ARGS__);                                                                       \
    declaration = *result

#define TRY(declaration, ...)                                                                                        \
    LOCKSCOPE_TRY_VALUE(return, LOCKSCOPE_NAME_OF_LINE(result, __LINE__), declaration, __VA_ARGS__)
#define CO_TRY(declaration, ...)                                                                                     \
    LOCKSCOPE_TRY_VALUE(co_return, LOCKSCOPE_NAME_OF_LINE(result, __LINE__), declaration, __VA_ARGS__)
#define TRY_VOID(...) LOCKSCOPE_TRY(return, LOCKSCOPE_NAME_OF_LINE(result, __LINE__), __VA_ARGS__)
#define CO_TRY_VOID(...) LOCKSCOPE_TRY(co_return, LOCKSCOPE_NAME_OF_LINE(result, __LINE__), __VA_ARGS__)
