// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/auditpage.h"

#include "core/base/text.h"
#include "ui/pages/livetree.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QTimer>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

AuditPage::AuditPage(QWidget *parent) : Page(parent)
{
    m_filtered.setSourceModel(&m_model);
    m_filtered.setFilterRole(AuditModel::FilterRole);
    m_filtered.setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_stack = new QStackedWidget(this);
    auto *content = new QWidget(m_stack);
    auto *layout = new QVBoxLayout(content);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(buildStrip());
    layout->addWidget(makeHairline(content));
    layout->addWidget(buildTable(), 1);
    m_empty = new EmptyNotice(m_stack);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(content);
    m_chain = new Banner(this);
    m_chain->setObjectName(u"chainBanner"_s);
    m_chain->hide();
    auto *outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    outer->addWidget(m_chain);
    outer->addWidget(m_stack, 1);
    auto *every = new QTimer(this);
    connect(every, &QTimer::timeout, this, [this] {
        if (isVisible())
            read();
    });
    every->start(1000);
}

QWidget *AuditPage::buildStrip()
{
    auto *strip = makeToolStrip(this);
    m_filter = new QLineEdit(strip);
    m_filter->setPlaceholderText(tr("Filter by lock, holder, actor, reason or outcome"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(380);
    m_filter->setAccessibleName(tr("Filter the audit record"));
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_filtered.setFilterFixedString(text);
        m_table->measureAnew();
        sayCount();
    });
    m_status = makeLabel({}, u"muted"_s, strip);
    auto *row = stripLayout(strip);
    row->addWidget(m_filter, 2);
    row->addStretch(1);
    row->addWidget(m_status);
    return strip;
}

QWidget *AuditPage::buildTable()
{
    m_split = new QSplitter(Qt::Vertical, this);
    m_split->setHandleWidth(1);
    m_split->setChildrenCollapsible(false);
    m_table = new LiveTree(m_split);
    m_table->setRootIsDecorated(false);
    m_table->setAccessibleName(tr("Audit record"));
    auto *cells = new TreeCellDelegate(m_table);
    cells->setIndented(false);
    cells->setHairlines(true);
    cells->setMono({AuditModel::Time, AuditModel::Lock, AuditModel::Holder});
    cells->setMuted({AuditModel::Time, AuditModel::Actor});
    cells->setToneRole(AuditModel::ToneRole);
    m_table->setItemDelegate(cells);
    m_table->setModel(&m_filtered);
    m_table->setLeastStretched(220); // in a narrow window the last of these go; they stand in the detail
    m_table->setWidths(AuditModel::Lock, {{AuditModel::Time, 168},
                                          {AuditModel::Action, 104},
                                          {AuditModel::Outcome, 170},
                                          {AuditModel::Reason, 120},
                                          {AuditModel::Holder, 150},
                                          {AuditModel::Actor, 120}});
    m_detail = new QPlainTextEdit(m_split);
    m_detail->setObjectName(u"auditDetail"_s);
    m_detail->setReadOnly(true);
    m_detail->setFrameShape(QFrame::NoFrame);
    m_detail->setFont(monoFont());
    m_detail->setAccessibleName(tr("The chosen record"));
    m_detail->setPlaceholderText(tr("Choose a record: what was done, why, and what was there before and after"));
    m_split->setStretchFactor(0, 3);
    m_split->setStretchFactor(1, 2);
    connect(m_table, &QTreeView::activated, this, &AuditPage::openLock);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &AuditPage::showDetail);
    return m_split;
}

void AuditPage::read()
{
    if (!m_backend || m_isReading)
        return;
    m_isReading = true;
    m_backend->ask(ReadAudit{m_stamp}, this, [this](const Result<operate::AuditReport> &report) {
        m_isReading = false;
        take(report);
    });
}

void AuditPage::take(const Result<operate::AuditReport> &report)
{
    if (!report) {
        m_stamp.clear();
        m_chain->say(Banner::Look::Critical, tr("The audit record cannot be read."),
                     label(report.error().message.toUtf8(), 1000));
        m_chain->show();
    } else if (!report->isUnchanged) {
        m_stamp = report->stamp;
        m_table->holdPlace();
        m_model.setRecords(report->records);
        m_table->keepPlace();
        sayChain(*report);
        showDetail();
    }
    if (m_model.rowCount() == 0)
        m_empty->say(
            tr("Nothing was forced or edited yet"),
            tr("Each force-release, each gentler way and each edit is recorded before it is sent and after it: who "
               "did it, why, and what it changed. The record is a file of this user on this machine: %1")
                .arg(report ? harmless(report->path, 400) : QString()));
    m_stack->setCurrentIndex(m_model.rowCount() > 0 ? 1 : 0);
    sayCount();
    if (!std::exchange(m_isRead, true))
        emit settled();
}

void AuditPage::sayChain(const operate::AuditReport &report)
{
    const auto count = static_cast<int>(report.records.size());
    m_chain->setVisible(count > 0 || !report.problems.isEmpty());
    if (report.problems.isEmpty()) {
        m_chain->say(Banner::Look::Ok, tr("Verified."),
                     (count == 1 ? tr("1 record: it") : tr("%1 records: each").arg(count))
                         + tr(" follows from the one before, and none is missing at the end."));
        return;
    }
    constexpr qsizetype mostShown = 3;
    QStringList shown;
    for (const auto &problem : report.problems.first(std::min(mostShown, report.problems.size())))
        shown << harmless(problem, 400);
    if (report.problems.size() > mostShown)
        shown << tr("and %1 more").arg(report.problems.size() - mostShown);
    m_chain->say(Banner::Look::Critical, tr("The record is not whole."), shown.join(u'\n'));
}

void AuditPage::sayCount()
{
    const int all = m_model.rowCount();
    const int here = m_filtered.rowCount();
    const QString records = all == 1 ? tr("1 record") : tr("%1 records").arg(countText(all));
    m_status->setText(here == all ? records : tr("%1 of %2").arg(countText(here), records));
    emit countChanged(all > 0 ? countText(all) : QString());
}

void AuditPage::showDetail()
{
    const auto index = m_filtered.mapToSource(m_table->currentIndex());
    const QString text = index.isValid() ? auditText(m_model.at(index.row())) : QString();
    if (text != m_detail->toPlainText())
        m_detail->setPlainText(text);
}

QString AuditPage::detail() const
{
    return m_detail->toPlainText();
}

void AuditPage::openLock()
{
    const auto index = m_filtered.mapToSource(m_table->currentIndex());
    if (!index.isValid())
        return;
    const auto &lock = m_model.at(index.row()).lock;
    const auto colon = lock.indexOf(':');
    if (colon > 0)
        emit lockActivated({ConnectionName(lock.left(colon)), lock.mid(colon + 1)});
}

void AuditPage::refresh()
{
    m_stamp.clear();
    read();
}

void AuditPage::setFilter(const QString &text)
{
    m_filter->setText(text);
}

void AuditPage::focusContent()
{
    m_table->setFocus();
    if (!m_table->currentIndex().isValid())
        m_table->setCurrentIndex(m_filtered.index(0, 0));
}

void AuditPage::showEvent(QShowEvent *event)
{
    Page::showEvent(event);
    read();
}

void AuditPage::saveView(QSettings &settings) const
{
    settings.setValue(u"columns"_s, m_table->header()->saveState());
}

void AuditPage::restoreView(QSettings &settings)
{
    m_table->restoreColumns(settings.value(u"columns"_s).toByteArray());
}

} // namespace lockscope::ui

#include "moc_auditpage.cpp"
