// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/findingsdialog.h"

#include "core/workspace/values.h"
#include "ui/models/lockfacts.h"
#include "ui/parts/parts.h"

#include <QBoxLayout>
#include <QDialogButtonBox>
#include <QLabel>
#include <QScrollArea>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

FindingsDialog::FindingsDialog(QWidget *parent) : QDialog(parent)
{
    setWindowTitle(tr("What findings mean, and what to do"));
    setObjectName(u"findingsDialog"_s);
    auto *list = new QWidget;
    auto *rows = new QVBoxLayout(list);
    for (const auto &kind : inspect::findingKinds()) {
        const auto title = u"%1 · %2 · %3"_s.arg(kind.title, inspect::word(kind.code), inspect::word(kind.severity));
        rows->addWidget(makeLabel(title, u"title"_s, list));
        auto *help = makeSelectable(helpOn(kind), list, false);
        help->setWordWrap(true);
        help->setMinimumWidth(1); // a wrapped label would rather be wide
        rows->addWidget(help);
        rows->addSpacing(8);
    }
    auto *scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setAccessibleName(windowTitle());
    scroll->setWidget(list);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(24, 20, 24, 16);
    column->addWidget(makeLabel(windowTitle(), u"heading"_s, this));
    column->addWidget(scroll, 1);
    column->addWidget(buttons);
    resizeWithinParent(*this, {820, 760});
}

} // namespace lockscope::ui

#include "moc_findingsdialog.cpp"
