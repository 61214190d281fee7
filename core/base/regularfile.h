// SPDX-License-Identifier: Apache-2.0
// Files that a user or a team names. A pipe of that name would block the program and a device would never end. So
// what is open is judged: by its name it could be another file by then.
#pragma once

#include "core/base/result.h"

#include <QFile>

namespace lockscope {

// Opens it for reading, and never blocks. The error's message is the cause alone: "not a regular file".
[[nodiscard]] Result<std::unique_ptr<QFile>> openRegularFile(const QString &path);
// An open descriptor is one of a regular file.
[[nodiscard]] Result<void> checkRegular(int descriptor);
// The file's first bytes.
[[nodiscard]] Result<QByteArray> readRegularFile(const QString &path, qint64 most);

// A file or folder of resources/, in the program itself.
[[nodiscard]] QString resourcePath(const QString &name);
// The file's bytes. A missing file is a mistake in the program, and ends it.
[[nodiscard]] QByteArray readResource(const QString &name);

} // namespace lockscope
