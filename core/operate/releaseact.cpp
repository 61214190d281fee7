// SPDX-License-Identifier: Apache-2.0
#include "core/operate/releasemethod.h"

#include "core/base/text.h"
#include "core/operate/alternatives.h"
#include "core/operate/precheck.h"

namespace lockscope::operate {

namespace {

QString holdText(const ForceReleasePlan &plan)
{
    return u"\"%1\" in %2"_s.arg(label(plan.holder, 80), label(plan.before.lock.text()));
}

} // namespace

Error goneAlready(const ForceReleasePlan &plan)
{
    return Error{
        ErrorCode::Refused,
        u"%1 no longer exists: it was released, it expired, or another client removed it. Nothing was changed"_s.arg(
            holdText(plan))};
}

Error unseenNow(const ForceReleasePlan &plan)
{
    return Error{ErrorCode::Refused,
                 u"%1 has no waiters any more, and its server reports such a lock only while a client waits. "
                 u"Whether %2 still holds it is unknown. Nothing was changed"_s.arg(label(plan.before.lock.text()),
                                                                                    label(plan.holder, 80))};
}

QString notShownNow(const ForceReleasePlan &plan)
{
    // Who had waited alone holds it now, unseen; of several the others wait on, and are shown in a moment.
    return plan.before.waiterCount() <= 1
               ? u"no client waits for it any more, and its server reports such a lock only while a client waits"_s
               : u"its server does not report it at present, and reports such a lock only while a client waits. "
                 u"Check the lock again"_s;
}

Error changedMeanwhile(const ForceReleasePlan &plan, const QString &what)
{
    return Error{ErrorCode::Refused,
                 u"%1 differs from the preview: %2. Nothing was changed; check it again"_s.arg(holdText(plan), what)};
}

Error nothingChanged(const ForceReleasePlan &plan, const Error &why)
{
    return nothingChanged(holdText(plan), why);
}

std::optional<Error> refusalOfAnotherHold(const ForceReleasePlan &plan, const inspect::LockSnapshot &fresh,
                                          const inspect::Contender &now)
{
    if (isAnotherHold(plan.before, fresh, now.id))
        return changedMeanwhile(plan, u"its client released it and acquired it again"_s);
    if (isLeaseWrittenEarly(plan.before, fresh, now.id))
        return changedMeanwhile(plan, u"its lease was rewritten earlier than a client renews it; its client may "
                                      u"have re-acquired it"_s);
    return std::nullopt;
}

Task<Result<Sent>> nothingSent(ForceReleasePlan plan)
{
    const auto way = releaseWay(plan.before);
    co_return way
        ? Error{ErrorCode::Unsupported, u"nothing was sent: %1 cannot be force-released on this kind of server"_s.arg(
                                            label(plan.before.lock.text()))}
        : way.error();
}

QString auditOutcomeOf(const Error &error)
{
    const auto word = error.code == ErrorCode::Refused          ? u"refused: "_s
                      : error.code == ErrorCode::UnknownOutcome ? u"unknown: "_s
                                                                : u"failed: "_s;
    return word + error.message;
}

QString missingInAudit(const Result<void> &recorded)
{
    return recorded ? QString()
                    : u". "_s + u"The result is missing in the audit log: %1"_s.arg(recorded.error().message);
}

} // namespace lockscope::operate
