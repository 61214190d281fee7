// SPDX-License-Identifier: Apache-2.0
// The look of the whole window: colours, fonts, the palette and the one style sheet made of them.
//
// One Theme per program, made right after QApplication. GUI thread only.
#pragma once

// moc 6.4 stops at <compare> when it comes first in a Q_OBJECT header.
#include "ui/theme/tokens.h"

#include <QFont>
#include <QObject>
#include <QPalette>

#include <memory>
#include <optional>

class QApplication;
class QPainter;
class QRectF;

namespace lockscope::ui {

enum class ThemeChoice { Auto, Light, Dark };
// "auto", "light" and "dark", as on the command line.
[[nodiscard]] std::optional<ThemeChoice> themeChoice(const QString &word);

class PortalColorScheme;

class Theme : public QObject {
    Q_OBJECT
public:
    // Later: until useSheet(), widgets are made without the style sheet, which is then laid over all of them at once.
    // With it, whatever is put into a layout, a splitter or a stack is styled again, with all that is in it, at each
    // level.
    enum class Sheet { AtOnce, Later };
    explicit Theme(QApplication &application, ThemeChoice choice = ThemeChoice::Auto, Sheet sheet = Sheet::AtOnce);
    ~Theme() override;

    // The colours now in use (the light ones before a Theme exists).
    [[nodiscard]] static const Tokens &tokens();
    // Null before a Theme exists.
    [[nodiscard]] static Theme *instance();

    [[nodiscard]] ThemeChoice choice() const { return m_choice; }
    void setChoice(ThemeChoice choice);
    void useSheet();
    // For a projector: all text a quarter larger, and none below 14 pixels.
    void setLarge(bool isLarge);
    [[nodiscard]] bool isLarge() const;

signals:
    // Custom-painted widgets repaint; the palette and the style sheet have changed already.
    void changed();

private:
    void apply();
    [[nodiscard]] bool wantsDark() const;

    QApplication &m_application;
    ThemeChoice m_choice;
    Sheet m_sheet;
    QPalette m_systemPalette;
    std::unique_ptr<PortalColorScheme> m_portal;
};

// Of text, and of what has to have room for it, as it is now: larger on a projector. Pixels of a 100 % screen.
[[nodiscard]] int shownSize(int pixels);

// Inter where present, else the system's; sizes in pixels of a 100 % screen.
[[nodiscard]] QFont textFont(int pixels = 13, QFont::Weight weight = QFont::Normal);
// JetBrains Mono where present, else the system's fixed font: for what can be pasted.
[[nodiscard]] QFont monoFont(int pixels = 12, QFont::Weight weight = QFont::Normal);

// Draws one line of text with digits of equal width, so that columns of numbers line up and ages
// do not jitter. (QFont has no "tabular numbers" switch before Qt 6.7.)
void drawTabular(QPainter &painter, const QRectF &rect, Qt::Alignment alignment, const QString &text);
[[nodiscard]] qreal tabularWidth(const QFont &font, const QString &text);

} // namespace lockscope::ui
