// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/auditpage.h"

#include "core/base/text.h"
#include "ui/pages/livetree.h"
#include "ui/parts/notices.h"

#include <QHeaderView>
#include <QSplitter>

namespace lockscope::ui {

using operate::AuditRecord;

namespace {

QString auditTime(const AuditRecord &record)
{
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(record.time.time_since_epoch());
    return QDateTime::fromMSecsSinceEpoch(since.count()).toString(u"yyyy-MM-dd HH:mm:ss"_s);
}

QString auditOutcome(const AuditRecord &record)
{
    if (record.lacksResult)
        return u"no result recorded: under way, or its program was ended"_s;
    return record.phase == "intent"_L1 ? u"intent: about to be done; the result is a record of its own"_s
                                       : harmless(record.outcome, 400);
}

// As a cell has room for; the detail says all of it.
QString auditBriefly(const AuditRecord &record)
{
    if (record.lacksResult)
        return u"no result recorded"_s;
    return record.phase == "intent"_L1 ? u"intent"_s : auditOutcome(record);
}

QVariant auditTone(const AuditRecord &record)
{
    if (record.lacksResult || record.outcome.startsWith("unknown"_L1))
        return static_cast<int>(Tone::Critical);
    return record.outcome.startsWith("refused"_L1) || record.outcome.startsWith("failed"_L1)
               ? QVariant(static_cast<int>(Tone::Warning))
               : QVariant();
}

std::map<QString, QJsonObject> contendersOf(const QJsonObject &lock)
{
    std::map<QString, QJsonObject> all;
    for (const auto &one : lock.value("contenders"_L1).toArray())
        all[one.toObject().value("id"_L1).toString()] = one.toObject();
    return all;
}

QString roleAndWho(const QJsonObject &contender)
{
    QStringList words{contender.value("role"_L1).toString(), contender.value("id"_L1).toString()};
    for (const auto &field : {"endpoint"_L1, "session"_L1}) {
        if (const auto text = contender.value(field).toString(); !text.isEmpty())
            words << text;
    }
    return harmless(words.join(u" · "_s), 400);
}

// What an edit was to make of it, a line each.
QStringList wantedLines(const QJsonObject &to)
{
    constexpr qsizetype longest = 2000;
    QStringList lines;
    for (auto one = to.begin(); one != to.end(); ++one) {
        QString text = one->toVariant().toString();
        if (one->isObject()) // a value, and how long it is
            text = u"%1 (%2 bytes)"_s.arg(one->toObject().value("text"_L1).toString().left(longest),
                                          QString::number(one->toObject().value("bytes"_L1).toInteger()));
        else if (one->isArray())
            text = one->toVariant().toStringList().join(u", "_s);
        else if (one->isNull())
            text = u"none"_s;
        lines << u"  %1: %2"_s.arg(harmless(one.key(), 40), harmless(text, longest));
    }
    return lines;
}

} // namespace

AuditModel::AuditModel(QObject *parent)
    : RowsModel(
        parent,
        {
            {.title = u"Time"_s, .text = &auditTime},
            {.title = u"Actor"_s, .text = [](const AuditRecord &record) { return harmless(record.actor, 200); }},
            {.title = u"Action"_s, .text = [](const AuditRecord &record) { return harmless(record.action, 80); }},
            {.title = u"Lock"_s, .text = [](const AuditRecord &record) { return label(record.lock, 400); }},
            {.title = u"Holder"_s, .text = [](const AuditRecord &record) { return label(record.holder, 200); }},
            {.title = u"Reason"_s, .text = [](const AuditRecord &record) { return harmless(record.reason, 400); }},
            {.title = u"Outcome"_s, .text = &auditBriefly, .values = {{ToneRole, &auditTone}}},
        })
{
}

void AuditModel::setRecords(std::vector<AuditRecord> records)
{
    std::ranges::reverse(records);
    // The records of one hash differ at most in whether a result was found for an intent.
    const auto isSame = [](const AuditRecord &a, const AuditRecord &b) { return a.hash == b.hash; };
    const auto isEqual = [](const AuditRecord &a, const AuditRecord &b) { return a.lacksResult == b.lacksResult; };
    replaceRows(std::move(records), isSame, isEqual);
}

QStringList auditDiff(const QJsonObject &before, const QJsonObject &after)
{
    const auto was = contendersOf(before), is = contendersOf(after);
    QStringList lines;
    const auto stateOf = [](const QJsonObject &lock) { return harmless(lock.value("state"_L1).toString(), 40); };
    if (stateOf(before) != stateOf(after))
        lines << u"~ state: %1 → %2"_s.arg(stateOf(before), stateOf(after));
    int same = 0;
    for (const auto &[id, one] : was) {
        const auto now = is.find(id);
        if (now == is.end())
            lines << u"- "_s + roleAndWho(one);
        else if (now->second.value("role"_L1) != one.value("role"_L1))
            lines << u"~ %1: %2 → %3"_s.arg(harmless(id, 200), harmless(one.value("role"_L1).toString(), 40),
                                            harmless(now->second.value("role"_L1).toString(), 40));
        else
            ++same;
    }
    for (const auto &[id, one] : is) {
        if (!was.contains(id))
            lines << u"+ "_s + roleAndWho(one);
    }
    if (same > 0)
        lines << (same == 1 ? u"= 1 contender as before"_s : u"= %1 contenders as before"_s.arg(same));
    return lines;
}

QString auditText(const AuditRecord &record)
{
    QStringList lines{
        u"%1  %2  %3"_s.arg(auditTime(record), harmless(record.action, 80), harmless(record.phase, 40)),
        u"lock     %1"_s.arg(escaped(record.lock)),
        u"holder   %1"_s.arg(escaped(record.holder)),
        u"actor    %1"_s.arg(harmless(record.actor, 400)),
        u"reason   %1"_s.arg(record.reason.isEmpty() ? u"(none given)"_s : harmless(record.reason, 2000)),
        u"outcome  %1"_s.arg(record.lacksResult || record.phase == "intent"_L1 ? auditOutcome(record)
                                                                               : harmless(record.outcome, 2000)),
        u"hash     %1"_s.arg(harmless(QString::fromLatin1(record.hash), 80)),
        QString()};
    if (!record.to.isEmpty())
        lines << u"To:"_s << wantedLines(record.to) << QString();
    const bool isIntent = record.phase == "intent"_L1;
    if (isIntent || record.after.isEmpty()) {
        lines << u"Before:"_s;
        for (const auto &[id, one] : contendersOf(record.before))
            lines << u"  "_s + roleAndWho(one);
        if (!isIntent)
            lines << u"After: no picture of it; what was seen then is in the outcome"_s;
    } else {
        lines << u"Before → after:"_s;
        for (const auto &line : auditDiff(record.before, record.after))
            lines << u"  "_s + line;
    }
    return lines.join(u'\n');
}

AuditPage::AuditPage(QWidget *parent) : Page(parent)
{
    m_filtered.setSourceModel(&m_model);
    m_filtered.setFilterRole(AuditModel::FilterRole);
    m_filtered.setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_stack = new QStackedWidget(this);
    auto *content = new QWidget(m_stack);
    makeColumn(content, {.spacing = 0}, {buildStrip(), makeHairline(content), {buildTable(), 1}});
    m_empty = new EmptyNotice(m_stack);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(content);
    m_chain = named(new Banner(this), u"chainBanner"_s);
    m_chain->hide();
    makeColumn(this, {.spacing = 0}, {m_chain, {m_stack, 1}});
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
    m_filter =
        makeFilterField(tr("Filter by lock, holder, actor, reason or outcome"), tr("Filter the audit record"), strip);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_filtered.setFilterFixedString(text);
        m_table->measureAnew();
        updateCountLabel();
    });
    m_status = makeLabel({}, u"muted"_s, strip);
    addParts(*stripLayout(strip), {{m_filter, 2}, Stretch{1}, m_status});
    return strip;
}

QWidget *AuditPage::buildTable()
{
    m_split = new QSplitter(Qt::Vertical, this);
    m_split->setHandleWidth(1);
    m_split->setChildrenCollapsible(false);
    m_table = new LiveTree(m_split);
    keepColumns(m_table);
    auto *cells = m_table->becomeTable(tr("Audit record"));
    cells->setMono({AuditModel::Time, AuditModel::Lock, AuditModel::Holder});
    cells->setMuted({AuditModel::Time, AuditModel::Actor});
    cells->setToneRole(AuditModel::ToneRole);
    m_table->setModel(&m_filtered);
    m_table->setLeastStretched(220); // in a narrow window the last of these go; they stand in the detail
    m_table->setWidths(AuditModel::Lock, {{AuditModel::Time, 168},
                                          {AuditModel::Action, 104},
                                          {AuditModel::Outcome, 170},
                                          {AuditModel::Reason, 120},
                                          {AuditModel::Holder, 150},
                                          {AuditModel::Actor, 120}});
    m_detail = named(new QPlainTextEdit(m_split), u"auditDetail"_s, tr("The chosen record"));
    m_detail->setReadOnly(true);
    m_detail->setFrameShape(QFrame::NoFrame);
    m_detail->setFont(monoFont());
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
        showChainText(*report);
        showDetail();
    }
    if (m_model.rowCount() == 0)
        m_empty->say(
            tr("Nothing was forced or edited yet"),
            tr("Each force-release, each gentler way and each edit is recorded before it is sent and after it: who "
               "did it, why, and what it changed. The record is a file of this user on this machine: %1")
                .arg(report ? harmless(report->path, 400) : QString()));
    m_stack->setCurrentIndex(m_model.rowCount() > 0 ? 1 : 0);
    updateCountLabel();
    if (!std::exchange(m_isRead, true))
        emit settled();
}

void AuditPage::showChainText(const operate::AuditReport &report)
{
    const auto count = static_cast<int>(report.records.size());
    m_chain->setVisible(count > 0 || !report.problems.isEmpty());
    if (report.problems.isEmpty()) {
        m_chain->say(
            Banner::Look::Ok, tr("Verified."),
            count == 1
                ? tr("1 record: it follows from the one before, and none is missing at the end.")
                : tr("%1 records: each follows from the one before, and none is missing at the end.").arg(count));
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

void AuditPage::updateCountLabel()
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

} // namespace lockscope::ui

#include "moc_auditpage.cpp"
