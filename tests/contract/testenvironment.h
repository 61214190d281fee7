// SPDX-License-Identifier: Apache-2.0
// Where locks are fought for: one kind of real server, started once for all tests of a program, and the
// clients that talk to it. The tests are written against this, so that they hold for every backend.
#pragma once

#include "core/async/qtloop.h"
#include "core/recipes/make.h"
#include "core/sandbox/server.h"
#include "tests/support/zookeeperfixture.h"
#include "tests/support/faultplan.h"
#include "tests/support/patience.h"

#include <QDeadlineTimer>

namespace lockscope::contract {

using namespace std::chrono_literals;
using testing::RequestFault;

inline constexpr auto patience = std::chrono::milliseconds(testing::patienceMs);

// Runs the thread's events until it holds; QTest's own waiting sleeps between looks.
bool eventually(const std::function<bool()> &holds, std::chrono::milliseconds atMost = patience);
// Lets events run for that long.
void linger(std::chrono::milliseconds span);

// A lock on the server: all it leaves there carries this name.
using TestName = QByteArray;

// A session or connection of its own, behind a cable that can be cut and ports that count and fail.
class Client {
public:
    virtual ~Client() = default;

    virtual Result<std::unique_ptr<recipes::Lock>> make(const QByteArray &recipe, const TestName &name,
                                                        const recipes::AcquireOptions &options, Random random) = 0;
    [[nodiscard]] virtual bool isConnected() const = 0;
    // Whether it can never be connected again.
    [[nodiscard]] virtual bool isOver() const { return false; }

    [[nodiscard]] virtual int requests() const = 0;
    [[nodiscard]] virtual QByteArray spoken() const = 0;
    [[nodiscard]] virtual int wakeUps() const = 0; // watch events, messages
    virtual void resetCounts() = 0;
    [[nodiscard]] virtual bool isIdle() const = 0;            // no request is out but those held back
    [[nodiscard]] virtual int listeners() const { return 0; } // watches it still has

    virtual void cut() = 0;
    virtual void mend() = 0;
    // Messages do not reach it any more (where there are any).
    virtual void deafen() {}

    testing::FaultPlan plan;
    [[nodiscard]] virtual qsizetype held() const = 0; // requests or replies held back
    virtual void letThrough() = 0;
};

class TestEnvironment {
public:
    explicit TestEnvironment(Loop &loop) : m_loop(loop) {}
    virtual ~TestEnvironment() = default;

    // What went wrong. Unsupported: the programs are not installed.
    virtual Result<void> start() = 0;
    [[nodiscard]] Loop &loop() { return m_loop; }
    [[nodiscard]] TestName freshName(const recipes::RecipeInfo &recipe)
    {
        return "contract-" + QByteArray::number(++m_names) + (recipe.counted ? "-permits" : "-lock");
    }

    // Whether this text names that lock: some have only a number.
    [[nodiscard]] virtual bool names(const QByteArray &text, const TestName &name) const
    {
        return text.contains(name);
    }

    // The i-th standing client; made when asked for, replaced when it is over.
    Client &client(size_t i);
    // One more whose hold ends soon after its cable is cut: by `span`, if it is the client that decides.
    Client &mortal(std::chrono::milliseconds span);
    // Lets go of the mortal clients; their locks must be gone.
    void bury() { m_mortals.clear(); }
    // May read, but write nothing under that name.
    virtual std::unique_ptr<Client> powerless(const TestName &name) = 0;

    // What contenders have on the server now, one entry each or more: nodes, keys with their values,
    // fields, members, entries. Sorted.
    virtual QByteArrayList claims(const TestName &name) = 0;
    // Whether the server says that this is held by its holder.
    virtual bool confirms(const TestName &name, const recipes::Grant &grant) = 0;
    // As an operator would: removes what stands for the hold, and tells nobody.
    virtual bool takeAway(const TestName &name, const recipes::Grant &grant) = 0;
    // The same for a waiter's entry, as claims() shows it.
    virtual bool takeAwayClaim(const QByteArray &claim) = 0;
    // Whether the hold ends by itself when its holder is gone: says what does not.
    virtual QString whatIsForEver(const TestName &name, const recipes::Grant &grant) = 0;
    // Names of the nodes below the lock's own, whatever they are.
    virtual QByteArrayList directories(const TestName &) { return {}; }
    // Channels somebody listens to.
    virtual QByteArrayList channels(const TestName &) { return {}; }
    virtual std::optional<std::chrono::milliseconds> leaseLeft(const TestName &) { return std::nullopt; }
    // Everything on the server, of any name: nodes, keys, channels.
    virtual QByteArrayList everything() = 0;
    // Puts something that is no contender where the lock is. What went wrong.
    virtual QString addForeign(const TestName &name) = 0;
    // Wakes whoever waits for it, without reason: what waiters look at changes, and nobody comes or goes.
    virtual void disturb(const TestName &) {}
    // What stays when it is free (directories) goes, too.
    virtual bool clear(const TestName &name) = 0;

    virtual void pause() = 0;
    virtual void resume() = 0;
    virtual Result<void> restart() = 0;

protected:
    // First thing in a destructor: their sessions close in the background, and are waited for.
    void dismissClients()
    {
        m_mortals.clear();
        m_clients.clear();
    }
    virtual std::unique_ptr<Client> connect(std::chrono::milliseconds sessionTimeout) = 0;

private:
    Loop &m_loop;
    int m_names = 0;
    std::vector<std::unique_ptr<Client>> m_clients;
    std::vector<std::unique_ptr<Client>> m_mortals;
};

// One server, and an onlooker's connection to it: of zk::Session, redis::Connection, mariadb::Session.
template <class Port>
class OneServer : public TestEnvironment {
public:
    using TestEnvironment::TestEnvironment;

    void pause() override { m_server->pause(); }
    void resume() override { m_server->resume(); }
    Result<void> restart() override
    {
        m_server->stop();
        auto started = m_server->start(60s);
        eventually([this] { return !isConnected(); }, 2s);
        if (started && !eventually([this] { return answers(); }))
            return Error{ErrorCode::NotConnected, QStringLiteral("the onlooker's connection did not come back")};
        return started;
    }

protected:
    template <class Server>
    Result<void> startServer(Result<std::unique_ptr<Server>> made)
    {
        if (!made)
            return made.error();
        m_server = std::move(*made);
        return m_server->start(60s);
    }
    // Whether the onlooker hears from this server, and not only believes to be connected with the one before.
    [[nodiscard]] virtual bool answers() { return isConnected(); }
    [[nodiscard]] bool isConnected() const { return m_admin->state() == decltype(m_admin->state())::Connected; }

    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<Port> m_admin;
};

// Its connection goes through a cable, a port that fails as planned, and one that counts.
template <class Port, class Planned, class Counting>
class CabledClient : public Client {
public:
    [[nodiscard]] bool isConnected() const override
    {
        return m_real->state() == decltype(m_real->state())::Connected;
    }
    void resetCounts() override { m_counting->reset(); }
    void cut() override { m_cable.cut(); }
    void mend() override { m_cable.mend(); }

protected:
    explicit CabledClient(const HostPort &server) : m_cable(server) {}
    void use(std::unique_ptr<Port> real, testing::FaultPlan &faults)
    {
        m_real = std::move(real);
        m_planned = std::make_unique<Planned>(*m_real, faults);
        m_counting = std::make_unique<Counting>(*m_planned);
    }

    testing::Cable m_cable;
    std::unique_ptr<Port> m_real;
    std::unique_ptr<Planned> m_planned;
    std::unique_ptr<Counting> m_counting;
};

// Containers that are empty go at once, and not within a minute: for a suite that does not count requests.
inline bool reapsContainersSoon = false;

std::unique_ptr<TestEnvironment> makeZooKeeperEnvironment(Loop &loop);
std::unique_ptr<TestEnvironment> makeRedisEnvironment(Loop &loop);
std::unique_ptr<TestEnvironment> makeSeveralRedisEnvironment(Loop &loop); // for Redlock
std::unique_ptr<TestEnvironment> makeMariaDbEnvironment(Loop &loop);
std::unique_ptr<TestEnvironment> makeEtcdEnvironment(Loop &loop);
std::unique_ptr<TestEnvironment> makePostgreSqlEnvironment(Loop &loop);
// Null when there is no environment for such recipes.
std::unique_ptr<TestEnvironment> makeEnvironment(const recipes::RecipeInfo &recipe, Loop &loop);
// Recipes with the same key share an environment.
QByteArray environmentKey(const recipes::RecipeInfo &recipe);

} // namespace lockscope::contract
