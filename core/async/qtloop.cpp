#include "core/async/qtloop.h"

#include <QAbstractEventDispatcher>
#include <QThread>

namespace lockscope {

namespace {

// Of one turn. Sockets and timers get theirs also while calls go on posting calls.
constexpr int callsAtMost = 1000;

} // namespace

QtLoop::QtLoop(QObject *parent) : QObject(parent), m_wakeUp(this)
{
    m_wakeUp.setSingleShot(true);
    m_wakeUp.setTimerType(Qt::PreciseTimer);
    connect(&m_wakeUp, &QTimer::timeout, this, &QtLoop::runDue);
}

// A call may own what posts again when it dies.
QtLoop::~QtLoop()
{
    while (!m_posted.isEmpty())
        const auto dropped = m_posted.take();
}

void QtLoop::post(Call call)
{
    if (QThread::currentThread() == thread() && isTurning())
        m_posted.push(std::move(call));
    else
        QMetaObject::invokeMethod(this, std::move(call), Qt::QueuedConnection);
}

// Whether this thread's event loop tells us its turns.
bool QtLoop::isTurning()
{
    auto *dispatcher = QAbstractEventDispatcher::instance();
    if (dispatcher == nullptr || dispatcher == m_dispatcher)
        return dispatcher != nullptr;
    m_dispatcher = dispatcher;
    // Which of the two comes first in a turn, and whether both come, depends on the kind of dispatcher.
    connect(dispatcher, &QAbstractEventDispatcher::awake, this, &QtLoop::runPosted);
    connect(dispatcher, &QAbstractEventDispatcher::aboutToBlock, this, &QtLoop::runPosted);
    return true;
}

void QtLoop::runPosted()
{
    for (int i = 0; i < callsAtMost && !m_posted.isEmpty(); ++i) {
        const auto call = m_posted.take();
        call();
    }
    if (!m_posted.isEmpty())
        m_dispatcher->wakeUp(); // it must not block before the next turn
}

Instant QtLoop::now() const
{
    return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

std::chrono::system_clock::time_point QtLoop::wallNow() const
{
    return std::chrono::system_clock::now();
}

Timer QtLoop::callAt(Instant when, Call call)
{
    const auto before = m_timers.next();
    auto timer = m_timers.add(when, std::move(call));
    if (!before || when < *before)
        arm();
    return timer;
}

void QtLoop::arm()
{
    const auto next = m_timers.next();
    if (!next)
        return;
    // Rounded up: waking early would only mean waking twice.
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - now());
    m_wakeUp.start(std::max(wait, std::chrono::milliseconds::zero()));
}

void QtLoop::runDue()
{
    while (auto call = m_timers.takeDue(now()))
        call();
    arm();
}

} // namespace lockscope
