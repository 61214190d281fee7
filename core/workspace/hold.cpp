// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/hold.h"

#include "core/async/scope.h"
#include "core/async/sleep.h"
#include "core/base/text.h"
#include "core/inspect/mariadb/ownid.h"
#include "core/recipes/make.h"
#include "core/recipes/zookeeper/ownnode.h"
#include "core/rules/contenderid.h"

namespace lockscope {

using namespace Qt::StringLiterals;

struct HeldLock::Private {
    Private(Workspace &w, HoldRequest r)
        : workspace(w), request(std::move(r)), recipe(recipes::recipeOf(request.recipe)), lost(w.loop()),
          keyNews(w.loop()), scope(w.loop())
    {
    }

    Task<Result<bool>> connectSession(Deadline deadline);
    Task<Result<bool>> connectSql(Deadline deadline);
    Result<bool> makeLock();
    Task<QByteArray> contenderIdOf(QByteArray granted);
    void watchOver(const recipes::Grant &grant);
    // On a connection that was made read-only meanwhile no release is sent. But what a contender's own session
    // holds ends with that session, and to end it is no write. (The optimistic lock's release is one.)
    [[nodiscard]] bool isGivenBackBySession() const { return session || (sql && !recipe.optimistic); }
    void closeSession();
    Task<void> heedRecipe();
    Task<void> heedKey(recipes::Grant grant);
    Task<void> listenTo(redis::Connection *node);

    Workspace &workspace;
    HoldRequest request;
    const recipes::RecipeInfo &recipe;
    std::unique_ptr<zk::Session> session;  // ZooKeeper: this contender's own
    std::unique_ptr<mariadb::Session> sql; // MariaDB: the same
    std::unique_ptr<recipes::Lock> lock;
    Completion<QString> lost;
    bool releasing = false;
    // Redis: completed when a server says that the key changed; the subscriptions that tell.
    Completion<bool> keyNews;
    std::vector<redis::Subscription> subscriptions;
    std::chrono::milliseconds askEvery{1000};
    Scope scope; // last: its coroutines use everything above
};

namespace {

QString lossText(recipes::Loss loss)
{
    switch (loss) {
    case recipes::Loss::SessionOver: return u"the session is over"_s;
    case recipes::Loss::CutOff: return u"there was no connection for so long that the session may be over"_s;
    case recipes::Loss::TakenAway: return u"it was taken away: our node or key is gone"_s;
    case recipes::Loss::LeaseOver: return u"the lease ran out"_s;
    }
    return {};
}

} // namespace

// A session of its own, and a little patience until it stands.
Task<Result<bool>> HeldLock::Private::connectSession(Deadline deadline)
{
    auto *link = workspace.find(request.lock.connection);
    session = link->openContenderSession();
    Completion<zk::SessionState> settled(workspace.loop());
    settled.completeAt(deadline, zk::SessionState::Connecting);
    auto subscription = session->onState([settled](zk::SessionState state) {
        if (state != zk::SessionState::Connecting)
            settled.complete(state);
    });
    if (session->state() == zk::SessionState::Connected)
        co_return true;
    const auto state = co_await settled;
    if (state == zk::SessionState::Connected)
        co_return true;
    const bool refused = state == zk::SessionState::AuthFailed;
    co_return Error{refused ? ErrorCode::AuthFailed : ErrorCode::NotConnected,
                    u"no session for the contender at %1"_s.arg(link->spec().displayUri()), !refused};
}

Task<Result<bool>> HeldLock::Private::connectSql(Deadline deadline)
{
    while (sql->state() == mariadb::SessionState::Connecting && !deadline.hasPassed(workspace.loop())) {
        const Completion<bool> changed(workspace.loop());
        changed.completeAt(deadline, false);
        const auto subscription = sql->onState([changed](mariadb::SessionState) { changed.complete(true); });
        co_await changed;
    }
    if (sql->state() == mariadb::SessionState::Connected)
        co_return true;
    const bool refused = sql->state() == mariadb::SessionState::AuthFailed;
    co_return Error{refused ? ErrorCode::AuthFailed : ErrorCode::NotConnected,
                    u"no session for the contender: %1"_s.arg(sql->lastError()), !refused};
}

Result<bool> HeldLock::Private::makeLock()
{
    recipes::AcquireOptions options{request.readMode, request.limit, request.ttl, request.isLimitGiven};
    auto *link = workspace.find(request.lock.connection);
    const auto &id = request.recipe;
    const auto nodes = link->redisNodes();
    const RedisKey key(request.lock.name);
    auto random = Random::fromSystem();
    Result<std::unique_ptr<recipes::Lock>> made(Error{ErrorCode::Unsupported, u"this connection has no recipes"_s});
    if (sql)
        made = recipes::makeLock(id, *sql, request.lock.name, options);
    else if (session)
        made = recipes::makeLock(id, *session, ZPath(request.lock.name), options, random);
    else if (link->redis())
        made = recipes::makeLock(id, *link->redis(), key, options, random);
    else if (!nodes.empty())
        made = recipes::makeLock(id, nodes, key, options, random);
    if (!made)
        return made.error();
    lock = std::move(*made);
    return true;
}

// What the inspector calls our hold, as far as that is the server's to say; asked outside of the recipe's counts. A
// value that every holder writes names it only with the moment at which it ends, an SQL connection only with when it
// or its transaction began.
Task<QByteArray> HeldLock::Private::contenderIdOf(QByteArray granted)
{
    if (sql) {
        constexpr std::chrono::milliseconds patience(1500);
        const auto askBy = Deadline::after(workspace.loop(), patience);
        const auto id = co_await inspect::ownContenderId(sql.get(), request.recipe, askBy);
        co_return id.value_or(granted);
    }
    auto *connection = workspace.find(request.lock.connection)->redis();
    if (!connection || recipe.namesHolder || recipe.endsBy != recipes::EndsBy::Lease)
        co_return granted;
    const redis::Command question{"PEXPIRETIME", request.lock.name};
    auto asking = connection->command(question, Deadline::after(workspace.loop(), std::chrono::seconds(5)));
    const auto expiry = co_await asking;
    co_return expiry && expiry->integer > 0 ? recipes::constantContenderId(granted, expiry->integer) : granted;
}

void HeldLock::Private::watchOver(const recipes::Grant &grant)
{
    scope.launch(heedRecipe());
    if (sql)
        return; // the session itself asks whether it still stands, and the recipe tells
    if (!session) {
        scope.launch(heedKey(grant));
        for (auto *node : workspace.find(request.lock.connection)->redisNodes())
            scope.launch(listenTo(node));
        return;
    }
    scope.launch(recipes::watchOwnNode(session.get(), lock.get(), grant)); // the lock tells heedRecipe
}

void HeldLock::Private::closeSession()
{
    scope.cancelAll();
    lock.reset();
    sql.reset();
    session.reset();
}

Task<void> HeldLock::Private::heedRecipe()
{
    auto lostByRecipe = lock->lost();
    const auto loss = co_await lostByRecipe;
    if (!releasing)
        lost.complete(lossText(loss));
}

// Asks whether the key is still ours (on a set: on a majority of its nodes) whenever a server says that it
// changed; where one does not tell (no permission for client tracking), every 250 ms. Once a second in any
// case: a reconnect ends the tracking silently.
Task<void> HeldLock::Private::heedKey(recipes::Grant grant)
{
    auto &loop = workspace.loop();
    while (!releasing) {
        keyNews = Completion<bool>(loop);
        keyNews.completeAt(Deadline::after(loop, askEvery), false);
        const auto limit = Deadline::after(loop, std::chrono::seconds(5));
        const auto mine = co_await lock->isStillMine(limit);
        if (mine && !*mine && !releasing) {
            lock->noteTakenAway(grant);
            lost.complete(lossText(recipes::Loss::TakenAway));
            co_return;
        }
        auto news = keyNews;
        co_await news;
    }
}

// Has one server tell of changes of the key.
Task<void> HeldLock::Private::listenTo(redis::Connection *node)
{
    auto &loop = workspace.loop();
    subscriptions.push_back(
        node->subscribe("__redis__:invalidate", [this](const redis::Message &) { keyNews.complete(true); }));
    auto subscriber = node->subscriberId(Deadline::after(loop, std::chrono::seconds(2)));
    const auto id = co_await subscriber;
    const redis::Command track{
        "CLIENT", "TRACKING",       "ON", "REDIRECT", QByteArray::number(id ? *id : 0), "BCAST",
        "PREFIX", request.lock.name};
    auto reply = node->command(track, Deadline::after(loop, std::chrono::seconds(2)));
    const auto tracked = co_await reply;
    // An overlapping prefix means that the observer tracks this key already.
    if (!tracked && !tracked.error().message.contains("overlap"_L1))
        askEvery = std::chrono::milliseconds(250);
    keyNews.complete(true); // what changed until now nobody told
}

HeldLock::HeldLock(Workspace &workspace, HoldRequest request)
    : d(std::make_unique<Private>(workspace, std::move(request)))
{
}

HeldLock::~HeldLock() = default;

const HoldRequest &HeldLock::request() const
{
    return d->request;
}

Task<Result<recipes::Grant>> HeldLock::acquire(std::optional<std::chrono::milliseconds> wait)
{
    const auto connectBy = Deadline::after(d->workspace.loop(), std::chrono::seconds(15));
    const auto connected = co_await d->workspace.whenConnected(d->request.lock.connection, connectBy);
    if (!connected)
        co_return connected.error();
    auto *link = d->workspace.find(d->request.lock.connection);
    if (link->gate().isReadOnly())
        co_return Error{ErrorCode::Refused,
                        u"acquire refused: connection %1 is read-only, nothing was sent; %2"_s.arg(
                            escaped(link->spec().name.bytes()), link->gate().remedy())};
    if (d->recipe.teachingOnly && link->gate().isProduction())
        co_return Error{ErrorCode::Refused,
                        u"acquire refused: %1 is for teaching, and connection %2 is production"_s.arg(
                            QString::fromUtf8(d->recipe.id), QString::fromUtf8(link->spec().name.bytes()))};
    if (link->zookeeper()) {
        const auto session = co_await d->connectSession(connectBy);
        if (!session)
            co_return session.error();
    }
    if (link->mariadb() && !d->sql)
        d->sql = link->openSqlSession();
    d->releasing = false;
    if (d->sql) {
        const auto session = co_await d->connectSql(connectBy);
        if (!session)
            co_return session.error();
    }
    // Once more, after a conflict: the same lock, which counts them.
    if (const auto made = d->lock ? Result<bool>(true) : d->makeLock(); !made)
        co_return made.error();
    // The wait counts from connected.
    const auto deadline = wait ? Deadline::after(d->workspace.loop(), *wait) : Deadline::never();
    auto grant = co_await d->lock->acquire(deadline);
    if (!grant)
        co_return grant;
    d->watchOver(*grant);
    grant->id = co_await d->contenderIdOf(grant->id);
    co_return grant;
}

Completion<QString> HeldLock::lost() const
{
    return d->lost;
}

Task<Result<bool>> HeldLock::release(Deadline deadline)
{
    d->releasing = true;
    if (!d->lock)
        co_return true;
    const auto released = co_await d->lock->release(deadline);
    const bool isRefused = !released && released.error().code == ErrorCode::Refused;
    if (isRefused && d->isGivenBackBySession()) {
        d->closeSession();
        co_return true;
    }
    co_return released;
}

} // namespace lockscope
