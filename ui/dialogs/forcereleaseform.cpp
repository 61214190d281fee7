// SPDX-License-Identifier: Apache-2.0
// How the form of a force-release is built, and how it finds room on the screen.
#include "ui/dialogs/factsform.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/dialogs/forcereleasetext.h"
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
#include <QTimer>

namespace lockscope::ui {

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
            QApplication::clipboard()->setText(text());
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
