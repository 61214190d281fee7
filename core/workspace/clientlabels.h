// SPDX-License-Identifier: Apache-2.0
// What the user calls clients, kept for both programs: a line PATTERN=NAME each, in the folder of the connections.
#pragma once

#include "core/base/result.h"
#include "core/inspect/waits/clients.h"

namespace lockscope {

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
