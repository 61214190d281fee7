// SPDX-License-Identifier: Apache-2.0
// Files for what reads files: in a folder that is gone with the program, one of each name.
#pragma once

#include <QByteArray>
#include <QFile>
#include <QString>

namespace lockscope::fuzz {

[[nodiscard]] QString pathOf(const char *name);
// Its path, holding these bytes.
[[nodiscard]] QString writtenTo(const char *name, const QByteArray &bytes);

} // namespace lockscope::fuzz
