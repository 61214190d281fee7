// SPDX-License-Identifier: Apache-2.0
// What the window stands on, connected to one place: what it has been told, and a lock taken and given back.
#pragma once

#include "core/workspace/livebackend.h"
#include "tests/support/patience.h"

#include <QTemporaryDir>
#include <QTest>

namespace lockscope::testing {

class OneBackend {
public:
    explicit OneBackend(const ConnectionSpec &spec) : m_spec(spec)
    {
        WorkspaceOptions options{.auditPath = m_state.filePath(QStringLiteral("audit.jsonl"))};
        m_backend = std::make_unique<LiveBackend>(options);
        QObject::connect(m_backend.get(), &Backend::updated, &m_here, [this](const Batch &batch) { take(batch); });
        QObject::connect(m_backend.get(), &Backend::holdChanged, &m_here,
                         [this](const Hold &hold) { m_holds.insert_or_assign(hold.id, hold); });
        m_backend->execute(Connect{m_spec});
    }

    [[nodiscard]] const ConnectionStatus &status() const { return m_status; }
    [[nodiscard]] bool isConnected() const { return m_status.state == ConnectionStatus::State::Connected; }
    bool becomesConnected()
    {
        return eventually([this] { return isConnected(); });
    }
    // How often it was connected and then not. Who breaks a connection waits for one more: until it is noticed, it is
    // still said to be connected, and what is asked of it then fails.
    [[nodiscard]] int losses() const { return m_losses; }
    // Why it is not connected, once something is said that holds these words; else whatever is said then.
    QString refusal(const QString &words)
    {
        eventually([&] { return m_status.message.contains(words, Qt::CaseInsensitive); });
        return m_status.message;
    }
    // Null: there is none, or nobody has it.
    [[nodiscard]] const inspect::LockSnapshot *taken(const QByteArray &name) const
    {
        const auto at = m_locks.find({m_spec.name, name});
        return at == m_locks.end() || at->second.contenders.empty() ? nullptr : &at->second;
    }
    quint64 acquire(const QByteArray &name, const QByteArray &recipe)
    {
        AcquireRequest request{.lock = {m_spec.name, name}, .recipe = recipe};
        return m_backend->acquire(request);
    }
    [[nodiscard]] const Hold &hold(quint64 id) { return m_holds[id]; }
    bool becomes(quint64 id, Hold::State state)
    {
        return eventually([&] { return m_holds[id].state == state; });
    }
    void release(quint64 id) { m_backend->execute(ReleaseHold{id}); }

    void acquiresAndReleases(const QByteArray &name, const QByteArray &recipe)
    {
        QVERIFY2(becomesConnected(), qPrintable(m_status.message));
        const auto id = acquire(name, recipe);
        QVERIFY2(becomes(id, Hold::State::Held), qPrintable(hold(id).message));
        QVERIFY(eventually([&] { return taken(name) != nullptr; }));
        release(id);
        QVERIFY(becomes(id, Hold::State::Released));
        QVERIFY(eventually([&] { return taken(name) == nullptr; }));
    }

private:
    void take(const Batch &batch)
    {
        for (const auto &change : batch.locks) {
            if (change.kind == inspect::ChangeKind::Removed)
                m_locks.erase(change.lock.lock);
            else
                m_locks.insert_or_assign(change.lock.lock, change.lock);
        }
        for (const auto &status : batch.connections) {
            const bool wasConnected = isConnected();
            m_status = status;
            m_losses += wasConnected && !isConnected() ? 1 : 0;
        }
    }

    const ConnectionSpec m_spec;
    QTemporaryDir m_state;
    std::map<inspect::LockName, inspect::LockSnapshot> m_locks;
    ConnectionStatus m_status;
    int m_losses = 0;
    std::map<quint64, Hold> m_holds;
    QObject m_here;
    std::unique_ptr<LiveBackend> m_backend;
};

} // namespace lockscope::testing
