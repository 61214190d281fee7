// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/forcereleasedialog.h"

#include "core/base/text.h"
#include "ui/dialogs/factsform.h"
#include "ui/parts/notices.h"

#include <QCheckBox>
#include <QComboBox>
#include <QScrollBar>

namespace lockscope::ui {

using Words = ForceReleaseWords;

ForceReleaseDialog::ForceReleaseDialog(Backend &backend, const ConnectionBook &book, inspect::LockSnapshot seen,
                                       QByteArray chosen, QWidget *parent)
    : ActingDialog(backend, book, seen.lock.connection, parent), m_lock(seen.lock), m_latest(std::move(seen)),
      m_chosen(std::move(chosen))
{
    build();
    connect(&book, &ConnectionBook::changed, this, &ForceReleaseDialog::updateReady);
    connect(&backend, &Backend::updated, this, &ForceReleaseDialog::onBatch);
    if (holderIn(m_latest, m_chosen))
        m_holder = m_chosen;
    lookAgain();
}

void ForceReleaseDialog::fillPicker()
{
    const auto holders = holdersOf(m_latest);
    m_pick->clear();
    m_pick->addItem(tr("choose one of %1 holders").arg(holders.size()));
    for (const auto *holder : holders) {
        m_pick->addItem(Words::takenFrom(*holder, m_latest), holder->id);
        if (holder->id == m_holder)
            m_pick->setCurrentIndex(m_pick->count() - 1);
    }
    const bool mayPick = holders.size() > 1 && (m_step == Step::Choose || m_step == Step::Form);
    m_pick->setVisible(mayPick);
    m_pickLabel->setVisible(mayPick);
}

void ForceReleaseDialog::pickHolder()
{
    const auto picked = m_pick->currentData().toByteArray();
    if (picked.isEmpty() || picked == m_holder)
        return;
    m_holder = picked;
    m_way->reset();
    read();
}

// About the holder there is now: one that let go is not asked for again.
void ForceReleaseDialog::lookAgain()
{
    const auto holders = holdersOf(m_latest);
    m_way->reset();
    if (!holderIn(m_latest, m_holder) && holders.size() > 1) {
        m_holder.clear();
        m_plan.reset();
        setStep(Step::Choose);
        updateChoiceLabel();
        fit();
        return;
    }
    if (!holderIn(m_latest, m_holder) && !holders.empty())
        m_holder = holders.front()->id;
    else if (m_holder.isEmpty())
        m_holder = m_chosen;
    read();
}

// Who could be chosen may let go meanwhile; whoever holds it then is nobody's choice yet.
void ForceReleaseDialog::updateChoiceLabel()
{
    const auto holders = holdersOf(m_latest);
    if (holders.size() > 1)
        m_state->say(Banner::Look::Info, tr("This lock has %1 holders.").arg(holders.size()),
                     tr("Select the holder to release it from. Nothing has been sent yet."));
    else
        m_state->say(Banner::Look::Warning, m_isGone ? Words::notHeldNow(true) + u'.' : Words::holdersNow(m_latest),
                     tr("It had several holders before. Nothing was sent."),
                     holders.empty() ? QString() : tr("Refresh"));
}

void ForceReleaseDialog::read(bool silently)
{
    m_isAsking = true;
    m_isOutdated = false;
    if (!silently) {
        m_plan.reset();
        m_state->say(Banner::Look::Info, {}, tr("Reading the lock again…"));
        setStep(Step::Reading);
    }
    const auto shown = [this, silently, asked = m_holder,
                        way = m_way->way()](const Result<operate::ForceReleasePlan> &plan) {
        m_isAsking = false;
        if (asked != m_holder || way != m_way->way() || m_step != (silently ? Step::Form : Step::Reading))
            return;
        if (plan) {
            m_latest = plan->before;
            // Read afresh, the same id's next hold would be the one that is released.
            if (silently && m_plan && mayBeAnotherHold(*m_plan, m_latest))
                stopAtChange();
            else
                showPlan(*plan, silently);
        } else if (!silently || plan.error().code == ErrorCode::Refused) {
            showError(plan.error());
        }
    };
    m_backend.ask(PlanRelease{m_lock, m_way->isRelease() ? m_holder : m_way->contender(), m_way->way()}, this, shown);
}

void ForceReleaseDialog::showPlan(const operate::ForceReleasePlan &plan, bool isAgain)
{
    const bool sameRisk = isAgain && m_plan && m_plan->risk == plan.risk;
    const int scrolled = m_scroll->verticalScrollBar()->value();
    m_plan = plan;
    if (plan.way != operate::ReleaseAction::KillWaiter)
        m_holder = plan.holder;
    Words::fillFacts(*m_facts, plan, m_clock());
    showHeldWith(plan);
    m_rehearse->setPlan(plan, isAgain);
    m_danger->say(Banner::Look::Critical,
                  plan.act.isEmpty() ? tr("The old holder may still act as if it holds the lock.")
                                     : tr("The old holder notices only when its next statement fails."),
                  Words::fencing(plan));
    showWarnings(plan.warnings);
    m_way->offer(plan.before, m_holder, m_chosen);
    const auto *chosen = m_chosen == m_holder ? nullptr : plan.before.find(m_chosen);
    if (chosen)
        m_waiter->say(Banner::Look::Info, {},
                      tr("%1 is waiting and does not hold the lock. This dialog releases it from its holder, %2.")
                          .arg(Words::who(*chosen), nameOfHolder()));
    showAlternatives();
    const QString act = plan.act.isEmpty() ? tr("Release from %1").arg(nameOfHolder()) : plan.act;
    m_act->setText(QString(act).replace(u'&', u"&&"_s));
    m_acceptRisk->setVisible(!plan.risk.isEmpty());
    if (!sameRisk)
        m_acceptRisk->setChecked(false);
    setStep(Step::Form);
    m_scroll->verticalScrollBar()->setValue(isAgain ? scrolled : 0);
    if (!isAgain)
        focusNeeded();
    if (std::exchange(m_wantsRehearsal, false))
        m_rehearse->click();
    if (const auto wanted = std::exchange(m_wanted, std::nullopt))
        m_way->pick(*wanted);
}

// A MultiLock has lost its meaning when one of its members is somebody else's, and its client does not learn of it.
void ForceReleaseDialog::showHeldWith(const operate::ForceReleasePlan &plan)
{
    const auto *holder = plan.before.find(plan.holder);
    if (!m_heldWith || !holder || holder->role != inspect::Role::Holder)
        return;
    auto ofHolder = plan.before;
    ofHolder.contenders = {*holder};
    if (const auto others = m_heldWith(ofHolder); !others.empty())
        m_facts->addText(tr("Held by the same thread"),
                         tr("%1 (possibly one MultiLock; the holder keeps the locks that are not released)")
                             .arg(inspect::heldWithNames(others)));
}

void ForceReleaseDialog::showAlternatives()
{
    if (!m_plan || m_plan->alternatives.isEmpty())
        return;
    // There is something to wait for only where something ends by itself.
    const auto *holder = m_plan->before.find(m_plan->holder);
    const bool ends = holder && holder->expiresAt.has_value();
    m_alternatives->say(Banner::Look::Warning, tr("Less disruptive"),
                        Words::alternatives(*m_plan, m_clock()).join(u"\n"_s), ends ? tr("Wait for it") : QString());
}

void ForceReleaseDialog::tick()
{
    if (m_step != Step::Form || !m_plan)
        return;
    // Of a server that is not heard from it is not known who waits, or what ends.
    const auto *status = m_book.find(m_lock.connection);
    if (!status || status->state != ConnectionStatus::State::Connected)
        return;
    if (m_isOutdated && !m_isAsking) {
        read(true);
        return;
    }
    showAlternatives();
    if (m_plan->way == operate::ReleaseAction::Release)
        m_facts->setText(tr("Next owner"), Words::nextOwner(*m_plan, m_clock()));
}

void ForceReleaseDialog::prefer(operate::ReleaseAction way)
{
    if (m_plan)
        m_way->pick(way);
    else
        m_wanted = way;
}

void ForceReleaseDialog::rehearse()
{
    m_wantsRehearsal = !m_plan;
    if (m_plan)
        m_rehearse->click();
}

QString ForceReleaseDialog::nameOfHolder() const
{
    return Words::nameOf(m_plan ? m_plan->before : m_latest, m_holder);
}

void ForceReleaseDialog::showError(const Error &error)
{
    const bool refused = error.code == ErrorCode::Refused || error.code == ErrorCode::NoNode;
    const QString word = refused ? tr("Refused. Nothing was sent.")
                         : error.code == ErrorCode::UnknownOutcome
                             ? tr("Outcome unknown: the lock may or may not have been released.")
                             : tr("Failed.");
    const QString why = label(error.message.toUtf8(), 1000);
    m_result = word + u' ' + why;
    m_state->say(refused ? Banner::Look::Warning : Banner::Look::Critical, word, why);
    setStep(Step::Done);
    m_again->show();
}

void ForceReleaseDialog::send()
{
    if (!obstacle().isEmpty() || !m_plan)
        return;
    m_state->say(Banner::Look::Info, {},
                 m_plan->way == operate::ReleaseAction::Release
                     ? tr("Reading once more, recording the intent, then releasing…")
                     : tr("Reading once more, recording the intent, then sending it…"));
    setStep(Step::Sending);
    m_plan->isRiskAccepted = m_acceptRisk->isChecked();
    m_backend.ask(ForceRelease{*m_plan, reason()}, this, [this](const auto &outcome) {
        if (outcome)
            showOutcome(*outcome);
        else
            showError(outcome.error());
    });
}

// Hosts first: they are what somebody at three in the morning knows.
void ForceReleaseDialog::showOutcome(const operate::ForceReleaseOutcome &outcome)
{
    QString after = tr("Read again: %1.").arg(infoOf(m_plan->before.backend).words.nothing);
    if (outcome.after) {
        m_latest = *outcome.after;
        after = Words::holdersNow(m_latest) + u'\n'
                + tr("Read again: %1.").arg(inspect::answerSentence(m_latest, m_latest.observed).left(500));
    }
    const bool isDone = m_plan->way == operate::ReleaseAction::Release ? outcome.released : outcome.done;
    const QString word = Words::outcomeWord(*m_plan, outcome, nameOfHolder());
    const QString sentence = after + u'\n' + label(outcome.message.toUtf8(), 1000);
    m_result = word + u' ' + sentence;
    m_state->say(isDone ? Banner::Look::Ok : Banner::Look::Critical, word, sentence);
    setStep(Step::Done);
    m_again->setVisible(!outcome.released); // also to do more than the gentle way did
}

void ForceReleaseDialog::waitForIt()
{
    m_state->say(Banner::Look::Info, tr("Waiting."),
                 tr("Nothing was sent. This dialog reports when %1 no longer holds the lock.").arg(nameOfHolder()));
    setStep(Step::Waiting);
    m_again->setText(tr("Back to the form"));
    m_again->show();
}

void ForceReleaseDialog::onBatch(const Batch &batch)
{
    for (const auto &change : batch.locks) {
        if (!(change.lock.lock == m_lock))
            continue;
        m_isGone = change.kind == inspect::ChangeKind::Removed;
        m_latest = change.lock;
        if (m_isGone)
            m_latest.contenders.clear();
        const auto *now = m_latest.find(m_holder);
        const bool holds = !m_plan || (now && now->role == m_plan->before.find(m_holder)->role);
        if (m_step == Step::Waiting && !holds)
            letGo();
        else if (m_step == Step::Form && (!holds || mayBeAnotherHold(*m_plan, m_latest)))
            stopAtChange();
        else if (m_step == Step::Changed)
            showHolderChanged(); // who holds it now may not in a moment
        else if (m_step == Step::Form)
            m_isOutdated = true;
        else if (m_step == Step::Choose) {
            fillPicker();
            updateChoiceLabel();
        }
    }
}

void ForceReleaseDialog::letGo()
{
    const auto what = Words::notHeldNow(m_isGone);
    m_result = tr("%1; nothing was sent.").arg(what);
    const auto now = inspect::answerSentence(m_latest, m_latest.observed).left(500) + u". "_s;
    m_state->say(Banner::Look::Ok, what + u'.', (m_isGone ? QString() : now) + tr("Nothing was sent."));
    setStep(Step::Done);
}

void ForceReleaseDialog::stopAtChange()
{
    showHolderChanged();
    setStep(Step::Changed);
    m_scroll->verticalScrollBar()->setValue(0);
}

// Never on to the next one by itself: whoever was about to release from one host did not mean another.
void ForceReleaseDialog::showHolderChanged()
{
    const QString before =
        holderIn(m_latest, m_holder)
            ? Words::tookItAgain(nameOfHolder(), *m_plan, m_latest)
            : (m_isGone ? tr("%1 held it when it was last listed") : tr("%1 no longer holds it")).arg(nameOfHolder());
    m_state->say(Banner::Look::Warning, m_isGone ? Words::notHeldNow(true) + u'.' : Words::holdersNow(m_latest),
                 tr("%1. Nothing was sent.").arg(before), holdersOf(m_latest).empty() ? QString() : tr("Refresh"));
    m_result = tr("%1; nothing was sent.").arg(before);
}

void ForceReleaseDialog::showStep()
{
    const bool form = m_step == Step::Form || m_step == Step::Sending;
    m_alternatives->setVisible(m_step == Step::Form && m_plan && !m_plan->alternatives.isEmpty());
    const bool isRelease = m_way->isRelease();
    m_waiter->setVisible(form && isRelease && m_plan && m_chosen != m_holder && m_plan->before.find(m_chosen));
    for (int i = 0; i < m_warnings->count(); ++i)
        m_warnings->itemAt(i)->widget()->setVisible(form);
    for (QWidget *part : std::initializer_list<QWidget *>{m_facts, m_inputs, m_copy, m_act})
        part->setVisible(form);
    m_danger->setVisible(form && isRelease && m_plan && !m_plan->staleHolder.isEmpty());
    m_rehearse->setVisible(form && isRelease);
    m_way->setVisible(form && m_way->hasChoice());
    m_way->setEnabled(m_step == Step::Form);
    m_inputs->setEnabled(m_step == Step::Form);
    m_state->setVisible(m_step != Step::Form);
    m_copyNote->setVisible(m_step == Step::Done || m_step == Step::Changed);
    m_again->hide();
    if (m_step != Step::Waiting)
        m_again->setText(tr("Refresh"));
    fillPicker();
}

QString ForceReleaseDialog::obstacle() const
{
    if (m_step != Step::Form)
        return m_step == Step::Sending ? tr("sending…") : tr("no plan");
    if (const QString why = connectionObstacle(tr("%1 is read-only.")); !why.isEmpty())
        return why;
    if (m_plan && !m_plan->risk.isEmpty() && !m_acceptRisk->isChecked())
        return tr("This holder cannot be distinguished from the next one. Select the checkbox to accept the risk.");
    if (friction().typesName && m_typed->text() != escaped(m_lock.name))
        return tr("Type the lock’s name to release it.");
    if (friction().wantsReason && reason().isEmpty())
        return tr("Enter a reason. It is recorded.");
    return {};
}

void ForceReleaseDialog::updateReady()
{
    ActingDialog::updateReady();
    m_why->setVisible(!m_why->text().isEmpty());
    const bool arm = offerArming();
    m_typed->setVisible(friction().typesName);
    m_typedTitle->setVisible(friction().typesName);
    m_act->setToolTip(friction().oneKey ? tr("Shortcut: Ctrl+Enter (sandbox and development connections only)")
                                        : QString());
    if (std::exchange(m_armOffered, arm) != arm)
        fit();
}

QString ForceReleaseDialog::asCommand() const
{
    return Words::command(m_book.find(m_lock.connection), m_lock, m_way->isRelease() ? m_holder : m_way->contender(),
                          m_plan && !m_plan->risk.isEmpty(), m_reason->text(), m_way->way());
}

QString ForceReleaseDialog::note() const
{
    return Words::note(m_lock, m_tag->text(), m_plan ? &*m_plan : nullptr, reason(), m_result);
}

constexpr int formWidth = 860;

void ForceReleaseDialog::build()
{
    setWindowTitle(tr("Force-release"));
    setObjectName(u"forceReleaseDialog"_s);
    makeColumn(this, {.margins = {24, 16, 24, 16}, .spacing = 10},
               {makeHead(),
                m_way = new WayPicker(this),
                {makeScrolled(makeContent(), formWidth), 1},
                makeQuestions(),
                makeHairline(this),
                makeButtons()});
    connect(m_way, &WayPicker::picked, this, [this] { read(); });
    auto *every = new QTimer(this);
    connect(every, &QTimer::timeout, this, &ForceReleaseDialog::tick);
    every->start(1000);
}

QWidget *ForceReleaseDialog::makeHead()
{
    auto *head = new QWidget(this);
    makeTag(head);
    auto *name = new CodeLabel(label(m_lock.name, 200), head); // wraps anywhere: no name can widen the form
    m_pick = named(new QComboBox(head), u"pickHolder"_s);
    m_pick->setFont(monoFont());
    m_pick->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_pick->setMinimumContentsLength(20);
    m_pickLabel = makeLabel(tr("Which holder"), u"muted"_s, head);
    auto *grid = makeGrid(head, {.across = 12, .down = 6});
    grid->addWidget(makeLabel(tr("Force-release"), u"heading"_s, head), 0, 0);
    grid->addWidget(name, 0, 1);
    grid->addWidget(m_tag, 0, 2, Qt::AlignVCenter);
    grid->addWidget(m_pickLabel, 1, 0);
    grid->addWidget(m_pick, 1, 1, 1, 2);
    connect(m_pick, &QComboBox::activated, this, &ForceReleaseDialog::pickHolder);
    return head;
}

QWidget *ForceReleaseDialog::makeContent()
{
    auto *content = new QWidget(this);
    m_waiter = named(new Banner(content), u"waiterBanner"_s);
    m_alternatives = named(new Banner(content), u"alternativesBanner"_s);
    m_state = named(new Banner(content), u"stateBanner"_s);
    m_facts = new FactsForm(content);
    m_danger = new Banner(content);
    m_warnings = makeColumn({.spacing = 6}, {});
    connect(m_alternatives, &Banner::actionRequested, this, &ForceReleaseDialog::waitForIt);
    connect(m_state, &Banner::actionRequested, this, &ForceReleaseDialog::lookAgain);
    makeColumn(content, {.spacing = 10},
               {m_state, m_waiter, m_alternatives, m_facts, m_danger, m_warnings, Stretch{}});
    m_waiter->hide();
    return content;
}

QWidget *ForceReleaseDialog::makeQuestions()
{
    makeInputs(u"typeName"_s, tr("&Type the lock’s name"));
    m_typed->setPlaceholderText(label(m_lock.name, 120));
    m_acceptRisk = makeTick(u"acceptRisk"_s, tr("Release anyway. I accept the risk described above"));
    return m_inputs;
}

QWidget *ForceReleaseDialog::makeButtons()
{
    auto *buttons = new QWidget(this);
    m_rehearse = new RehearseButton(m_backend, *m_facts, buttons, [this] { fit(); });
    m_copy = new QPushButton(tr("Copy as command"), buttons);
    m_copyNote = named(new QPushButton(tr("Copy note"), buttons), u"copyNote"_s);
    m_again = named(makeButton(tr("Refresh"), buttons, this, &ForceReleaseDialog::lookAgain), u"lookAgain"_s);
    for (auto *button : {m_copy, m_copyNote, m_again})
        button->setAutoDefault(false);
    makeCancel(buttons);
    makeAct({}, u"releaseButton"_s, buttons);
    makeObstacle(buttons)->setWordWrap(true);
    m_why->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto *row = makeRow({.spacing = 10}, {m_rehearse, m_copy, m_copyNote, m_again, Stretch{1}, m_cancel, m_act});
    makeColumn(buttons, {.spacing = 8}, {m_why, row});
    const auto copies = [this](QPushButton *button, auto text) {
        connect(button, &QPushButton::clicked, this, [button, text, says = button->text()] {
            copyToClipboard(text());
            button->setText(tr("Copied"));
            QTimer::singleShot(1500, button, [button, says] { button->setText(says); });
        });
    };
    copies(m_copy, [this] { return asCommand(); });
    copies(m_copyNote, [this] { return note(); });
    addOneKey();
    return buttons;
}

} // namespace lockscope::ui

#include "moc_forcereleasedialog.cpp"
