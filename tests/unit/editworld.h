// SPDX-License-Identifier: Apache-2.0
// What the suites of edits begin with: the gate, and behind it a tree and a store that only remember.
#pragma once

#include "core/async/scope.h"
#include "core/operate/gate.h"
#include "core/operate/redis.h"
#include "core/operate/zookeeper.h"
#include "tests/unit/tst_gate_fakes.h"

#include <QTemporaryDir>

namespace lockscope::operate {

struct EditWorld {
    QTemporaryDir folder;
    AuditFile audit{folder.path() + QStringLiteral("/audit.jsonl")};
    VirtualLoop loop;
    CommandLog log;
    Gate gate{ConnectionName("zk"), false, false, log};
    fakes::Session tree{loop};
    fakes::Connection store{loop};
    std::unique_ptr<zk::Session> session = gated(tree, gate);
    std::unique_ptr<redis::Connection> redis = gated(store, gate);
    std::vector<inspect::LockSnapshot> locks;
    Scope scope{loop};

    template <class T>
    static Task<void> keep(Task<T> task, std::optional<T> *result)
    {
        auto got = co_await task;
        result->emplace(std::move(got));
    }
    template <class T>
    Result<T> run(Task<Result<T>> task)
    {
        std::optional<Result<T>> result;
        scope.launch(keep(std::move(task), &result));
        loop.runReady();
        return result ? *result : Result<T>(Error{ErrorCode::TimedOut, QStringLiteral("never ended")});
    }

    EditTools tools(bool ofKeys = false)
    {
        EditTools tools;
        tools.read = [this, ofKeys](EditRequest request, Deadline by) {
            return ofKeys ? readForEdit(std::move(request), redis.get(), by)
                          : readForEdit(std::move(request), session.get(), by);
        };
        tools.send = [this, ofKeys](EditPlan plan, Deadline by) {
            return ofKeys ? sendEdit(std::move(plan), redis.get(), by) : sendEdit(std::move(plan), session.get(), by);
        };
        tools.locks = [this] { return locks; };
        tools.audit = &audit;
        tools.loop = &loop;
        return tools;
    }
    Result<EditPlan> plan(const EditRequest &request) { return run(planEdit(request, tools(), Deadline::never())); }
    Result<EditOutcome> apply(const EditPlan &plan, const QString &reason = QStringLiteral("INC-7"))
    {
        return run(applyEdit(plan, tools(), reason, Deadline::never()));
    }
    // Everything that changes something.
    QStringList writes() const
    {
        QStringList found;
        for (const auto &one : tree.sent) {
            if (!one.startsWith(QStringLiteral("get ")) && !one.startsWith(QStringLiteral("exists "))
                && !one.startsWith(QStringLiteral("sync ")) && !one.startsWith(QStringLiteral("children "))
                && !one.startsWith(QStringLiteral("acls ")))
                found << one;
        }
        return found;
    }
    std::vector<AuditRecord> records() const { return audit.read(nullptr).operator*(); }
};

class EditsFixture : public QObject {
protected:
    static EditRequest request(EditKind kind, const QByteArray &name, const QByteArray &value = {})
    {
        EditRequest made;
        made.kind = kind;
        made.connection = ConnectionName("zk");
        made.name = name;
        made.value = value;
        made.acls = zk::openAcl();
        return made;
    }
};

} // namespace lockscope::operate
