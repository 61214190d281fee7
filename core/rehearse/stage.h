// SPDX-License-Identifier: Apache-2.0
// The simulated servers that a release is rehearsed on: one kind per backend (stages.cpp).
#pragma once

#include "core/contention/sqlservers.h"
#include "core/operate/releasemethod.h"

namespace lockscope::rehearse {

struct StageContext {
    const operate::ForceReleasePlan &plan;
    const contention::Scenario &scenario;
    VirtualLoop &world;
    sim::Network &network;
    contention::Trace &trace;
};

class Stage {
public:
    virtual ~Stage() = default;
    // Contenders of one process share what its client would share.
    [[nodiscard]] virtual std::unique_ptr<contention::ContenderAccess> open(sim::Process &process, int contender) = 0;
    // The plan's release, sent to the hold that this contender has here.
    [[nodiscard]] virtual Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int contender,
                                                              recipes::Grant grant) = 0;
};

[[nodiscard]] std::unique_ptr<Stage> makeStage(const StageContext &context);
#define LOCKSCOPE_STAGE(Name) [[nodiscard]] std::unique_ptr<Stage> make##Name##Stage(const StageContext &context);
LOCKSCOPE_BACKENDS(LOCKSCOPE_STAGE)
#undef LOCKSCOPE_STAGE

// The number of the process that the release is sent from: the first that is no contender's, since a network has a
// place for each number up to the greatest.
[[nodiscard]] inline int operatorProcess(const contention::Scenario &scenario)
{
    return scenario.contenders;
}

// The simulated world in the state of a snapshot, and a release in it (rehearsal.h says how it gets there).

// Who plays whom in a rehearsal, and what is taken for granted by that.
struct Part {
    std::size_t contender = 0; // in the snapshot
    int process = 0;
    bool reads = false;
    bool isGone = false; // its client has no connection: it keeps its place until its session ends, and hears nothing
    int times = 1;       // that it holds it
};

struct RecipeMapping {
    QByteArray recipe; // the one that is played
    int limit = 1;
    std::vector<Part> parts;       // as they come
    bool hasUnseenWatches = false; // of its waiters: they are the recipe's
    bool hasUnknownModes = false;  // of its waiters: whether they want to read is not on the server
    QStringList assumed;
};

// Waiters whose mode is not known read, or write. Unsupported where we have no recipe like it.
[[nodiscard]] Result<RecipeMapping> castOf(const operate::ForceReleasePlan &plan, bool unknownRead);

struct Outcome {
    // Who holds in the snapshot is who came to hold in the fork. If not, nothing was played.
    bool isAlike = false;
    std::vector<std::size_t> granted; // contenders of the snapshot
    std::set<std::size_t> woken;
};

// Fails where the release is refused in the fork, or a contender cannot be made.
[[nodiscard]] Result<Outcome> playRelease(const operate::ForceReleasePlan &plan, const RecipeMapping &cast);

// A row or a named lock of its own: which one it is changes nothing. The release ends the connection that holds it,
// as in core/operate/sql.h; what they look at beforehand is not simulated and is
// left out.

class SqlStage : public Stage {
public:
    using OpenAccess = std::unique_ptr<contention::SqlAccess> (*)(const contention::SqlAccessContext &context);
    SqlStage(const StageContext &context, OpenAccess openAccess, sim::SqlServerRules rules = {})
        : m_context(context), m_server(context.world, rules), m_openAccess(openAccess)
    {
        m_server.addRow(contention::simulatedTable, contention::simulatedKey, contention::simulatedRow, 1);
    }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(sim::Process &process, int contender) override
    {
        auto access =
            m_openAccess({m_context.scenario, m_context.network, m_context.trace, m_server, process, contender});
        m_accesses[contender] = access.get();
        return access;
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int contender,
                                                      recipes::Grant /*grant*/) override
    {
        if (!endHold(contender))
            co_return operate::goneAlready(plan);
        co_return operate::Sent();
    }

protected:
    virtual bool endHold(int contender) { return m_server.kill(m_accesses.at(contender)->connection()); }

    const StageContext m_context;
    sim::SqlServer m_server;

private:
    const OpenAccess m_openAccess;
    std::map<int, const contention::SqlAccess *> m_accesses; // while they live
};

} // namespace lockscope::rehearse
