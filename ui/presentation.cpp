// SPDX-License-Identifier: Apache-2.0
#include "ui/presentation.h"

#include "ui/shell/actions.h"
#include "ui/theme/theme.h"

#include <utility>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

Presentation::Presentation(QMainWindow &window, std::vector<QWidget *> bars)
    : QObject(&window), m_window(window), m_bars(std::move(bars))
{
}

void Presentation::addAction(Actions &actions)
{
    actions.add(u"present"_s, tr("Present on a projector: the page alone, large"), {u"F11"_s}, [this] { toggle(); });
}

void Presentation::set(bool isOn)
{
    if (std::exchange(m_isOn, isOn) == isOn)
        return;
    if (isOn) {
        m_before = m_window.windowState();
        for (auto *bar : m_bars) {
            if (!bar->isVisibleTo(&m_window))
                continue;
            m_hidden.emplace_back(bar);
            bar->hide();
        }
    } else {
        for (const auto &bar : std::exchange(m_hidden, {})) {
            if (bar)
                bar->show();
        }
    }
    if (auto *theme = Theme::instance())
        theme->setLarge(isOn);
    m_window.setWindowState(isOn ? m_before | Qt::WindowFullScreen : m_before & ~Qt::WindowFullScreen);
}

} // namespace lockscope::ui

#include "moc_presentation.cpp"
