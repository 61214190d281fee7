// SPDX-License-Identifier: Apache-2.0
#include "ui/mainwindow.h"

#include "ui/shell/actions.h"

#include <QEvent>

namespace lockscope::ui {

namespace {

// A smaller one is mostly a screen that is scaled: its text is large already, and what it has not is room.
constexpr QSize leastForLarge(800, 640);

} // namespace

// A line of keys below a page, for a presentation: what the page's own keys do, and how to end it. It stays while
// they are pressed, and takes the room it needs: nothing of the page is behind it.
class KeyBar : public QLabel {
    Q_OBJECT
public:
    // `keys`: the page's, in the language it speaks. Hidden at first.
    KeyBar(std::function<KeyHints()> keys, QWidget *parent) : QLabel(parent), m_keys(std::move(keys))
    {
        setProperty("look", u"keyBar"_s);
        named(this, u"keyBar"_s, tr("Keys"));
        setTextFormat(Qt::RichText);
        setWordWrap(true);
        setAlignment(Qt::AlignCenter);
        hide();
    }

    // Another page is shown; one without keys of its own has no line.
    void tell()
    {
        auto keys = m_keys();
        if (keys.isEmpty()) {
            hide();
            return;
        }
        keys << std::pair(u"F11"_s, tr("end the presentation")) << std::pair(u"?"_s, tr("hide this line"));
        QStringList parts;
        for (const auto &[key, what] : keys) // a key and its words stand in one line
            parts
                << u"<b>%1</b>&nbsp; %2"_s.arg(key.toHtmlEscaped(), what.toHtmlEscaped()).replace(u' ', QChar::Nbsp);
        setText(parts.join(u" &nbsp; "_s));
    }

private:
    void changeEvent(QEvent *event) override
    {
        if (event->type() == QEvent::LanguageChange && isVisible())
            tell();
        QLabel::changeEvent(event);
    }

    const std::function<KeyHints()> m_keys;
};

Presentation::Presentation(QMainWindow &window, std::vector<QWidget *> bars, std::function<KeyHints()> keys)
    : QObject(&window), m_window(window), m_bars(std::move(bars)), m_keys(new KeyBar(std::move(keys), &window))
{
    window.installEventFilter(this);
}

void Presentation::addAction(Actions &actions)
{
    actions.add(u"present"_s, [this] { toggle(); });
}

QWidget *Presentation::keyBar() const
{
    return m_keys;
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
    m_window.setWindowState(isOn ? m_before | Qt::WindowFullScreen : m_before & ~Qt::WindowFullScreen);
    m_showsKeys = false;
    followPage();
    chooseTextSize();
}

bool Presentation::toggleKeys()
{
    if (!m_isOn)
        return false;
    m_showsKeys = !m_showsKeys;
    followPage();
    const bool isDone = !m_showsKeys || !m_keys->isHidden();
    m_showsKeys = m_showsKeys && isDone;
    return isDone;
}

void Presentation::followPage()
{
    m_keys->setVisible(m_showsKeys);
    if (m_showsKeys)
        m_keys->tell();
}

bool Presentation::eventFilter(QObject *watched, QEvent *event)
{
    if (m_isOn && event->type() == QEvent::Resize)
        QMetaObject::invokeMethod(this, &Presentation::chooseTextSize, Qt::QueuedConnection); // not amid its layout
    return QObject::eventFilter(watched, event);
}

void Presentation::chooseTextSize()
{
    const QSize size = m_window.size();
    if (auto *theme = Theme::instance())
        theme->setLarge(m_isOn && size.width() >= leastForLarge.width() && size.height() >= leastForLarge.height());
}

} // namespace lockscope::ui

#include "presentation.moc"
