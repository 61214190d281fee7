// SPDX-License-Identifier: Apache-2.0
// Which behaviour (tests/behaviours.md) applies to which recipe, and why not: read from the catalogue, so that a
// recipe that becomes acquirable is held to all of them without a line here. What the flaws it admits make of a
// behaviour stands in a small table in traits.cpp.
#pragma once

#include "core/rules/catalogue.h"

namespace lockscope::contract {

using recipes::RecipeInfo;

// A lock of a database lives with its connection, which carries one lock and whose end ends hold and wait; but for a
// row that says itself until when it is locked.
[[nodiscard]] inline bool livesWithConnection(const RecipeInfo &recipe)
{
    const bool isOfDatabase = recipe.backend == BackendKind::MariaDb || recipe.backend == BackendKind::PostgreSql;
    return isOfDatabase && recipe.endsBy == recipes::EndsBy::Session;
}

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
// How many there are under a letter, in tests/behaviours.md: A1 … A16.
[[nodiscard]] int behavioursUnder(char letter);

} // namespace lockscope::contract
