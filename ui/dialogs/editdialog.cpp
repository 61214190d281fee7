// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/editdialog.h"

#include "core/base/text.h"
#include "ui/dialogs/factsform.h"
#include "ui/parts/notices.h"

#include <QCheckBox>
#include <QComboBox>

namespace lockscope::ui {

using operate::EditKind;

EditDialog::EditDialog(Backend &backend, const ConnectionBook &book, operate::EditRequest request, QWidget *parent,
                       std::optional<operate::EditRequest> undone)
    : ActingDialog(backend, book, request.connection, parent), m_request(std::move(request)),
      m_undone(std::move(undone)), m_isNew(m_request.kind == EditKind::ZnodeCreate
                                           || (m_request.kind == EditKind::KeySet && m_request.name.isEmpty())
                                           || (m_request.kind == EditKind::FieldSet && m_request.field.isEmpty())),
      m_isNewField(m_isNew && m_request.kind == EditKind::FieldSet)
{
    build();
    callAfter(m_readSoon, 300ms, this, &EditDialog::read);
    connect(&book, &ConnectionBook::changed, this, &EditDialog::updateReady);
    connect(&book, &ConnectionBook::changed, this, &EditDialog::followConnection);
    if (!m_isNew) {
        read();
        return;
    }
    // There is nothing to read before it has a name, but of a field the key it will be in.
    m_plan = operate::EditPlan{};
    m_plan->request = m_request;
    showPlan(true);
    if (m_isNewField)
        read();
}

void EditDialog::read()
{
    if (!m_isNew) {
        m_plan.reset();
        m_state->say(Banner::Look::Info, {}, tr("Reading the entry…"));
        setStep(Step::Reading);
    }
    const auto asked = m_isNew ? m_plan->request : m_request;
    m_backend.ask(PlanEdit{asked}, this, [this, asked](const Result<operate::EditPlan> &plan) {
        const bool isMeant = m_isNew ? m_step == Step::Form && m_plan->request.name == asked.name
                                           && m_plan->request.field == asked.field
                                     : m_step == Step::Reading;
        if (!isMeant)
            return;
        if (!plan && m_isNew)
            return; // half a name; what is wrong with it is said beside the button
        if (!plan) {
            showError(plan.error());
            return;
        }
        // Of what is gone a form would say what cannot be.
        if (const auto why = operate::editError(*plan); !m_isNew && why && why->code == ErrorCode::NoNode) {
            showError(*why);
            return;
        }
        auto request = m_isNew ? m_plan->request : plan->request;
        // Accepted were those that stood there when it was ticked.
        if (!m_isNew || m_plan->locks != plan->locks)
            m_acceptLocks->setChecked(false);
        m_plan = *plan;
        m_plan->request = std::move(request);
        showPlan(!m_isNew);
    });
}

void EditDialog::followConnection()
{
    if (!m_lost)
        return;
    const auto *status = m_book.find(m_request.connection);
    const bool isConnected = status && status->state == ConnectionStatus::State::Connected;
    if (!std::exchange(m_lost->wasConnected, isConnected) && isConnected)
        findOut();
}

// What became of an edit whose answer was lost; false: there is nothing to be found out.
bool EditDialog::findOut()
{
    if (!m_lost || std::exchange(m_lost->isLooking, true))
        return m_lost.has_value();
    m_state->say(Banner::Look::Info, {}, tr("Reading it…"));
    setStep(Step::Reading);
    m_backend.ask(PlanEdit{operate::lookAfterLost(m_lost->plan.request)}, this, [this](const auto &now) {
        m_lost->isLooking = false;
        if (!now) {
            showError(m_lost->error); // that look failed, too: what was said of it at first
            return;
        }
        const auto plan = std::exchange(m_lost, std::nullopt)->plan;
        if (const auto found = operate::foundDone(plan, now->before))
            showOutcome(*found);
        else
            lookAgain();
    });
    return true;
}

// From the beginning: what was typed is typed anew over what is there now.
void EditDialog::lookAgain()
{
    if (findOut())
        return;
    if (!m_isNew) {
        read();
        return;
    }
    setStep(Step::Form);
    m_readSoon.start();
    takeFields();
}

void EditDialog::showPlan(bool isFirst)
{
    if (isFirst && !m_isNew) {
        // An edit taken back brings what it is to be; else it is what there is, to be changed.
        const bool isGiven = m_request.expected.has_value();
        if (m_value)
            m_value->setValue(isGiven ? m_request.value : m_plan->before.value);
        if (m_acls)
            m_acls->setAcls(isGiven ? m_request.acls : m_plan->before.acls);
    }
    setStep(Step::Form);
    takeFields();
    if (isFirst) {
        QWidget *first = m_line;
        if (!first && m_value)
            first = m_value->edit();
        if (!first && m_acls)
            first = m_acls->edit();
        (first && first->isVisibleTo(this) && !m_undone ? first : m_reason)->setFocus();
        QTimer::singleShot(0, this, [this] { m_isPlaced = isVisible(); }); // once fit() has measured it
    }
}

void EditDialog::takeLife(operate::EditRequest &request)
{
    const auto life = static_cast<Life>(m_life->currentIndex());
    request.isEphemeral = life == Life::Ephemeral;
    request.ttl.reset();
    if (life != Life::Timed)
        return;
    if (const auto time = parseDuration(m_ttl->text().trimmed()))
        request.ttl = *time;
    else if (m_fieldTrouble.isEmpty())
        m_fieldTrouble = tr("Enter a time as 500ms, 30s, 10m or 2h.");
}

// What is typed becomes the request.
void EditDialog::takeFields()
{
    if (!m_plan || m_step != Step::Form)
        return;
    auto &request = m_plan->request;
    m_fieldTrouble.clear();
    const auto name = std::pair(request.name, request.field);
    if (m_line && request.kind == EditKind::KeyExpire) {
        request.ttl.reset();
        if (const auto text = m_line->text().trimmed(); !text.isEmpty()) {
            const auto time = parseDuration(text);
            if (time)
                request.ttl = *time;
            else
                m_fieldTrouble = tr("Enter a time as 500ms, 30s, 10m or 2h, or leave it empty for no TTL.");
        }
    } else if (m_line) {
        const auto typed = unescaped(m_line->text());
        if (!typed)
            m_fieldTrouble = tr("Write a backslash as \\xHH or \\\\.");
        (m_isNewField ? request.field : m_isNew ? request.name : request.value) = typed.value_or(QByteArray());
        if (m_isNewField && request.field.isEmpty() && m_fieldTrouble.isEmpty())
            m_fieldTrouble = tr("Enter the name of the field.");
    }
    if (m_value && m_value->isVisibleTo(this)) {
        const auto value = m_value->value();
        if (!value)
            m_fieldTrouble = tr("The value is not hex: enter two digits for each byte.");
        request.value = value.value_or(QByteArray());
    }
    if (m_sequential)
        request.isSequential = m_sequential->isChecked();
    if (m_life)
        takeLife(request);
    if (m_acls) {
        const auto acls = m_acls->acls();
        if (acls)
            request.acls = *acls;
        else
            m_fieldTrouble = acls.error().message;
    }
    if (m_isNew && std::pair(request.name, request.field) != name)
        m_readSoon.start();
    showPreview();
}

void EditDialog::showPreview()
{
    const auto preview = operate::previewOf(*m_plan);
    m_facts->clear();
    for (const auto &[title, lines, isCode] : EditWords::facts(*m_plan, preview, m_fieldTrouble))
        isCode ? m_facts->addCode(title, lines) : m_facts->addText(title, lines.join(u'\n'));
    const auto locks = mapped<QStringList>(m_plan->locks, [&](const auto &lock) { return lock.text(); });
    m_locks->setVisible(!locks.isEmpty());
    if (!locks.isEmpty())
        m_locks->say(m_plan->touchesHeld() ? Banner::Look::Critical : Banner::Look::Warning,
                     locks.size() == 1 ? tr("This edit touches 1 lock.")
                                       : tr("This edit touches %1 locks.").arg(locks.size()),
                     locks.mid(0, 12).join(u'\n')
                         + (locks.size() > 12 ? tr("\n… and %1 more").arg(locks.size() - 12) : QString()));
    m_acceptLocks->setVisible(m_plan->touchesHeld());
    showWarnings(m_fieldTrouble.isEmpty() ? preview.warnings : QStringList());
    if (m_fieldTrouble.isEmpty())
        m_act->setText(EditWords::act(m_plan->request, m_isNew, m_undone.has_value()));
    updateReady();
    fit();
}

void EditDialog::showError(const Error &error)
{
    const bool isRefused = error.code != ErrorCode::UnknownOutcome && error.code != ErrorCode::Server;
    const auto word = error.code == ErrorCode::UnknownOutcome ? tr("Outcome unknown.")
                      : m_step == Step::Sending               ? tr("Not done.")
                                                              : tr("Cannot be edited.");
    m_state->say(isRefused ? Banner::Look::Warning : Banner::Look::Critical, word, harmless(error.message, 1000));
    setStep(Step::Done);
    m_again->show();
    fit();
}

void EditDialog::send()
{
    if (!obstacle().isEmpty() || !m_plan)
        return;
    m_state->say(Banner::Look::Info, {}, tr("Reading once more, recording the intent, then sending…"));
    setStep(Step::Sending);
    m_plan->areLocksAccepted = m_acceptLocks->isChecked();
    m_backend.ask(ApplyEdit{*m_plan, reason()}, this, [this](const auto &outcome) {
        if (outcome)
            showOutcome(*outcome);
        else
            showError(outcome.error());
        if (!outcome && outcome.error().code == ErrorCode::UnknownOutcome) {
            m_lost = Lost{.plan = *m_plan, .error = outcome.error()};
            followConnection();
        }
    });
}

void EditDialog::showOutcome(const operate::EditOutcome &outcome)
{
    emit edited(m_plan->request, outcome);
    if (outcome.done) {
        accept(); // the page says it, and offers to take it back
        return;
    }
    m_undo = outcome.undo;
    m_state->say(Banner::Look::Critical, tr("Done in part."), harmless(outcome.message, 1000),
                 m_undo ? tr("Undo…") : QString());
    setStep(Step::Done);
    fit();
}

void EditDialog::showStep()
{
    const bool isForm = m_step == Step::Form;
    const bool isPlanShown = isForm || m_step == Step::Sending;
    m_isPlaced = m_isPlaced && isPlanShown;
    m_state->setVisible(!isForm);
    m_fields->setVisible(isPlanShown);
    m_facts->setVisible(isPlanShown);
    m_fields->setEnabled(isForm);
    m_inputs->setVisible(isForm);
    m_act->setVisible(isPlanShown);
    m_again->hide();
    if (!isForm) {
        m_locks->hide();
        showWarnings({});
    }
}

// Nothing moves below the pointer while somebody types, nor away from where the form was dragged.
std::optional<QRect> EditDialog::standing() const
{
    return m_isPlaced ? std::optional(geometry()) : std::nullopt;
}

bool EditDialog::isProduction() const
{
    const auto *status = m_book.find(m_request.connection);
    return status && status->production;
}

QString EditDialog::toType() const
{
    if (!m_plan)
        return {};
    if (isProduction())
        return escaped(m_plan->request.name);
    const auto below = m_plan->before.below.size();
    return below == 0 ? QString() : QString::number(below + 1);
}

QString EditDialog::obstacle() const
{
    if (m_step != Step::Form || !m_plan)
        return m_step == Step::Sending ? tr("sending…") : tr("no plan");
    if (const QString why = connectionObstacle(tr("%1 is read-only. Allow writes on it first.")); !why.isEmpty())
        return why;
    if (!m_fieldTrouble.isEmpty())
        return m_fieldTrouble;
    if (const auto why = operate::editError(*m_plan))
        return harmless(why->message, 300);
    if (m_isNew && (m_isNewField ? m_plan->before.hasField : m_plan->before.exists))
        return tr("An entry of that name already exists.");
    if (m_isNew && m_readSoon.isActive())
        return tr("Checking whether it exists…");
    if (m_plan->touchesHeld() && !m_acceptLocks->isChecked())
        return tr("A lock is held. Select the checkbox to confirm that you know.");
    if (isProduction() && reason().isEmpty())
        return tr("Production: enter a reason.");
    if (m_typed->text() != toType() && !toType().isEmpty())
        return isProduction() ? tr("Type the name to continue.") : tr("Type the number of nodes to continue.");
    return {};
}

void EditDialog::updateReady()
{
    ActingDialog::updateReady();
    offerArming();
    const auto typed = toType();
    m_typed->setVisible(!typed.isEmpty());
    m_typedTitle->setVisible(!typed.isEmpty());
    m_typedTitle->setText(isProduction() ? tr("&Type its name") : tr("&Type the number of nodes"));
    m_typed->setPlaceholderText(typed);
}

} // namespace lockscope::ui

#include "moc_editdialog.cpp"
