// SPDX-License-Identifier: Apache-2.0
// The look of the whole window: colours, fonts, the palette and the one style sheet made of them; and how it shows
// names from servers, and numbers.
//
// One Theme per program, made right after QApplication. GUI thread only.
#pragma once

#include <QColor>
#include <QFont>
#include <QFontMetricsF>
#include <QObject>
#include <QPalette>

#include <array>
#include <memory>
#include <optional>

class QApplication;
class QPainter;
class QRectF;

namespace lockscope::ui {

// By meaning, for light and dark. Nowhere else is a colour spelled out.
struct Tokens {
    bool dark = false;
    QColor background, panel, text, muted, selection, accent, onAccent, link;
    QColor line, edge;              // between parts; around fields and buttons, which is seen at 3:1
    QColor hold, holdSoft, holdBar; // "Soft" is the fill behind text of the color it belongs to, "Bar" a filled shape
    QColor wait, waitSoft, waitBar;
    QColor critical, criticalSoft, onCritical;
    QColor warning, warningSoft;
    QColor free, freeSoft;
    QColor ok, okSoft;
    QColor past, pastSoft, onPast;
    QColor production, onProduction;   // a filled tag and stripes: production is a shape, never a status color
    QColor code;                       // behind text that can be pasted
    std::array<QColor, 5> connections; // the edges of groups, none of them a status color
};

[[nodiscard]] const Tokens &lightTokens();
[[nodiscard]] const Tokens &darkTokens();

// The one style sheet of the program, made from the tokens.
//
// Widgets ask for a look by dynamic property: QPushButton "look" = "primary", "danger",
// "dangerFilled", "flat" or "chip"; QLabel "look" = "heading", "section", "muted", "code", "tag…";
// QFrame "look" = "panel", "banner-critical", "banner-warning", "banner-info".
[[nodiscard]] QString styleSheetOf(const Tokens &tokens);

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

// Names from servers, and numbers: safe, short, and never two names that look alike by accident.

// Escaped; in quotes where spaces at the ends (or nothing at all) would be invisible; a long name
// keeps its beginning and its end and says how long it is.
[[nodiscard]] QString nameText(const QByteArray &name);
// For a POSIX shell: nothing inside single quotes means anything.
[[nodiscard]] QString quotedForShell(QString text);
// 1234567 as "1,234,567".
[[nodiscard]] QString countText(qint64 count);
// "512 B", "64 KiB", "1.2 MiB".
[[nodiscard]] QString sizeText(qint64 bytes);
// Qt's tool tips turn text that looks like HTML into HTML; this one is always shown as it is.
[[nodiscard]] QString plainToolTip(const QString &text);

// Names of clients in less room than they need.

// "settlem…@batch-01…": a name of one word with a host keeps the beginning of both. Any other text is elided as said.
[[nodiscard]] QString elidedClient(const QFontMetricsF &metrics, const QString &text, qreal width,
                                   Qt::TextElideMode otherwise);

} // namespace lockscope::ui
