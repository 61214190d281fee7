// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QString>

#include <memory>

namespace lockscope::passage {

// How TLS begins inside of a protocol, for a client that knows nothing of it: what goes to either side until it has.
// And how a login goes on, where the server may not have the password itself (loginguard.h). Each protocol has one of
// its own. Pure.
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

} // namespace lockscope::passage
