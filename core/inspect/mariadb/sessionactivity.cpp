// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/sessionactivity.h"

#include "core/inspect/mariadb/pollindex.h"
#include "core/inspect/mariadb/reader.h"

#include <algorithm>

namespace lockscope::inspect {

using std::chrono::milliseconds;

// By a reader of its own, that keeps the pace of all who look there: a question between two looks of the observer's
// would make the server answer it from an old copy.
Task<Result<SessionActivity>> readSqlDoing(mariadb::Session *session, quint64 connection, Deadline deadline)
{
    SqlReader reader(*session);
    auto looking = reader.freshLook(deadline);
    CO_TRY(const auto &look, co_await looking);
    const auto process = std::ranges::find(look.processes, connection, &SqlProcess::connection);
    if (process == look.processes.end())
        co_return Error{ErrorCode::NoNode, look.seesAllProcesses
                                               ? u"the server has no such connection any more"_s
                                               : u"the connection cannot be seen without the PROCESS privilege"_s};
    SessionActivity doing;
    doing.isRunning = !process->isIdle;
    doing.statement = process->statement;
    doing.state = process->state;
    doing.inState = process->inState;
    if (const auto *open = SqlPollIndex::transactionOf(look, connection)) {
        if (open->started)
            doing.transactionAge = std::max(milliseconds(0), look.now - *open->started);
        doing.rowsLocked = open->rowsLocked;
        doing.rowsModified = open->rowsModified;
    }
    if (!reader.rowLocksGap().isEmpty())
        doing.gaps << u"its transaction cannot be seen: %1"_s.arg(reader.rowLocksGap());
    if (!look.rowsAreFresh)
        doing.gaps << u"the data about its transaction is slightly older"_s;
    if (!doing.statement.isEmpty())
        co_return doing;
    auto asking = session->execute(
        {mariadb::sqlText("mariadb-last-statements").replace("?", QByteArray::number(connection)), {}, {}, false},
        deadline);
    const auto rows = co_await asking;
    if (rows)
        doing.statement =
            rows->rows.empty() ? QByteArray() : rows->cell(rows->rows.size() - 1, "statement").value_or(QByteArray());
    if (!rows)
        doing.gaps << u"could not read its last statement: %1"_s.arg(rows.error().message);
    else if (doing.statement.isEmpty() && !rows->rows.empty())
        doing.gaps << u"the server keeps no text of its last statement, as of a prepared one"_s;
    else if (doing.statement.isEmpty())
        doing.gaps << u"its last statement is not kept: performance_schema is off, or does not record statements"_s;
    co_return doing;
}

} // namespace lockscope::inspect
