// SPDX-License-Identifier: Apache-2.0
// What the palette of the window offers: its pages and actions, the locks, the sessions.
#pragma once

namespace lockscope::ui {

class Actions;
class CommandPalette;
class MainWindow;

// All of them outlive the palette.
void fillPalette(CommandPalette &palette, MainWindow &window, Actions &actions);

} // namespace lockscope::ui
