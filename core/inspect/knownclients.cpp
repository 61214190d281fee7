// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/knownclients.h"

#include "core/base/fieldreader.h"

namespace lockscope::inspect {

const std::vector<KnownClient> &knownClients()
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

const KnownClient &knownClient(QByteArrayView id)
{
    return *std::ranges::find(knownClients(), id, [](const KnownClient &one) { return QByteArrayView(one.id); });
}

} // namespace lockscope::inspect
