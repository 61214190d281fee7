// SPDX-License-Identifier: Apache-2.0
/// @file
/// How the library reports failures: as values. No function of the library throws, and programs that are compiled
/// without exceptions can use it. `std::expected` is C++23 and the library needs C++20 only, hence a type of its own
/// with the same meaning of `bool`, `*` and `->`.
#pragma once

#include <lockscope/version.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

LOCKSCOPE_BEGIN_API

/// Why something failed. The comment says what is certain about the server.
enum class ErrorCode {
    BadInput,       ///< An argument is wrong. Nothing was sent.
    NotConnected,   ///< There is no connection. Nothing of the request was executed.
    AuthFailed,     ///< The server refused the credentials.
    NoPermission,   ///< The server forbids this on this object.
    NotFound,       ///< The node, row or table that the lock needs does not exist.
    TimedOut,       ///< The deadline passed. Nothing of ours was left behind.
    Cancelled,      ///< cancel() was called or the Lock was destroyed. What was made is deleted in the background.
    UnknownOutcome, ///< The server did not answer in time: the command may have been executed. Cleanup continues.
    SessionLost,    ///< The session or connection ended, and with it what it held.
    NotHeld,        ///< The lock is not held, or no longer.
    Conflict,       ///< Another client was faster: an optimistic lock's version, or a deadlock's victim. Try again.
    Refused,        ///< A check of the library refused it. Nothing was sent.
    Unsupported,    ///< This server, or what is linked into this program, cannot do it.
    Server,         ///< Any other error that the server reported.
};

/// A failure. Copyable, any thread.
struct Error {
    ErrorCode code = ErrorCode::Server;
    std::string message;    ///< One line of UTF-8 for a log. It never holds a password.
    bool retryable = false; ///< Whether the same call can succeed later.
};

/// Either a `T` or an Error. Reading the one that is not there calls `std::abort()`.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_value(std::move(value)) {}
    Result(Error error) : m_error(std::move(error)) {}

    /// True if there is a value.
    [[nodiscard]] bool has_value() const noexcept { return m_value.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] T &operator*() & { return require(has_value()), *m_value; }
    [[nodiscard]] const T &operator*() const & { return require(has_value()), *m_value; }
    [[nodiscard]] T &&operator*() && { return require(has_value()), std::move(*m_value); }
    [[nodiscard]] T *operator->() { return &**this; }
    [[nodiscard]] const T *operator->() const { return &**this; }
    /// The failure, if there is no value.
    [[nodiscard]] const Error &error() const { return require(!has_value()), m_error; }

private:
    static void require(bool isThere)
    {
        if (!isThere)
            std::abort();
    }
    std::optional<T> m_value;
    Error m_error;
};

/// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return !m_error; }
    explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] const Error &error() const
    {
        if (!m_error)
            std::abort();
        return *m_error;
    }

private:
    std::optional<Error> m_error;
};

LOCKSCOPE_END_API
