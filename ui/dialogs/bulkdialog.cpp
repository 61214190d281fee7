// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/forcereleasedialog.h"

#include "core/base/text.h"
#include "ui/parts/notices.h"

#include <QHeaderView>
#include <QTreeView>

namespace lockscope::ui {

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
        return more == 1 ? BulkModel::tr("KILL; also releases 1 more lock")
                         : BulkModel::tr("KILL; also releases %1 more locks").arg(more);
    return target.way == operate::ReleaseAction::KillWaiter ? BulkModel::tr("remove from queue")
                                                            : BulkModel::tr("release");
}

// Says where it stopped, and how many locks are left.
QString stopText(const QString &lock, const QString &why, int left)
{
    return left == 0   ? BulkDialog::tr("At %1: %2.").arg(lock, why)
           : left == 1 ? BulkDialog::tr("At %1: %2; 1 was not touched.").arg(lock, why)
                       : BulkDialog::tr("At %1: %2; %3 were not touched.").arg(lock, why, QString::number(left));
}

} // namespace

BulkModel::BulkModel(const std::vector<operate::BulkTarget> &targets, SystemTime now, QObject *parent)
    : RowsModel(parent), m_now(now)
{
    m_columns = {
        {.title = tr("Lock"),
         .text = [](const operate::BulkTarget &target) { return label(target.lock.text(), 400); }},
        {.title = tr("Holder"), .text = &holderText},
        {.title = tr("Duration"), .text = [this](const operate::BulkTarget &target) { return sinceText(target); }},
        {.title = tr("Action"), .text = &actText},
        {.title = tr("Result"), .text = [this](const operate::BulkTarget &target) { return outcomeText(target); }},
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
    : ActingDialog(backend, book, targets.front().lock.connection, parent), m_targets(std::move(targets)),
      m_model(new BulkModel(m_targets, now, this))
{
    build(what);
    connect(&book, &ConnectionBook::changed, this, &BulkDialog::updateReady);
    setStep(Step::Form);
    m_reason->setFocus(); // as in the form of one; in the table nothing would show where the keyboard is
}

void BulkDialog::build(const QString &what)
{
    setWindowTitle(tr("Release several locks"));
    setObjectName(u"bulkDialog"_s);
    auto *heading = makeLabel(tr("Release several locks"), u"heading"_s, this);
    auto *about = makeWrapped(harmless(what, 400), u"muted"_s, this);
    about->setMinimumWidth(1);
    m_state = named(new Banner(this), u"bulkState"_s);
    m_state->setMinimumWidth(1);
    auto *head = makeRow({}, {{heading, 1}, {makeTag(this), 0, Qt::AlignVCenter}});
    makeColumn(this, {.margins = {24, 16, 24, 16}, .spacing = 10},
               {head,
                about,
                m_state,
                {makeTable(), 1},
                makeInputs(u"typeCount"_s, tr("&Type how many")),
                makeHairline(this),
                makeButtons()});
    resizeWithinParent(*this, {980, 640});
}

QWidget *BulkDialog::makeTable()
{
    m_table = named(new QTreeView(this), u"bulkTargets"_s, tr("What is released"));
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

QWidget *BulkDialog::makeButtons()
{
    auto *buttons = new QWidget(this);
    makeObstacle(buttons);
    const auto copyNote = [this] { copyToClipboard(m_note); };
    m_copy = named(makeButton(tr("Copy note"), buttons, this, copyNote), u"copyNote"_s);
    m_copy->setAutoDefault(false);
    makeCancel(buttons);
    makeAct(buttonText(), u"releaseButton"_s, buttons);
    makeRow(buttons, {.spacing = 10}, {m_copy, {m_why, 1}, m_cancel, m_act});
    return buttons;
}

QString BulkDialog::buttonText() const
{
    if (waiters() > 0)
        return tr("Remove %1, one after the other").arg(count());
    if (count() == 1)
        return tr("Release 1 lock");
    return (locks() == count() ? tr("Release %1 locks, one after the other")
                               : tr("Release %1 holders, one after the other"))
        .arg(count());
}

QString BulkDialog::obstacle() const
{
    if (m_step != Step::Form)
        return m_step == Step::Sending ? tr("sending…") : tr("done");
    const QString readOnly = tr("%1 is read-only.");
    if (const QString why = connectionObstacle(readOnly); !why.isEmpty())
        return why;
    if (friction().wantsReason && reason().isEmpty())
        return tr("Production: enter a reason.");
    if (m_typed->text().trimmed() == QString::number(count()))
        return {};
    if (waiters() > 0)
        return tr("Type %1 to remove them.").arg(count());
    return count() == 1 ? tr("Type 1 to release it.") : tr("Type %1 to release them.").arg(count());
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
    QStringList sentences;
    const int holders = count() - waiters();
    if (holders == 1)
        sentences << tr("This releases 1 lock from its holder.");
    else if (holders > 1 && locks() == holders)
        sentences << tr("This releases %1 locks from their holders.").arg(holders);
    else if (holders > 1 && locks() == 1)
        sentences << tr("This releases 1 lock from its %1 holders.").arg(holders);
    else if (holders > 1)
        sentences << tr("This releases %1 locks from their %2 holders.").arg(locks()).arg(holders);
    if (waiters() == 1)
        sentences << tr("This removes 1 waiter from its queue.");
    else if (waiters() > 1)
        sentences << tr("This removes %1 waiters from their queues.").arg(waiters());
    return sentences.join(u' ');
}

void BulkDialog::updateReady()
{
    ActingDialog::updateReady();
    offerArming();
}

void BulkDialog::showStep()
{
    m_inputs->setVisible(m_step != Step::Done);
    m_inputs->setEnabled(m_step == Step::Form);
    m_act->setVisible(m_step != Step::Done);
    m_copy->setVisible(m_step == Step::Done);
    if (m_step == Step::Form)
        m_state->say(
            Banner::Look::Warning, whatIsTaken(),
            tr("Each entry is re-read, guarded and recorded separately. The run stops at the first unexpected "
               "result; entries already released stay released. Old holders may still act as if they hold their "
               "lock."));
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
    m_backend.ask(BulkRelease{m_targets, reason(), progressed}, this,
                  [this](const Result<operate::BulkReport> &report) { showReport(report); });
}

void BulkDialog::showReport(const Result<operate::BulkReport> &report)
{
    QString word;
    QString sentence;
    auto look = Banner::Look::Critical;
    if (!report) {
        word = tr("Progress unknown. Some locks may have been released. Check the audit log.");
        sentence = label(report.error().message.toUtf8(), 1000);
    } else if (!report->stoppedAt) {
        m_model->setReport(*report);
        look = Banner::Look::Ok;
        word = report->done.size() == 1 ? tr("Done.") : tr("All %1 done.").arg(report->done.size());
    } else {
        m_model->setReport(*report);
        word = tr("Stopped: %1 of %2 done.").arg(report->done.size()).arg(count());
        sentence = stopText(label(report->stoppedAt->lock.text(), 200), harmless(report->why, 1000),
                            static_cast<int>(report->left.size()));
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
