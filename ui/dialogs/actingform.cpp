// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/actingform.h"

#include "core/base/text.h"
#include "ui/theme/theme.h"

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QSettings>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

ActingInputs makeActingInputs(QWidget *parent, const QString &typedName, const ActingWords &words)
{
    ActingInputs made;
    made.widget = new QWidget(parent);
    made.grid = new QGridLayout(made.widget);
    made.grid->setContentsMargins(0, 0, 0, 0);
    made.grid->setHorizontalSpacing(12);
    made.grid->setVerticalSpacing(6);
    made.grid->setColumnMinimumWidth(0, 158);
    made.grid->setColumnStretch(1, 1);
    made.reason = new QLineEdit(made.widget);
    made.reason->setObjectName(u"reason"_s);
    made.reason->setPlaceholderText(words.reasonHint);
    made.typed = new QLineEdit(made.widget);
    made.typed->setObjectName(typedName);
    made.typed->setFont(monoFont());
    auto *reasonLabel = new QLabel(words.reason, made.widget);
    reasonLabel->setBuddy(made.reason);
    made.typedLabel = new QLabel(words.typed, made.widget);
    made.typedLabel->setBuddy(made.typed);
    for (auto *label : {reasonLabel, made.typedLabel})
        label->setProperty("look", u"muted"_s);
    made.grid->addWidget(reasonLabel, 0, 0);
    made.grid->addWidget(made.reason, 0, 1);
    made.grid->addWidget(made.typedLabel, 1, 0);
    made.grid->addWidget(made.typed, 1, 1);
    return made;
}

bool offerArming(QPushButton &arm, QWidget &reason, const ConnectionStatus *status, bool isForm)
{
    const bool isOffered = isForm && status && status->readOnly && !status->readOnlyForGood
                           && status->state == ConnectionStatus::State::Connected;
    if (!isOffered && arm.window()->focusWidget() == &arm)
        reason.setFocus();
    arm.setVisible(isOffered);
    if (status)
        arm.setText(QObject::tr("Allow writes on %1…").arg(label(status->name.bytes(), 40)).replace(u'&', u"&&"_s));
    return isOffered;
}

void fitToScreen(QDialog *form, QScrollArea *scroll, const std::optional<QRect> &available, int width,
                 const std::optional<QRect> &stands)
{
    constexpr int spare = 2;
    constexpr QMargins frame(8, 36, 8, 8); // what a window manager puts around it
    const QRect screen = available ? *available : form->screen()->availableGeometry();
    const QRect room = screen.marginsRemoved(frame);
    const int wide = std::min(width, room.width());
    const auto *layout = form->layout();
    const auto margins = layout->contentsMargins();
    const int inside = wide - margins.left() - margins.right();
    auto *inner = scroll->widget()->layout();
    inner->activate();
    const int content =
        inner->hasHeightForWidth() ? inner->totalHeightForWidth(inside) : scroll->widget()->sizeHint().height();
    int others = margins.top() + margins.bottom();
    int parts = 0;
    for (int i = 0; i < layout->count(); ++i) {
        auto *item = layout->itemAt(i);
        if (!item->widget() || item->isEmpty())
            continue;
        ++parts;
        if (item->widget() != scroll)
            others += item->hasHeightForWidth() ? item->heightForWidth(inside) : item->sizeHint().height();
    }
    others += std::max(0, parts - 1) * layout->spacing();
    const int needed = others + content + spare;
    const int high = std::min(room.height(), std::max(needed, stands ? stands->height() : 0));
    QRect place(QPoint(), QSize(wide, high));
    const auto *parent = form->parentWidget();
    if (stands)
        place.moveTopLeft(stands->topLeft());
    else
        place.moveCenter(parent && parent->isVisible() ? parent->window()->geometry().center() : room.center());
    place.moveLeft(std::clamp(place.left(), room.left(), std::max(room.left(), room.right() + 1 - wide)));
    place.moveTop(std::clamp(place.top(), room.top(), std::max(room.top(), room.bottom() + 1 - high)));
    // A bar that once was there stays as long as the content, narrowed by it, is too high: it has to go first.
    if (high >= needed)
        scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    form->setGeometry(place);
    form->layout()->activate();
    scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
}

ConfirmationPolicy frictionOf(const ConnectionBook &book, const ConnectionName &name)
{
    const auto *status = book.find(name);
    ConfirmationPolicy friction;
    if (!status)
        return friction;
    friction.typesName = friction.wantsReason = status->production;
    const bool isDevelopment = !status->production && (book.sandbox().contains(name) || book.isDevelopment(name));
    if (!isDevelopment)
        return friction;
    const bool isReason = QSettings().value(u"confirm/development"_s).toString() == "reason"_L1;
    friction.wantsReason = isReason;
    friction.oneKey = !isReason;
    return friction;
}

} // namespace lockscope::ui

#include "moc_actingform.cpp"
