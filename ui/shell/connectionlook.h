// SPDX-License-Identifier: Apache-2.0
// How a connection is shown in the shell: its state as shape, word and color, its environment, what may be written.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/theme/pill.h"

namespace lockscope::ui {

struct ConnectionLook {
    PillShape shape = PillShape::Disc;
    Tone tone = Tone::Ok;
    QString state; // "connecting", "broken", "refused", "not recorded"; empty of one that is connected
    QString latency;
    QString kind; // "ZooKeeper"
    QString tag;  // "PROD"; empty of one that is not marked
    TagLook tagLook = TagLook::Plain;
    bool isProduction = false;
    QString writes; // "read-only · 0 writes sent"
    QString tip;
};
[[nodiscard]] ConnectionLook lookOf(const ConnectionBook &book, const ConnectionStatus &status);
[[nodiscard]] QString writesText(bool isReadOnly, qint64 sent);

} // namespace lockscope::ui
