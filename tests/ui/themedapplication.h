// SPDX-License-Identifier: Apache-2.0
// An application that looks as the window's does.
#pragma once

#include "ui/theme/theme.h"

#include <QApplication>

namespace lockscope::testing {

class ThemedApplication : public QApplication {
public:
    ThemedApplication(int &argc, char **argv) : QApplication(argc, argv), m_theme(*this, ui::ThemeChoice::Light) {}

private:
    ui::Theme m_theme;
};

} // namespace lockscope::testing
