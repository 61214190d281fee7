// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/releasepreview.h"

#include "core/base/text.h"
#include "ui/dialogs/factsform.h"
#include "ui/dialogs/forcereleasewords.h"
#include "ui/parts/notices.h"

#include <QVBoxLayout>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using operate::Way;
using Words = ForceReleaseWords;

void ReleasePreview::fillFacts(FactsForm &facts, const operate::ForceReleasePlan &plan, SystemTime now)
{
    const bool isRelease = plan.way == Way::Release;
    facts.clear();
    if (const auto *one = plan.before.find(plan.holder))
        facts.addText(plan.way == Way::KillWaiter ? tr("Waiter")
                      : isRelease                 ? tr("Takes it from")
                                                  : tr("Holder"),
                      Words::takenFrom(*one, plan.before));
    if (isRelease)
        facts.addText(tr("Next owner"), Words::nextOwner(plan, now));
    else
        facts.addText(tr("Who gets it then"), harmless(plan.who, 400));
    facts.addCode(tr("Will be sent"), plan.commands);
    facts.addText(tr("Only if unchanged"),
                  plan.guardText + (plan.exact ? QString() : tr("; a gap remains, see below")));
    facts.addText(tr("Wakes"), plan.wakes);
    if (isRelease)
        facts.addText(tr("Other locks lost"), Words::otherLocksLost(plan));
    else
        facts.addText(tr("What else is lost"), harmless(plan.alsoLost, 400));
    if (plan.leaseKeys) {
        QStringList keys;
        for (const auto &key : *plan.leaseKeys)
            keys << escaped(key);
        facts.addCode(tr("All its keys"), keys);
    }
}

void ReleasePreview::fillWarnings(QVBoxLayout &warnings, QWidget *parent, const operate::ForceReleasePlan &plan)
{
    while (auto *item = warnings.takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const auto &warning : plan.warnings) {
        if (warning.startsWith("the old holder"_L1))
            continue; // said above, larger
        auto *banner = new Banner(parent);
        banner->say(Banner::Look::Warning, {}, harmless(warning, 1000));
        warnings.addWidget(banner);
    }
}

void ReleasePreview::sayDanger(Banner &danger, const operate::ForceReleasePlan &plan)
{
    danger.say(Banner::Look::Critical,
               plan.act.isEmpty() ? tr("The old holder may still believe it holds the lock.")
                                  : tr("The old holder is told only by its next statement, which fails."),
               Words::fencing(plan));
}

QString ReleasePreview::buttonText(const operate::ForceReleasePlan &plan, const QString &from)
{
    const QString text = plan.act.isEmpty() ? tr("Release from %1").arg(from) : plan.act;
    return QString(text).replace(u'&', u"&&"_s);
}

QString ReleasePreview::sendingText(const operate::ForceReleasePlan &plan)
{
    return plan.way == Way::Release ? tr("Reading once more, recording the intent, then releasing…")
                                    : tr("Reading once more, recording the intent, then sending it…");
}

QString ReleasePreview::outcomeWord(const operate::ForceReleasePlan &plan,
                                    const operate::ForceReleaseOutcome &outcome, const QString &from)
{
    if (plan.way == Way::Release)
        return outcome.released ? tr("Released from %1.").arg(from) : tr("Not released.");
    return outcome.done ? tr("Done.") : tr("Not done.");
}

} // namespace lockscope::ui
