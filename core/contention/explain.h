// SPDX-License-Identifier: Apache-2.0
// Why something did not hold, as one would tell it: who had the lock, what befell whom, when the server let go of it,
// who got it then, and what the first one did, who could not know.
#pragma once

#include "core/contention/recording.h"

#include <QLocale>

namespace lockscope::contention {

// "c00 got the lock at 0.10 s; c00 was paused at 0.20 s, for 12.00 s; its lock no longer existed on the server at
// 4.10 s; c01 got the lock at 4.11 s; c00 woke at 12.20 s and wrote". Empty where the events were not kept. In the
// language that the application speaks; `locale`: how it writes numbers.
[[nodiscard]] QString explain(const Recording &recording, const Violation &violation,
                              const QLocale &locale = QLocale::c());
// What a checker said of a violation, in that language.
[[nodiscard]] QString formatViolation(const QString &message);

// A run told in text: the command that plays it again, and its events, one a line.

// For a shell: "lockscopectl simulate --recipe zk-mutex …"; what has no option of its own goes as --scenario.
[[nodiscard]] QString commandLine(const Scenario &scenario);

// Up to the first time that invariant breaks (empty: to the end), fit to be printed. What somebody asks and hears
// over and over stands once, and how often more. Of very many the last ones.
[[nodiscard]] QStringList eventLines(const Recording &recording, const QByteArray &invariant, std::size_t most);

} // namespace lockscope::contention
