// SPDX-License-Identifier: Apache-2.0
#include "core/passage/postgresqlprelude.h"

namespace lockscope::passage {

using namespace Qt::StringLiterals;

QByteArray PostgreSqlPrelude::request() const
{
    return QByteArray("\0\0\0\x08\x04\xd2\x16\x2f", 8);
}

Prelude::Step PostgreSqlPrelude::fromServer(const QByteArray &bytes)
{
    Step step;
    if (m_isOver) {
        step.toClient = bytes;
    } else if (!bytes.startsWith('S')) {
        step.problem = u"TLS: the server does not offer it"_s;
    } else if (bytes.size() > 1) {
        // Who stands in between could have put there what then passes for the server's own words.
        step.problem = u"TLS: something was said in clear after it was agreed on"_s;
    } else {
        step.startTls = true;
    }
    return step;
}

// Before TLS nobody is asked for any of it, and none of it may go out.
Prelude::Step PostgreSqlPrelude::fromClient(const QByteArray &bytes)
{
    Step step;
    if (m_isOver)
        step.toServer = bytes;
    else
        step.problem = u"TLS: the client spoke before it had begun"_s;
    return step;
}

Prelude::Step PostgreSqlPrelude::tlsStarted()
{
    m_isOver = true;
    return {};
}

std::unique_ptr<Prelude> makePostgreSqlPrelude()
{
    return std::make_unique<PostgreSqlPrelude>();
}

} // namespace lockscope::passage
