// SPDX-License-Identifier: Apache-2.0
// Clients whose locks behave in a way of their own: what they are called, and all that other code asks about them.
// Recognisers name a row of resources/rules/known-clients.json; whoever acts reads the traits in the snapshot.
#pragma once

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

[[nodiscard]] const std::vector<KnownClient> &knownClients();
// By an id that is there.
[[nodiscard]] const KnownClient &knownClient(QByteArrayView id);

inline void attribute(LockSnapshot &lock, const KnownClient &client)
{
    lock.client = client.name;
    lock.clientTraits = client.traits;
}

} // namespace lockscope::inspect
