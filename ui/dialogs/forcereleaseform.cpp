// SPDX-License-Identifier: Apache-2.0
// How the form of a force-release is built, and how it finds room on the screen.
#include "ui/dialogs/actingform.h"
#include "ui/dialogs/factsform.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/dialogs/forcereleasetext.h"
#include "ui/parts/environment.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include "core/base/text.h"
#include "ui/dialogs/releaseparts.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QTimer>
#include <QVBoxLayout>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int formWidth = 860;

} // namespace

void ForceReleaseDialog::build()
{
    setWindowTitle(tr("Force-release"));
    setObjectName(u"forceReleaseDialog"_s);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(24, 16, 24, 16);
    column->setSpacing(10);
    column->addWidget(makeHead());
    column->addWidget(m_way = new WayPicker(this));
    connect(m_way, &WayPicker::picked, this, [this] { read(); });
    column->addWidget(m_scroll = new QScrollArea(this), 1);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setMinimumHeight(60);
    m_scroll->setWidget(m_content = makeContent());
    column->addWidget(m_inputs = makeInputs());
    column->addWidget(makeHairline(this));
    column->addWidget(makeButtons());
    auto *every = new QTimer(this);
    connect(every, &QTimer::timeout, this, &ForceReleaseDialog::tick);
    every->start(1000);
}

QWidget *ForceReleaseDialog::makeHead()
{
    auto *head = new QWidget(this);
    m_tag = makeLabel({}, {}, head);
    m_tag->setObjectName(u"environment"_s);
    auto *name = new CodeLabel(label(m_lock.name, 200), head); // wraps anywhere: no name can widen the form
    m_pick = new QComboBox(head);
    m_pick->setObjectName(u"pickHolder"_s);
    m_pick->setFont(monoFont());
    m_pick->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_pick->setMinimumContentsLength(20);
    m_pickLabel = makeLabel(tr("Which holder"), u"muted"_s, head);
    auto *grid = new QGridLayout(head);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(6);
    grid->addWidget(makeLabel(tr("Force-release"), u"heading"_s, head), 0, 0);
    grid->addWidget(name, 0, 1);
    grid->addWidget(m_tag, 0, 2, Qt::AlignVCenter);
    grid->addWidget(m_pickLabel, 1, 0);
    grid->addWidget(m_pick, 1, 1, 1, 2);
    grid->setColumnStretch(1, 1);
    connect(m_pick, &QComboBox::activated, this, &ForceReleaseDialog::pickHolder);
    return head;
}

QWidget *ForceReleaseDialog::makeContent()
{
    auto *content = new QWidget(this);
    m_waiter = new Banner(content);
    m_waiter->setObjectName(u"waiterBanner"_s);
    m_alternatives = new Banner(content);
    m_alternatives->setObjectName(u"alternativesBanner"_s);
    m_state = new Banner(content);
    m_state->setObjectName(u"stateBanner"_s);
    m_facts = new FactsForm(content);
    m_danger = new Banner(content);
    m_warnings = new QVBoxLayout;
    m_warnings->setSpacing(6);
    connect(m_alternatives, &Banner::actionRequested, this, &ForceReleaseDialog::waitForIt);
    connect(m_state, &Banner::actionRequested, this, &ForceReleaseDialog::lookAgain);
    auto *column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(10);
    for (QWidget *part : std::initializer_list<QWidget *>{m_state, m_waiter, m_alternatives, m_facts, m_danger})
        column->addWidget(part);
    column->addLayout(m_warnings);
    column->addStretch();
    m_waiter->hide();
    return content;
}

QWidget *ForceReleaseDialog::makeInputs()
{
    const ActingWords words{tr("&Reason (recorded)"), tr("ticket, what happened"), tr("&Type the lock’s name")};
    const auto inputs = makeActingInputs(this, u"typeName"_s, words);
    m_reason = inputs.reason;
    m_type = inputs.typed;
    m_type->setPlaceholderText(label(m_lock.name, 120));
    m_typeLabel = inputs.typedLabel;
    m_acceptRisk = new QCheckBox(tr("Release it all the same, with the risk named above"), inputs.widget);
    m_acceptRisk->setObjectName(u"acceptRisk"_s);
    inputs.grid->addWidget(m_acceptRisk, 2, 1);
    connect(m_acceptRisk, &QCheckBox::toggled, this, &ForceReleaseDialog::updateReady);
    connect(m_type, &QLineEdit::textChanged, this, &ForceReleaseDialog::updateReady);
    connect(m_reason, &QLineEdit::textChanged, this, &ForceReleaseDialog::updateReady);
    return inputs.widget;
}

QWidget *ForceReleaseDialog::makeButtons()
{
    auto *buttons = new QWidget(this);
    // As they stand, for Tab follows the order in which they are made.
    m_arm = new QPushButton(buttons);
    m_arm->setObjectName(u"armButton"_s);
    m_arm->setProperty("look", u"danger"_s);
    m_rehearse = new RehearseButton(m_backend, *m_facts, buttons, [this] { fit(); });
    m_copy = new QPushButton(tr("Copy as command"), buttons);
    m_copyNote = new QPushButton(tr("Copy note"), buttons);
    m_copyNote->setObjectName(u"copyNote"_s);
    m_again = new QPushButton(tr("Look again"), buttons);
    m_again->setObjectName(u"lookAgain"_s);
    m_cancel = new QPushButton(tr("Cancel"), buttons);
    m_cancel->setObjectName(u"cancelButton"_s);
    m_release = new QPushButton(buttons);
    m_release->setObjectName(u"releaseButton"_s);
    m_release->setProperty("look", u"dangerFilled"_s);
    m_why = makeLabel({}, u"small"_s, buttons);
    m_why->setObjectName(u"obstacle"_s);
    m_why->setWordWrap(true);
    m_why->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    for (auto *button : {m_copy, m_copyNote, m_again, m_cancel, m_release, m_arm})
        button->setAutoDefault(false); // Enter in a text field shall not release anything
    auto *row = new QHBoxLayout;
    row->setSpacing(10);
    row->addWidget(m_rehearse);
    for (auto *button : {m_copy, m_copyNote, m_again})
        row->addWidget(button);
    row->addStretch(1);
    row->addWidget(m_cancel);
    row->addWidget(m_release);
    auto *obstacles = new QHBoxLayout;
    obstacles->setSpacing(10);
    obstacles->addWidget(m_why, 1);
    obstacles->addWidget(m_arm);
    auto *column = new QVBoxLayout(buttons);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addLayout(obstacles);
    column->addLayout(row);
    const auto copies = [this](QPushButton *button, auto text) {
        connect(button, &QPushButton::clicked, this, [button, text, says = button->text()] {
            QApplication::clipboard()->setText(text());
            button->setText(tr("Copied"));
            QTimer::singleShot(1500, button, [button, says] { button->setText(says); });
        });
    };
    copies(m_copy, [this] { return asCommand(); });
    copies(m_copyNote, [this] { return note(); });
    connect(m_again, &QPushButton::clicked, this, &ForceReleaseDialog::lookAgain);
    connect(m_cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_release, &QPushButton::clicked, this, &ForceReleaseDialog::send);
    // One key where nothing of anybody else's can break; never Enter alone.
    for (const auto &keys : {QKeySequence(Qt::CTRL | Qt::Key_Return), QKeySequence(Qt::CTRL | Qt::Key_Enter)}) {
        auto *oneKey = new QShortcut(keys, this);
        connect(oneKey, &QShortcut::activated, this, [this] {
            if (frictionOf(m_book, m_lock.connection).oneKey)
                send();
        });
    }
    connect(m_arm, &QPushButton::clicked, this, [this] { emit armRequested(m_lock.connection); });
    return buttons;
}

void ForceReleaseDialog::setAvailable(const QRect &available)
{
    m_available = available;
    fit();
}

void ForceReleaseDialog::fit()
{
    const auto fitNow = [this] { fitToScreen(this, m_scroll, m_available, formWidth); };
    fitNow();
    QTimer::singleShot(0, this, fitNow); // what is new in a form is shown, and measured, a turn later
}

void ForceReleaseDialog::showEvent(QShowEvent *event)
{
    QDialog::showEvent(event); // which moves it over its parent
    fit();
}

} // namespace lockscope::ui
