// SPDX-License-Identifier: Apache-2.0
// What the tiles below a run say at its end is what its recording counted.
#pragma once

#include "core/lessons/lessons.h"
#include "ui/simulator/countertiles.h"

#include <QRegularExpression>
#include <QTest>

namespace lockscope::testing {

inline void saysItsCounters(const ui::CounterTiles &tiles, const QList<QByteArray> &names,
                            const contention::Recording &recording)
{
    using namespace Qt::StringLiterals;
    static const QRegularExpression notDigits(u"[^0-9.]"_s); // each language groups in its own way
    for (const auto &name : names) {
        auto figure = tiles.figure(name);
        QVERIFY2(!figure.isEmpty(), name);
        if (name.endsWith("Ms"))
            continue; // said with a unit, in a language
        const auto counted = name == "violations" ? static_cast<double>(recording.violations.size())
                                                  : lessons::counterOf(name, recording);
        const auto said = figure == u"–"_s ? 0 : figure.remove(notDigits).toDouble();
        QVERIFY2(said == counted,
                 qPrintable(u"%1: %2, counted %3"_s.arg(QString::fromUtf8(name), figure).arg(counted)));
    }
}

} // namespace lockscope::testing
