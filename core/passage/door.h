// SPDX-License-Identifier: Apache-2.0
// A port on 127.0.0.1 that leads to a server. Only this process is let in. Passages' thread only, but for openPort().
#pragma once

#include "core/passage/carried.h"

#include <QTcpServer>

namespace lockscope::passage {

// A socket that listens on 127.0.0.1, on a port of its own. Any thread.
struct OpenPort {
    int socket = -1;
    quint16 port = 0; // 0: there is none
};
[[nodiscard]] OpenPort openPort();

class Door : public QObject {
public:
    Door(OpenPort open, Route route);

private:
    QTcpServer m_server;
};

} // namespace lockscope::passage
