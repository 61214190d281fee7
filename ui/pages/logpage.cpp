// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/logpage.h"

#include "core/base/text.h"
#include "ui/pages/livetree.h"
#include "ui/parts/notices.h"

#include <QHeaderView>
#include <QScrollBar>

namespace lockscope::ui {

LogPage::LogPage(QWidget *parent) : Page(parent)
{
    m_filtered.setSourceModel(&m_model);
    m_stack = new QStackedWidget(this);
    auto *content = new QWidget(m_stack);
    auto *strip = buildStrip();
    auto *line = makeHairline(content);
    buildTable();
    makeColumn(content, {.spacing = 0}, {strip, line, {m_table, 1}});
    auto *empty = new EmptyNotice(m_stack);
    empty->say(
        u"Nothing sent, nothing seen"_s,
        u"Every command that Lockscope sends to a server and every event that a server reports stands here, with "
        u"its outcome and how long it took. The newest 5,000 are kept."_s);
    m_stack->addWidget(empty);
    m_stack->addWidget(content);
    makeColumn(this, {}, {m_stack});
    say();
}

QWidget *LogPage::buildStrip()
{
    auto *strip = makeToolStrip(this);
    m_filter = makeFilterField(u"Filter by connection, command or outcome"_s, u"Filter the log"_s, strip);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_filtered.setText(text);
        m_table->measureAnew();
        say();
    });
    m_onlyWrites = makeChip(u"Only writes"_s, strip);
    connect(m_onlyWrites, &QPushButton::toggled, this, [this](bool isOn) {
        m_filtered.setOnlyWrites(isOn);
        say();
    });
    m_onlyEvents = makeChip(u"Only events"_s, strip);
    connect(m_onlyEvents, &QPushButton::toggled, this, [this](bool isOn) {
        m_filtered.setOnlyEvents(isOn);
        say();
    });
    m_status = makeLabel({}, u"muted"_s, strip);
    m_follow = makeButton({}, strip, this, &LogPage::follow, u"flat"_s);
    auto *copy = makeButton(u"Copy"_s, strip, this, [this] { copyToClipboard(copyText()); });
    copy->setToolTip(u"Copies the chosen rows, or all that are shown"_s);
    addParts(*stripLayout(strip), {{m_filter, 2}, m_onlyWrites, m_onlyEvents, Stretch{1}, m_follow, m_status, copy});
    return strip;
}

void LogPage::buildTable()
{
    m_table = new LiveTree(this);
    keepColumns(m_table);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    auto *cells = m_table->becomeTable(u"Log"_s);
    cells->setHairlines(false);
    cells->setRowHeight(24);
    cells->setMono({LogModel::Time, LogModel::Text, LogModel::Outcome});
    cells->setMuted({LogModel::Time, LogModel::Connection, LogModel::Kind, LogModel::Outcome, LogModel::Took});
    cells->setToneRole(LogModel::ToneRole);
    m_table->setModel(&m_filtered);
    m_table->setLeastStretched(200); // in a narrow window the last columns go
    m_table->setWidths(LogModel::Text, {{LogModel::Time, 116},
                                        {LogModel::Connection, 120},
                                        {LogModel::Kind, 90},
                                        {LogModel::Outcome, 180},
                                        {LogModel::Took, 64}});
    auto *copy = new QAction(u"Copy"_s, m_table);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    connect(copy, &QAction::triggered, this, [this] { copyToClipboard(copyText()); });
    m_table->addAction(copy);
    connect(m_table->verticalScrollBar(), &QScrollBar::valueChanged, this, &LogPage::scrolled);
}

void LogPage::setBackend(Backend *backend)
{
    connect(backend, &Backend::updated, this, [this](const Batch &batch) {
        if (!batch.log.empty())
            take(batch.log);
    });
}

void LogPage::take(const std::vector<operate::LogEntry> &entries)
{
    m_isTaking = true;
    const int before = m_filtered.rowCount();
    if (!m_isFollowing)
        m_table->holdPlace();
    m_model.apply(entries);
    if (m_isFollowing)
        m_table->scrollToBottom();
    else
        m_table->keepPlace();
    m_isTaking = false;
    if (!m_isFollowing)
        m_unseen += std::max(0, m_filtered.rowCount() - before);
    say();
}

void LogPage::scrolled()
{
    if (m_isTaking)
        return; // not the person's doing
    const auto *bar = m_table->verticalScrollBar();
    m_isFollowing = bar->value() == bar->maximum();
    if (m_isFollowing)
        m_unseen = 0;
    say();
}

void LogPage::follow()
{
    m_table->scrollToBottom();
    m_isFollowing = true;
    m_unseen = 0;
    say();
}

void LogPage::say()
{
    m_stack->setCurrentIndex(m_model.rowCount() > 0 ? 1 : 0);
    const int shown = m_filtered.rowCount();
    const QString all = countText(m_model.rowCount());
    const QString entries = m_model.rowCount() == 1 ? u"1 entry"_s : u"%1 entries"_s.arg(all);
    m_status->setText(shown == m_model.rowCount() ? entries : u"%1 of %2"_s.arg(countText(shown), entries));
    m_follow->setVisible(!m_isFollowing);
    m_follow->setText(m_unseen > 0 ? u"↓ %1 new"_s.arg(countText(m_unseen)) : u"↓ Follow"_s);
}

QString LogPage::copyText() const
{
    std::vector<int> rows;
    const auto chosen = m_table->selectionModel()->selectedRows();
    for (const auto &index : chosen)
        rows.push_back(index.row());
    if (rows.empty()) {
        for (int row = 0; row < m_filtered.rowCount(); ++row)
            rows.push_back(row);
    }
    std::sort(rows.begin(), rows.end());
    return mapped<QStringList>(
               rows,
               [&](const int row) { return m_model.lineOf(m_filtered.mapToSource(m_filtered.index(row, 0)).row()); })
        .join(u'\n');
}

// The log is one story over all connections; its filter narrows it to one.
void LogPage::showConnection(const ConnectionName &name)
{
    Q_UNUSED(name)
}

void LogPage::focusContent()
{
    m_table->setFocus();
    if (!m_table->currentIndex().isValid())
        m_table->setCurrentIndex(m_filtered.index(m_filtered.rowCount() - 1, 0));
}

} // namespace lockscope::ui

#include "moc_logpage.cpp"
