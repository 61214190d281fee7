// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/tokens.h"

#include <array>
#include <utility>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

// "@name" stands for a token.
constexpr auto controls = R"(
QToolTip { color: @text; background: @panel; border: 1px solid @line; padding: 4px 6px; }
QPushButton, QToolButton { border: 1px solid @line; background: @panel; color: @text; border-radius: 6px;
    padding: 4px 11px; font-weight: 500; }
QPushButton:hover, QToolButton:hover { background: @selection; }
QPushButton:focus, QToolButton:focus { border-color: @accent; outline: none; }
QPushButton:disabled, QToolButton:disabled { color: @muted; background: @background; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QFileDialog QToolButton { padding: 2px; }
QPushButton[look="primary"] { background: @accent; color: @onAccent; border-color: @accent; }
QPushButton[look="primary"]:focus { border: 2px solid @text; padding: 3px 10px; }
QPushButton[look="primary"]:disabled { background: @freeSoft; color: @muted; border-color: @line; }
QPushButton[look="danger"] { color: @critical; border-color: @critical; }
QPushButton[look="danger"]:hover, QPushButton[look="danger"]:focus { background: @criticalSoft; }
QPushButton[look="danger"]:disabled { color: @muted; border-color: @line; background: @background; }
QPushButton[look="dangerFilled"] { background: @critical; color: @onCritical; border-color: @critical; }
QPushButton[look="dangerFilled"]:focus { border: 2px solid @text; padding: 3px 10px; }
QPushButton[look="dangerFilled"]:disabled { background: @criticalSoft; color: @muted; border-color: @criticalSoft; }
QPushButton[look="flat"] { border-color: transparent; background: transparent; color: @accent; text-align: left; }
QPushButton[look="flat"][tone="critical"] { color: @critical; font-weight: 600; }
QPushButton[look="flat"]:hover { background: @selection; }
QPushButton[look="flat"]:focus { border-color: @accent; }
QPushButton[look="flat"]:disabled, QPushButton[look="link"]:disabled { color: @muted; }
QPushButton[look="link"] { border: 1px solid transparent; border-radius: 3px; padding: 3px 1px; background: transparent;
    color: @accent; text-align: left; }
QPushButton[look="link"]:hover { background: @selection; }
QPushButton[look="link"]:focus { border-color: @accent; }
QPushButton[look="chip"] { border-radius: 11px; padding: 3px 11px; color: @muted; font-weight: 400; background: transparent; }
QPushButton[look="chip"][tone="real"] { color: @hold; border-color: @hold; font-weight: 600; }
QPushButton[look="chip"]:hover { color: @text; background: @selection; }
QPushButton[look="chip"]:checked { background: @selection; color: @text; border-color: @accent; }
QPushButton[look="chip"]:focus { border-color: @accent; color: @text; }
QPushButton[look="chip"][tone="critical"] { color: @critical; }
QPushButton[look="chip"][tone="warning"] { color: @warning; }
QPushButton[look="violation"] { font-size: 12px; font-weight: 600; border-radius: 4px; padding: 1px 7px;
    background: @criticalSoft; color: @critical; border-color: @criticalSoft; }
QPushButton[look="violation"][tone="ahead"] { background: @okSoft; color: @ok; border-color: @okSoft; }
QPushButton[look="violation"]:hover, QPushButton[look="violation"]:focus { border-color: @critical; }
QPushButton[look="choice"] { background: @panel; border: 1px solid @line; border-radius: 8px; }
QPushButton[look="choice"]:hover { background: @selection; }
QPushButton[look="choice"]:focus { border-color: @accent; }
QPushButton[look="choice"]:disabled { background: @panel; }
QPushButton[look="choice"][tone="ok"] { background: @okSoft; border-color: @ok; }
QPushButton[look="choice"][tone="critical"] { background: @criticalSoft; border-color: @critical; }
QPushButton:checked { background: @selection; border-color: @accent; }
QPushButton::menu-indicator { image: none; width: 0; }
QPushButton[look="tag-readonly"], QPushButton[look="tag-armed"] { font-size: 11px; font-weight: 600; border-radius: 4px;
    padding: 2px 6px; background: @freeSoft; color: @muted; border: 1px solid @freeSoft; }
QPushButton[look="tag-armed"] { background: @criticalSoft; color: @critical; border-color: @critical; }
QPushButton[look="tag-readonly"]:focus, QPushButton[look="tag-armed"]:focus { border-color: @accent; }
QLineEdit, QPlainTextEdit, QComboBox, QSpinBox, QAbstractSpinBox { border: 1px solid @line; border-radius: 6px; padding: 4px 9px;
    background: @panel; color: @text; selection-background-color: @accent; selection-color: @onAccent; }
QLineEdit:focus, QPlainTextEdit:focus, QComboBox:focus, QAbstractSpinBox:focus { border-color: @accent; }
QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled { color: @muted; background: @background; }
QLineEdit[look="find"] { background: @background; }
QComboBox::drop-down { border: none; width: 24px; }
QComboBox::down-arrow { image: url(:/lockscope/theme/icons/down-@shade.svg); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: @panel; color: @text; border: 1px solid @line; selection-background-color: @selection;
    selection-color: @text; outline: none; }
QSlider::groove:horizontal { height: 6px; border-radius: 3px; background: @line; }
QSlider::sub-page:horizontal { height: 6px; border-radius: 3px; background: @accent; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -4px 0; border-radius: 7px; background: @panel;
    border: 2px solid @accent; }
QSlider:focus { border: none; }
QSlider::handle:horizontal:focus { background: @accent; }
QSlider::sub-page:horizontal:disabled { background: @line; }
QSlider::handle:horizontal:disabled { border-color: @line; }
QCheckBox, QRadioButton { spacing: 7px; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid @muted; border-radius: 3px; background: @panel; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url(:/lockscope/theme/icons/check-@shade.svg); }
QCheckBox::indicator:disabled { border-color: @line; }
QRadioButton::indicator { width: 12px; height: 12px; border: 1px solid @muted; border-radius: 7px; background: @panel; }
QRadioButton::indicator:checked { background: @accent; border-color: @accent; }
QRadioButton::indicator:disabled { border-color: @line; }
QRadioButton:disabled { color: @muted; }
QCheckBox:focus, QRadioButton:focus { color: @accent; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: none; width: 18px; background: transparent; }
QAbstractSpinBox::up-arrow { image: url(:/lockscope/theme/icons/up-@shade.svg); width: 9px; height: 9px; }
QAbstractSpinBox::down-arrow { image: url(:/lockscope/theme/icons/down-@shade.svg); width: 9px; height: 9px; }
)";

constexpr auto views = R"(
QAbstractItemView { background: @panel; color: @text; border: none; outline: none; alternate-background-color: @panel;
    selection-background-color: @selection; selection-color: @text; gridline-color: @line; }
QTableView::item, QTreeView::item { border-bottom: 1px solid @line; padding: 0 10px; }
QTableView::item:selected, QTreeView::item:selected { background: @selection; color: @text; }
QTreeView::item { border: none; padding: 2px 4px; }
QHeaderView { background: @panel; border: none; }
QHeaderView::section { background: @panel; color: @muted; border: none; border-bottom: 1px solid @line; padding: 5px 10px;
    font-size: 12px; font-weight: 500; }
QHeaderView::section:vertical { padding: 7px 10px 0 10px; }
QHeaderView::section:hover { color: @text; }
QHeaderView::up-arrow { image: url(:/lockscope/theme/icons/up-@shade.svg); }
QHeaderView::down-arrow { image: url(:/lockscope/theme/icons/down-@shade.svg); }
QHeaderView::up-arrow, QHeaderView::down-arrow { width: 9px; height: 9px; subcontrol-position: center right; right: 1px; }
QTableCornerButton::section { background: @panel; border: none; }
QSplitter::handle { background: @line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QTabWidget::pane { border: none; border-top: 1px solid @line; }
QTabBar { background: @panel; }
QTabBar::tab { background: transparent; color: @muted; padding: 6px 12px; border: none; border-bottom: 2px solid transparent;
    font-weight: 500; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabBar::tab:focus { color: @accent; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @line; border-radius: 4px; margin: 1px; min-height: 28px; min-width: 28px; }
QScrollBar::handle:hover { background: @muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { border: none; border-radius: 3px; background: @line; height: 6px; max-height: 6px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QMenu { background: @panel; color: @text; border: 1px solid @line; padding: 4px; }
QMenu::item { padding: 5px 22px 5px 10px; border-radius: 4px; }
QMenu::item:selected { background: @selection; }
QMenu::item:disabled { color: @muted; }
QMenu::separator { height: 1px; background: @line; margin: 4px 6px; }
)";

constexpr auto frames = R"(
QLabel { background: transparent; }
QBalloonTip QLabel { color: #000000; }
QLabel[look="heading"] { font-size: 17px; font-weight: 600; }
QLabel[look="section"] { color: @muted; font-size: 11px; font-weight: 600; }
QLabel[look="muted"] { color: @muted; }
QLabel[look="small"] { color: @muted; font-size: 12px; }
QLabel[look="critical"] { color: @critical; }
QLabel[look="warning"] { color: @warning; }
QLabel[look="keyBar"] { background: @code; padding: 6px 16px; }
QLabel[look="code"] { background: @code; border-radius: 4px; padding: 1px 5px; }
QLabel[look="tag"], QLabel[look="tag-readonly"] { font-size: 11px; font-weight: 600; border-radius: 4px; padding: 1px 5px;
    background: @freeSoft; color: @muted; }
QLabel[look="tag-production"] { font-size: 11px; font-weight: 600; border-radius: 4px; padding: 1px 5px;
    background: @criticalSoft; color: @critical; }
QWidget[look="not-now"] { background: @warning; }
QFrame[look="panel"] { background: @panel; border: none; }
QFrame[look="topbar"] { background: @panel; border: none; border-bottom: 1px solid @line; }
QFrame[look="topbar-production"] { background: @criticalSoft; border: none; border-bottom: 2px solid @critical; }
QFrame[look="sidebar"] { background: @panel; border: none; border-right: 1px solid @line; }
QFrame[look="statusbar"] { background: @panel; border: none; border-top: 1px solid @line; }
QFrame[look="statusbar"] QLabel { color: @muted; font-size: 12px; }
QFrame[look="statusbar"] QLabel[tone="warning"] { color: @wait; }
QFrame[look="statusbar"] QLabel[tone="critical"] { color: @critical; }
QFrame[look="hairline"] { background: @line; border: none; max-height: 1px; min-height: 1px; }
QFrame[look="banner-critical"] { background: @criticalSoft; border-radius: 6px; }
QFrame[look="banner-critical"] QLabel { color: @critical; }
QFrame[look="banner-warning"] { background: @warningSoft; border-radius: 6px; }
QFrame[look="banner-warning"] QLabel { color: @warning; }
QFrame[look="banner-info"] { background: @freeSoft; border-radius: 6px; }
QFrame[look="banner-info"] QLabel { color: @muted; }
QFrame[look="banner-ok"] { background: @okSoft; border-radius: 6px; }
QFrame[look="banner-ok"] QLabel { color: @ok; }
QLabel[look="lessonTitle"] { font-size: 22px; font-weight: 600; }
QLabel[look="lesson"] { font-size: 19px; }
QLabel[look="lessonRun"] { font-size: 16px; font-weight: 600; }
QLabel[look="choice"], QLabel[look="verdict"] { font-size: 16px; }
QLabel[look="choiceNumber"] { font-size: 16px; font-weight: 600; color: @muted; min-width: 14px; }
QLabel[look="choiceNumber"][tone="ok"], QLabel[look="choice"][tone="ok"] { color: @ok; }
QLabel[look="choiceNumber"][tone="critical"], QLabel[look="choice"][tone="critical"] { color: @critical; }
QLabel[look="verdict"][tone="ok"] { color: @ok; }
QLabel[look="verdict"][tone="warning"] { color: @warning; }
QLabel[look="tick"] { font-size: 18px; font-weight: 600; }
QLabel[look="tick"][tone="ok"] { color: @ok; }
QLabel[look="tick"][tone="critical"] { color: @critical; }
QFrame[look="tile"] { background: @panel; border: 1px solid @line; border-radius: 6px; }
QLabel[look="title"] { font-size: 14px; font-weight: 600; }
QLabel[look="figure"] { font-size: 21px; font-weight: 600; }
QLabel[look="figure"][tone="critical"] { color: @critical; }
QLabel[look="figure"][tone="ok"] { color: @ok; }
QLabel[look="badge"] { font-size: 12px; font-weight: 600; border-radius: 4px; padding: 2px 7px; }
QLabel[look="badge"][tone="hold"] { background: @holdSoft; color: @hold; }
QLabel[look="badge"][tone="warning"] { background: @warningSoft; color: @warning; }
QLabel[look="chip"] { border: 1px solid @line; border-radius: 11px; padding: 3px 11px; color: @muted; }
QLabel[look="chip"][tone="warning"] { color: @warning; border-color: @warning; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; }
QFrame[look="card"] { background: @panel; border: 1px solid @line; border-radius: 10px; }
QLabel[weight="bold"] { font-weight: 600; }
QDialog { background: @panel; }
QMainWindow { background: @background; }
)";

} // namespace

QString styleSheetOf(const Tokens &t)
{
    QString sheet = QString::fromLatin1(controls) + QString::fromLatin1(views) + QString::fromLatin1(frames);
    // Longer names first: "@line" must not eat the start of another name.
    const std::array<std::pair<QLatin1String, QColor>, 22> names{{
        {"@background"_L1, t.background},
        {"@panel"_L1, t.panel},
        {"@line"_L1, t.line},
        {"@text"_L1, t.text},
        {"@muted"_L1, t.muted},
        {"@selection"_L1, t.selection},
        {"@accent"_L1, t.accent},
        {"@onAccent"_L1, t.onAccent},
        {"@holdSoft"_L1, t.holdSoft},
        {"@hold"_L1, t.hold},
        {"@waitSoft"_L1, t.waitSoft},
        {"@wait"_L1, t.wait},
        {"@criticalSoft"_L1, t.criticalSoft},
        {"@critical"_L1, t.critical},
        {"@onCritical"_L1, t.onCritical},
        {"@warningSoft"_L1, t.warningSoft},
        {"@warning"_L1, t.warning},
        {"@freeSoft"_L1, t.freeSoft},
        {"@free"_L1, t.free},
        {"@okSoft"_L1, t.okSoft},
        {"@ok"_L1, t.ok},
        {"@code"_L1, t.code},
    }};
    sheet.replace("@shade"_L1, t.dark ? "dark"_L1 : "light"_L1);
    for (const auto &[name, colour] : names)
        sheet.replace(name, colour.name());
    return sheet;
}

} // namespace lockscope::ui
