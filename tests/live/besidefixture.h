// SPDX-License-Identifier: Apache-2.0
// What the tests share of whoever tries to take a lock that another holds: every recipe of ours in turn, without
// waiting.
#pragma once

#include "core/async/qtloop.h"
#include "core/rules/catalogue.h"
#include "core/workspace/hold.h"
#include "tests/support/finish.h"
#include "tests/support/patience.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>
#include <QTest>

namespace lockscope::testing::inline besidefixture {

using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

inline QByteArrayList acquirableOn(BackendKind backend)
{
    QByteArrayList ids;
    for (const auto &recipe : recipes::catalogue()) {
        if (recipe.acquirable && recipe.backend == backend && !recipe.quorum)
            ids << recipe.id;
    }
    return ids;
}

inline QByteArrayList listed(const QByteArray &ids)
{
    auto list = ids.split(' ');
    list.removeAll(QByteArray());
    return list;
}

class BesideFixture : public QObject {
protected:
    QtLoop m_loop;
    QTemporaryDir m_state;
    std::unique_ptr<Workspace> m_workspace;

    [[nodiscard]] Deadline soon() { return Deadline::after(m_loop, std::chrono::milliseconds(patienceMs)); }
    void connectTo(const std::vector<ConnectionSpec> &specs)
    {
        WorkspaceOptions options{.observe = false, .auditPath = m_state.filePath(u"audit.jsonl"_s)};
        m_workspace = std::make_unique<Workspace>(m_loop, options, nullptr);
        for (const auto &spec : specs) {
            QVERIFY(m_workspace->add(spec));
            QVERIFY(finish(m_loop, m_workspace->whenConnected(spec.name, soon())));
        }
    }
    // One try without waiting.
    Result<recipes::Grant> attempt(const inspect::LockName &lock, const QByteArray &recipe)
    {
        HeldLock hold(*m_workspace, {lock, recipe, false, 1, 30'000ms, true});
        auto got = finish(m_loop, hold.acquire(0ms));
        if (got)
            (void)finish(m_loop, hold.release(soon()));
        return got;
    }
    // Of all recipes of that backend those in `waiting` wait; none gets it but those that keep nobody out.
    void nobodyGetsIt(BackendKind backend, const inspect::LockName &lock, const QByteArrayList &waiting,
                      const QByteArrayList &keepingNobodyOut = {})
    {
        for (const auto &recipe : acquirableOn(backend)) {
            const auto got = attempt(lock, recipe);
            QVERIFY2(bool(got) == keepingNobodyOut.contains(recipe), recipe + (got ? ": got it" : ": did not"));
            if (got)
                continue;
            const auto &message = got.error().message;
            const bool isInTime = got.error().code == ErrorCode::TimedOut;
            QVERIFY2(isInTime == waiting.contains(recipe), recipe + ": " + message.toUtf8());
            if (got.error().code == ErrorCode::Refused)
                QVERIFY2(message.contains(u"both would hold the lock"), qPrintable(message));
        }
    }
    // The same of one that is seen to be held.
    void nobodyGetsWhatIsSeen(const inspect::LockName &lock, const QByteArrayList &waiting)
    {
        const auto seen = finish(m_loop, m_workspace->read(lock, soon()));
        QVERIFY2(seen, seen ? "" : qPrintable(seen.error().message));
        QVERIFY2(seen->holderCount() > 0, qPrintable(seen->why));
        nobodyGetsIt(seen->backend, lock, waiting);
    }
};

} // namespace lockscope::testing::inline besidefixture
