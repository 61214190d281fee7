// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/livebackend.h"

#include "core/async/closing.h"
#include "core/base/logging.h"
#include "core/workspace/iocontroller.h"

#include <QSemaphore>

namespace lockscope {

constexpr int lastTidying = 5000; // ms: nobody waits longer for a window to close
constexpr auto givenBackWithin = 4s;

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
        io.holds().releaseAll(givenBackWithin, [areOver](const QStringList &left) {
            for (const auto &lock : left)
                qCWarning(logInspect).noquote()
                    << u"closing: %1 may not have been released: it remains until its TTL expires or its session ends"_s
                           .arg(lock);
            areOver->release();
        });
        io.runs().endAll([areOver] { areOver->release(); });
    });
    if (!areOver->tryAcquire(2, lastTidying))
        qCWarning(logInspect, "closing: a run on real servers had no time to delete what it created");
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
std::function<void(T)> LiveBackend::deliveredTo(const QPointer<QObject> &context, std::function<void(T)> callback)
{
    return [front = this, context, callback = std::move(callback)](T value) {
        // Held once: a list of 300,000 children must not be copied in the GUI thread.
        auto held = std::make_shared<T>(std::move(value));
        QMetaObject::invokeMethod(
            front,
            [context, callback, held] {
                if (context)
                    callback(std::move(*held));
            },
            Qt::QueuedConnection);
    };
}

template <class Q>
void LiveBackend::start(Posted<Q> asked)
{
    asked.answer = deliveredTo(asked.context, std::move(asked.answer));
    if constexpr (std::is_same_v<Q, BulkRelease>) {
        if (asked.query.progressed)
            asked.query.progressed = deliveredTo(asked.context, std::move(asked.query.progressed));
    }
    if constexpr (std::is_same_v<Q, Rehearse>)
        m_rehearsals.start([asked = std::move(asked)] { asked.answer(rehearse::rehearse(asked.query.plan)); });
    else if constexpr (std::is_same_v<Q, ReadAudit>)
        m_readers.start([path = m_auditPath, asked = std::move(asked)] {
            asked.answer(operate::reportOf(operate::AuditFile(path), asked.query.knownStamp));
        });
    else
        onIoThread([asked = std::move(asked)](IoController &io) { io.answer(asked); });
}

void LiveBackend::execute(Command command)
{
    if (const auto *changed = std::get_if<SetClientLabels>(&command))
        m_labels = changed->labels;
    onIoThread([command = std::move(command)](IoController &io) { io.execute(command); });
}

} // namespace lockscope

#include "moc_livebackend.cpp"
#include "moc_backend.cpp"
