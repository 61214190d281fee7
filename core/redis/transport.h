// SPDX-License-Identifier: Apache-2.0
// What a RespConnection sends and hears bytes through: a socket, or a link of the simulated world.
//
// Destroying it ends the connection; no call-back comes afterwards, and it may be destroyed from inside
// one. Loop thread only.
#pragma once

#include <QByteArray>
#include <QString>

#include <functional>
#include <memory>

namespace lockscope::redis {

class Transport {
public:
    struct Callbacks {
        std::function<void()> opened;
        std::function<void(QByteArrayView)> received;
        std::function<void(const QString &, bool isOfTls)> broken; // why, in the end that nobody of us wanted
    };
    Transport() = default;
    virtual ~Transport() = default;
    Transport(const Transport &) = delete;
    Transport &operator=(const Transport &) = delete;

    // May find the connection broken, and say so before it returns.
    virtual void write(const QByteArray &bytes) = 0;
};

// Begins to connect; the first call-back comes later, from the loop.
using MakeTransport = std::function<std::unique_ptr<Transport>(Transport::Callbacks)>;

} // namespace lockscope::redis
