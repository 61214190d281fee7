// SPDX-License-Identifier: Apache-2.0
// A run told in text: the command that plays it again, and its events, one a line.
#pragma once

#include "core/contention/recording.h"

namespace lockscope::contention {

// For a shell: "lockscopectl simulate --recipe zk-mutex …"; what has no option of its own goes as --scenario.
[[nodiscard]] QString commandLine(const Scenario &scenario);

// Up to the first time that invariant breaks (empty: to the end), fit to be printed. What somebody asks and hears
// over and over stands once, and how often more. Of very many the last ones.
[[nodiscard]] QStringList eventLines(const Recording &recording, const QByteArray &invariant, std::size_t most);

} // namespace lockscope::contention
