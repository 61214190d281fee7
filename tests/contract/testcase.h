// SPDX-License-Identifier: Apache-2.0
// One lock of one recipe, and the contenders for it.
#pragma once

#include "testenvironment.h"
#include "tests/support/contender.h"
#include "traits.h"

namespace lockscope::contract {

// With the client it uses. Destroying it destroys the Lock.
class Contender : public testing::Contender {
public:
    Contender(Loop &loop, Client &client, std::unique_ptr<recipes::Lock> made)
        : testing::Contender(loop, std::move(made)), m_client(&client)
    {
    }
    [[nodiscard]] Client &client() const { return *m_client; }
    // In words, whatever happened to the last acquire.
    [[nodiscard]] QString outcome() const;

private:
    Client *m_client;
};

enum class Side { Write, Read };

class TestCase {
public:
    TestCase(TestEnvironment &where, const RecipeInfo &which)
        : environment(where), recipe(which), name(where.freshName(which))
    {
        if (livesWithConnection(recipe)) // those of other recipes in the same scene must not meet
            m_firstClient = 8 * size_t(&which - recipes::catalogue().data());
    }
    ~TestCase();
    TestCase(const TestCase &) = delete;
    TestCase &operator=(const TestCase &) = delete;

    // With the next standing client of the environment.
    Contender &join(Side side = Side::Write) { return joinWith(client(contenders.size()), side); }
    Client &client(size_t i) { return environment.client(m_firstClient + i); }
    Contender &joinWith(Client &client, Side side = Side::Write);
    // With a client that dies when it is cut off.
    Contender &joinMortal(Side side = Side::Write);
    Contender &operator[](size_t i) { return *contenders[i]; }

    [[nodiscard]] QByteArrayList claims() { return environment.claims(name); }

    // Each says what went wrong; empty if it went as it should.
    QString takes(Contender &who);
    QString givesBack(Contender &who);
    QString isRefused(Contender &who, Deadline deadline);
    QString isRefused(Contender &who) { return isRefused(who, Deadline::at(environment.loop().now())); }
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

    TestEnvironment &environment;
    const RecipeInfo &recipe;
    const TestName name;
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
