// SPDX-License-Identifier: Apache-2.0
#include "core/operate/releasemethod.h"

#include "core/base/text.h"
#include "core/operate/alternatives.h"
#include "core/operate/precheck.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;

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
        u"%1 is gone already: it let go, or somebody else took it away; nothing was taken away by this"_s.arg(
            holdText(plan))};
}

Error unseenNow(const ForceReleasePlan &plan)
{
    return Error{ErrorCode::Refused,
                 u"nobody waits for %1 any more, and its server shows it only while somebody does: whether %2 still "
                 u"holds it is not known; nothing was taken away by this"_s.arg(label(plan.before.lock.text()),
                                                                                label(plan.holder, 80))};
}

QString notShownNow(const ForceReleasePlan &plan)
{
    // Who had waited alone holds it now, unseen; of several the others wait on, and are shown in a moment.
    return plan.before.waiterCount() <= 1
               ? u"nobody waits for it any more, and a server shows such a lock only then"_s
               : u"it is not shown at this moment, and a server shows such a lock only while somebody waits; look again"_s;
}

Error changedMeanwhile(const ForceReleasePlan &plan, const QString &what)
{
    return Error{ErrorCode::Refused,
                 u"%1 is not what it was in the preview (%2), and nothing was taken away; look again"_s.arg(
                     holdText(plan), what)};
}

Error nothingChanged(const ForceReleasePlan &plan, const Error &why)
{
    return nothingChanged(holdText(plan), why);
}

std::optional<Error> refusalOfAnotherHold(const ForceReleasePlan &plan, const inspect::LockSnapshot &fresh,
                                          const inspect::Contender &now)
{
    if (isAnotherHold(plan.before, fresh, now.id))
        return changedMeanwhile(plan, u"it let go since, and took it again"_s);
    if (isLeaseWrittenEarly(plan.before, fresh, now.id))
        return changedMeanwhile(plan, u"its lease was written anew, sooner than a client renews one: it may have let "
                                      u"go since, and taken it again"_s);
    return std::nullopt;
}

Task<Result<Sent>> nothingSent(ForceReleasePlan plan)
{
    const auto way = releaseWay(plan.before);
    co_return way
        ? Error{ErrorCode::Unsupported, u"nothing was sent: force-release of %1 is not for this kind of server"_s.arg(
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
    return recorded ? QString() : u"; the result is missing in the audit file: "_s + recorded.error().message;
}

} // namespace lockscope::operate
