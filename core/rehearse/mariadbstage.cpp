// SPDX-License-Identifier: Apache-2.0
// Here a lock may be a row, too, that says until when it is taken; released, its time is ended
// (core/operate/sql.h).
#include "core/rehearse/stage.h"

#include "core/contention/mariadbaccess.h"

namespace lockscope::rehearse {

namespace {

class MariaDbStage final : public SqlStage {
public:
    explicit MariaDbStage(const StageContext &context) : SqlStage(context, contention::openMariaDbAccess)
    {
        m_server.leasedRows().addTable(contention::simulatedLeases);
        contention::addMarkedRows(m_server);
    }

protected:
    bool endHold(int contender) override
    {
        if (contention::takesLeasedRow(m_context.scenario.recipe))
            return m_server.leasedRows().end({contention::simulatedLeases, contention::simulatedName});
        if (contention::takesMarkedRow(m_context.scenario.recipe))
            return m_server.markedRows().end(contention::markedRowOf(m_context.scenario.recipe));
        return SqlStage::endHold(contender);
    }
};

} // namespace

std::unique_ptr<Stage> makeMariaDbStage(const StageContext &context)
{
    return std::make_unique<MariaDbStage>(context);
}

} // namespace lockscope::rehearse
