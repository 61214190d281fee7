// SPDX-License-Identifier: Apache-2.0
// The way of one connection to its servers: through ssh or kubectl, or through TLS that the client library behind it
// knows nothing of. What connects to a door on 127.0.0.1 that it is given here is carried on to the server; only
// this process is let in. Where nothing stands in between, a server is its own door.
//
// Its last owner's end closes the doors; what goes through them by then goes on until it is closed, so whoever may
// still connect keeps it. May be let go of in any thread; all else in one.
#pragma once

#include "core/base/connectionuri.h"
#include "core/transport/speech.h"

#include <QString>

#include <chrono>
#include <functional>
#include <mutex>

class QSslConfiguration;
class QSslSocket;

namespace lockscope::transport {

// The thread of all transports. One of its own: at the end of a program the I/O thread is gone while sessions still
// say farewell through what is here.

// Any thread. Runs there, in this order.
void onTransportThread(std::function<void()> work);

// Whoever may still open what is carried, and what is carried. Any thread.
class InUse {
public:
    enum class By { Owner, ForwardedConnection };
    explicit InUse(By by);
    ~InUse();
    Q_DISABLE_COPY(InUse)

private:
    const By m_by;
};

// Waits, at most that long, until nothing is carried any more; then the thread ends. While somebody still goes
// through a passage it goes on, and nobody waits; at the latest it ends with the application object.
void waitForTransports(std::chrono::milliseconds atMost);

// What last went wrong behind a door: written by the transports' thread, read by any.
class Problem {
public:
    // Empty: it goes well. Of TLS: somebody is there.
    void set(const QString &text, bool isOfTls = false)
    {
        const std::lock_guard lock(m_mutex);
        m_text = text;
        m_isOfTls = isOfTls;
    }
    [[nodiscard]] QString text() const
    {
        const std::lock_guard lock(m_mutex);
        return m_text;
    }

    [[nodiscard]] bool isOfTls() const
    {
        const std::lock_guard lock(m_mutex);
        return m_isOfTls;
    }

private:
    mutable std::mutex m_mutex;
    QString m_text;
    bool m_isOfTls = false;
};

// TLS as TlsOptions say it, for whoever has a socket, and what went wrong with it in words. The server's certificate
// and its name are checked unless the options say no.

// Reads the files. An error names the file that cannot be used, and no secret.
[[nodiscard]] Result<QSslConfiguration> tlsConfiguration(const TlsOptions &tls);
// What the certificate has to be for, and what the server is told whom we look for: of a server at `host`, whatever
// door leads to it.
[[nodiscard]] QString tlsNameOf(const TlsOptions &tls, const QString &host);
// Makes a socket ready to connect encrypted, or to start it.
[[nodiscard]] Result<void> prepareTls(QSslSocket &socket, const TlsOptions &tls, const QString &host);
// After errorOccurred: what it was. Text of the server is made harmless.
struct TlsProblem {
    QString text;
    bool isOfTls = false; // or of what is below it
};
[[nodiscard]] TlsProblem tlsProblem(const QSslSocket &socket, const TlsOptions &tls, const QString &host);
// What a connection without TLS may have met that was closed before a byte came back.
[[nodiscard]] QString closedWithoutAWord();
// The handshake was begun, and nothing at all came back.
[[nodiscard]] QString silentHandshake();
// The same of what a library said, "tlsv13 alert certificate required": empty if that is none of TLS's.
[[nodiscard]] QString alertInWords(const QString &said, const TlsOptions &tls);

class Transport {
public:
    // One ssh or kubectl for all; `servers` go through it from the first on, others once they are asked for.
    Transport(TransportOptions transport, std::vector<HostPort> servers);
    ~Transport();
    Q_DISABLE_COPY(Transport)

    // Where to connect so as to reach that server, speaking to it as its clients do (TLS included, if that is on).
    [[nodiscard]] HostPort through(const HostPort &server);
    // The same for what knows no TLS: encrypted and verified behind the door, if TLS is on.
    // And for what speaks a protocol in which TLS begins later; its client must not ask for it by itself.
    [[nodiscard]] HostPort throughTls(const HostPort &server, Speech speech = throughoutTls);
    // And for what gives a server the password itself, if it asks for that: only to one that was verified.
    [[nodiscard]] HostPort throughSql(const HostPort &server, const SqlSpeech &speech, bool hasPassword);

    [[nodiscard]] bool isDirect() const { return !m_transport.tls.isOn && !m_transport.isTunnelled(); }
    // What last went wrong on the way; empty while something comes back. Any thread.
    [[nodiscard]] QString problem() const { return m_problem->text(); }
    [[nodiscard]] bool isProblemOfTls() const { return m_problem->isOfTls(); }

private:
    struct Inside; // touched by the transports' thread
    struct Opened {
        HostPort server;
        Speech speech;
        HostPort door;
    };
    [[nodiscard]] HostPort door(const HostPort &server, Speech speech);

    const TransportOptions m_transport;
    std::vector<Opened> m_doors;
    std::shared_ptr<Problem> m_problem = std::make_shared<Problem>();
    std::shared_ptr<Inside> m_inside;
    std::optional<InUse> m_inUse;
};

} // namespace lockscope::transport
