// SPDX-License-Identifier: Apache-2.0
// Paints the lines of who watches whom beside a row of the queue, and the two lines of text of its other cells.
#pragma once

#include "ui/models/queuerails.h"
#include "ui/theme/pill.h"

#include <QRect>

class QPainter;

namespace lockscope::ui {

constexpr int railsWidth = 92;

// A solid line is one that a server reported, a dashed one is inferred. `pill` is the sign of the row, or its place.
void paintRails(QPainter &painter, const QRect &box, const RailRow &rail, const Pill &pill);
void paintTwoLines(QPainter &painter, const QRect &box, const QString &first, const QString &second,
                   Qt::Alignment alignment, bool isName);

} // namespace lockscope::ui
