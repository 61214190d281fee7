// SPDX-License-Identifier: Apache-2.0
#include "core/world/mariadb/answer.h"

namespace lockscope::world {

SqlAnswer error(int number, const QByteArray &message)
{
    SqlAnswer answer;
    answer.error = number;
    answer.message = message;
    return answer;
}

SqlAnswer cells(const QByteArrayList &columns, std::vector<mariadb::Rows::Cell> row)
{
    SqlAnswer answer;
    answer.rows.columns = columns;
    answer.rows.rows.push_back(std::move(row));
    answer.rows.affected = 1;
    return answer;
}

SqlAnswer lockWaitTimeout()
{
    return error(1205, "Lock wait timeout exceeded");
}

SqlAnswer deadlock()
{
    return error(1213, "Deadlock found");
}

SqlAnswer transactionIsAborted()
{
    return error(1402, "The transaction is aborted: nothing is done until it is rolled back");
}

} // namespace lockscope::world
