// SPDX-License-Identifier: Apache-2.0
// Small widgets that the rooms above are made of, and the language that the pages Simulator and Lessons are in.
#pragma once

#include "core/workspace/values.h"
#include "ui/theme/pill.h"

#include <QBoxLayout>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMargins>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QTimer>

#include <initializer_list>

namespace lockscope::ui {

// A filter is applied when its writer pauses.
inline constexpr std::chrono::milliseconds filterDelay{150};

// A label that never reads its text as HTML. `look` is one of the style sheet's.
[[nodiscard]] QLabel *makeLabel(const QString &text, const QString &look, QWidget *parent);
// The same, on as many lines as it needs.
[[nodiscard]] QLabel *makeWrapped(const QString &text, const QString &look, QWidget *parent);
// The same, with text that can be selected by mouse and keyboard.
[[nodiscard]] QLabel *makeSelectable(const QString &text, QWidget *parent, bool isMono = true);
[[nodiscard]] QFrame *makeHairline(QWidget *parent);
// The strip above a page's rows; its layout is a QHBoxLayout.
[[nodiscard]] QFrame *makeToolStrip(QWidget *parent);
[[nodiscard]] QHBoxLayout *stripLayout(QFrame *strip);
// A toggle of such a strip.
[[nodiscard]] QPushButton *makeChip(const QString &text, QWidget *parent);
// What narrows a page's rows.
[[nodiscard]] QLineEdit *makeFilterField(const QString &hint, const QString &accessibleName, QWidget *parent);
void copyToClipboard(const QString &text);

// The name of a group of a menu's actions, which QMenu::addSection() does not show in every style.
void addMenuHeading(QMenu &menu, const QString &text);

// A dialog, a box or a menu that is gone once it is closed.
template <typename Widget>
Widget *passing(Widget *widget)
{
    widget->setAttribute(Qt::WA_DeleteOnClose);
    return widget;
}
[[nodiscard]] QMenu *makePassingMenu(const QString &name, QWidget *parent);
// The timer calls `slot` once, so long after it was last started.
template <typename Receiver, typename Slot>
void callAfter(QTimer &timer, std::chrono::milliseconds wait, Receiver *receiver, Slot slot)
{
    timer.setSingleShot(true);
    timer.setInterval(wait);
    QObject::connect(&timer, &QTimer::timeout, receiver, std::move(slot));
}
// A property that the style sheet looks at: the widget is drawn by it at once.
void setStyleProperty(QWidget *widget, const char *property, const QString &value);
// Hides and deletes the widgets of a layout, those before `first` left out.
void clearLayout(QLayout &layout, int first = 0);

// As large as wanted, where the window it stands over leaves it room for its own frame and title as well.
void resizeWithinParent(QWidget &dialog, QSize wanted);

// Views still say things while they are taken down. Called in the destructor of whoever owns both the
// views and the model that they show.
void stopListening(QObject *owner);

// A pill as a widget, for headers.
class PillLabel : public QWidget {
    Q_OBJECT
public:
    explicit PillLabel(QWidget *parent = nullptr);
    void setPill(const Pill &pill);
    [[nodiscard]] const Pill &pill() const { return m_pill; }
    [[nodiscard]] QSize sizeHint() const override { return pillSize(m_pill).toSize() + QSize(0, 2); }
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

private:
    void paintEvent(QPaintEvent *event) override;

    Pill m_pill;
};

// Keys as a page names them, and what they do there: for the help over the window, and the line of a presentation.
using KeyHints = QList<std::pair<QString, QString>>; // "← →", "one event back, one on"

// Rows, columns and buttons in one expression each: what stands in them, and how, is read in one place.

// Room that takes what is left over, and room of a fixed size.
struct Stretch {
    int factor = 0;
};
struct Gap {
    int pixels = 0;
};

// One part of a row or a column: a widget, another layout, or room.
class BoxPart {
public:
    BoxPart(QWidget *widget, int stretch = 0, Qt::Alignment alignment = {})
        : m_widget(widget), m_stretch(stretch), m_alignment(alignment)
    {
    }
    BoxPart(QLayout *layout, int stretch = 0) : m_layout(layout), m_stretch(stretch) {}
    BoxPart(Stretch stretch) : m_stretch(stretch.factor) {}
    BoxPart(Gap gap) : m_gap(gap.pixels) {}

    void addTo(QBoxLayout &box) const;

private:
    QWidget *m_widget = nullptr;
    QLayout *m_layout = nullptr;
    int m_gap = -1; // room of a fixed size; negative: it is not room, or grows
    int m_stretch = 0;
    Qt::Alignment m_alignment;
};

struct BoxLook {
    QMargins margins{}; // none unless they are named
    int spacing = -1;   // negative: the style's
};

// The layout of `owner`.
QHBoxLayout *makeRow(QWidget *owner, const BoxLook &look, std::initializer_list<BoxPart> parts);
QVBoxLayout *makeColumn(QWidget *owner, const BoxLook &look, std::initializer_list<BoxPart> parts);
// A layout inside another one.
[[nodiscard]] QHBoxLayout *makeRow(const BoxLook &look, std::initializer_list<BoxPart> parts);
[[nodiscard]] QVBoxLayout *makeColumn(const BoxLook &look, std::initializer_list<BoxPart> parts);

// The grid of `owner`, or one inside another layout.
struct GridLook {
    QMargins margins{};
    int across = -1; // the spacing of columns, and of rows; negative: the style's
    int down = -1;
    int titles = 0;    // the least width of the first column
    int stretched = 1; // the column that takes what is left over
};
QGridLayout *makeGrid(QWidget *owner, const GridLook &look);

// For a box that is there already.
void addParts(QBoxLayout &box, std::initializer_list<BoxPart> parts);

// A frameless area in which `inside` scrolls up and down.
[[nodiscard]] QScrollArea *makeScroll(QWidget *inside, QWidget *parent);

// The widget, with the name under which tests and style sheets find it, and what a screen reader calls it.
template <typename Widget>
Widget *named(Widget *widget, const QString &name, const QString &accessibleName = {})
{
    widget->setObjectName(name);
    if (!accessibleName.isEmpty())
        widget->setAccessibleName(accessibleName);
    return widget;
}

// A button that calls `slot` of `receiver`. `look` is one of the style sheet's.
template <typename Receiver, typename Slot>
QPushButton *makeButton(const QString &text, QWidget *parent, Receiver *receiver, Slot slot, const QString &look = {})
{
    auto *button = new QPushButton(text, parent);
    if (!look.isEmpty())
        button->setProperty("look", look);
    QObject::connect(button, &QPushButton::clicked, receiver, std::move(slot));
    return button;
}

// The same, where the receiver is the parent.
template <typename Parent, typename Slot>
QPushButton *makeButton(const QString &text, Parent *parent, Slot slot, const QString &look = {})
{
    return makeButton(text, parent, parent, std::move(slot), look);
}

// What the pages Simulator and Lessons say, in the language that is chosen for the lessons. All else is in English.
//
// The words are in resources/words, a Qt Linguist file per language; where the build found no lrelease they stay
// English.

// From now on; what was said already changes where a widget hears of it (QEvent::LanguageChange). GUI thread.
void speak(lessons::Language language);
// Calls `say` now, and when the widget hears of another language.
void sayInEachLanguage(QWidget *widget, std::function<void()> say);
// Any thread: pictures are painted beside the window, too.
[[nodiscard]] lessons::Language displayLanguage();

} // namespace lockscope::ui
