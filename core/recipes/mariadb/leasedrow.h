// SPDX-License-Identifier: Apache-2.0
// sql-shedlock: a row that says who has it, and until when.
#pragma once

#include "core/base/random.h"
#include "core/mariadb/session.h"
#include "core/recipes/keepalive.h"
#include "core/recipes/lockbase.h"
#include "core/recipes/mariadb/rowname.h"
#include "core/recipes/waitgroup.h"

namespace lockscope::recipes {

// One try to have the row: a new token for each, so that what takes back an earlier one can never hit this one.
struct RowClaim {
    LeasedRowName row;
    QByteArray token;
};

class LeasedRow final : public LockBase {
public:
    // `ttl` at least 1 ms. The table has ShedLock's columns, times with milliseconds (TIMESTAMP(3)).
    LeasedRow(mariadb::Session &session, const QByteArray &lock, LeasedRowName row, std::chrono::milliseconds ttl,
              Random random);
    ~LeasedRow() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;

private:
    using Session = mariadb::Session;
    struct Held {
        Held(Session &session, RowClaim its, std::chrono::milliseconds ttl, Instant asked,
             std::function<void(Loss)> onEnd);
        RowClaim claim;
        KeepAlive life;
    };

    Task<Result<Grant>> take(Deadline deadline) override;
    Task<Result<Grant>> poll(Deadline deadline);
    [[nodiscard]] bool isHeld() const override { return m_held && !m_held->life.isOver(); }
    void letGo() override;

    Session *m_session;
    LeasedRowName m_row;
    std::chrono::milliseconds m_ttl;
    Random m_random;
    WaitGroup m_waitGroup;
    bool m_isRowThere = false; // certainly
    std::optional<Held> m_held;
};

} // namespace lockscope::recipes
