// SPDX-License-Identifier: Apache-2.0
// A session on MariaDB that tells the trace what is sent and heard over it.
#pragma once

#include "core/contention/traced/tracedport.h"
#include "core/mariadb/session.h"

namespace lockscope::contention {

struct SqlMeasures {
    static constexpr qint64 errorBytes = 0;
    static QByteArray verb(const mariadb::Statement &statement)
    {
        return statement.text.left(statement.text.indexOf(' '));
    }
    static QByteArray where(const mariadb::Statement &statement) { return statement.text; }
    static qint64 bytes(const mariadb::Statement &statement) { return statement.text.size(); }
    static qint64 answerBytes(const mariadb::Rows &) { return 0; }
};

using TracedSql = TracedPort<mariadb::ForwardingSession, SqlMeasures>;

} // namespace lockscope::contention
