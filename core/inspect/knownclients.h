// SPDX-License-Identifier: Apache-2.0
// Clients whose locks behave in a way of their own: what they are called, and all that other code asks about them.
// Recognisers name a row of resources/rules/known-clients.json; whoever acts reads the traits in the snapshot.
#pragma once

#include "core/base/fieldreader.h"
#include "core/inspect/snapshot.h"

namespace lockscope::inspect {

struct KnownClient {
    QByteArray id = {};
    QString name = {};
    ClientTraits traits = {}; // their texts are the row's
    QString notices = {}, deletesBlindly = {};
    QByteArray exclusiveMark = {};
    bool writesTokens = false;
    QByteArrayList advisoryKeys = {}; // of PostgreSQL, that are always the same
};

[[nodiscard]] inline const std::vector<KnownClient> &knownClients()
{
    static const auto all = [] {
        std::vector<KnownClient> clients;
        readResourceList(u"rules/known-clients.json"_s, "clients", [&clients](FieldReader &reader) {
            auto &client = clients.emplace_back();
            client.id = reader.text("id").toLatin1();
            client.name = reader.text("name");
            client.notices = reader.text("notices", QString());
            client.deletesBlindly = reader.text("deletesBlindly", QString());
            client.exclusiveMark = reader.text("exclusiveMark", QString()).toLatin1();
            reader.take("writesTokens", client.writesTokens);
            if (reader.has("advisoryKeys"))
                client.advisoryKeys = reader.texts("advisoryKeys");
            auto &traits = client.traits;
            reader.take("isOfOneNode", traits.isOfOneNode);
            reader.take("waitsOnList", traits.waitsOnList);
            reader.take("waitsOnChannel", traits.waitsOnChannel);
            reader.take("putsKeyBack", traits.putsKeyBack);
        });
        for (auto &[id, name, traits, notices, deletesBlindly, exclusiveMark, writesTokens, keys] : clients) {
            traits.notices = notices.isEmpty() ? nullptr : QStringView(notices).utf16();
            traits.deletesBlindly = deletesBlindly.isEmpty() ? nullptr : QStringView(deletesBlindly).utf16();
            traits.exclusiveMark = exclusiveMark.isEmpty() ? nullptr : exclusiveMark.constData();
        }
        return clients;
    }();
    return all;
}

// By an id that is there.
[[nodiscard]] inline const KnownClient &knownClient(QByteArrayView id)
{
    return *std::ranges::find(knownClients(), id, [](const KnownClient &one) { return QByteArrayView(one.id); });
}

inline void attribute(LockSnapshot &lock, const KnownClient &client)
{
    lock.client = client.name;
    lock.clientTraits = client.traits;
}

} // namespace lockscope::inspect
