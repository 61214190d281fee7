// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/forcereleasedialog.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/workspace/values.h"
#include "ui/dialogs/factsform.h"
#include "ui/models/lockfacts.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QDateTime>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using inspect::Contender;
using inspect::LockSnapshot;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

// For a POSIX shell: nothing inside single quotes means anything.
QString quoted(QString text)
{
    return u'\'' + text.replace(u'\'', u"'\\''"_s) + u'\'';
}

QString hostOf(const QString &endpoint)
{
    const auto colon = endpoint.lastIndexOf(u':');
    return colon > 0 ? endpoint.left(colon) : endpoint;
}

QString timeOf(SystemTime time)
{
    const auto ms = duration_cast<milliseconds>(time.time_since_epoch()).count();
    return QDateTime::fromMSecsSinceEpoch(ms).toString(u"HH:mm:ss"_s);
}

QString takenFrom(const Contender &holder, const LockSnapshot &lock)
{
    QStringList parts{label(holder.id, 120)};
    if (holder.endpoint)
        parts << label(holder.endpoint->toUtf8(), 60);
    if (holder.session)
        parts << QCoreApplication::translate("ForceRelease", "session %1").arg(label(holder.session->toUtf8(), 40));
    if (holder.heldSince)
        parts
            << QCoreApplication::translate("ForceRelease", "since %1").arg(timeOf(ourTime(*holder.heldSince, lock)));
    return parts.join(u" · "_s);
}

QString nextOwner(const operate::ForceReleasePlan &plan)
{
    const auto &lock = plan.before;
    const Contender *next = plan.nextHolder ? lock.find(*plan.nextHolder) : nullptr;
    if (!next)
        return lock.waitersKnown && lock.waiterCount() == 0
                   ? QCoreApplication::translate("ForceRelease", "nobody waits: the lock will be free")
                   : QCoreApplication::translate("ForceRelease", "not known: whoever asks first");
    QString text = shortId(next->id) + u" · "_s + whoIs(*next);
    if (next->waitingSince)
        text += QCoreApplication::translate("ForceRelease", ", waiting %1")
                    .arg(spokenDuration(duration_cast<milliseconds>(lock.observed - *next->waitingSince)));
    const int behind = lock.waiterCount() - 1;
    if (behind > 0)
        text += QCoreApplication::translate("ForceRelease", "; %1 more behind it").arg(behind);
    return text;
}

QString fencing(const operate::ForceReleasePlan &plan)
{
    QString text = QCoreApplication::translate(
        "ForceRelease", "Nothing tells it. A resource is safe from it only if it checks a fencing token");
    const auto *next = plan.nextHolder ? plan.before.find(*plan.nextHolder) : nullptr;
    if (plan.guard.czxid != 0 && next && next->guard.czxid != 0)
        text += QCoreApplication::translate("ForceRelease", ": 0x%1 → 0x%2")
                    .arg(plan.guard.czxid, 0, 16)
                    .arg(next->guard.czxid, 0, 16);
    return text + u'.';
}

} // namespace

ForceReleaseDialog::ForceReleaseDialog(Backend &backend, const ConnectionBook &book, inspect::LockName lock,
                                       QByteArray holder, QWidget *parent)
    : QDialog(parent), m_backend(backend), m_book(book), m_lock(std::move(lock)), m_holder(std::move(holder))
{
    build();
    connect(&book, &ConnectionBook::changed, this, &ForceReleaseDialog::updateReady);
    connect(&backend, &Backend::updated, this, &ForceReleaseDialog::onBatch);
    read();
}

void ForceReleaseDialog::build()
{
    setWindowTitle(tr("Force-release"));
    setObjectName(u"forceReleaseDialog"_s);
    resize(860, 0);
    auto *title = makeLabel(tr("Force-release"), u"heading"_s, this);
    auto *name = makeLabel(label(m_lock.name, 70), {}, this);
    name->setFont(monoFont(16, QFont::DemiBold));
    name->setStyleSheet(u"font-size: 16px;"_s);
    m_tag = makeLabel({}, {}, this);
    auto *head = new QHBoxLayout;
    head->setSpacing(8);
    head->addWidget(title);
    head->addWidget(name);
    head->addWidget(m_tag, 0, Qt::AlignVCenter);
    head->addStretch();

    m_gentler = new Banner(this);
    m_state = new Banner(this);
    m_state->setObjectName(u"stateBanner"_s);
    m_facts = new FactsForm(this);
    m_danger = new Banner(this);
    m_warnings = new QVBoxLayout;
    m_warnings->setSpacing(6);
    connect(m_gentler, &Banner::actionRequested, this, &ForceReleaseDialog::waitForIt);

    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(24, 20, 24, 20);
    column->setSpacing(12);
    column->addLayout(head);
    column->addWidget(m_gentler);
    column->addWidget(m_facts);
    column->addWidget(m_danger);
    column->addLayout(m_warnings);
    column->addWidget(m_inputs = makeInputs());
    column->addWidget(m_state);
    column->addStretch();
    column->addWidget(makeButtons());
}

QWidget *ForceReleaseDialog::makeInputs()
{
    auto *inputs = new QWidget(this);
    auto *grid = new QGridLayout(inputs);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(12);
    grid->setColumnMinimumWidth(0, 158);
    grid->setColumnStretch(1, 1);
    m_reason = new QLineEdit(inputs);
    m_reason->setObjectName(u"reason"_s);
    m_reason->setPlaceholderText(tr("ticket, what happened"));
    m_type = new QLineEdit(inputs);
    m_type->setObjectName(u"typeName"_s);
    m_type->setFont(monoFont());
    m_type->setPlaceholderText(label(m_lock.name, 120));
    auto *reasonLabel = new QLabel(tr("&Reason (recorded)"), inputs);
    reasonLabel->setBuddy(m_reason);
    m_typeLabel = new QLabel(tr("&Type the lock’s name"), inputs);
    m_typeLabel->setBuddy(m_type);
    for (auto *label : {reasonLabel, m_typeLabel})
        label->setProperty("look", u"muted"_s);
    grid->addWidget(reasonLabel, 0, 0);
    grid->addWidget(m_reason, 0, 1);
    grid->addWidget(m_typeLabel, 1, 0);
    grid->addWidget(m_type, 1, 1);
    m_acceptRisk = new QCheckBox(tr("Release it all the same, with the risk named above"), inputs);
    m_acceptRisk->setObjectName(u"acceptRisk"_s);
    grid->addWidget(m_acceptRisk, 2, 1);
    connect(m_acceptRisk, &QCheckBox::toggled, this, &ForceReleaseDialog::updateReady);
    connect(m_type, &QLineEdit::textChanged, this, &ForceReleaseDialog::updateReady);
    return inputs;
}

QWidget *ForceReleaseDialog::makeButtons()
{
    auto *buttons = new QWidget(this);
    m_copy = new QPushButton(tr("Copy as command"), buttons);
    m_again = new QPushButton(tr("Look again"), buttons);
    m_again->setObjectName(u"lookAgain"_s);
    m_cancel = new QPushButton(tr("Cancel"), buttons);
    m_release = new QPushButton(buttons);
    m_release->setObjectName(u"releaseButton"_s);
    m_release->setProperty("look", u"dangerFilled"_s);
    m_why = makeLabel({}, u"small"_s, buttons);
    m_why->setObjectName(u"obstacle"_s);
    m_why->setWordWrap(true);
    m_why->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    for (auto *button : {m_copy, m_again, m_cancel, m_release})
        button->setAutoDefault(false); // Enter in a text field shall not release anything
    auto *row = new QHBoxLayout(buttons);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(10);
    row->addWidget(m_copy);
    row->addWidget(m_again);
    row->addWidget(m_why, 1);
    row->addWidget(m_cancel);
    row->addWidget(m_release);
    connect(m_copy, &QPushButton::clicked, this, [this] {
        QApplication::clipboard()->setText(asCommand());
        m_copy->setText(tr("Copied"));
    });
    connect(m_again, &QPushButton::clicked, this, &ForceReleaseDialog::read);
    connect(m_cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_release, &QPushButton::clicked, this, &ForceReleaseDialog::send);
    return buttons;
}

QString ForceReleaseDialog::asCommand() const
{
    const auto *status = m_book.find(m_lock.connection);
    const QString name = escaped(m_lock.connection.bytes());
    QStringList words{u"lockscopectl"_s};
    if (status && !status->uri.isEmpty())
        words << u"--connect"_s << quoted(name + u'=' + status->uri);
    if (status && status->production)
        words << u"--production"_s << quoted(name);
    words << u"force-release"_s << quoted(escaped(m_lock.text())) << u"--holder"_s << quoted(escaped(m_holder));
    if (m_plan && !m_plan->risk.isEmpty())
        words << u"--not-exact"_s;
    if (!m_reason->text().isEmpty())
        words << u"--reason"_s << quoted(m_reason->text());
    return words.join(u' ');
}

void ForceReleaseDialog::read()
{
    m_plan.reset();
    setStep(Step::Reading);
    m_state->say(Banner::Look::Info, {}, tr("Reading the lock afresh…"));
    m_backend.planForceRelease(m_lock, m_holder, this, [this](const Result<operate::ForceReleasePlan> &plan) {
        if (plan)
            showPlan(*plan);
        else
            showError(plan.error());
    });
}

void ForceReleaseDialog::showPlan(const operate::ForceReleasePlan &plan)
{
    m_plan = plan;
    m_facts->clear();
    if (const auto *holder = plan.before.find(plan.holder))
        m_facts->addText(tr("Takes it from"), takenFrom(*holder, plan.before));
    m_facts->addText(tr("Next owner"), nextOwner(plan));
    m_facts->addCode(tr("Will be sent"), plan.commands);
    m_facts->addText(tr("Only if unchanged"),
                     plan.guardText + (plan.exact ? QString() : tr("; a gap remains, see below")));
    m_facts->addText(tr("Wakes"), plan.wakes);
    QStringList lost;
    for (const auto &name : plan.otherLocksLost)
        lost << label(name, 120);
    m_facts->addText(tr("Other locks lost"), lost.isEmpty() ? tr("none") : lost.join(u", "_s));
    if (!plan.gentler.isEmpty())
        m_gentler->say(Banner::Look::Warning, tr("Gentler:"), plan.gentler.join(u"\n"_s), tr("Wait for it"));

    m_danger->say(Banner::Look::Critical, tr("The old holder may still believe it holds the lock."), fencing(plan));
    while (auto *item = m_warnings->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const auto &warning : plan.warnings) {
        if (warning.startsWith("the old holder"_L1))
            continue; // said above, larger
        auto *banner = new Banner(this);
        banner->say(Banner::Look::Warning, {}, label(warning.toUtf8(), 400));
        m_warnings->addWidget(banner);
    }
    m_release->setText(tr("Release from %1").arg(nameOfHolder()));
    m_acceptRisk->setVisible(!plan.risk.isEmpty());
    m_acceptRisk->setChecked(false);
    setStep(Step::Form);
    m_reason->setFocus();
}

QString ForceReleaseDialog::nameOfHolder() const
{
    const auto *holder = m_plan ? m_plan->before.find(m_holder) : nullptr;
    if (!holder)
        return shortId(m_holder);
    return holder->endpoint ? label(hostOf(*holder->endpoint).toUtf8(), 40) : whoIs(*holder);
}

void ForceReleaseDialog::showError(const Error &error)
{
    setStep(Step::Done);
    const bool refused = error.code == ErrorCode::Refused || error.code == ErrorCode::NoNode;
    const bool unknown = error.code == ErrorCode::UnknownOutcome;
    m_state->say(unknown || !refused ? Banner::Look::Critical : Banner::Look::Warning,
                 refused   ? tr("Refused: nothing was sent.")
                 : unknown ? tr("Not known whether it was released.")
                           : tr("Failed."),
                 label(error.message.toUtf8(), 600));
    m_again->show();
}

void ForceReleaseDialog::send()
{
    if (!obstacle().isEmpty() || !m_plan)
        return;
    setStep(Step::Sending);
    m_state->say(Banner::Look::Info, {}, tr("Recording the intent, reading once more, then releasing…"));
    m_plan->isRiskAccepted = m_acceptRisk->isChecked();
    m_backend.forceRelease(*m_plan, m_reason->text().trimmed(), this,
                           [this](const Result<operate::ForceReleaseOutcome> &outcome) {
                               if (outcome)
                                   showOutcome(*outcome);
                               else
                                   showError(outcome.error());
                           });
}

void ForceReleaseDialog::showOutcome(const operate::ForceReleaseOutcome &outcome)
{
    setStep(Step::Done);
    QString after = tr("Read again: no node and no key of the lock is left.");
    if (outcome.after)
        after = tr("Read again: %1.").arg(inspect::answerSentence(*outcome.after, outcome.after->observed).left(500));
    m_state->say(outcome.released ? Banner::Look::Ok : Banner::Look::Critical,
                 outcome.released ? tr("Released.") : tr("Not released."),
                 label(outcome.message.toUtf8(), 400) + u'\n' + after);
    m_again->setVisible(!outcome.released);
}

void ForceReleaseDialog::waitForIt()
{
    setStep(Step::Waiting);
    m_state->say(Banner::Look::Info, tr("Waiting."),
                 tr("Nothing was sent. This tells when %1 no longer holds the lock.").arg(nameOfHolder()));
    m_again->setText(tr("Back to the form"));
    m_again->show();
}

void ForceReleaseDialog::onBatch(const Batch &batch)
{
    if (m_step != Step::Waiting)
        return;
    for (const auto &change : batch.locks) {
        if (!(change.lock.lock == m_lock))
            continue;
        const auto *contender = change.lock.find(m_holder);
        const bool isGone = change.kind == inspect::ChangeKind::Removed;
        if (!isGone && contender && contender->role == inspect::Role::Holder)
            continue;
        setStep(Step::Done);
        const QString now = inspect::answerSentence(change.lock, change.lock.observed).left(500);
        m_state->say(Banner::Look::Ok, tr("It let go by itself."),
                     isGone ? tr("The lock is gone; nothing was sent.") : tr("%1. Nothing was sent.").arg(now));
        return;
    }
}

void ForceReleaseDialog::setStep(Step step)
{
    m_step = step;
    const bool form = step == Step::Form || step == Step::Sending;
    m_gentler->setVisible(step == Step::Form && m_plan && !m_plan->gentler.isEmpty());
    m_facts->setVisible(form);
    m_danger->setVisible(form);
    for (int i = 0; i < m_warnings->count(); ++i)
        m_warnings->itemAt(i)->widget()->setVisible(form);
    m_inputs->setVisible(form);
    m_inputs->setEnabled(step == Step::Form);
    m_state->setVisible(step != Step::Form);
    m_copy->setVisible(form);
    m_again->hide();
    if (step != Step::Waiting)
        m_again->setText(tr("Look again"));
    m_cancel->setText(step == Step::Form || step == Step::Reading ? tr("Cancel") : tr("Close"));
    m_cancel->setEnabled(step != Step::Sending);
    m_release->setVisible(form);
    updateReady();
    fit();
}

// As high as its texts are at this width: sizeHint() guesses for a narrower one.
void ForceReleaseDialog::fit()
{
    layout()->activate();
    const int wide = std::max(width(), 860);
    resize(wide, layout()->hasHeightForWidth() ? layout()->totalHeightForWidth(wide) : sizeHint().height());
}

bool ForceReleaseDialog::isProduction() const
{
    const auto *status = m_book.find(m_lock.connection);
    return status && status->production;
}

QString ForceReleaseDialog::obstacle() const
{
    const auto *status = m_book.find(m_lock.connection);
    const QString name = label(m_lock.connection.bytes(), 60);
    if (m_step != Step::Form)
        return m_step == Step::Sending ? tr("sending…") : tr("no plan");
    if (!status || status->state != ConnectionStatus::State::Connected)
        return tr("%1 is not connected").arg(name);
    if (status->readOnlyForGood)
        return tr("%1 is read-only for this run (--read-only)").arg(name);
    if (status->readOnly)
        return tr("%1 is read-only; allow writes at the top right of the window").arg(name);
    if (m_plan && !m_plan->risk.isEmpty() && !m_acceptRisk->isChecked())
        return tr("nothing tells this holder from the next one: tick that you accept it");
    if (isProduction() && m_type->text() != escaped(m_lock.name))
        return tr("type the lock’s name to release");
    return {};
}

void ForceReleaseDialog::updateReady()
{
    const QString why = obstacle();
    m_release->setEnabled(why.isEmpty());
    m_why->setText(m_step == Step::Form ? why : QString());
    const bool production = isProduction();
    m_type->setVisible(production);
    m_typeLabel->setVisible(production);
    m_tag->setText((production ? u"PROD · "_s : u"DEV · "_s) + label(m_lock.connection.bytes(), 40));
    const QString look = production ? u"tag-production"_s : u"tag-development"_s;
    if (m_tag->property("look") != look) {
        m_tag->setProperty("look", look);
        m_tag->style()->unpolish(m_tag);
        m_tag->style()->polish(m_tag);
    }
}

} // namespace lockscope::ui
