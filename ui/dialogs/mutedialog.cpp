// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/mutedialog.h"

#include "core/base/text.h"
#include "ui/parts/parts.h"

#include <QComboBox>
#include <QDateTimeEdit>
#include <QRadioButton>

namespace lockscope::ui {

namespace {

QDateTime localTime(SystemTime time)
{
    return QDateTime::fromSecsSinceEpoch(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
}

MuteTime muteTimeOf(const QDateTime &time)
{
    return MuteTime(std::chrono::seconds(time.toSecsSinceEpoch()));
}

} // namespace

MuteTime endOf(MuteSpan span, SystemTime now)
{
    const auto begin = std::chrono::floor<std::chrono::seconds>(now);
    switch (span) {
    case MuteSpan::Hour: return begin + std::chrono::hours(1);
    case MuteSpan::Today: return muteTimeOf(QDateTime(localTime(now).date().addDays(1), QTime(0, 0)));
    case MuteSpan::Week:
    case MuteSpan::Date: break;
    }
    return begin + std::chrono::days(7);
}

MuteDialog::MuteDialog(MuteStore &store, const FindingRow &row, SystemTime now, QWidget *parent)
    : QDialog(parent), m_store(store), m_lock(row.lock), m_locks(row.locks), m_code(row.finding.code), m_now(now),
      m_reach(new QButtonGroup(this)), m_pattern(new QLineEdit(this)), m_span(new QComboBox(this)),
      m_date(new QDateTimeEdit(this)), m_reason(new QLineEdit(this)), m_why(makeWrapped({}, u"small"_s, this))
{
    setWindowTitle(tr("Mute a finding"));
    setObjectName(u"muteDialog"_s);
    const bool isCritical = row.finding.severity == inspect::Severity::Critical
                            || inspect::kindOf(m_code).severity == inspect::Severity::Critical;
    const auto code = inspect::word(m_code);
    auto *grid = new QGridLayout;
    grid->setColumnStretch(1, 1);
    grid->setVerticalSpacing(8);
    addReach(grid, Reach::Finding,
             m_locks.size() > 1 ? tr("%1 of these locks").arg(code) : tr("%1 of this lock").arg(code), true);
    addReach(grid, Reach::Lock,
             m_locks.size() > 1 ? tr("whatever is found of these locks") : tr("whatever is found of this lock"),
             true);
    addReach(grid, Reach::Code, tr("%1 of every lock").arg(code), !isCritical);
    addReach(grid, Reach::Pattern, tr("%1 of the locks named").arg(code), !isCritical);
    m_reach->button(0)->setChecked(true);
    // Its neighbours, where its name has folders.
    const auto name = escaped(m_lock.name);
    const auto slash = name.lastIndexOf(u'/');
    m_pattern->setText(u"%1:%2*"_s.arg(escaped(m_lock.connection.bytes()), name.left(slash + 1)));
    m_pattern->setAccessibleName(tr("Pattern of locks"));
    m_pattern->setToolTip(tr("A shell's pattern of CONNECTION:NAME, or of NAME: * stands for anything"));
    grid->addWidget(m_pattern, 3, 1);
    m_span->addItems({tr("for 1 hour"), tr("for today"), tr("for 7 days"), tr("until…")});
    m_span->setAccessibleName(tr("For how long"));
    m_date->setDisplayFormat(u"yyyy-MM-dd HH:mm"_s);
    m_date->setCalendarPopup(true);
    m_date->setAccessibleName(tr("Until"));
    m_date->setMinimumDateTime(localTime(now).addSecs(60));
    m_date->setMaximumDateTime(localTime(now).addDays(longestMute.count()).addSecs(-60));
    m_date->setDateTime(localTime(now).addDays(1));
    auto *ends = makeRow({}, {m_span, m_date, Stretch{1}});
    grid->addWidget(makeLabel(tr("How long"), u"muted"_s, this), 4, 0);
    grid->addLayout(ends, 4, 1);
    m_reason->setPlaceholderText(tr("a change, a ticket, who knows of it"));
    m_reason->setMaxLength(500);
    m_reason->setAccessibleName(tr("Reason"));
    grid->addWidget(makeLabel(tr("Reason"), u"muted"_s, this), 5, 0);
    grid->addWidget(m_reason, 5, 1);

    auto *cancel = makeButton(tr("Cancel"), this, &QDialog::reject);
    m_mute = makeButton(tr("Mute"), this, &MuteDialog::accept, u"primary"_s);
    m_mute->setDefault(true);
    auto *buttons = makeRow({.spacing = 10}, {Stretch{1}, cancel, m_mute});
    auto *heading =
        makeLabel(inspect::kindOf(m_code).title.toString() + u" · "_s + row.lockWords(u", "_s), u"heading"_s, this);
    makeColumn(this, {.margins = {24, 20, 24, 16}, .spacing = 10}, {heading, grid, m_why, buttons});
    setMinimumWidth(560);
    connect(m_reach, &QButtonGroup::idClicked, this, &MuteDialog::check);
    connect(m_pattern, &QLineEdit::textChanged, this, &MuteDialog::check);
    connect(m_reason, &QLineEdit::textChanged, this, &MuteDialog::check);
    connect(m_span, &QComboBox::currentIndexChanged, this, &MuteDialog::check);
    connect(m_date, &QDateTimeEdit::dateTimeChanged, this, &MuteDialog::check);
    check();
    const QWidgetList inOrder{m_reach->buttons().last(), m_pattern, m_span, m_date, m_reason, cancel, m_mute};
    for (qsizetype i = 1; i < inOrder.size(); ++i)
        setTabOrder(inOrder[i - 1], inOrder[i]);
    m_reason->setFocus();
}

void MuteDialog::addReach(QGridLayout *grid, Reach reach, const QString &text, bool isAllowed)
{
    auto *button = new QRadioButton(text, this);
    button->setEnabled(isAllowed);
    if (!isAllowed)
        button->setToolTip(tr("What is critical can be muted only lock by lock"));
    const int row = static_cast<int>(reach);
    m_reach->addButton(button, row);
    grid->addWidget(button, row, 0, 1, reach == Reach::Pattern ? 1 : 2);
}

Mute MuteDialog::mute() const
{
    Mute mute;
    if (reach() != Reach::Lock)
        mute.code = m_code;
    if (reach() == Reach::Finding || reach() == Reach::Lock)
        mute.lock = escaped(m_lock.text());
    else
        mute.pattern = reach() == Reach::Code ? u"*"_s : m_pattern->text().trimmed();
    mute.reason = m_reason->text().trimmed();
    mute.since = std::chrono::floor<std::chrono::seconds>(m_now);
    const auto span = static_cast<MuteSpan>(m_span->currentIndex());
    mute.until = span == MuteSpan::Date ? muteTimeOf(m_date->dateTime()) : endOf(span, m_now);
    return mute;
}

void MuteDialog::check()
{
    m_pattern->setEnabled(reach() == Reach::Pattern);
    m_date->setVisible(static_cast<MuteSpan>(m_span->currentIndex()) == MuteSpan::Date);
    layout()->activate(); // with the date it is wider, and nothing is cut for that
    resize(size().expandedTo(minimumSizeHint()));
    const auto now = mute();
    const auto objection = objectionTo(now);
    m_mute->setEnabled(objection.isEmpty());
    const auto until = QDateTime::fromSecsSinceEpoch(now.until.time_since_epoch().count());
    m_why->setText(now.reason.isEmpty() ? tr("Enter a reason for other users.")
                   : objection.isEmpty()
                       ? tr("Muted until %1: not counted, and listed as muted, on this page and in lockscopectl. The "
                            "list of locks goes on to show it.")
                             .arg(until.toString(u"yyyy-MM-dd HH:mm"_s))
                       : objection);
}

void MuteDialog::accept()
{
    const bool isByLock = reach() == Reach::Finding || reach() == Reach::Lock;
    for (const auto &lock : isByLock ? m_locks : std::vector{m_lock}) {
        auto one = mute();
        if (isByLock)
            one.lock = escaped(lock.text());
        if (const auto added = m_store.add(std::move(one)); !added) {
            m_why->setText(added.error().message);
            return;
        }
    }
    QDialog::accept();
}

} // namespace lockscope::ui

#include "moc_mutedialog.cpp"
