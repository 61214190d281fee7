// SPDX-License-Identifier: Apache-2.0
// sql-version: an optimistic lock, a column that counts who wrote last.
#pragma once

#include "core/mariadb/session.h"
#include "core/recipes/lockbase.h"
#include "core/recipes/mariadb/rowname.h"

namespace lockscope::recipes {

class VersionLock final : public LockBase {
public:
    VersionLock(mariadb::Session &session, const QByteArray &lock, RowName row);
    ~VersionLock() override { shutDown(); }

    // BadVersion when somebody else wrote meanwhile: nothing was written, and the work has to be done
    // again, from acquire() on. UnknownOutcome when the answer was lost: it may have been written.
    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;

private:
    Task<Result<Grant>> take(Deadline deadline) override;
    Task<Result<qint64>> readVersion(Deadline deadline);
    [[nodiscard]] bool isHeld() const override { return m_version.has_value(); }
    void letGo() override { m_version.reset(); }

    mariadb::Session *m_session;
    RowName m_row;
    std::optional<qint64> m_version; // that was read, and not written yet
    int m_conflicts = 0;             // in a row
};

} // namespace lockscope::recipes
