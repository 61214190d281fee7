// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/livebackend.h"

#include "core/async/closing.h"
#include "core/base/logging.h"
#include "core/workspace/iocontroller.h"
#include "core/workspace/questions.h"
#include "core/workspace/trial.h"

#include <QPointer>
#include <QSemaphore>

namespace lockscope {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto answerWithin = 15s;
constexpr auto triedWithin = 15s;   // a first look at a large server may take longer, and is said not to be over
constexpr auto editedWithin = 120s; // thousands of nodes, one after the other
constexpr int lastTidying = 5000;   // ms: nobody waits longer for a window to close
constexpr auto givenBackWithin = 4s;

} // namespace

LiveBackend::LiveBackend(WorkspaceOptions options, std::optional<history::FlightOptions> recorder, QObject *parent)
    : Backend(parent), m_labels(options.labels), m_auditPath(options.auditPath)
{
    const auto files = recorder ? std::make_shared<history::RecordedFiles>() : nullptr;
    if (files)
        m_past = std::make_unique<Past>([files] { return files->list(); });
    m_thread.setObjectName(u"lockscope-io"_s);
    auto *starter = new QObject;
    starter->moveToThread(&m_thread);
    m_thread.start();
    // The I/O side is made in its thread, before anything is asked of it.
    QMetaObject::invokeMethod(
        starter,
        [&] {
            m_io = new IoController(*this, options);
            if (recorder)
                m_io->record(*recorder, files);
        },
        Qt::BlockingQueuedConnection);
    starter->deleteLater();
}

LiveBackend::~LiveBackend()
{
    m_rehearsals.waitForDone();
    m_readers.waitForDone();
    // Runs take away what they made before their servers are left, and what is held is given back.
    const auto areOver = std::make_shared<QSemaphore>();
    onIoThread([areOver](IoController &io) {
        io.giveBackAll(givenBackWithin, [areOver](const QStringList &left) {
            for (const auto &lock : left)
                qCWarning(logInspect).noquote()
                    << u"closing: %1 may not have been given back: it stays until its TTL "
                       u"has passed, or its session ends"_s.arg(lock);
            areOver->release();
        });
        io.runs().endAll([areOver] { areOver->release(); });
    });
    if (!areOver->tryAcquire(2, lastTidying))
        qCWarning(logInspect, "closing: a run on real servers had no time to take away what it made");
    QMetaObject::invokeMethod(
        dynamic_cast<QObject *>(&m_io->loop()), [this] { delete std::exchange(m_io, nullptr); },
        Qt::BlockingQueuedConnection);
    m_thread.quit();
    m_thread.wait();
    waitForClosing(2s);
}

void LiveBackend::onIoThread(std::function<void(IoController &)> work)
{
    m_io->loop().post([this, work = std::move(work)] { work(*m_io); });
}

template <class T>
std::function<void(Result<T>)> LiveBackend::deliveredTo(QObject *context, Answer<T> answer)
{
    return [front = this, context = QPointer<QObject>(context), answer = std::move(answer)](Result<T> result) {
        // Held once: a list of 300,000 children must not be copied in the GUI thread.
        auto held = std::make_shared<Result<T>>(std::move(result));
        QMetaObject::invokeMethod(
            front,
            [context, answer, held] {
                if (context)
                    answer(std::move(*held));
            },
            Qt::QueuedConnection);
    };
}

void LiveBackend::connectTo(ConnectionSpec spec)
{
    onIoThread([spec = std::move(spec)](IoController &io) { io.add(spec); });
}

void LiveBackend::disconnectFrom(const ConnectionName &name)
{
    onIoThread([name](IoController &io) { io.remove(name); });
}

void LiveBackend::retry(const ConnectionName &name)
{
    onIoThread([name](IoController &io) { io.retry(name); });
}

void LiveBackend::setReadOnly(const ConnectionName &name, bool readOnly)
{
    onIoThread([name, readOnly](IoController &io) { io.setReadOnly(name, readOnly); });
}

void LiveBackend::setClientLabels(std::vector<inspect::ClientLabel> labels)
{
    m_labels = std::move(labels);
    onIoThread([labels = m_labels](IoController &io) { io.setClientLabels(labels); });
}

void LiveBackend::setThresholds(const inspect::ThresholdRules &rules)
{
    onIoThread([rules](IoController &io) { io.workspace().setThresholds(rules); });
}

namespace {

// Who answers a question, once. A question goes with its connection: then its answer is why.
template <class T>
class Answerer {
public:
    Answerer(std::function<void(Result<T>)> deliver, Error dropped)
        : m_deliver(std::move(deliver)), m_dropped(std::move(dropped))
    {
    }
    Answerer(const Answerer &) = delete;
    Answerer &operator=(const Answerer &) = delete;
    ~Answerer()
    {
        if (m_deliver)
            m_deliver(m_dropped);
    }
    void answer(Result<T> result) { std::exchange(m_deliver, nullptr)(std::move(result)); }

private:
    std::function<void(Result<T>)> m_deliver;
    Error m_dropped;
};

// Runs one question and hands its answer on.
template <class T>
Task<void> answering(Task<Result<T>> question, std::function<void(Result<T>)> deliver,
                     Error dropped = {ErrorCode::NotConnected, u"the connection was closed"_s})
{
    Answerer<T> answerer(std::move(deliver), std::move(dropped));
    auto result = co_await question;
    answerer.answer(std::move(result));
}

} // namespace

namespace {

// What the user calls the clients stands in the plan's lock as in all that are shown.
Task<Result<operate::ForceReleasePlan>> labelled(Task<Result<operate::ForceReleasePlan>> planning,
                                                 std::vector<inspect::ClientLabel> labels)
{
    auto plan = co_await planning;
    if (plan)
        inspect::addLabels(plan->before, labels);
    co_return plan;
}

} // namespace

void LiveBackend::tryConnection(const ConnectionSpec &spec, QObject *context, Answer<ConnectionAccount> answer)
{
    onIoThread([spec, deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const auto limit = Deadline::after(io.loop(), triedWithin);
        io.launch(ConnectionName(), answering(lockscope::tryConnection(io.loop(), spec, limit), deliver));
    });
}

void LiveBackend::listZnodes(const ConnectionName &name, const ZPath &path, QObject *context,
                             Answer<std::vector<ZnodeRow>> answer)
{
    onIoThread([name, path, deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const auto limit = Deadline::after(io.loop(), answerWithin);
        const auto asOf = [&io, name, path](const zk::Stat &folder) { io.listed(name, path, folder); };
        io.launch(name, answering(questions::listZnodes(io.workspace(), name, path, limit, asOf), deliver));
    });
}

void LiveBackend::readZnode(const ConnectionName &name, const ZPath &path, QObject *context,
                            Answer<ZnodeDetail> answer)
{
    onIoThread([name, path, deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const auto limit = Deadline::after(io.loop(), answerWithin);
        io.launch(name, answering(questions::readZnode(io.workspace(), name, path, limit), deliver));
    });
}

void LiveBackend::watchZnodes(const ConnectionName &name, const std::vector<ZPath> &paths)
{
    onIoThread([name, paths](IoController &io) { io.watchZnodes(name, paths); });
}

void LiveBackend::scanKeys(const ConnectionName &name, const QByteArray &pattern, quint64 cursor, QObject *context,
                           Answer<KeyPage> answer)
{
    onIoThread([name, pattern, cursor, deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const auto limit = Deadline::after(io.loop(), answerWithin);
        io.launch(name, answering(questions::scanKeys(io.workspace(), name, pattern, cursor, limit), deliver));
    });
}

void LiveBackend::readKey(const ConnectionName &name, const RedisKey &key, QObject *context, Answer<KeyDetail> answer)
{
    onIoThread([name, key, deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const auto limit = Deadline::after(io.loop(), answerWithin);
        io.launch(name, answering(questions::readKey(io.workspace(), name, key, limit), deliver));
    });
}

void LiveBackend::readSession(const ConnectionName &name, const QString &session, QObject *context,
                              Answer<SessionDoing> answer)
{
    onIoThread([name, session, deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const auto limit = Deadline::after(io.loop(), answerWithin);
        io.launch(name, answering(questions::readSession(io.workspace(), name, session, limit), deliver));
    });
}

quint64 LiveBackend::acquire(AcquireRequest request)
{
    const auto id = m_nextHold++;
    onIoThread([id, request = std::move(request)](IoController &io) { io.acquire(id, request); });
    return id;
}

void LiveBackend::release(quint64 holdId)
{
    onIoThread([holdId](IoController &io) { io.release(holdId); });
}

void LiveBackend::planForceRelease(const inspect::LockName &lock, const QByteArray &holder, QObject *context,
                                   Answer<operate::ForceReleasePlan> answer)
{
    planWay(lock, holder, operate::Way::Release, context, std::move(answer));
}

void LiveBackend::planWay(const inspect::LockName &lock, const QByteArray &contender, operate::Way way,
                          QObject *context, Answer<operate::ForceReleasePlan> answer)
{
    onIoThread([lock, contender, way, labels = m_labels,
                deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const auto limit = Deadline::after(io.loop(), answerWithin);
        auto planning = labelled(io.workspace().planForceRelease(lock, contender, limit, way), labels);
        io.launch(lock.connection, answering(std::move(planning), deliver));
    });
}

void LiveBackend::rehearse(operate::ForceReleasePlan plan, QObject *context, Answer<rehearse::Rehearsal> answer)
{
    m_rehearsals.start([plan = std::move(plan), deliver = deliveredTo(context, std::move(answer))] {
        deliver(rehearse::rehearse(plan));
    });
}

void LiveBackend::forceRelease(operate::ForceReleasePlan plan, const QString &reason, QObject *context,
                               Answer<operate::ForceReleaseOutcome> answer)
{
    onIoThread([plan = std::move(plan), reason, deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const auto limit = Deadline::after(io.loop(), answerWithin);
        const Error dropped{ErrorCode::UnknownOutcome,
                            u"the connection was closed meanwhile: the lock may or may not have been released"_s};
        io.launch(plan.before.lock.connection,
                  answering(io.workspace().forceRelease(plan, reason, limit), deliver, dropped));
    });
}

void LiveBackend::bulkRelease(std::vector<operate::BulkTarget> targets, const QString &reason, QObject *context,
                              std::function<void(int)> progressed, Answer<operate::BulkReport> answer)
{
    if (targets.empty()) {
        answer(operate::BulkReport());
        return;
    }
    // What is done hangs on the connection's link, which may go at any moment; of several connections one would go
    // under the other's hands.
    const auto name = targets.front().lock.connection;
    if (std::ranges::any_of(targets, [&](const auto &one) { return one.lock.connection != name; })) {
        answer(Error{ErrorCode::BadInput, u"these locks are on several connections: choose one of them first"_s});
        return;
    }
    const auto tell = deliveredTo<int>(context, [progressed = std::move(progressed)](const Result<int> &done) {
        if (progressed)
            progressed(*done);
    });
    onIoThread([targets = std::move(targets), reason, tell,
                deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const Error dropped{ErrorCode::UnknownOutcome,
                            u"the connection was closed meanwhile: what was done stands in the audit record"_s};
        io.launch(targets.front().lock.connection,
                  answering(io.workspace().bulkRelease(targets, reason, [tell](int done) { tell(done); }), deliver,
                            dropped));
    });
}

void LiveBackend::readAudit(const QString &knownStamp, QObject *context, Answer<operate::AuditReport> answer)
{
    m_readers.start([path = m_auditPath, knownStamp, deliver = deliveredTo(context, std::move(answer))] {
        deliver(operate::reportOf(operate::AuditFile(path), knownStamp));
    });
}

void LiveBackend::planEdit(operate::EditRequest request, QObject *context, Answer<operate::EditPlan> answer)
{
    onIoThread([request = std::move(request), deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const auto limit = Deadline::after(io.loop(), answerWithin);
        io.launch(request.connection, answering(io.workspace().planEdit(request, limit), deliver));
    });
}

void LiveBackend::applyEdit(operate::EditPlan plan, const QString &reason, QObject *context,
                            Answer<operate::EditOutcome> answer)
{
    onIoThread([plan = std::move(plan), reason, deliver = deliveredTo(context, std::move(answer))](IoController &io) {
        const auto limit = Deadline::after(io.loop(), editedWithin);
        const Error dropped{ErrorCode::UnknownOutcome,
                            u"the connection was closed meanwhile: the edit may or may not have been done"_s};
        io.launch(plan.request.connection,
                  answering(io.workspace().applyEdit(plan, reason, limit), deliver, dropped));
    });
}

quint64 LiveBackend::playOnServers(RealRunOptions options, QObject *context, Answer<contention::Recording> answer)
{
    const auto id = m_nextRun++;
    onIoThread([id, options = std::move(options), deliver = deliveredTo(context, std::move(answer))](
                   IoController &io) { io.runs().play(id, options, deliver); });
    return id;
}

void LiveBackend::cancelRun(quint64 runId)
{
    onIoThread([runId](IoController &io) { io.runs().cancel(runId); });
}

} // namespace lockscope

#include "moc_livebackend.cpp"
#include "moc_backend.cpp"
