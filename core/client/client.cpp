// SPDX-License-Identifier: Apache-2.0
// The public interface: handles that hand everything to the background thread.
#include "core/client/contention.h"

namespace lockscope::client {

namespace {

std::mutex backendsMutex;
std::map<BackendKind, MakeServer> &backends()
{
    static std::map<BackendKind, MakeServer> linked;
    return linked;
}

// What the handles of a connection share. Its last owner waits until the connection has closed.
struct Access {
    Access(IoThread &itsThread, std::chrono::milliseconds itsCloseTime)
        : thread(itsThread), closeTime(itsCloseTime), isClosed(closed->get_future())
    {
    }
    Access(const Access &) = delete;
    Access &operator=(const Access &) = delete;
    // Up to three steps: a release, the session of a lock, the connection; then the last messages of sessions.
    ~Access()
    {
        if (IoThread::isCurrent())
            return;
        isClosed.wait_for(3 * closeTime + 1s);
        waitForClosing(closeTime);
    }

    IoThread &thread;
    const std::chrono::milliseconds closeTime;
    const std::shared_ptr<std::promise<void>> closed = std::make_shared<std::promise<void>>();
    const std::future<void> isClosed;
};

// What is released on the loop, whichever thread lets go of it last.
template <class T>
struct OnLoop {
    OnLoop(std::shared_ptr<Access> its, std::shared_ptr<T> what) : access(std::move(its)), kept(std::move(what)) {}
    OnLoop(const OnLoop &) = default;
    OnLoop &operator=(const OnLoop &) = delete;
    ~OnLoop()
    {
        post([last = std::move(kept)] {});
    }
    void post(Call call) const { access->thread.post(std::move(call)); }
    std::shared_ptr<Access> access; // outlives it
    std::shared_ptr<T> kept;
};

constexpr std::chrono::milliseconds year = std::chrono::hours(24 * 365);

// What is longer than a year has no end: no sum overflows.
v0::Clock::time_point timeIn(std::chrono::milliseconds span)
{
    return v0::Clock::now() + std::clamp(span, 0ms, 2 * year);
}

Deadline deadlineOf(v0::Clock::time_point when)
{
    if (when > timeIn(year))
        return Deadline::never();
    return Deadline::at(std::chrono::time_point_cast<Duration>(when));
}

v0::Error blocksLoop()
{
    return {v0::ErrorCode::Refused, "a callback must not wait: use acquireAsync(), or another thread"};
}

Result<ConnectionSpec> specOf(const std::string &uri, const v0::ConnectOptions &options)
{
    const auto argument = QString::fromStdString(uri);
    if (hasUnencodedPassword(argument)) // it would be quoted as something else
        return Error{ErrorCode::BadInput, u"the URI's password holds / or ?: write %2F and %3F, or use options"_s};
    TRY(auto &spec, parseConnection(argument));
    if (!options.user.empty())
        spec.user = QString::fromStdString(options.user);
    if (!options.password.empty())
        spec.password = QString::fromStdString(options.password);
    if (!backendOf(spec.scheme))
        return Error{ErrorCode::Unsupported, u"%1 does not name a server"_s.arg(spec.displayUri())};
    return spec;
}

Task<void> connectInto(std::shared_ptr<Connection> connection, Deadline deadline,
                       std::shared_ptr<std::promise<Result<void>>> connected)
{
    auto answer = co_await connection->server->connect(deadline);
    connected->set_value(std::move(answer));
}

} // namespace

bool addBackend(BackendKind backend, MakeServer make)
{
    const std::lock_guard guard(backendsMutex);
    backends()[backend] = make;
    return true;
}

} // namespace lockscope::client

namespace lockscope::v0 {

using namespace lockscope::client;
using Attempt = std::promise<Result<Hold>>;

struct Client::State {
    OnLoop<Connection> connection;
    BackendKind backend;
};

struct Lock::State {
    OnLoop<Contention> contention;
};

struct Hold::State {
    OnLoop<Contention> contention;
    std::shared_ptr<Held> held;
};

namespace {

// Every connection lingers until what it has to undo is undone.
std::shared_ptr<Connection> openConnection(const Access &access, MakeServer make, Reach reach)
{
    return {new Connection{access.thread, make(std::move(reach)), access.closeTime},
            [closed = access.closed](Connection *last) {
                const std::shared_ptr<Connection> kept(last, [closed](Connection *ended) {
                    delete ended; // NOLINT(cppcoreguidelines-owning-memory): made above
                    closed->set_value();
                });
                last->thread.linger([kept] { return kept->server->isCleaningUp(); }, last->closeTime);
            }};
}

} // namespace

const char *version()
{
#define LOCKSCOPE_TEXT_OF(number) #number
#define LOCKSCOPE_TEXT(number) LOCKSCOPE_TEXT_OF(number)
    return LOCKSCOPE_TEXT(LOCKSCOPE_CLIENT_VERSION_MAJOR) "." LOCKSCOPE_TEXT(
        LOCKSCOPE_CLIENT_VERSION_MINOR) "." LOCKSCOPE_TEXT(LOCKSCOPE_CLIENT_VERSION_PATCH);
}

Result<Client> connect(const std::string &uri, const ConnectOptions &options)
{
    if (IoThread::isCurrent())
        return blocksLoop();
    auto &thread = IoThread::shared(); // before Qt is used here: it takes the first thread for the main one
    const auto spec = specOf(uri, options);
    if (!spec)
        return publicError(spec.error());
    const auto backend = *backendOf(spec->scheme);
    MakeServer make = nullptr;
    {
        const std::lock_guard guard(backendsMutex);
        const auto linked = backends().find(backend);
        make = linked == backends().end() ? nullptr : linked->second;
    }
    if (!make)
        return Error{ErrorCode::Unsupported, "this program does not link the backend of "
                                                 + infoOf(backend).title.toStdString() + ": include <lockscope/"
                                                 + infoOf(backend).word.toStdString() + ".h>"};
    const auto access = std::make_shared<Access>(thread, std::clamp(options.closeTimeout, 0ms, year));
    auto answer = std::make_shared<std::promise<lockscope::Result<void>>>();
    auto opened = std::make_shared<std::promise<std::shared_ptr<Connection>>>();
    thread.post([&thread, &access, spec = *spec, options, make, answer, opened] {
        const auto &command = spec.transport.passwordCommand;
        Reach reach{thread.loop(), spec, options.sessionTimeout,
                    std::make_shared<transport::Transport>(spec.transport, spec.hosts),
                    command.isEmpty() ? nullptr : std::make_shared<PasswordSource>(command)};
        auto connection = openConnection(*access, make, std::move(reach));
        opened->set_value(connection);
        const auto deadline = Deadline::after(thread.loop(), std::clamp(options.timeout, 0ms, year));
        thread.launch(connectInto(std::move(connection), deadline, answer));
    });
    OnLoop<Connection> connection(access, opened->get_future().get());
    const auto connected = answer->get_future().get();
    if (!connected)
        return publicError(connected.error());
    return Client(std::make_unique<Client::State>(Client::State{connection, backend}));
}

Client::Client(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Client::Client(Client &&other) noexcept = default;
Client &Client::operator=(Client &&other) noexcept = default;
Client::~Client() = default;

Result<Lock> Client::lock(std::string name, std::string recipe, LockOptions options)
{
    Request request{QByteArray::fromStdString(name),
                    QByteArray::fromStdString(recipe),
                    {options.read, options.limit.value_or(1), options.ttl, options.limit.has_value()}};
    for (const auto &known : recipes::catalogue()) {
        if (recipe.empty() && known.backend == m_state->backend && known.preferred)
            request.recipe = known.id;
    }
    if (request.recipe.isEmpty())
        return Error{ErrorCode::BadInput, "no recipe is recommended here: name one of Client::recipes()"};
    if (const auto objection = recipes::objectionTo(request.recipe, m_state->backend, request.options))
        return publicError(*objection);
    const auto &[access, connection] = m_state->connection;
    // Made here, used on the loop only: what it holds begins there.
    OnLoop<Contention> contention(access, std::make_shared<Contention>(connection, std::move(request)));
    return Lock(std::make_unique<Lock::State>(Lock::State{contention}));
}

std::vector<std::string> Client::recipes() const
{
    std::vector<std::string> ids;
    for (const auto &known : recipes::catalogue()) {
        if (known.backend == m_state->backend && known.acquirable)
            ids.push_back(known.id.toStdString());
    }
    return ids;
}

Lock::Lock(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Lock::Lock(Lock &&other) noexcept = default;
Lock &Lock::operator=(Lock &&other) noexcept
{
    if (this != &other) {
        const Lock before(std::move(*this)); // is cancelled
        m_state = std::move(other.m_state);
    }
    return *this;
}
Lock::~Lock()
{
    if (m_state)
        cancel();
}

void Lock::acquireAsync(Clock::time_point deadline, std::function<void(Result<Hold>)> callback)
{
    // This object may be destroyed before it is answered; then cancel() follows. No callback keeps the connection
    // open, unless it is given a hold.
    const auto handle = m_state->contention;
    const auto &contention = handle.kept;
    const std::weak_ptr<Access> owned = handle.access;
    auto answer = [contention, owned, callback = std::move(callback)](const Result<std::shared_ptr<Held>> &held) {
        if (!held)
            callback(held.error());
        else if (auto access = owned.lock())
            callback(Hold(std::make_unique<Hold::State>(Hold::State{{std::move(access), contention}, *held})));
        else
            callback(Error{ErrorCode::Cancelled, "the client was destroyed"});
    };
    handle.post([contention, deadline, answer = std::move(answer)]() mutable {
        contention->acquire(deadlineOf(deadline), std::move(answer));
    });
}

std::future<Result<Hold>> Lock::acquireAsync(Clock::time_point deadline)
{
    auto attempt = std::make_shared<Attempt>();
    acquireAsync(deadline, [attempt](Result<Hold> hold) { attempt->set_value(std::move(hold)); });
    return attempt->get_future();
}

Result<Hold> Lock::acquire(Clock::time_point deadline)
{
    if (IoThread::isCurrent())
        return blocksLoop();
    return acquireAsync(deadline).get();
}

Result<Hold> Lock::acquire(std::chrono::milliseconds wait)
{
    return acquire(timeIn(wait));
}

void Lock::cancel()
{
    const auto &contention = m_state->contention;
    contention.post([kept = contention.kept] { kept->cancel(ErrorCode::Cancelled, "the acquire was cancelled"); });
}

Hold::Hold(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Hold::Hold(Hold &&other) noexcept = default;
Hold &Hold::operator=(Hold &&other) noexcept
{
    if (this != &other) {
        const Hold before(std::move(*this)); // is released
        m_state = std::move(other.m_state);
    }
    return *this;
}
Hold::~Hold()
{
    if (m_state)
        (void)release(m_state->contention.access->closeTime);
}

std::string Hold::id() const
{
    return m_state->held->grant().id.toStdString();
}

std::optional<std::int64_t> Hold::fencingToken() const
{
    return m_state->held->grant().fencingToken;
}

int Hold::conflicts() const
{
    return m_state->held->grant().conflicts;
}

bool Hold::isHeld() const
{
    bool hasLapsed = false;
    const bool isHeld = m_state->held->isHeld(hasLapsed);
    const auto &contention = m_state->contention;
    if (hasLapsed)
        contention.post([kept = contention.kept, held = m_state->held] { kept->lapse(held); });
    return isHeld;
}

void Hold::onLost(std::function<void(const Error &)> callback)
{
    m_state->contention.post([held = m_state->held, callback = std::move(callback)] { held->listen(callback); });
}

Result<void> Hold::release(std::chrono::milliseconds timeout)
{
    const auto &contention = m_state->contention;
    const auto held = m_state->held;
    const auto by = timeIn(timeout);
    if (held->beginRelease())
        contention.post([kept = contention.kept, held, by] { kept->release(held, deadlineOf(by)); });
    const auto released = held->released();
    const bool isLoop = IoThread::isCurrent();
    const bool isKnown =
        released.wait_until(isLoop ? Clock::time_point::min() : by + 1s) == std::future_status::ready;
    if (!isKnown && isLoop)
        return Error{ErrorCode::UnknownOutcome, "the release has begun; a callback cannot wait for it"};
    if (!isKnown)
        return Error{ErrorCode::UnknownOutcome,
                     "the server did not confirm the release in time; it continues in the "
                     "background",
                     true};
    return released.get();
}

} // namespace lockscope::v0
