// SPDX-License-Identifier: Apache-2.0
// The parts of the simulator's page: header, progress, pictures, menus, keys.
#include "ui/pages/simulatorpage.h"

#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/simulator/flowlayout.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/legend.h"
#include "ui/simulator/mustholdpanel.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/scalingchart.h"
#include "ui/simulator/simulatorheading.h"
#include "ui/simulator/transportbar.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

QWidget *SimulatorPage::buildHeader()
{
    auto *header = new QWidget(this);
    m_headerLayout = new QHBoxLayout(header);
    m_headerLayout->setContentsMargins(0, 0, 0, 0);
    m_headerLayout->setSpacing(8);
    auto *left = new QWidget(header);
    auto *flow = new FlowLayout(8, left);
    m_heading = makeLabel({}, u"heading"_s, left);
    flow->addWidget(m_heading);
    m_chipRow = left;
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    left->setSizePolicy(policy);
    m_headerLayout->addWidget(left, 1);

    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    const auto button = [&](const QString &text, const char *name, const QString &tip) {
        auto *made = new QPushButton(text, header);
        made->setObjectName(QString::fromLatin1(name));
        made->setToolTip(tip);
        buttons->addWidget(made);
        return made;
    };
    auto *compare = button(tr("Compare ▾"), "compareButton", tr("Recipes worth seeing beside each other"));
    auto *menu = new QMenu(compare);
    for (const auto &preset : presets())
        connect(menu->addAction(preset.title), &QAction::triggered, this,
                [this, comparison = preset.comparison] { play(comparison); });
    compare->setMenu(menu);
    connect(button(tr("Scenario…"), "scenarioButton", tr("What is played")), &QPushButton::clicked, this,
            &SimulatorPage::openScenario);
    m_fork = button(tr("Fork here"), "forkButton", tr("Play it again, with something going wrong at the cursor (F)"));
    connect(m_fork, &QPushButton::clicked, this, &SimulatorPage::openForkMenu);
    m_export = button(tr("Export ▾"), "exportButton", tr("Pictures, events, results, the recording"));
    buttons->addStretch();
    m_fork->setEnabled(false);
    m_headerLayout->addLayout(buttons);
    m_headerLayout->setAlignment(buttons, Qt::AlignTop);
    return header;
}

QWidget *SimulatorPage::buildProgress()
{
    m_progress = new QFrame(this);
    m_progress->setProperty("look", u"banner-info"_s);
    auto *row = new QHBoxLayout(m_progress);
    row->setContentsMargins(10, 5, 10, 5);
    m_progressText = makeLabel({}, {}, m_progress);
    m_progressText->setMinimumWidth(240);
    m_bar = new QProgressBar(m_progress);
    m_bar->setTextVisible(false);
    m_bar->setAccessibleName(tr("Progress"));
    auto *cancel = new QPushButton(tr("Cancel"), m_progress);
    cancel->setObjectName(u"cancelRun"_s);
    connect(cancel, &QPushButton::clicked, this, &SimulatorPage::cancelRun);
    row->addWidget(m_progressText);
    row->addWidget(m_bar, 1);
    row->addWidget(cancel);
    m_progress->hide();
    return m_progress;
}

QWidget *SimulatorPage::buildPictures()
{
    auto *pictures = new QWidget(this);
    auto *column = new QVBoxLayout(pictures);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    auto *inside = new QWidget;
    auto *stack = new QVBoxLayout(inside);
    stack->setContentsMargins(0, 0, 0, 0);
    stack->setSpacing(8);
    m_runGrid = new QGridLayout;
    m_runGrid->setSpacing(12);
    stack->addLayout(m_runGrid, 5);
    auto *under = new QHBoxLayout;
    under->addWidget(new Legend(inside), 1);
    m_overview = new QPushButton(tr("Overview"), inside);
    m_overview->setObjectName(u"overviewButton"_s);
    m_overview->setProperty("look", u"chip"_s);
    m_overview->setToolTip(tr("All of the time, and as many contenders as fit, in thin lanes"));
    m_overview->setCheckable(true);
    m_overview->setFocusPolicy(Qt::TabFocus);
    connect(m_overview, &QPushButton::toggled, this, &SimulatorPage::setOverview);
    under->addWidget(m_overview);
    stack->addLayout(under);
    m_lowerGrid = new QGridLayout;
    m_lowerGrid->setSpacing(12);
    m_chart = new ScalingChart(inside);
    m_mustHold = new MustHoldPanel(inside);
    connect(m_mustHold, &MustHoldPanel::violationChosen, this, &SimulatorPage::jumpTo);
    connect(m_mustHold, &MustHoldPanel::promisesRequested, this, &SimulatorPage::openPromises);
    stack->addLayout(m_lowerGrid, 2);
    m_scroll = new QScrollArea(pictures);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setWidget(inside);
    m_scroll->viewport()->setAutoFillBackground(false);
    inside->setAutoFillBackground(false);
    column->addWidget(m_scroll, 1);
    m_transport = new TransportBar(m_playback, pictures);
    column->addWidget(m_transport);
    m_sentence = makeLabel({}, u"muted"_s, pictures);
    m_sentence->setObjectName(u"sentence"_s);
    m_sentence->setWordWrap(true);
    m_sentence->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_sentence->setFixedHeight(2 * m_sentence->fontMetrics().lineSpacing() + 2); // does not move what stands above it
    m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_sentence);
    return pictures;
}

void SimulatorPage::buildMenus()
{
    auto *menu = new QMenu(m_export);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillExportMenu(*menu); });
    m_export->setMenu(menu);
}

void SimulatorPage::addKeys()
{
    const auto on = [this](const QKeySequence &keys, auto slot) {
        auto *shortcut = new QShortcut(keys, this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, slot);
    };
    on(Qt::Key_Period, [this] { m_playback.toggle(); });
    on(Qt::Key_Left, [this] { m_playback.stepBack(); });
    on(Qt::Key_Right, [this] { m_playback.stepForward(); });
    on(Qt::Key_Home, [this] { m_playback.toStart(); });
    on(Qt::Key_End, [this] { m_playback.toEnd(); });
    on(Qt::Key_F, [this] { openForkMenu(); });
    on(Qt::Key_H, [this] { openPromises(); });
    for (const auto key : {Qt::Key_Plus, Qt::Key_Equal})
        on(key, [this] { m_playback.setSpeed(m_playback.speed() + 1); });
    on(Qt::Key_Minus, [this] { m_playback.setSpeed(m_playback.speed() - 1); });
}

void SimulatorPage::keyPressEvent(QKeyEvent *event)
{
    // Not a shortcut: a button with the focus wants it for itself.
    if (event->key() == Qt::Key_Space && event->modifiers() == Qt::NoModifier && !m_playback.runs().empty()) {
        m_playback.toggle();
        return;
    }
    Page::keyPressEvent(event);
}

void SimulatorPage::showHeading()
{
    m_heading->setText(headingOf(m_shown));
    auto *flow = m_chipRow->layout();
    while (flow->count() > 1) {
        auto *item = flow->takeAt(1);
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (const auto &chip : chipsOf(m_shown, m_playback.runs())) {
        if (chip.isPlace) {
            auto *button = new QPushButton(chip.text + u" ▾"_s, m_chipRow);
            button->setProperty("look", u"chip"_s);
            button->setProperty("tone", chip.isReal ? u"real"_s : QString());
            button->setObjectName(u"placeChip"_s);
            button->setToolTip(tr("Where it ran. Play the same somewhere else"));
            button->setMenu(m_placeMenu);
            flow->addWidget(button);
        } else if (!chip.copies.isEmpty()) {
            auto *button = new QPushButton(chip.text, m_chipRow);
            button->setProperty("look", u"chip"_s);
            button->setObjectName(u"seedChip"_s);
            button->setToolTip(tr("Copy the seed"));
            connect(button, &QPushButton::clicked, this,
                    [text = chip.copies] { QGuiApplication::clipboard()->setText(text); });
            flow->addWidget(button);
        } else {
            auto *label = makeLabel(chip.text, u"chip"_s, m_chipRow);
            label->setProperty("tone", chip.isWarning ? u"warning"_s : QString());
            flow->addWidget(label);
        }
    }
    for (auto *child : m_chipRow->findChildren<QWidget *>(Qt::FindDirectChildrenOnly))
        child->show();
}

QString SimulatorPage::heading() const
{
    return m_heading->text();
}

QStringList SimulatorPage::chips() const
{
    QStringList texts;
    for (const auto &chip : chipsOf(m_shown, m_playback.runs()))
        texts << chip.text;
    return texts;
}

QString SimulatorPage::sentence() const
{
    return m_sentence->text();
}

QString SimulatorPage::complaint() const
{
    return m_banner->isHidden() ? QString() : m_banner->sentence();
}

} // namespace lockscope::ui
