// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/keybar.h"

#include <QEvent>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

KeyBar::KeyBar(std::function<KeyHints()> keys, QWidget *parent) : QLabel(parent), m_keys(std::move(keys))
{
    setObjectName(u"keyBar"_s);
    setProperty("look", u"keyBar"_s);
    setAccessibleName(tr("Keys"));
    setTextFormat(Qt::RichText);
    setWordWrap(true);
    setAlignment(Qt::AlignCenter);
    hide();
}

void KeyBar::tell()
{
    auto keys = m_keys();
    if (keys.isEmpty()) {
        hide();
        return;
    }
    keys << std::pair(u"F11"_s, tr("end the presentation")) << std::pair(u"?"_s, tr("hide this line"));
    QStringList parts;
    for (const auto &[key, what] : keys) // a key and its words stand in one line
        parts << u"<b>%1</b>&nbsp; %2"_s.arg(key.toHtmlEscaped(), what.toHtmlEscaped()).replace(u' ', QChar::Nbsp);
    setText(parts.join(u" &nbsp; "_s));
}

void KeyBar::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::LanguageChange && isVisible())
        tell();
    QLabel::changeEvent(event);
}

} // namespace lockscope::ui

#include "moc_keybar.cpp"
