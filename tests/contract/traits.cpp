// SPDX-License-Identifier: Apache-2.0
#include "traits.h"

#include <algorithm>

namespace lockscope::contract {

using namespace Qt::StringLiterals;

namespace {

bool admits(const RecipeInfo &recipe, const QString &words)
{
    return std::any_of(recipe.flaws.begin(), recipe.flaws.end(),
                       [&](const QString &flaw) { return flaw.contains(words); });
}

// A flaw of the algorithm itself, which the catalogue admits: the behaviour cannot hold.
struct Exception {
    QByteArray behaviour;
    QByteArray recipe;
    QString reason;
};

const std::vector<Exception> &exceptions()
{
    static const auto anyoneReleases = u"whoever comes late releases the next one's"_s;
    static const auto lockedForEver = u"a reply that is lost between its two commands locks for ever"_s;
    static const auto permitsEnd = u"a permit ends by its own note, which goes when the next one asks"_s;
    static const auto nobodysValue = u"its value does not say whose it is"_s;
    static const auto itsOwnTime = u"the value says until when, and the key has no TTL"_s;
    static const std::vector<Exception> all{
        {"A4", "redlock", u"tries that split the votes may all fail; A3 is checked instead"_s},
        {"A11", "redis-setnx-expire", anyoneReleases},
        {"D3", "redis-setnx-expire", anyoneReleases},
        {"A11", "redis-getset", anyoneReleases},
        {"D3", "redis-getset", anyoneReleases},
        {"G1", "redis-setnx-expire", lockedForEver},
        {"G4", "redis-setnx-expire", lockedForEver},
        {"G5", "redis-setnx-expire", lockedForEver},
        {"G5", "redis-getset", anyoneReleases},
        {"G8", "redis-getset", itsOwnTime},
        {"G8", "redisson-semaphore", permitsEnd},
        {"G9", "redisson-semaphore", permitsEnd},
        {"G17", "redis-setnx-expire", nobodysValue},
        {"G17", "redis-getset", nobodysValue},
        {"H8", "redis-setnx-expire", nobodysValue},
        {"H8", "redis-getset", nobodysValue},
        {"H3", "redis-setnx-expire", lockedForEver},
        {"H4", "redis-getset", itsOwnTime},
        {"D1", "redis-getset", itsOwnTime},
        {"G9", "redis-getset", itsOwnTime},
        {"D13", "redis-getset", itsOwnTime},
        {"C14", "kazoo-semaphore", u"kazoo takes every child for a permit that is out, and so do we"_s},
        {"A15", "sql-get-lock", u"a named lock needs no privilege"_s},
        {"H11", "sql-version", u"a version grows with each write, not with each reading; G16 is checked instead"_s},
        {"C14", "zk-ephemeral", u"the lock is one node, and no directory: nothing foreign can stand in it"_s},
    };
    return all;
}

QString lacking(const Traits &traits, Need need)
{
    const auto &recipe = *traits.recipe;
    const auto unless = [](bool has, const QString &words) { return has ? QString() : words; };
    switch (need) {
    case Need::Exclusive:
        return unless(traits.isExclusive, u"nobody waits for anybody"_s);
    case Need::Fair:
        return unless(recipe.fair, u"not fair"_s);
    case Need::Reentrant:
        return unless(recipe.reentrant, u"not reentrant"_s);
    case Need::NotReentrant:
        return unless(!recipe.reentrant, u"reentrant"_s);
    case Need::Lease:
        return unless(traits.keptBy == KeptBy::Lease, u"held by a session, not by a lease"_s);
    case Need::Session:
        return unless(traits.keptBy == KeptBy::Session, u"held by a lease, not by a session"_s);
    case Need::Renewed:
        return unless(traits.isRenewed, traits.keptBy == KeptBy::Lease ? u"its lease is not prolonged"_s
                                                                       : u"held by a session, not by a lease"_s);
    case Need::ReadWrite:
        return unless(recipe.readWrite, u"no read mode"_s);
    case Need::Counted:
        return unless(recipe.counted, u"one permit only"_s);
    case Need::Token:
        return unless(traits.hasToken, u"no fencing token"_s);
    case Need::Record:
        return unless(traits.keepsRecord, u"the server does not know who holds it"_s);
    case Need::Polls:
        return unless(recipe.wakeupsPerRelease == u"0"_s, u"its waiters are woken"_s);
    case Need::Woken:
        return unless(recipe.wakeupsPerRelease != u"0"_s, u"its waiters hear nothing"_s);
    case Need::SharedClient:
        return unless(traits.sharesClients, u"one connection carries one such lock"_s);
    case Need::Containers:
        return unless(traits.leavesContainers, u"it makes no directories that the server removes"_s);
    case Need::Outlives:
        return unless(traits.outlivesConnections, u"it ends with its connection"_s);
    case Need::ZooKeeper:
        return unless(recipe.backend == BackendKind::ZooKeeper, u"not on ZooKeeper"_s);
    case Need::Redis:
        return unless(recipe.backend == BackendKind::Redis, u"not on Redis"_s);
    }
    return {};
}

} // namespace

Traits::Traits(const RecipeInfo &info)
    : recipe(&info), keptBy(info.backend == BackendKind::Redis ? KeptBy::Lease : KeptBy::Session),
      isRenewed(keptBy == KeptBy::Lease && !admits(info, u"not prolonged"_s)), hasToken(!admits(info, u"no fencing token"_s)),
      keepsRecord(info.id != "sql-version"), isExclusive(info.id != "sql-version"),
      losesTokens(admits(info, u"lost with the data"_s)), storesLimit(info.counted && !admits(info, u"number of permits is not stored"_s)),
      leavesContainers(info.id == "zk-mutex" || info.id.startsWith("curator-")), needsSeveral(info.id == "redlock"),
      sharesClients(info.backend != BackendKind::MariaDb), outlivesConnections(sharesClients)
{
}

QString whyNot(const QByteArray &behaviour, const RecipeInfo &recipe, const std::vector<Need> &needs,
               const QString &instead)
{
    const QString name = QString::fromLatin1(recipe.id);
    const QString id = QString::fromLatin1(behaviour);
    const QString tail = instead.isEmpty() ? QString() : u"; "_s + instead;
    for (const auto &exception : exceptions()) {
        if (exception.behaviour == behaviour && exception.recipe == recipe.id)
            return u"%1: %2, so %3 does not hold"_s.arg(name, exception.reason, id);
    }
    const Traits traits(recipe);
    for (const auto need : needs) {
        const QString lacks = lacking(traits, need);
        if (!lacks.isEmpty())
            return u"%1: %2, so %3 does not apply%4"_s.arg(name, lacks, id, tail);
    }
    return {};
}

const std::vector<NotHere> &notHere()
{
    static const std::vector<NotHere> all{
        {"A12", u"Lockscope makes its tokens itself and takes none; A11 and D3 check that they decide"_s},
        {"A13", u"a hold stays with its Lock; taking it by its token is force-release: tst_ctl_forcerelease"_s},
        {"A16", u"no Redis Cluster in this version"_s},
        {"C7", u"nothing interrupts an acquire but destroying it: C5, C6, C8"_s},
        {"C12", u"no count of retries: one total deadline (C2, H7)"_s},
        {"C15", u"foreign names are read by turn.h: tst_turn; and with foreign clients: tests/interop"_s},
        {"D8", u"no extend call: a lease is prolonged while it is held (D5, D12), and never revived (D11)"_s},
        {"D9", u"no call to set a lease anew: it is prolonged to its whole length each time (B7, D5)"_s},
        {"E3", u"each Lock is one side: an owner's two sides together: tst_recipes_curator_owner"_s},
        {"E4", u"each Lock is one side: an owner's two sides together: tst_recipes_curator_owner"_s},
        {"E9", u"each Lock is one side and answers for itself: E3"_s},
        {"F3", u"the number of permits is given with each Lock and cannot be changed while it waits"_s},
        {"F8", u"a set of locks of any recipes: tst_recipes_multilock"_s},
        {"F9", u"a set of locks of any recipes: tst_recipes_multilock"_s},
        {"F10", u"a set of locks of any recipes: tst_recipes_multilock"_s},
        {"G2", u"first trouble only: G1 shows that clean-up never replaces it"_s},
        {"G7", u"one server, not an ensemble: G5 restarts it, G6 ends the session"_s},
        {"G11", u"only Curator has it: tst_recipes_curator_owner"_s},
        {"G13", u"Redlock's only: tst_recipes_redlock"_s},
        {"G14", u"Redlock's only: tst_recipes_redlock"_s},
        {"G15", u"Redlock's only: tst_recipes_redlock"_s},
        {"H5", u"a real counter cannot be brought there: tst_turn, and a port that fakes it in "
               "tst_recipes_zookeeper_faults (aSpentCounterIsRefused)"_s},
        {"H12", u"clocks of a real machine are not turned: deadlines are Instants of a monotonic clock"_s},
        {"H14", u"the inspector's part: tst_recognise_zookeeper, tst_recognise_redis"_s},
        {"H15", u"Redisson's only: tst_recipes_redisson"_s},
    };
    return all;
}

int behavioursUnder(char letter)
{
    switch (letter) {
    case 'A':
        return 16;
    case 'B':
        return 7;
    case 'C':
        return 15;
    case 'D':
        return 13;
    case 'E':
    case 'F':
        return 10;
    case 'G':
        return 17;
    default:
        return 15; // H
    }
}

} // namespace lockscope::contract
