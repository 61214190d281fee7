// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lockscope::passage {

// What is spoken on the far side of a door.
enum class Speech {
    AsItIs,       // what the client says
    Tls,          // that, in TLS
    MySqlTls,     // that, in TLS from where MariaDB's protocol begins it
    PostgreSqlTls // that, in TLS that a PostgreSQL is asked for first
};

} // namespace lockscope::passage
