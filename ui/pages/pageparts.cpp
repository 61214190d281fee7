// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/pageparts.h"

#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QDateTime>
#include <QLabel>
#include <QLocale>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

QLabel *makeLabel(const QString &text, const QString &look, QWidget *parent)
{
    auto *label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText);
    if (!look.isEmpty())
        label->setProperty("look", look);
    return label;
}

QLabel *makeSelectable(const QString &text, QWidget *parent, bool isMono)
{
    auto *label = makeLabel(text, {}, parent);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setFont(isMono ? monoFont() : textFont());
    return label;
}

QFrame *makeHairline(QWidget *parent)
{
    auto *line = new QFrame(parent);
    line->setProperty("look", u"hairline"_s);
    return line;
}

QFrame *makeToolStrip(QWidget *parent)
{
    auto *strip = new QFrame(parent);
    auto *layout = new QHBoxLayout(strip);
    layout->setContentsMargins(12, 8, 12, 8);
    layout->setSpacing(10);
    return strip;
}

QHBoxLayout *stripLayout(QFrame *strip)
{
    return qobject_cast<QHBoxLayout *>(strip->layout());
}

void stopListening(QObject *owner)
{
    const auto children = owner->findChildren<QObject *>();
    for (auto *child : children)
        child->disconnect(owner);
}

StaleBanner::StaleBanner(QWidget *parent) : QFrame(parent)
{
    auto *banner = new QFrame(this);
    banner->setProperty("look", u"banner-warning"_s);
    auto *text = makeLabel({}, {}, banner);
    text->setObjectName(u"text"_s);
    text->setWordWrap(true);
    auto *inside = new QHBoxLayout(banner);
    inside->setContentsMargins(10, 6, 10, 6);
    inside->addWidget(text);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 0, 12, 8);
    layout->addWidget(banner);
    hide();
}

bool StaleBanner::show(const ConnectionStatus &status)
{
    using State = ConnectionStatus::State;
    const bool isStale = status.state != State::Connected;
    if (isStale) {
        const QString what = status.state == State::Connecting ? u"Connecting"_s
            : status.state == State::AuthFailed                ? u"Login refused"_s
                                                               : u"Not connected"_s;
        const bool wasSeen = status.asOf.time_since_epoch().count() != 0;
        const auto asOf = std::chrono::duration_cast<std::chrono::milliseconds>(status.asOf.time_since_epoch());
        QString text = what;
        if (!status.message.isEmpty())
            text += u": "_s + status.message;
        if (wasSeen)
            text += u" · shown as of %1"_s.arg(QDateTime::fromMSecsSinceEpoch(asOf.count()).toString(u"HH:mm:ss"_s));
        findChild<QLabel *>(u"text"_s)->setText(text);
    }
    setVisible(isStale);
    return isStale;
}

bool ConnectionChoice::canShow(const ConnectionStatus &status) const
{
    return std::find(m_schemes.begin(), m_schemes.end(), status.scheme) != m_schemes.end();
}

bool ConnectionChoice::take(const std::vector<ConnectionStatus> &statuses)
{
    for (const auto &status : statuses) {
        const auto known = std::find_if(m_known.begin(), m_known.end(),
                                        [&](const ConnectionStatus &other) { return other.name == status.name; });
        if (known == m_known.end())
            m_known.push_back(status);
        else
            *known = status;
    }
    const auto *now = shown();
    return now && std::any_of(statuses.begin(), statuses.end(),
                              [&](const ConnectionStatus &status) { return status.name == now->name; });
}

const ConnectionStatus *ConnectionChoice::shown() const
{
    const ConnectionStatus *first = nullptr;
    for (const auto &status : m_known) {
        if (!canShow(status))
            continue;
        if (status.name == m_preferred)
            return &status;
        if (!first)
            first = &status;
    }
    return first;
}

} // namespace lockscope::ui
