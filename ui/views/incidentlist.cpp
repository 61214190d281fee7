// SPDX-License-Identifier: Apache-2.0
#include "ui/views/incidentlist.h"

#include "core/base/text.h"
#include "ui/parts/labels.h"
#include "ui/parts/parts.h"

#include <QKeyEvent>
#include <QPainter>
#include <QStyle>

namespace lockscope::ui {

using inspect::FindingCode;
using inspect::Incident;
using inspect::Severity;

namespace {

constexpr std::size_t mostEntries = 4;
constexpr int textIndent = 38; // with the room at both sides
constexpr int entryHeight = 46;
constexpr int lowEntryHeight = 30;
constexpr int mostOfACause = 400;

PillShape shapeOf(FindingCode code)
{
    switch (code) {
    case FindingCode::Deadlock: return PillShape::Cross;
    case FindingCode::NoTtl: return PillShape::Infinite;
    case FindingCode::HolderDisconnected: return PillShape::Bars;
    case FindingCode::DeadlockEnded: return PillShape::Ring;
    default: return PillShape::Quarter;
    }
}

QColor colorOf(const Incident &incident)
{
    const Tokens &t = Theme::tokens();
    return incident.severity == Severity::Critical  ? t.critical
           : incident.severity == Severity::Warning ? t.warning
                                                    : t.free;
}

QString lookOf(const Incident &incident)
{
    return incident.severity == Severity::Critical  ? u"critical"_s
           : incident.severity == Severity::Warning ? u"warning"_s
                                                    : u"muted"_s;
}

QString kindText(FindingCode code)
{
    switch (code) {
    case FindingCode::Deadlock: return IncidentList::tr("Deadlock");
    case FindingCode::DeadlockEnded: return IncidentList::tr("Deadlock, ended by the server");
    case FindingCode::NoTtl: return IncidentList::tr("No expiry");
    case FindingCode::HolderDisconnected: return IncidentList::tr("Holder disconnected");
    case FindingCode::IdleInTransaction: return IncidentList::tr("Idle in transaction");
    case FindingCode::LostWakeup:
    case FindingCode::WrongWatch: return IncidentList::tr("Lost wake-up");
    default: return IncidentList::tr("Blocker");
    }
}

} // namespace

IncidentText textOf(const Incident &incident)
{
    IncidentText text{kindText(incident.code), {}, label(incident.cause.toUtf8(), mostOfACause), {}};
    QStringList facts;
    if (const auto blocked = incident.blocked.size(); blocked > 0)
        facts << (blocked == 1 ? IncidentList::tr("1 waits") : IncidentList::tr("%1 wait").arg(blocked));
    if (incident.age)
        facts << (incident.atMost ? u"≤ "_s : QString()) + formatDuration(*incident.age);
    if (const auto folded = incident.folded.size(); folded > 0)
        facts << (folded == 1 ? IncidentList::tr("1 finding folded")
                              : IncidentList::tr("%1 findings folded").arg(folded));
    text.facts = facts.join(u" · "_s);
    if (incident.code == FindingCode::Deadlock)
        text.action = IncidentList::tr("Break…");
    else if (placeToRelease(incident))
        text.action = IncidentList::tr("Release…");
    else if (incident.code != FindingCode::DeadlockEnded)
        text.action = IncidentList::tr("Ask…");
    return text;
}

const inspect::FindingPlace *placeToRelease(const Incident &incident)
{
    const bool isAboutWaiter = incident.code == FindingCode::LostWakeup || incident.code == FindingCode::WrongWatch;
    return incident.target.empty() || isAboutWaiter ? nullptr : &incident.target.front();
}

IncidentEntry::IncidentEntry(QWidget *parent)
    : QFrame(parent), m_kind(makeLabel({}, {}, this)), m_facts(new ElidedLabel(this)), m_cause(new ElidedLabel(this)),
      m_action(makeButton(
          {}, this, [this] { emit actRequested(m_pressed); }, u"danger"_s))
{
    setObjectName(u"incident"_s);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    m_kind->setProperty("weight", u"bold"_s);
    m_facts->setProperty("look", u"muted"_s);
    m_action->setAutoDefault(false);
    connect(m_action, &QPushButton::pressed, this, [this] { m_pressed = m_incident; });
    auto *first = makeRow({.spacing = 8}, {m_kind, {m_facts, 1}});
    auto *lines = makeColumn({.spacing = 1}, {first, m_cause});
    makeRow(this, {.margins = {textIndent, 4, 10, 5}, .spacing = 8}, {{lines, 1}, m_action});
    setLow(false);
}

void IncidentEntry::setIncident(Incident incident)
{
    m_incident = std::move(incident);
    const auto text = textOf(m_incident);
    m_kind->setText(text.kind);
    setStyleProperty(m_kind, "look", lookOf(m_incident));
    m_facts->setText(m_isLow ? u"%1 · %2"_s.arg(text.facts, text.cause) : text.facts);
    m_cause->setText(text.cause);
    m_action->setText(text.action);
    m_action->setVisible(!m_isPast && !text.action.isEmpty());
    m_action->setAccessibleName(u"%1 %2"_s.arg(text.action, text.kind));
    setToolTip(plainToolTip(u"%1\n%2"_s.arg(text.cause, label(m_incident.action.toUtf8(), mostOfACause))));
    setAccessibleName(u"%1, %2"_s.arg(text.kind, text.facts));
    setAccessibleDescription(text.cause);
    update();
}

void IncidentEntry::setLow(bool isLow)
{
    m_isLow = isLow;
    m_cause->setVisible(!isLow);
    setFixedHeight(shownSize(isLow ? lowEntryHeight : entryHeight));
}

void IncidentEntry::setCurrent(bool isCurrent)
{
    if (std::exchange(m_isCurrent, isCurrent) != isCurrent)
        update();
}

void IncidentEntry::setPast(bool isPast)
{
    m_isPast = isPast;
    m_action->setVisible(!isPast && !m_action->text().isEmpty());
}

void IncidentEntry::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.fillRect(rect(), m_isCurrent ? t.selection : t.panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), t.line);
    if (hasFocus() || m_isCurrent)
        painter.fillRect(QRect(0, 0, 3, height() - 1), t.accent);
    painter.setRenderHint(QPainter::Antialiasing);
    paintShape(painter, QRectF(14, 8, 12, 14), shapeOf(m_incident.code), colorOf(m_incident));
    if (hasFocus()) {
        painter.setPen(QPen(t.accent, 2));
        painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -2));
    }
}

void IncidentEntry::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        emit chosen();
    else if (event->key() == Qt::Key_Down)
        step(+1);
    else if (event->key() == Qt::Key_Up)
        step(-1);
    else
        QFrame::keyPressEvent(event);
}

// To the next entry, and from the last one to the list.
void IncidentEntry::step(int by)
{
    auto entries = parentWidget()->findChildren<IncidentEntry *>();
    entries.removeIf([](const IncidentEntry *entry) { return !entry->isVisible(); });
    const auto at = entries.indexOf(this) + by;
    if (at >= 0 && at < entries.size())
        entries[at]->setFocus(Qt::OtherFocusReason);
    else if (by > 0)
        focusNextChild();
    else
        focusPreviousChild();
}

void IncidentEntry::mousePressEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton)
        emit chosen();
    else
        QFrame::mousePressEvent(event);
}

void IncidentEntry::focusInEvent(QFocusEvent *event)
{
    QFrame::focusInEvent(event);
    update();
}

void IncidentEntry::focusOutEvent(QFocusEvent *event)
{
    QFrame::focusOutEvent(event);
    update();
}

IncidentList::IncidentList(QWidget *parent)
    : QFrame(parent), m_heading(makeLabel({}, u"muted"_s, this)), m_column(new QVBoxLayout),
      m_more(makeButton({}, this, &IncidentList::moreRequested, u"flat"_s))
{
    named(this, u"incidents"_s, tr("Incidents"));
    m_heading->setContentsMargins(12, 5, 12, 5);
    m_column->setSpacing(0);
    m_more->setObjectName(u"moreIncidents"_s);
    makeColumn(this, {.spacing = 0}, {m_heading, m_column, m_more});
    setVisible(false);
}

IncidentEntry *IncidentList::addEntry()
{
    auto *entry = new IncidentEntry(this);
    entry->setLow(m_isLow);
    connect(entry, &IncidentEntry::chosen, this, [this, entry] { emit chosen(entry->incident()); });
    connect(entry, &IncidentEntry::actRequested, this, &IncidentList::actRequested);
    m_column->addWidget(entry);
    return entry;
}

void IncidentList::setIncidents(const std::vector<Incident> &incidents)
{
    m_incidents = incidents;
    fill();
}

void IncidentList::fill()
{
    const auto shown = std::min(mostEntries, m_incidents.size());
    while (m_entries.size() > shown) {
        m_entries.back()->hide();
        m_entries.back()->deleteLater();
        m_entries.pop_back();
    }
    while (m_entries.size() < shown)
        m_entries.push_back(addEntry());
    for (std::size_t i = 0; i < shown; ++i) {
        m_entries[i]->setIncident(m_incidents[i]);
        m_entries[i]->setPast(m_isPast);
    }
    const auto count = m_incidents.size();
    m_heading->setText(count == 1 ? tr("1 incident") : tr("%1 incidents, worst first").arg(count));
    m_more->setText(moreText());
    m_more->setVisible(count > shown);
    setVisible(count > 0);
    setCurrentLock(m_lock);
}

QString IncidentList::moreText() const
{
    const auto more = m_incidents.size() - m_entries.size();
    return more == 0   ? QString()
           : more == 1 ? tr("1 more incident: show the findings")
                       : tr("%1 more incidents: show the findings").arg(more);
}

void IncidentList::setCurrentLock(const std::optional<inspect::LockName> &lock)
{
    m_lock = lock;
    for (auto *entry : m_entries) {
        const auto &locks = entry->incident().locks;
        entry->setCurrent(lock && std::ranges::find(locks, *lock) != locks.end());
    }
}

void IncidentList::setLow(bool isLow)
{
    if (std::exchange(m_isLow, isLow) == isLow)
        return;
    for (auto *entry : m_entries) {
        entry->setLow(isLow);
        entry->setIncident(entry->incident());
    }
}

void IncidentList::setPast(bool isPast)
{
    m_isPast = isPast;
    for (auto *entry : m_entries)
        entry->setPast(isPast);
}

} // namespace lockscope::ui

#include "moc_incidentlist.cpp"
