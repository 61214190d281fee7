// SPDX-License-Identifier: Apache-2.0
#include "core/operate/releaserecord.h"

#include "core/inspect/json.h"
#include "core/operate/gentler.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;

AuditRecord recordOf(const ForceReleasePlan &plan, const QString &phase, const QString &reason,
                     const inspect::LockSnapshot &before)
{
    AuditRecord record;
    record.time = std::chrono::system_clock::now();
    record.actor = currentActor();
    record.action = actionOf(plan.way);
    record.lock = plan.before.lock.text();
    record.holder = plan.holder;
    record.reason = reason;
    record.phase = phase;
    record.node = plan.onNode ? plan.onNode->node : QString();
    record.before = inspect::toJson(before);
    return record;
}

QString auditOutcome(const Result<Sent> &sent, const QString &done)
{
    if (sent)
        return sent->where.isEmpty() ? done : done + u' ' + sent->where;
    const auto word = sent.error().code == ErrorCode::Refused          ? u"refused: "_s
                      : sent.error().code == ErrorCode::UnknownOutcome ? u"unknown: "_s
                                                                       : u"failed: "_s;
    return word + sent.error().message;
}

} // namespace lockscope::operate
