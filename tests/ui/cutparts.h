// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/parts/labels.h"

#include <QAbstractButton>
#include <QLabel>
#include <QStringList>

namespace lockscope::testing {

// What does not get the room that its words need. An elided label, and what scrolls, says so by itself.
inline QStringList cutParts(const QWidget &dialog)
{
    QStringList cut;
    const auto note = [&cut](const QWidget &part, const QString &text) {
        cut << QStringLiteral("%1 %2x%3 “%4”")
                   .arg(QString::fromLatin1(part.metaObject()->className()))
                   .arg(part.width())
                   .arg(part.height())
                   .arg(text.left(60));
    };
    for (const auto *label : dialog.findChildren<QLabel *>()) {
        const bool isMeasured = label->isVisible() && !label->text().isEmpty()
                                && !qobject_cast<const ui::ElidedLabel *>(label)
                                && label->sizePolicy().horizontalPolicy() != QSizePolicy::Ignored;
        if (!isMeasured)
            continue;
        const bool isCut = label->wordWrap() ? label->height() + 1 < label->heightForWidth(label->width())
                                             : label->width() + 1 < label->sizeHint().width();
        if (isCut)
            note(*label, label->text());
    }
    for (const auto *button : dialog.findChildren<QAbstractButton *>()) {
        if (button->isVisible() && !button->text().isEmpty()
            && button->width() + 1 < button->minimumSizeHint().width())
            note(*button, button->text());
    }
    return cut;
}

} // namespace lockscope::testing
