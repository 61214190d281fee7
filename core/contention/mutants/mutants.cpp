// SPDX-License-Identifier: Apache-2.0
#include "core/contention/mutants/mutants.h"

#include "core/contention/mutants/brokenports.h"
#include "core/contention/mutants/brokenqueue.h"

#include <algorithm>

namespace lockscope::contention {

using namespace Qt::StringLiterals;

namespace {

// What is another's than the recipe's; null where it is not.
struct Mistake {
    std::unique_ptr<recipes::Lock> (*lock)(zk::Session &session, const ZPath &lock, Random random) = nullptr;
    std::unique_ptr<TracedSession> (*session)(zk::Session &inner, Trace &trace, int contender) = nullptr;
    std::unique_ptr<TracedConnection> (*connection)(redis::Connection &inner, Trace &trace, int contender) = nullptr;
};

template <class Lock>
std::unique_ptr<recipes::Lock> mistakenLock(zk::Session &session, const ZPath &lock, Random random)
{
    return std::make_unique<Lock>(session, lock, std::move(random));
}

template <class Port, class Traced, class Inner>
std::unique_ptr<Traced> mistakenPort(Inner &inner, Trace &trace, int contender)
{
    return std::make_unique<Port>(inner, trace, contender);
}

struct MutantRow {
    Mutant mutant;
    Mistake mistake;
};

const std::vector<MutantRow> &mutantRows()
{
    static const std::vector<MutantRow> all{
        {{"broken-forgets-to-look", "zk-mutex", QT_TRANSLATE_NOOP("Recipe", "Broken: does not look again"),
          u"woken by its predecessor's end it takes the lock without looking again: wrong when that one only gave up, "
          u"crashed or was removed while it waited"_s},
         {.lock = mistakenLock<ForgetsToLook>}},
        {{"broken-timeout-as-grant", "zk-mutex",
          QT_TRANSLATE_NOOP("Recipe", "Broken: takes the timeout for the lock"),
          u"takes the end of its wait for the lock: wrong when nobody told it anything, and its time was over"_s,
          std::chrono::milliseconds(100)},
         {.lock = mistakenLock<TimeoutAsGrant>}},
        {{"broken-blind-shortcut", "zk-eager-mutex",
          QT_TRANSLATE_NOOP("Recipe", "Broken: does not watch its own node"),
          u"trusts its predecessor's end without watching its own node: wrong when an operator removed that"_s},
         {.lock = mistakenLock<BlindShortcut>}},
        {{"broken-lookup-without-sync", "zk-mutex", QT_TRANSLATE_NOOP("Recipe", "Broken: looks without sync"),
          u"after a lost reply it looks for its node on a follower that may lag, and makes a second one"_s},
         {.session = mistakenPort<UnsyncedSession, TracedSession>}},
        {{"broken-persistent-node", "zk-ephemeral", QT_TRANSLATE_NOOP("Recipe", "Broken: a persistent node"),
          u"its node is persistent: when the holder crashes, or its session ends, it stays for ever"_s},
         {.session = mistakenPort<PersistentSession, TracedSession>}},
        {{"broken-unlock-without-compare", "redis-set-nx",
          QT_TRANSLATE_NOOP("Recipe", "Broken: DEL without comparing"),
          u"unlocks with DEL: after its lease it deletes its successor's key"_s},
         {.connection = mistakenPort<UncomparingConnection, TracedConnection>}},
    };
    return all;
}

Mistake mistakeOf(const QByteArray &id)
{
    const auto row =
        std::ranges::find(mutantRows(), id, [](const MutantRow &one) -> const QByteArray & { return one.mutant.id; });
    return row == mutantRows().end() ? Mistake() : row->mistake;
}

} // namespace

const std::vector<Mutant> &mutants()
{
    static const auto all = [] {
        std::vector<Mutant> list;
        for (const auto &row : mutantRows())
            list.push_back(row.mutant);
        return list;
    }();
    return all;
}

const Mutant *findMutant(const QByteArray &id)
{
    const auto at = std::ranges::find(mutants(), id, &Mutant::id);
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
    if (const auto make = mistakeOf(id).lock)
        return make(session, lock, std::move(random));
    const auto *mutant = findMutant(id);
    return recipes::makeLock(mutant ? mutant->of : id, session, lock, options, std::move(random));
}

std::unique_ptr<TracedSession> tracedFor(const QByteArray &id, zk::Session &inner, Trace &trace, int contender)
{
    if (const auto make = mistakeOf(id).session)
        return make(inner, trace, contender);
    return std::make_unique<TracedSession>(inner, trace, contender);
}

std::unique_ptr<TracedConnection> tracedFor(const QByteArray &id, redis::Connection &inner, Trace &trace,
                                            int contender)
{
    if (const auto make = mistakeOf(id).connection)
        return make(inner, trace, contender);
    return std::make_unique<TracedConnection>(inner, trace, contender);
}

} // namespace lockscope::contention
