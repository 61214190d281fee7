// SPDX-License-Identifier: Apache-2.0
// One connection of Qt SQL to a server: made, used and destroyed in one thread.
//
// Whatever touches Qt's list of connections is out of line, in a function of its own: what Qt locks there is
// passed over by these names in tests/tsan.supp.
#pragma once

#include "core/mariadb/client.h"

#include <QSqlDatabase>

namespace lockscope::mariadb {

class SqlConnection {
public:
    // `timeouts`: options of Qt's driver.
    SqlConnection(const SessionOptions &options, const QString &timeouts);
    ~SqlConnection();
    SqlConnection(const SqlConnection &) = delete;
    SqlConnection &operator=(const SqlConnection &) = delete;

    [[nodiscard]] bool open(); // if not, database() says why
    void close();              // may be opened again
    // Which server it leads to, as the server says: its name, port, numbers and start. Empty if it does not say. A
    // host name or a proxy may stand for several servers.
    [[nodiscard]] QByteArray server() const;
    // Not to be kept beyond this object.
    [[nodiscard]] QSqlDatabase database() const;

private:
    const Dialect &m_dialect;
    QString m_name; // Qt SQL knows its connections by name
};

} // namespace lockscope::mariadb
