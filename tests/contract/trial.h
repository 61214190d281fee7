// SPDX-License-Identifier: Apache-2.0
// One lock of one recipe, and the contenders for it.
#pragma once

#include "arena.h"
#include "core/async/scope.h"
#include "traits.h"

namespace lockscope::contract {

// One claim, and what came of what was asked of it. Destroying it destroys the Lock.
class Contender {
public:
    Contender(Loop &loop, Client &client, std::unique_ptr<recipes::Lock> made)
        : lock(std::move(made)), m_loop(loop), m_client(&client), m_scope(loop)
    {
    }

    void acquire(Deadline deadline = Deadline::never());
    void tryOnce() { acquire(Deadline::at(m_loop.now())); }
    void release();
    void askWhether();
    // Listens for the loss.
    void heed();
    // Lets go of what this object waits for, not of the lock.
    void cancelWaits() { m_scope.cancelAll(); }

    [[nodiscard]] bool holds() const { return granted && *granted; }
    [[nodiscard]] const recipes::Grant &grant() const { return **granted; }
    [[nodiscard]] Client &client() const { return *m_client; }
    // In words, whatever happened to the last acquire.
    [[nodiscard]] QString outcome() const;

    std::unique_ptr<recipes::Lock> lock;
    std::optional<Result<recipes::Grant>> granted;
    std::optional<Result<bool>> released;
    std::optional<Result<bool>> mine;
    std::optional<recipes::Loss> loss;

private:
    Task<void> acquiring(Deadline deadline);
    Task<void> releasing();
    Task<void> asking();
    Task<void> heeding();

    Loop &m_loop;
    Client *m_client;
    Scope m_scope; // last: its coroutines use the lock
};

enum class Side { Write, Read };

class Trial {
public:
    Trial(Arena &where, const RecipeInfo &which) : arena(where), recipe(which), name(where.freshName(which))
    {
        if (livesWithConnection(recipe)) // those of other recipes in the same scene must not meet
            m_firstClient = 8 * size_t(&which - recipes::catalogue().data());
    }
    ~Trial();
    Trial(const Trial &) = delete;
    Trial &operator=(const Trial &) = delete;

    // With the next standing client of the arena.
    Contender &join(Side side = Side::Write) { return joinWith(client(contenders.size()), side); }
    Client &client(size_t i) { return arena.client(m_firstClient + i); }
    Contender &joinWith(Client &client, Side side = Side::Write);
    // With a client that dies when it is cut off.
    Contender &joinMortal(Side side = Side::Write);
    Contender &operator[](size_t i) { return *contenders[i]; }

    [[nodiscard]] QByteArrayList claims() { return arena.claims(name); }

    // Each says what went wrong; empty if it went as it should.
    QString takes(Contender &who);
    QString givesBack(Contender &who);
    QString isRefused(Contender &who, Deadline deadline);
    QString isRefused(Contender &who) { return isRefused(who, Deadline::at(arena.loop().now())); }
    QString comesToHold(Contender &who);
    // Starts to acquire and has settled down to wait.
    QString waits(Contender &who);
    QString knowsItIsMine(Contender &who, bool isMine = true);
    QString isNotHeldBy(Contender &who); // its release says so
    // Nothing of any contender is left on the server, and nobody listens.
    QString isClean();
    // Whether nothing on the server stands for what it held, when there were so many claims.
    bool hasLeft(Contender &who, qsizetype claimsBefore);
    // The server's word.
    QString isHeldBy(Contender &who);

    Arena &arena;
    const RecipeInfo &recipe;
    const TrialName name;
    std::vector<std::unique_ptr<Contender>> contenders;
    recipes::AcquireOptions options;
    QString problem; // of the scene it is part of

private:
    quint64 m_seed = 0;
    size_t m_firstClient = 0;
};

// Runs until the client has nothing out and asks nothing new for a moment.
void settle(const Client &client);

// Acquires and releases so many times, and keeps the books.
struct Tally {
    int inside = 0, most = 0, entered = 0, counter = 0;
    QStringList failures;
};
Task<void> contend(Contender *who, Loop *loop, int rounds, Tally *tally);

} // namespace lockscope::contract
