// SPDX-License-Identifier: Apache-2.0
// The life of a session: opening, states, the end. What it sends is in requests.cpp.
#include "core/zookeeper/client.h"

#include "core/base/logging.h"
#include "core/zookeeper/clientsession.h"
#include "core/zookeeper/libraryguard.h"

#include <cerrno>
#include <condition_variable>
#include <thread>

namespace lockscope::zk {

namespace {

// What blocks in libzookeeper, off the loop: name lookup when a handle is opened, the farewell when it is closed.

// Never destroyed: closing may still be under way when static objects are.
struct Background {
    Workers threads{16}; // a server that hangs holds each of them for seconds
    std::mutex mutex;
    std::condition_variable changed;
    int closing = 0;
};

Background &background()
{
    static auto *const instance = new Background;
    return *instance;
}

// Answers that have arrived and were not handed out yet are never freed by the library once it closes;
// so they are let through, unless the server does not answer at all.
void letAnswersThrough(zhandle_t *handle, const Mailbox &mailbox)
{
    constexpr std::chrono::milliseconds step{2};
    constexpr std::chrono::milliseconds longest{1000};
    for (auto waited = step; waited < longest; waited += step) {
        if (!mailbox.hasCallsOut() || zoo_state(handle) != ZOO_CONNECTED_STATE)
            return;
        std::this_thread::sleep_for(step);
    }
}

// Any thread.
void runInBackground(std::function<void()> work)
{
    background().threads.start(std::move(work));
}

// Any thread. `mailbox` is what the handle's callbacks use; it is let go when the handle is closed.
// waitForClosingSessions() waits for these.
void closeInBackground(zhandle_t *handle, std::shared_ptr<Mailbox> mailbox)
{
    {
        const std::lock_guard lock(background().mutex);
        ++background().closing;
    }
    runInBackground([handle, keep = std::move(mailbox)]() mutable {
        letAnswersThrough(handle, *keep);
        zookeeper_close(handle);
        keep.reset();
        const std::lock_guard lock(background().mutex);
        --background().closing;
        background().changed.notify_all();
    });
}

QByteArray connectString(const SessionOptions &options)
{
    QByteArrayList hosts;
    for (const auto &host : options.hosts) {
        const bool isIpv6 = host.host.contains(u':');
        const auto name = isIpv6 ? '[' + host.host.toUtf8() + ']' : host.host.toUtf8();
        hosts.append(name + ':' + QByteArray::number(host.port));
    }
    return hosts.join(',') + options.chroot;
}

// Blocks while names are looked up.
void openHandle(const std::shared_ptr<Mailbox> &mailbox, const SessionOptions &options)
{
    auto password = options.password;
    if (options.passwords) {
        const auto fetched = options.passwords->fetch();
        if (!fetched)
            return mailbox->post(
                [why = fetched.error().message.toUtf8()](Client &client) { client.openFailed(why); });
        password = fetched->toUtf8();
    }
    zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
    if (!isLibraryGuarded())
        qCWarning(logZooKeeper, "what servers send is not checked: the C client is not the shared library");
    errno = 0;
    zhandle_t *handle = zookeeper_init2(connectString(options).constData(), callbacks::onSession,
                                        static_cast<int>(options.timeout.count()), nullptr, mailbox.get(),
                                        ZOO_NO_LOG_CLIENTENV, callbacks::onLog);
    if (!handle) {
        mailbox->post([why = QByteArray(std::strerror(errno))](Client &client) { client.openFailed(why); });
        return;
    }
    // Names are looked up when it connects, not with every request as the library would: with a slow name server that
    // is what takes the time, and one that is down or answers otherwise would end a connection that is well.
    zoo_set_servers_resolution_delay(handle, -1);
    if (!options.user.isEmpty()) {
        // The library sends it after every connect, before any request of ours.
        const auto credentials = options.user + ':' + password;
        zoo_add_auth(handle, "digest", credentials.constData(), static_cast<int>(credentials.size()), nullptr,
                     nullptr);
    }
    if (!mailbox->putHandle(handle)) {
        closeInBackground(handle, mailbox);
        return;
    }
    mailbox->post([](Client &client) { client.handleOpened(); });
}

} // namespace

void waitForClosingSessions(std::chrono::milliseconds atMost)
{
    std::unique_lock lock(background().mutex);
    background().changed.wait_for(lock, atMost, [] { return background().closing == 0; });
}

std::unique_ptr<Session> openSession(Loop &loop, SessionOptions options)
{
    addClosing(&waitForClosingSessions);
    return std::make_unique<Client>(loop, std::move(options));
}

Client::Client(Loop &loop, SessionOptions options)
    : EndPort(loop), m_options(std::move(options)), m_mailbox(std::make_shared<Mailbox>(loop, *this)),
      m_watches(m_options.watchBudgetBytes, m_options.chroot.size())
{
    open();
}

void Client::open()
{
    runInBackground([mailbox = m_mailbox, options = m_options] { openHandle(mailbox, options); });
}

void Client::handleOpened()
{
    m_handle = m_mailbox->handle();
    applyState();
}

void Client::openFailed(const QByteArray &why)
{
    // The name cannot be looked up now; that may change (a network that comes up later).
    qCInfo(logZooKeeper, "cannot open a session on %s: %s; trying again in %lld ms",
           connectString(m_options).constData(), why.constData(), static_cast<long long>(m_openRetry.count()));
    m_openTimer = loop().callAt(loop().now() + m_openRetry, [this] { open(); });
    m_openRetry = std::min<std::chrono::milliseconds>(m_openRetry * 2, std::chrono::seconds(5));
}

void Client::stateReported(int libraryState, SessionId id, std::chrono::milliseconds negotiated,
                           std::chrono::system_clock::time_point when)
{
    m_reported = {libraryState, id, negotiated, when};
    applyState();
}

void Client::applyState()
{
    if (!m_handle)
        return;
    const int now = m_reported.libraryState;
    if (now == ZOO_CONNECTED_STATE) {
        m_id = m_reported.id;
        m_timeout = m_reported.timeout;
        changeState(SessionState::Connected);
    } else if (now == ZOO_EXPIRED_SESSION_STATE) {
        endSession(SessionState::Expired);
    } else if (now == ZOO_AUTH_FAILED_STATE) {
        endSession(SessionState::AuthFailed);
    } else {
        changeState(SessionState::Connecting);
    }
}

void Client::changeState(SessionState state)
{
    if (state == m_state)
        return;
    m_state = state;
    notifyState(state);
}

void Client::endSession(SessionState state)
{
    m_openTimer.cancel();
    m_handle = nullptr;
    if (zhandle_t *handle = m_mailbox->close())
        closeInBackground(handle, m_mailbox);
    changeState(state);
    const auto unanswered = std::exchange(m_out, {});
    for (const auto &[id, request] : unanswered)
        request->fail(state == SessionState::Closed ? errorOf(ZCLOSING, request->attempt())
                                                    : notSent(state, request->attempt()));
    m_watches.endSession();
}

std::optional<std::chrono::system_clock::time_point> Client::connectedAt() const
{
    if (m_state != SessionState::Connected)
        return {};
    return m_reported.when;
}

} // namespace lockscope::zk
