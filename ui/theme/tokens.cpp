// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/tokens.h"

namespace lockscope::ui {

const Tokens &lightTokens()
{
    static const Tokens tokens{
        .dark = false,
        .background = 0xf6f7f9,
        .panel = 0xffffff,
        .line = 0xdfe3e8,
        .text = 0x1c2330,
        .muted = 0x5f6979,
        .selection = 0xe4eefc,
        .accent = 0x1f6feb,
        .onAccent = 0xffffff,
        .hold = 0x0b7285,
        .holdSoft = 0xd8f1f3,
        .wait = 0x925c0a,
        .waitSoft = 0xfdf1d8,
        .critical = 0xc92a2a,
        .criticalSoft = 0xfde3e3,
        .onCritical = 0xffffff,
        .warning = 0xbf3c05,
        .warningSoft = 0xffe8d9,
        .free = 0x626973,
        .freeSoft = 0xeceef1,
        .ok = 0x257a36,
        .okSoft = 0xddf3e0,
        .code = 0xf0f2f5,
    };
    return tokens;
}

const Tokens &darkTokens()
{
    static const Tokens tokens{
        .dark = true,
        .background = 0x15181d,
        .panel = 0x1d2127,
        .line = 0x2d333b,
        .text = 0xe6e9ee,
        .muted = 0x98a2b3,
        .selection = 0x22344f,
        .accent = 0x6ea8fe,
        .onAccent = 0x0d1420,
        .hold = 0x4fd1dc,
        .holdSoft = 0x123a40,
        .wait = 0xf2b84b,
        .waitSoft = 0x3d2f12,
        .critical = 0xff7b7b,
        .criticalSoft = 0x471d1f,
        .onCritical = 0x1b0d0d,
        .warning = 0xff9c66,
        .warningSoft = 0x44281a,
        .free = 0x98a2b3,
        .freeSoft = 0x2a2f37,
        .ok = 0x69db7c,
        .okSoft = 0x183820,
        .code = 0x252a31,
    };
    return tokens;
}

} // namespace lockscope::ui
