// SPDX-License-Identifier: Apache-2.0
#include "testcase.h"

#include "core/async/completion.h"

namespace lockscope::contract {

using namespace Qt::StringLiterals;

QString Contender::outcome() const
{
    if (!granted)
        return u"still waiting"_s;
    if (*granted)
        return u"granted "_s + QString::fromUtf8((*granted)->id);
    return u"error %1, \"%2\""_s.arg(int(granted->error().code)).arg(granted->error().message);
}

TestCase::~TestCase()
{
    contenders.clear();
    // The next test uses the same clients: what is cleared up in the background is not counted there.
    eventually([this] { return claims().isEmpty(); }, 500ms);
}

Contender &TestCase::joinWith(Client &client, Side side)
{
    auto with = options;
    with.readMode = side == Side::Read;
    // The name's number makes the tokens of different tests different.
    const quint64 seed = qHash(name) + 1000 * ++m_seed;
    auto made = client.make(recipe.id, name, with, Random(seed));
    if (!made)
        qFatal("%s", qPrintable(made.error().message));
    contenders.push_back(std::make_unique<Contender>(environment.loop(), client, std::move(*made)));
    return *contenders.back();
}

Contender &TestCase::joinMortal(Side side)
{
    options.ttl = 1s;
    return joinWith(environment.mortal(1s), side);
}

QString TestCase::takes(Contender &who)
{
    who.acquire();
    return comesToHold(who);
}

QString TestCase::comesToHold(Contender &who)
{
    eventually([&] { return who.granted.has_value(); });
    if (!who.holds())
        return u"does not come to hold it: "_s + who.outcome();
    // A semaphore's holder leaves its queue in the background.
    if (!eventually([&] { return who.client().isIdle(); }))
        return u"has it, and never comes to rest"_s;
    return {};
}

QString TestCase::givesBack(Contender &who)
{
    who.release();
    if (!eventually([&] { return who.released.has_value(); }))
        return u"its release never ends"_s;
    return *who.released ? QString() : u"cannot release: "_s + who.released->error().message;
}

QString TestCase::isRefused(Contender &who, Deadline deadline)
{
    who.acquire(deadline);
    if (!eventually([&] { return who.granted.has_value(); }))
        return u"is neither granted nor refused"_s;
    if (who.holds())
        return u"got in, and should not have"_s;
    if (who.granted->error().code != ErrorCode::TimedOut)
        return u"is refused with another error: "_s + who.outcome();
    return {};
}

QString TestCase::waits(Contender &who)
{
    const auto before = claims().size();
    who.client().resetCounts();
    who.acquire();
    const bool queued =
        eventually([&] { return who.client().requests() > 0 && (!recipe.fair || claims().size() > before); });
    settle(who.client());
    if (!queued)
        return u"does not queue: "_s + who.outcome();
    return who.granted ? u"does not wait: "_s + who.outcome() : QString();
}

QString TestCase::knowsItIsMine(Contender &who, bool isMine)
{
    who.askWhether();
    if (!eventually([&] { return who.mine.has_value(); }))
        return u"asking whether it is still ours never ends"_s;
    if (!*who.mine)
        return u"cannot ask whether it is ours: "_s + who.mine->error().message;
    if (**who.mine == isMine)
        return {};
    return isMine ? u"does not know that it is its own"_s : u"believes that it is its own"_s;
}

QString TestCase::isNotHeldBy(Contender &who)
{
    who.release();
    if (!eventually([&] { return who.released.has_value(); }))
        return u"its release never ends"_s;
    if (*who.released)
        return u"releases what is not its own"_s;
    const auto code = who.released->error().code;
    // A COMMIT that finds its connection dead cannot tell; what it held is gone in any case.
    const bool cannotTell = livesWithConnection(recipe) && code == ErrorCode::UnknownOutcome;
    if (code != ErrorCode::NotHeld && !cannotTell)
        return u"its release fails in another way: "_s + who.released->error().message;
    return {};
}

QString TestCase::isClean()
{
    if (!eventually([this] { return claims().isEmpty(); }, 10s))
        return u"left on the server: "_s + QString::fromUtf8(claims().join(" | "));
    if (!eventually([this] { return environment.channels(name).isEmpty(); }, 10s))
        return u"still listened to: "_s + QString::fromUtf8(environment.channels(name).join(" | "));
    return {};
}

bool TestCase::hasLeft(Contender &who, qsizetype claimsBefore)
{
    if (!livesWithConnection(recipe))
        return !environment.confirms(name, who.grant());
    return claims().size() < claimsBefore; // a row that the next one holds looks as if the last one did
}

QString TestCase::isHeldBy(Contender &who)
{
    if (!who.holds())
        return u"does not hold it: "_s + who.outcome();
    if (recipe.optimistic || environment.confirms(name, who.grant()))
        return {};
    return u"the server does not have %1 but %2"_s.arg(QString::fromUtf8(who.grant().id),
                                                       QString::fromUtf8(claims().join(" | ")));
}

void settle(const Client &client)
{
    int before = -1;
    eventually([&] {
        const bool calm = client.isIdle() && client.requests() == before;
        before = client.requests();
        if (!calm)
            return false;
        linger(25ms); // longer than the pause after trouble
        return client.isIdle() && client.requests() == before;
    });
}

Task<void> contend(Contender *who, Loop *loop, int rounds, Tally *tally)
{
    const auto never = Deadline::never();
    for (int i = 0; i < rounds; ++i) {
        const auto grant = co_await who->lock->acquire(never);
        if (!grant) {
            tally->failures << grant.error().message;
            co_return;
        }
        tally->most = std::max(tally->most, ++tally->inside);
        ++tally->entered;
        const int seen = tally->counter;
        auto pause = sleepFor(*loop, 1ms);
        co_await pause;
        tally->counter = seen + 1;
        --tally->inside;
        const auto released = co_await who->lock->release(never);
        if (!released)
            tally->failures << released.error().message;
    }
}

} // namespace lockscope::contract
