// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/hold.h"

#include "core/base/text.h"
#include "core/rules/catalogue.h"

namespace lockscope {

using namespace Qt::StringLiterals;

struct HeldLock::Private {
    Private(Workspace &w, HoldRequest r)
        : workspace(w), request(std::move(r)), recipe(recipes::recipeOf(request.recipe)), lost(w.loop()),
          scope(w.loop())
    {
    }

    void watchOver(const recipes::Grant &grant);
    void closeSession();
    Task<void> heedRecipe();

    Workspace &workspace;
    HoldRequest request;
    const recipes::RecipeInfo &recipe;
    std::unique_ptr<OwnContender> contender;
    std::unique_ptr<recipes::Lock> lock;
    Completion<QString> lost;
    bool releasing = false;
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

Task<Result<void>> OwnContender::connect(Deadline)
{
    co_return Result<void>();
}

Task<QByteArray> OwnContender::idOf(QByteArray granted)
{
    co_return granted;
}

void HeldLock::Private::watchOver(const recipes::Grant &grant)
{
    scope.launch(heedRecipe());
    contender->watchOver({scope, *lock, releasing, [this](recipes::Loss loss) { lost.complete(lossText(loss)); }},
                         grant);
}

void HeldLock::Private::closeSession()
{
    scope.cancelAll();
    lock.reset();
    contender.reset();
}

Task<void> HeldLock::Private::heedRecipe()
{
    auto lostByRecipe = lock->lost();
    const auto loss = co_await lostByRecipe;
    if (!releasing)
        lost.complete(lossText(loss));
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
    if (!d->contender)
        d->contender = link->openContender(d->request);
    d->releasing = false;
    const auto session = co_await d->contender->connect(connectBy);
    if (!session)
        co_return session.error();
    // Once more, after a conflict: the same lock, which counts them.
    if (!d->lock) {
        auto made = d->contender->makeLock();
        if (!made)
            co_return made.error();
        d->lock = std::move(*made);
    }
    // The wait counts from connected.
    const auto deadline = wait ? Deadline::after(d->workspace.loop(), *wait) : Deadline::never();
    auto grant = co_await d->lock->acquire(deadline);
    if (!grant)
        co_return grant;
    d->watchOver(*grant);
    grant->id = co_await d->contender->idOf(grant->id);
    co_return grant;
}

Completion<QString> HeldLock::lost() const
{
    return d->lost;
}

Task<Result<void>> HeldLock::release(Deadline deadline)
{
    d->releasing = true;
    if (!d->lock)
        co_return Result<void>();
    const auto released = co_await d->lock->release(deadline);
    const bool isRefused = !released && released.error().code == ErrorCode::Refused;
    if (isRefused && d->contender->isGivenBackBySession()) {
        d->closeSession();
        co_return Result<void>();
    }
    co_return released;
}

} // namespace lockscope
