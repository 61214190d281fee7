// SPDX-License-Identifier: Apache-2.0
// What the link of a PostgreSQL has beside what every link has.
#pragma once

#include "core/mariadb/session.h"
#include "core/workspace/contenderpool.h"

namespace lockscope {

class PostgreSqlPort {
public:
    virtual ~PostgreSqlPort() = default;
    [[nodiscard]] virtual mariadb::Session &session() = 0; // gated
    // A fresh one for a contender of ours, gated and logged as this link's.
    [[nodiscard]] virtual std::unique_ptr<mariadb::Session> openSession() = 0;
    [[nodiscard]] virtual QString uri() const = 0; // as it is shown
};

[[nodiscard]] std::unique_ptr<ContenderPool> makePostgreSqlPool(PostgreSqlPort &port,
                                                                const ContenderPoolContext &context);

} // namespace lockscope
