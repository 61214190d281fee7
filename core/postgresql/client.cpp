// SPDX-License-Identifier: Apache-2.0
#include "core/postgresql/client.h"

#include "core/postgresql/dialect.h"

namespace lockscope::postgresql {

std::unique_ptr<mariadb::Session> openSession(Loop &loop, mariadb::SessionOptions options)
{
    options.dialect = &dialect();
    return mariadb::openSession(loop, std::move(options));
}

} // namespace lockscope::postgresql
