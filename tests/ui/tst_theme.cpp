// SPDX-License-Identifier: Apache-2.0
// The color tokens have the contrast that text and shapes need, and text is drawn as it is written.
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QGlyphRun>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextLayout>

#include <cmath>

namespace {

using ui::Tokens;

// WCAG 2.1.
double luminance(const QColor &color)
{
    const auto part = [](double value) {
        return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * part(color.redF()) + 0.7152 * part(color.greenF()) + 0.0722 * part(color.blueF());
}

double contrast(const QColor &a, const QColor &b)
{
    const double one = luminance(a) + 0.05;
    const double two = luminance(b) + 0.05;
    return std::max(one, two) / std::min(one, two);
}

QList<quint32> glyphsOf(const QString &text, const QFont &font)
{
    QTextLayout layout(text, font);
    layout.beginLayout();
    layout.createLine();
    layout.endLayout();
    QList<quint32> glyphs;
    for (const auto &run : layout.glyphRuns())
        glyphs += run.glyphIndexes();
    return glyphs;
}

} // namespace

class TestTheme : public QObject {
    Q_OBJECT

private slots:
    void tokensHaveTheirContrast_data()
    {
        QTest::addColumn<bool>("isDark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void tokensHaveTheirContrast()
    {
        QFETCH(bool, isDark);
        const Tokens &t = isDark ? ui::darkTokens() : ui::lightTokens();
        const auto reads = [](const QColor &text, std::initializer_list<QColor> behind, double least) {
            return std::ranges::all_of(behind, [&](const QColor &color) { return contrast(text, color) >= least; });
        };
        for (const auto &text : {t.text, t.muted, t.link, t.critical, t.warning, t.wait, t.hold, t.ok})
            QVERIFY2(reads(text, {t.panel, t.background, t.selection, t.code}, 4.5), qPrintable(text.name()));
        const std::pair<QColor, QColor> onTint[] = {{t.critical, t.criticalSoft},
                                                    {t.warning, t.warningSoft},
                                                    {t.hold, t.holdSoft},
                                                    {t.wait, t.waitSoft},
                                                    {t.ok, t.okSoft},
                                                    {t.past, t.pastSoft},
                                                    {t.free, t.freeSoft},
                                                    {t.onProduction, t.production},
                                                    {t.onCritical, t.critical},
                                                    {t.onPast, t.past},
                                                    {t.onAccent, t.accent}};
        for (const auto &[text, tint] : onTint)
            QVERIFY2(contrast(text, tint) >= 4.5, qPrintable(text.name() + u" on "_s + tint.name()));
        for (const auto &shape : {t.edge, t.accent, t.holdBar, t.waitBar})
            QVERIFY2(reads(shape, {t.panel, t.background}, 3), qPrintable(shape.name()));
        for (const auto &edge : t.connections) // and none is taken for a status
            QVERIFY2(reads(edge, {t.panel}, 3) && edge != t.critical && edge != t.warning, qPrintable(edge.name()));
    }

    void aPlaceholderIsNotDimmed()
    {
        QLineEdit line;
        QPlainTextEdit text;
        line.ensurePolished();
        text.ensurePolished();
        QCOMPARE(line.palette().color(QPalette::PlaceholderText), ui::Theme::tokens().muted);
        QCOMPARE(text.palette().color(QPalette::PlaceholderText), ui::Theme::tokens().muted);
    }

    // Inter draws "0x342" with a sign of multiplication, unless it is told not to.
    void hexIsDrawnAsItIsWritten()
    {
        for (const auto &font : {ui::textFont(), ui::monoFont(), QApplication::font()}) {
            QList<quint32> apart;
            for (const QChar c : u"0x342"_s)
                apart += glyphsOf(c, font);
            QCOMPARE(glyphsOf(u"0x342"_s, font), apart);
        }
    }

    // Two pixels of the accent color, on what is chosen as well.
    void theFocusIsSeen()
    {
        QWidget window;
        QPushButton chip(u"All 3"_s, &window), other(u"Other"_s, &window);
        other.move(120, 0);
        chip.setProperty("look", u"chip"_s);
        chip.setCheckable(true);
        chip.setChecked(true);
        window.resize(240, 60);
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        const auto accented = [&chip] {
            const auto image = chip.grab().toImage();
            int count = 0;
            for (int y = 0; y < image.height(); ++y)
                count += image.pixelColor(image.width() / 4, y) == ui::Theme::tokens().accent ? 1 : 0;
            return count;
        };
        other.setFocus();
        QCOMPARE(accented(), 2); // its frame, above and below
        chip.setFocus();
        QTRY_COMPARE(accented(), 4);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestTheme)
#include "tst_theme.moc"
