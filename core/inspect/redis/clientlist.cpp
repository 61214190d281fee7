// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/clientlist.h"

#include "core/base/text.h"

#include <map>

namespace lockscope::inspect {

namespace {

std::map<QByteArray, QByteArray> fieldsOf(const QByteArray &line)
{
    std::map<QByteArray, QByteArray> fields;
    for (const auto &part : line.split(' ')) {
        const auto equals = part.indexOf('=');
        if (equals > 0)
            fields[part.left(equals)] = part.mid(equals + 1);
    }
    return fields;
}

} // namespace

std::vector<SessionSnapshot> readClientList(const QByteArray &list, const QByteArrayList &ours,
                                            const ConnectionName &name)
{
    std::vector<SessionSnapshot> sessions;
    for (const auto &line : list.split('\n')) {
        auto fields = fieldsOf(line);
        const auto &id = fields["id"];
        if (id.isEmpty() || ours.contains(id))
            continue;
        SessionSnapshot session;
        session.connection = name;
        session.session = label(id, 40);
        if (const auto &address = fields["addr"]; !address.isEmpty())
            session.endpoint = label(address, 120);
        if (const auto &called = fields["name"]; !called.isEmpty())
            session.client = label(called, 120);
        sessions.push_back(std::move(session));
    }
    return sessions;
}

} // namespace lockscope::inspect
