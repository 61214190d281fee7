// SPDX-License-Identifier: Apache-2.0
// Which behaviour (docs/behaviours.md) applies to which recipe, and why not: read from the catalogue, so that a
// recipe that becomes acquirable is held to all of them without a line here. What the catalogue does not say in
// a field, and the flaws it admits, stand in two small tables in traits.cpp.
#pragma once

#include "core/rules/catalogue.h"

namespace lockscope::contract {

using recipes::RecipeInfo;

// What a hold ends by when its client is gone.
enum class KeptBy { Session, Lease };

struct Traits {
    explicit Traits(const RecipeInfo &recipe);

    const RecipeInfo *recipe;
    KeptBy keptBy;
    bool isRenewed;     // the lease is prolonged while it is held
    bool hasToken;      // a fencing token
    bool keepsRecord;   // the server knows who holds it
    bool isExclusive;   // one contender keeps another waiting
    bool losesTokens;   // they begin anew when the server's data is gone
    bool storesLimit;   // clients that disagree on the number of permits are told
    bool leavesContainers; // its lock directory is the server's to remove
    bool needsSeveral;  // servers
    bool sharesClients; // several of its locks on one client
    bool outlivesConnections; // a broken connection ends neither hold nor wait
};

enum class Need {
    Exclusive,
    Fair,
    Reentrant,
    NotReentrant,
    Lease,
    Session,
    Renewed,
    ReadWrite,
    Counted,
    Token,
    Record,
    Polls,
    Woken, // the opposite
    SharedClient,
    Containers,
    Outlives, // broken connections; so that a single lost reply can be told from them
    ZooKeeper,
    Redis,
};

// Empty if the behaviour applies. `instead` says where it is checked otherwise.
[[nodiscard]] QString whyNot(const QByteArray &behaviour, const RecipeInfo &recipe, const std::vector<Need> &needs,
                             const QString &instead = {});

struct NotHere {
    QByteArray behaviour;
    QString reason;
};
// Behaviours of the list about things that Lockscope does not have, or that another suite checks.
[[nodiscard]] const std::vector<NotHere> &notHere();
// How many there are under a letter, in docs/behaviours.md: A1 … A16.
[[nodiscard]] int behavioursUnder(char letter);

} // namespace lockscope::contract
