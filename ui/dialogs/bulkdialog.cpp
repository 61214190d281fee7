// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/bulkdialog.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/workspace/values.h"
#include "ui/parts/environment.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeView>

#include <algorithm>
#include <array>
#include <set>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

QString holderText(const operate::BulkTarget &target)
{
    const QString id = label(target.contender, 120);
    return target.who.isEmpty() ? id : target.who + u" · "_s + id;
}

QString actText(const operate::BulkTarget &target)
{
    const auto more = target.goWithIt.size();
    if (more > 0)
        return more == 1 ? BulkModel::tr("KILL; 1 more lock goes with it")
                         : BulkModel::tr("KILL; %1 more locks go with it").arg(more);
    return target.way == operate::ReleaseAction::KillWaiter ? BulkModel::tr("out of the queue")
                                                            : BulkModel::tr("release");
}

} // namespace

BulkModel::BulkModel(const std::vector<operate::BulkTarget> &targets, SystemTime now, QObject *parent)
    : RowsModel(parent), m_now(now)
{
    m_columns = {
        {.title = tr("Lock"),
         .text = [](const operate::BulkTarget &target) { return label(target.lock.text(), 400); }},
        {.title = tr("Holder"), .text = &holderText},
        {.title = tr("For"), .text = [this](const operate::BulkTarget &target) { return sinceText(target); }},
        {.title = tr("What is done"), .text = &actText},
        {.title = tr("What came of it"),
         .text = [this](const operate::BulkTarget &target) { return outcomeText(target); }},
    };
    for (const auto &target : targets)
        m_rows.push_back(&target);
}

void BulkModel::setDone(int done)
{
    m_done = done;
    reportColumns(Outcome, Outcome);
}

void BulkModel::setReport(const operate::BulkReport &report)
{
    m_isOver = true;
    m_hasStopped = report.stoppedAt.has_value();
    setDone(static_cast<int>(report.done.size()));
}

QString BulkModel::sinceText(const operate::BulkTarget &target) const
{
    if (!target.since)
        return u"?"_s;
    return formatDuration(std::chrono::duration_cast<std::chrono::milliseconds>(m_now.time_since_epoch())
                          + target.serverAhead - target.since->time_since_epoch());
}

QString BulkModel::outcomeText(const operate::BulkTarget &target) const
{
    const auto row = std::ranges::find(m_rows, &target) - m_rows.begin();
    if (row < m_done)
        return tr("done");
    if (!m_isOver)
        return {};
    return m_hasStopped && row == m_done ? tr("stopped here") : tr("not touched");
}

BulkDialog::BulkDialog(Backend &backend, const ConnectionBook &book, const QString &what,
                       std::vector<operate::BulkTarget> targets, SystemTime now, QWidget *parent)
    : SendingDialog(parent), m_backend(backend), m_book(book), m_targets(std::move(targets)), m_now(now),
      m_model(new BulkModel(m_targets, now, this))
{
    build(what);
    connect(&book, &ConnectionBook::changed, this, &BulkDialog::updateReady);
    setStep(Step::Form);
    m_reason->setFocus(); // as in the form of one; in the table nothing would show where the keyboard is
}

BulkDialog::~BulkDialog() = default;

void BulkDialog::build(const QString &what)
{
    setWindowTitle(tr("Release several locks"));
    setObjectName(u"bulkDialog"_s);
    auto *heading = makeLabel(tr("Release several locks"), u"heading"_s, this);
    auto *about = makeLabel(harmless(what, 400), u"muted"_s, this);
    about->setWordWrap(true);
    about->setMinimumWidth(1);
    m_state = new Banner(this);
    m_state->setObjectName(u"bulkState"_s);
    m_state->setMinimumWidth(1);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(24, 16, 24, 16);
    column->setSpacing(10);
    // All targets are of one connection: how grave it is where they are stands here, as in every form that acts.
    auto *tag = makeLabel({}, {}, this);
    tag->setObjectName(u"environment"_s);
    const auto showTag = [this, tag] {
        if (!m_targets.empty())
            showEnvironment(*tag, m_book, m_targets.front().lock.connection);
    };
    connect(&m_book, &ConnectionBook::changed, this, showTag);
    showTag();
    auto *head = new QHBoxLayout;
    head->addWidget(heading, 1);
    head->addWidget(tag, 0, Qt::AlignVCenter);
    column->addLayout(head);
    column->addWidget(about);
    column->addWidget(m_state);
    column->addWidget(makeTable(), 1);
    column->addWidget(m_inputs = makeInputs());
    column->addWidget(makeHairline(this));
    column->addWidget(makeButtons());
    resizeWithinParent(*this, {980, 640});
}

QWidget *BulkDialog::makeTable()
{
    m_table = new QTreeView(this);
    m_table->setObjectName(u"bulkTargets"_s);
    m_table->setAccessibleName(tr("What is released"));
    m_table->setRootIsDecorated(false);
    m_table->setUniformRowHeights(true);
    m_table->setModel(m_model);
    m_table->header()->setStretchLastSection(false);
    m_table->header()->setSectionResizeMode(BulkModel::Lock, QHeaderView::Stretch);
    m_table->header()->setStyleSheet(
        u"QHeaderView::section { padding: 5px 1px 5px 7px; }"_s); // above the cells' words
    // What tells one from the next is at the end of both.
    m_table->setTextElideMode(Qt::ElideMiddle);
    for (const auto &[column, most] :
         {std::pair(BulkModel::Holder, 300), std::pair(BulkModel::Since, 96), std::pair(BulkModel::What, 240)}) {
        m_table->resizeColumnToContents(column);
        m_table->setColumnWidth(column, std::min(m_table->columnWidth(column), most));
    }
    m_table->setColumnWidth(BulkModel::Outcome, 120);
    return m_table;
}

QWidget *BulkDialog::makeInputs()
{
    const ActingWords words{tr("&Reason (recorded)"), tr("ticket, what happened"), tr("&Type how many")};
    const auto inputs = makeActingInputs(this, u"typeCount"_s, words);
    m_reason = inputs.reason;
    m_count = inputs.typed;
    connect(m_reason, &QLineEdit::textChanged, this, &BulkDialog::updateReady);
    connect(m_count, &QLineEdit::textChanged, this, &BulkDialog::updateReady);
    return inputs.widget;
}

QWidget *BulkDialog::makeButtons()
{
    auto *buttons = new QWidget(this);
    m_why = makeLabel({}, u"small"_s, buttons);
    m_why->setObjectName(u"obstacle"_s);
    m_copy = new QPushButton(tr("Copy note"), buttons);
    m_copy->setObjectName(u"copyNote"_s);
    m_cancel = new QPushButton(tr("Cancel"), buttons);
    m_release = new QPushButton(buttons);
    m_release->setObjectName(u"releaseButton"_s);
    m_release->setProperty("look", u"dangerFilled"_s);
    m_release->setText(waiters() > 0        ? tr("Remove %1, one after the other").arg(count())
                       : count() == 1       ? tr("Release 1 lock")
                       : locks() == count() ? tr("Release %1 locks, one after the other").arg(count())
                                            : tr("Release %1 holders, one after the other").arg(count()));
    for (auto *button : {m_copy, m_cancel, m_release})
        button->setAutoDefault(false); // Enter in a text field shall not release anything
    auto *row = new QHBoxLayout(buttons);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(10);
    row->addWidget(m_copy);
    row->addWidget(m_why, 1);
    row->addWidget(m_cancel);
    row->addWidget(m_release);
    connect(m_copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_note); });
    connect(m_cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_release, &QPushButton::clicked, this, &BulkDialog::send);
    return buttons;
}

QString BulkDialog::obstacle() const
{
    if (m_step != Step::Form)
        return m_step == Step::Sending ? tr("sending…") : tr("done");
    std::set<ConnectionName> names;
    for (const auto &target : m_targets)
        names.insert(target.lock.connection);
    bool wantsReason = false;
    for (const auto &name : names) {
        const auto *status = m_book.find(name);
        const QString shown = label(name.bytes(), 60);
        if (!status || status->state != ConnectionStatus::State::Connected)
            return tr("%1 is not connected").arg(shown);
        if (status->readOnlyForGood)
            return tr("%1 is read-only for this run (--read-only)").arg(shown);
        if (status->readOnly)
            return tr("%1 is read-only: allow writes on it first, at the top right").arg(shown);
        wantsReason = wantsReason || frictionOf(m_book, name).wantsReason;
    }
    if (wantsReason && m_reason->text().trimmed().isEmpty())
        return tr("production: say why");
    if (m_count->text().trimmed() != QString::number(count()))
        return waiters() > 0  ? tr("type %1 to remove them").arg(count())
               : count() == 1 ? tr("type 1 to release it")
                              : tr("type %1 to release them").arg(count());
    return {};
}

int BulkDialog::waiters() const
{
    return static_cast<int>(
        std::ranges::count(m_targets, operate::ReleaseAction::KillWaiter, &operate::BulkTarget::way));
}

int BulkDialog::locks() const
{
    std::set<inspect::LockName> names;
    for (const auto &target : m_targets) {
        if (target.way != operate::ReleaseAction::KillWaiter)
            names.insert(target.lock);
    }
    return static_cast<int>(names.size());
}

QString BulkDialog::whatIsTaken() const
{
    const int holders = count() - waiters();
    const QString held = holders == 0         ? QString()
                         : holders == 1       ? tr("1 lock is taken from its holder.")
                         : locks() == holders ? tr("%1 locks are taken from their holders.").arg(holders)
                         : locks() == 1       ? tr("1 lock is taken from its %1 holders.").arg(holders)
                                        : tr("%1 locks are taken from their %2 holders.").arg(locks()).arg(holders);
    const QString queued = waiters() == 0   ? QString()
                           : waiters() == 1 ? tr("1 waiter is taken out of its queue.")
                                            : tr("%1 waiters are taken out of their queues.").arg(waiters());
    return QStringList{held, queued}.join(u' ').trimmed();
}

void BulkDialog::updateReady()
{
    const QString why = obstacle();
    m_release->setEnabled(why.isEmpty());
    m_why->setText(m_step == Step::Form ? why : QString());
}

void BulkDialog::setStep(Step step)
{
    m_step = step;
    m_inputs->setVisible(step != Step::Done);
    m_inputs->setEnabled(step == Step::Form);
    m_release->setVisible(step != Step::Done);
    m_copy->setVisible(step == Step::Done);
    m_cancel->setText(step == Step::Done ? tr("Close") : tr("Cancel"));
    m_cancel->setEnabled(step != Step::Sending);
    if (step == Step::Form)
        m_state->say(
            Banner::Look::Warning, whatIsTaken(),
            tr("Each is read again and guarded on its own, with a record of its own. It stops at the first that "
               "is not as expected; what was done by then stays done. The old holders may still believe that "
               "they hold them."));
    updateReady();
}

void BulkDialog::send()
{
    if (!obstacle().isEmpty())
        return;
    m_state->say(Banner::Look::Info, {}, tr("0 of %1 done…").arg(count()));
    setStep(Step::Sending);
    const auto progressed = [this](int done) {
        m_model->setDone(done);
        m_state->say(Banner::Look::Info, {}, tr("%1 of %2 done…").arg(done).arg(count()));
    };
    m_backend.ask(BulkRelease{m_targets, m_reason->text().trimmed(), progressed}, this,
                  [this](const Result<operate::BulkReport> &report) { showReport(report); });
}

void BulkDialog::showReport(const Result<operate::BulkReport> &report)
{
    QString word;
    QString sentence;
    auto look = Banner::Look::Critical;
    if (!report) {
        word = tr("Not known how far it came.");
        sentence = label(report.error().message.toUtf8(), 1000);
    } else if (!report->stoppedAt) {
        m_model->setReport(*report);
        look = Banner::Look::Ok;
        word = report->done.size() == 1 ? tr("Done.") : tr("All %1 done.").arg(report->done.size());
    } else {
        m_model->setReport(*report);
        word = tr("Stopped: %1 of %2 done.").arg(report->done.size()).arg(count());
        sentence = tr("At %1: %2").arg(label(report->stoppedAt->lock.text(), 200), harmless(report->why, 1000))
                   + (report->left.empty()       ? tr(".")
                      : report->left.size() == 1 ? tr("; 1 was not touched.")
                                                 : tr("; %1 were not touched.").arg(report->left.size()));
    }
    m_state->say(look, word, sentence);
    QStringList lines{word, sentence};
    for (int row = 0; row < count(); ++row)
        lines << u"%1\t%2\t%3"_s.arg(m_model->text(row, BulkModel::Lock), m_model->text(row, BulkModel::Holder),
                                     m_model->text(row, BulkModel::Outcome));
    m_note = lines.join(u'\n') + u'\n';
    setStep(Step::Done);
    if (report && report->stoppedAt)
        m_table->scrollTo(m_model->index(static_cast<int>(report->done.size()), 0));
}

} // namespace lockscope::ui

#include "moc_bulkdialog.cpp"
