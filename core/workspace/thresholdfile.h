// SPDX-License-Identifier: Apache-2.0
// The user's thresholds: thresholds.json, which both programs read.
#pragma once

#include "core/base/result.h"
#include "core/inspect/thresholds.h"

namespace lockscope {

[[nodiscard]] QString thresholdFile();
// The defaults where there is no file.
[[nodiscard]] Result<inspect::ThresholdRules> readThresholds(const QString &file = thresholdFile());
[[nodiscard]] Result<void> writeThresholds(const inspect::ThresholdRules &rules,
                                           const QString &file = thresholdFile());
// Why this is no such rule, in words that name the field; empty where it is one.
[[nodiscard]] QString objectionTo(const inspect::ThresholdRule &rule);
// "90s", "10m", "2h": as it is read.
[[nodiscard]] QString writtenDuration(std::chrono::milliseconds span);

} // namespace lockscope
