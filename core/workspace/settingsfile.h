// SPDX-License-Identifier: Apache-2.0
// A versioned JSON file of the user's settings, in the folder of the connections, that both programs read. What is
// wrong in it is said with the file and the field, and nothing of such a file is used.
#pragma once

#include "core/base/result.h"

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

} // namespace lockscope
