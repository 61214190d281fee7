// SPDX-License-Identifier: Apache-2.0
// Names and values in a statement, safe whatever they hold.
#pragma once

#include "core/base/result.h"
#include "core/mariadb/session.h"

namespace lockscope::postgresql {

// "name", with the quotes.
[[nodiscard]] QByteArray quotedName(const QByteArray &name);
// 'text', which the server reads as what it is compared with.
[[nodiscard]] QByteArray quotedText(const QByteArray &text);
// The statement with its parameters in the place of the ?, those inside of quotes excepted: a server's PREPARE would
// cost a request, and its DEALLOCATE is refused in a transaction that failed. BadInput for what a PostgreSQL cannot
// be told: a zero byte, what is not UTF-8, or more or fewer parameters than places.
[[nodiscard]] Result<QByteArray> withParameters(const mariadb::Statement &statement);

} // namespace lockscope::postgresql
