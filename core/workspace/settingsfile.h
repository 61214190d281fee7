// SPDX-License-Identifier: Apache-2.0
// A versioned JSON file of the user's settings, in the folder of the connections, that both programs read. What is
// wrong in it is said with the file and the field, and nothing of such a file is used.
#pragma once

#include "core/base/result.h"
#include "core/inspect/findings.h"
#include "core/inspect/waits/clients.h"

#include <QJsonObject>

namespace lockscope {

// "lockscope/NAME" in the folder where the desktop keeps settings.
[[nodiscard]] QString settingsPath(const QString &name);
// An empty object where there is no file.
[[nodiscard]] Result<QJsonObject> readSettings(const QString &file);
// Whole or not at all; adds the version.
[[nodiscard]] Result<void> writeSettings(const QString &file, QJsonObject settings);
// "FILE: FIELD: why".
[[nodiscard]] Error badSetting(const QString &file, const QString &field, const QString &why);

// The user's thresholds: thresholds.json, which both programs read.

[[nodiscard]] QString thresholdFile();
// The defaults where there is no file.
[[nodiscard]] Result<inspect::ThresholdRules> readThresholds(const QString &file = thresholdFile());
[[nodiscard]] Result<void> writeThresholds(const inspect::ThresholdRules &rules,
                                           const QString &file = thresholdFile());
// Why this is no such rule, in words that name the field; empty where it is one.
[[nodiscard]] QString objectionTo(const inspect::ThresholdRule &rule);
// "90s", "10m", "2h": as it is read.
[[nodiscard]] QString writtenDuration(std::chrono::milliseconds span);

// What the user calls clients, kept for both programs: a line PATTERN=NAME each, in the folder of the connections.

[[nodiscard]] QString clientLabelFile();
// Those of the file; none when there is no file. Lines that are no label are left out. `problem` is why a file that
// exists was not read.
[[nodiscard]] std::vector<inspect::ClientLabel> savedClientLabels(const QString &file = clientLabelFile(),
                                                                  QString *problem = nullptr);
// Those and no others, in this order; the file's comments stay, at its beginning.
[[nodiscard]] Result<void> writeClientLabels(const std::vector<inspect::ClientLabel> &labels,
                                             const QString &file = clientLabelFile());
// Adds those that are not there yet.
[[nodiscard]] Result<void> saveClientLabels(const std::vector<inspect::ClientLabel> &labels,
                                            const QString &file = clientLabelFile());

} // namespace lockscope
