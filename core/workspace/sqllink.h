// SPDX-License-Identifier: Apache-2.0
// The link to a server that is spoken to in SQL: session, gate, observer, and contenders of ours. The session
// reconnects by itself. What differs between such servers is an SqlKit.
#pragma once

#include "core/mariadb/dialect.h"
#include "core/workspace/link.h"

namespace lockscope {

// What a run on a real server contends for.
struct SqlRunLock {
    QByteArray name;           // as its recipe is given it
    QByteArrayList making;     // statements; none for what is there by its name alone
    mariadb::Statement ending; // takes away what was made; else answers 1 in the column "held" while somebody has it
    QByteArray left;           // what there is still of it when that failed, or answered so
};

// Of each SQL server its own; all of it is what its own rooms offer.
struct SqlKit {
    transport::SqlSpeech speech; // where TLS begins in its protocol, and what its login may ask for
    std::unique_ptr<mariadb::Session> (*open)(Loop &loop, mariadb::SessionOptions options);
    std::unique_ptr<inspect::Observer> (*observe)(mariadb::Session &session, const ConnectionName &name,
                                                  const inspect::ObserverOptions &options,
                                                  inspect::ObserverSink &sink);
    QString (*title)(const QByteArray &version); // "PostgreSQL", before the version itself
    operate::SqlWriteWords (*writeWords)();      // of its dialect, for the gate
    Task<QStringList> (*rights)(mariadb::Session *session, Deadline deadline);
    Result<std::unique_ptr<recipes::Lock>> (*makeLock)(const QByteArray &recipe, mariadb::Session &session,
                                                       const QByteArray &lock,
                                                       const recipes::AcquireOptions &options);
    // A connection names a hold only with when it or its transaction began.
    Task<std::optional<QByteArray>> (*ownId)(mariadb::Session *session, QByteArray recipe, Deadline deadline);
    Task<operate::ForceReleasePlan> (*withLosses)(operate::ForceReleasePlan plan, mariadb::Session *session,
                                                  Deadline deadline);
    Task<Result<operate::Sent>> (*sendRelease)(operate::ForceReleasePlan plan, mariadb::Session *session,
                                               Deadline deadline);
    // `name`: of the run alone, of letters, digits and _.
    SqlRunLock (*runLock)(const recipes::RecipeInfo &recipe, const QByteArray &name);
};

class SqlLink final : public Link {
public:
    // The kit lives for ever.
    SqlLink(ConnectionSpec spec, LinkContext context, const SqlKit &kit);

    [[nodiscard]] const SqlKit &kit() const { return m_kit; }
    [[nodiscard]] mariadb::Session &session() { return *m_gated; } // gated
    // A fresh one for a contender of ours, gated and logged as this link's.
    [[nodiscard]] std::unique_ptr<mariadb::Session> openSession();

    [[nodiscard]] bool isConnected() const override { return m_session->state() == mariadb::SessionState::Connected; }
    [[nodiscard]] std::optional<Error> problem() const override;
    [[nodiscard]] QString serverVersion() override;
    [[nodiscard]] Task<QStringList> rights(Deadline deadline) override
    {
        return m_kit.rights(m_gated.get(), deadline);
    }
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }
    [[nodiscard]] std::unique_ptr<OwnContender> openContender(const HoldRequest &request) override;
    [[nodiscard]] std::unique_ptr<ContenderPool> openPool(const ContenderPoolContext &context) override;
    [[nodiscard]] Task<operate::ForceReleasePlan> withLosses(operate::ForceReleasePlan plan,
                                                             Deadline deadline) override
    {
        return m_kit.withLosses(std::move(plan), m_gated.get(), deadline);
    }
    [[nodiscard]] Task<Result<operate::Sent>> sendRelease(operate::ForceReleasePlan plan, Deadline deadline) override
    {
        return m_kit.sendRelease(std::move(plan), m_gated.get(), deadline);
    }

private:
    [[nodiscard]] mariadb::SessionOptions sessionOptions() const;

    const SqlKit &m_kit;
    std::unique_ptr<mariadb::Session> m_session;
    std::unique_ptr<mariadb::Session> m_gated;
    std::unique_ptr<inspect::Observer> m_observer;
    Subscription m_state;
};

// An error, which calls it a `server`, where several are named.
[[nodiscard]] Result<std::unique_ptr<Link>> makeSqlLink(ConnectionSpec spec, LinkContext context, const SqlKit &kit,
                                                        const QString &server);

} // namespace lockscope
