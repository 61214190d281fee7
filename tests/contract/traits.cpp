// SPDX-License-Identifier: Apache-2.0
#include "traits.h"

namespace lockscope::contract {

using namespace Qt::StringLiterals;
using recipes::EndsBy;
using recipes::Shape;

namespace {

// A flaw of the algorithm itself, which the catalogue admits: these behaviours cannot hold.
struct Exception {
    QByteArrayList behaviours;
    bool (*concerns)(const RecipeInfo &);
    QString reason;
};

const std::vector<Exception> &exceptions()
{
    static const std::vector<Exception> all{
        {{"A4"},
         [](const RecipeInfo &recipe) { return recipe.quorum; },
         u"tries that split the votes may all fail; A3 is checked instead"_s},
        {{"G1", "G4", "G5", "H3"},
         [](const RecipeInfo &recipe) { return !recipe.atomicAcquire; },
         u"a reply that is lost on the way locks for ever"_s},
        {{"G8", "G9", "H11"}, // of H11, G16 is checked instead
         [](const RecipeInfo &recipe) { return recipe.endsBy == EndsBy::Never; },
         u"nothing ends the lock of a dead client"_s},
        {{"A11", "D3", "G5"},
         [](const RecipeInfo &recipe) { return !recipe.namesHolder; },
         u"whoever comes late releases the next one's"_s},
        {{"G17", "H8"},
         [](const RecipeInfo &recipe) { return !recipe.namesHolder; },
         u"its value does not say whose it is"_s},
        {{"D1", "D13", "G8", "G9", "H4"},
         [](const RecipeInfo &recipe) { return recipe.endsBy == EndsBy::Timestamp; },
         u"the value says until when, and the key has no TTL"_s},
        {{"G8", "G9"},
         [](const RecipeInfo &recipe) { return recipe.endsBy == EndsBy::PermitDeadline; },
         u"a permit ends by its own note, which goes when the next one asks"_s},
        {{"C14"},
         [](const RecipeInfo &recipe) { return recipe.shape == Shape::Permits; },
         u"kazoo takes every child for a permit that is out, and so do we"_s},
        {{"C14"},
         [](const RecipeInfo &recipe) { return recipe.shape == Shape::Node; },
         u"the lock is one node, and no directory: nothing foreign can stand in it"_s},
        {{"D6"},
         [](const RecipeInfo &recipe) { return recipe.shape == Shape::Leases; },
         u"etcd keeps keys and leases on disk: one that is started anew has forgotten nothing"_s},
        {{"D6"},
         [](const RecipeInfo &recipe) { return recipe.shape == Shape::Row; },
         u"a committed row stands on disk: a server that is started anew has forgotten nothing"_s},
        {{"C14"},
         [](const RecipeInfo &recipe) { return recipe.shape == Shape::Leases; },
         u"etcd's clients wait for every older key below the prefix, whatever it is, and so do we: tst_etcd"_s},
        {{"A15"},
         [](const RecipeInfo &recipe) { return recipe.shape == Shape::Leases; },
         u"who may do what is asked once etcd asks everybody for a password: tst_etcd"_s},
        {{"A15"},
         [](const RecipeInfo &recipe) { return recipe.shape == Shape::NamedLock; },
         u"a named lock needs no privilege"_s},
        {{"H11"},
         [](const RecipeInfo &recipe) { return recipe.optimistic; },
         u"a version grows with each write, not with each reading; G16 is checked instead"_s},
    };
    return all;
}

QString lacking(const RecipeInfo &recipe, Need need)
{
    const bool isOfSession = recipe.endsBy == EndsBy::Session;
    const bool isLeased = !isOfSession && recipe.endsBy != EndsBy::Never;
    const auto unless = [](bool has, const QString &words) { return has ? QString() : words; };
    switch (need) {
    case Need::Exclusive: return unless(!recipe.optimistic, u"nobody waits for anybody"_s);
    case Need::Fair: return unless(recipe.fair, u"not fair"_s);
    case Need::Reentrant: return unless(recipe.reentrant, u"not reentrant"_s);
    case Need::NotReentrant: return unless(!recipe.reentrant, u"reentrant"_s);
    case Need::Lease: return unless(isLeased, u"not held by a lease"_s);
    case Need::Session: return unless(isOfSession, u"not held by a session"_s);
    case Need::Renewed:
        return unless(recipe.renewed, isLeased ? u"its lease is not prolonged"_s : u"not held by a lease"_s);
    case Need::ReadWrite: return unless(recipe.readWrite, u"no read mode"_s);
    case Need::Counted: return unless(recipe.counted, u"one permit only"_s);
    case Need::Token: return unless(recipe.fenced, u"no fencing token"_s);
    case Need::Record: return unless(!recipe.optimistic, u"the server does not know who holds it"_s);
    case Need::Polls: return unless(recipe.counts.wakeUps == u"0"_s, u"its waiters are woken"_s);
    case Need::Woken: return unless(recipe.counts.wakeUps != u"0"_s, u"its waiters hear nothing"_s);
    case Need::SharedClient: return unless(!livesWithConnection(recipe), u"one connection carries one such lock"_s);
    case Need::Containers: return unless(recipe.containers, u"it makes no directories that the server removes"_s);
    case Need::Outlives: return unless(!livesWithConnection(recipe), u"it ends with its connection"_s);
    case Need::ZooKeeper: return unless(recipe.backend == BackendKind::ZooKeeper, u"not on ZooKeeper"_s);
    case Need::Redis: return unless(recipe.backend == BackendKind::Redis, u"not on Redis"_s);
    }
    return {};
}

} // namespace

QString whyNot(const QByteArray &behaviour, const RecipeInfo &recipe, const std::vector<Need> &needs,
               const QString &instead)
{
    const QString name = QString::fromLatin1(recipe.id);
    const QString id = QString::fromLatin1(behaviour);
    const QString tail = instead.isEmpty() ? QString() : u"; "_s + instead;
    for (const auto &exception : exceptions()) {
        if (exception.behaviours.contains(behaviour) && exception.concerns(recipe))
            return u"%1: %2, so %3 does not hold"_s.arg(name, exception.reason, id);
    }
    for (const auto need : needs) {
        const QString lacks = lacking(recipe, need);
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
        {"A16", u"on a real cluster, with a failover: tst_redis_deployments"_s},
        {"C7", u"nothing interrupts an acquire but destroying it: C5, C6, C8"_s},
        {"C12", u"no count of retries: one total deadline (C2, H7)"_s},
        {"C15", u"foreign names are read by turn.h: tst_turn; and with foreign clients: tests/interop"_s},
        {"D8", u"no extend call: a lease is prolonged while it is held (D5, D12), and never revived (D11)"_s},
        {"D9", u"no call to set a lease anew: it is prolonged to its whole length each time (B7, D5)"_s},
        {"E3", u"each Lock is one side: an owner's two sides together: tst_recipes_curator"_s},
        {"E4", u"each Lock is one side: an owner's two sides together: tst_recipes_curator"_s},
        {"E9", u"each Lock is one side and answers for itself: E3"_s},
        {"F3", u"the number of permits is given with each Lock and cannot be changed while it waits"_s},
        {"F8", u"a set of locks of any recipes: tst_recipes_multilock"_s},
        {"F9", u"a set of locks of any recipes: tst_recipes_multilock"_s},
        {"F10", u"a set of locks of any recipes: tst_recipes_multilock"_s},
        {"G2", u"first trouble only: G1 shows that clean-up never replaces it"_s},
        {"G7", u"one server, not an ensemble: G5 restarts it, G6 ends the session"_s},
        {"G11", u"only Curator has it: tst_recipes_curator"_s},
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
    case 'A': return 16;
    case 'B': return 7;
    case 'C': return 15;
    case 'D': return 13;
    case 'E':
    case 'F': return 10;
    case 'G': return 17;
    default: return 15; // H
    }
}

} // namespace lockscope::contract
