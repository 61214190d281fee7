// SPDX-License-Identifier: Apache-2.0
#include "core/contention/mutants/mutants.h"

#include "core/contention/mutants/brokenports.h"
#include "core/contention/mutants/brokenqueue.h"

#include <algorithm>

namespace lockscope::contention {

using namespace Qt::StringLiterals;

const std::vector<Mutant> &mutants()
{
    static const std::vector<Mutant> all{
        {"broken-forgets-to-look", "zk-mutex", QT_TRANSLATE_NOOP("Recipe", "Broken: does not look again"),
         u"woken by its predecessor's end it takes the lock without looking again: wrong when that one only gave up, "
         u"crashed or was removed while it waited"_s},
        {"broken-timeout-as-grant", "zk-mutex", QT_TRANSLATE_NOOP("Recipe", "Broken: takes the timeout for the lock"),
         u"takes the end of its wait for the lock: wrong when nobody told it anything, and its time was over"_s,
         std::chrono::milliseconds(100)},
        {"broken-blind-shortcut", "zk-eager-mutex",
         QT_TRANSLATE_NOOP("Recipe", "Broken: does not watch its own node"),
         u"trusts its predecessor's end without watching its own node: wrong when an operator removed that"_s},
        {"broken-lookup-without-sync", "zk-mutex", QT_TRANSLATE_NOOP("Recipe", "Broken: looks without sync"),
         u"after a lost reply it looks for its node on a follower that may lag, and makes a second one"_s},
        {"broken-persistent-node", "zk-ephemeral", QT_TRANSLATE_NOOP("Recipe", "Broken: a persistent node"),
         u"its node is persistent: when the holder crashes, or its session ends, it stays for ever"_s},
        {"broken-unlock-without-compare", "redis-set-nx",
         QT_TRANSLATE_NOOP("Recipe", "Broken: DEL without comparing"),
         u"unlocks with DEL: after its lease it deletes its successor's key"_s},
    };
    return all;
}

const Mutant *findMutant(const QByteArray &id)
{
    const auto at =
        std::find_if(mutants().begin(), mutants().end(), [&](const Mutant &mutant) { return mutant.id == id; });
    return at == mutants().end() ? nullptr : &*at;
}

const recipes::RecipeInfo *playable(const QByteArray &id)
{
    const auto *mutant = findMutant(id);
    return recipes::findRecipe(mutant ? mutant->of : id);
}

Result<std::unique_ptr<recipes::Lock>> makePlayableLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                                        const recipes::AcquireOptions &options, Random random)
{
    if (id == "broken-forgets-to-look")
        return std::unique_ptr<recipes::Lock>(std::make_unique<ForgetsToLook>(session, lock, random));
    if (id == "broken-timeout-as-grant")
        return std::unique_ptr<recipes::Lock>(std::make_unique<TimeoutAsGrant>(session, lock, random));
    if (id == "broken-blind-shortcut")
        return std::unique_ptr<recipes::Lock>(std::make_unique<BlindShortcut>(session, lock, random));
    const auto *mutant = findMutant(id);
    return recipes::makeLock(mutant ? mutant->of : id, session, lock, options, random);
}

std::unique_ptr<TracedSession> tracedFor(const QByteArray &id, zk::Session &inner, Trace &trace, int contender)
{
    if (id == "broken-lookup-without-sync")
        return std::make_unique<UnsyncedSession>(inner, trace, contender);
    if (id == "broken-persistent-node")
        return std::make_unique<PersistentSession>(inner, trace, contender);
    return std::make_unique<TracedSession>(inner, trace, contender);
}

std::unique_ptr<TracedConnection> tracedFor(const QByteArray &id, redis::Connection &inner, Trace &trace,
                                            int contender)
{
    if (id == "broken-unlock-without-compare")
        return std::make_unique<UncomparingConnection>(inner, trace, contender);
    return std::make_unique<TracedConnection>(inner, trace, contender);
}

} // namespace lockscope::contention
