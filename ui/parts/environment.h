// SPDX-License-Identifier: Apache-2.0
// Which environment a connection is marked as, in one way everywhere. A connection that nobody marked is not known to
// be harmless, and wears nothing that says so.
#pragma once

#include "core/workspace/values.h"
#include "ui/models/connectionbook.h"
#include "ui/theme/tokens.h"

class QLabel;

namespace lockscope::ui {

struct Environment {
    QString word; // "PROD", "DEV", "TLS UNVERIFIED", "sandbox", "unmarked"; empty of one not connected and not marked
    bool production = false; // or as alarming
};
[[nodiscard]] Environment environmentOf(const ConnectionBook &book, const ConnectionStatus &status);
// The word and the connection's name, in the look of its environment.
void showEnvironment(QLabel &tag, const ConnectionBook &book, const ConnectionName &name);

// The colour that a user gave a connection; invalid for None.
[[nodiscard]] QColor colourOf(ConnectionColour colour);

} // namespace lockscope::ui
