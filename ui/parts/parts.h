// SPDX-License-Identifier: Apache-2.0
// Small widgets that the rooms above are made of.
#pragma once

#include "ui/theme/pill.h"

#include <QFrame>
#include <QList>
#include <QString>

#include <chrono>
#include <utility>

class QHBoxLayout;
class QLabel;
class QMenu;

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

// The name of a group of a menu's actions, which QMenu::addSection() does not show in every style.
void addMenuHeading(QMenu &menu, const QString &text);

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

} // namespace lockscope::ui
