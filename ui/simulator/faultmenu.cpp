#include "ui/simulator/faultmenu.h"

#include "ui/simulator/comparison.h"
#include "ui/simulator/words.h"

#include <QAction>
#include <QCoreApplication>
#include <QMenu>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using simulate::FaultKind;
using simulate::PlannedFault;

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("Simulator", text);
}

} // namespace

void addFaults(QMenu &menu, const Comparison &comparison, const ForkPlace &place,
               std::function<void(const PlannedFault &)> chosen)
{
    menu.setToolTipsVisible(true);
    const QString at = momentText(place.at);
    const auto add = [&](FaultKind kind) {
        if (!comparison.allows(kind))
            return;
        auto *action = menu.addAction(faultTitle(kind));
        action->setObjectName(QString::fromLatin1(nameOf(kind)));
        action->setToolTip(summaryOf(kind));
        PlannedFault fault;
        fault.kind = kind;
        fault.at = place.at;
        fault.contender = place.contender;
        QObject::connect(action, &QAction::triggered, &menu, [chosen, fault] { chosen(fault); });
    };
    menu.addSection(tr("%1 at %2").arg(place.name, at));
    for (const auto kind : simulate::allFaults()) {
        if (isOfContender(kind))
            add(kind);
    }
    menu.addSection(tr("The server at %1").arg(at));
    for (const auto kind : simulate::allFaults()) {
        if (!isOfContender(kind))
            add(kind);
    }
}

} // namespace lockscope::ui
