// SPDX-License-Identifier: Apache-2.0
// A label of several lines keeps the heights it has told (ui/parts/parts.cpp). It says what QLabel would, whatever
// has changed since.
#include "tests/support/testmain.h"
#include "ui/parts/parts.h"

#include <QLabel>
#include <QTest>

using namespace lockscope;
using namespace Qt::StringLiterals;

namespace {

const QString sentence = u"The holder's session ended at 12.00 s, and the one behind it was woken, it alone."_s;
constexpr int widths[] = {60, 150, 400, 60};

struct Change {
    const char *what;
    void (*make)(QLabel &label);
    bool isOther; // another height than before, at one of the widths
};
const Change changes[] = {
    {"nothing", [](QLabel &) {}, false},
    {"longer words", [](QLabel &label) { label.setText(sentence + u' ' + sentence); }, true},
    {"a larger font",
     [](QLabel &label) {
         auto font = label.font();
         font.setPixelSize(31);
         label.setFont(font);
     },
     true},
    {"a style sheet's font and padding",
     [](QLabel &label) {
         label.setStyleSheet(u"padding: 9px; font-size: 25px;"_s);
         label.ensurePolished();
     },
     true},
    {"margins", [](QLabel &label) { label.setContentsMargins(7, 11, 7, 11); }, true},
    {"a margin of its own", [](QLabel &label) { label.setMargin(13); }, true},
    {"an indent", [](QLabel &label) { label.setIndent(40); }, true},
    {"a least height", [](QLabel &label) { label.setFixedHeight(333); }, true},
    {"one line", [](QLabel &label) { label.setWordWrap(false); }, true},
};

} // namespace

class TestLabels : public QObject {
    Q_OBJECT

    static std::vector<int> heightsOf(const QLabel &label)
    {
        std::vector<int> all;
        for (const int width : widths)
            all.push_back(label.heightForWidth(width));
        return all;
    }

private slots:
    void heightsAreThoseOfQLabel_data()
    {
        QTest::addColumn<int>("row");
        for (int row = 0; row < static_cast<int>(std::size(changes)); ++row)
            QTest::newRow(changes[row].what) << row;
    }
    void heightsAreThoseOfQLabel()
    {
        QFETCH(int, row);
        const std::unique_ptr<QLabel> ours(ui::makeLabel(sentence, {}, nullptr));
        QLabel theirs(sentence);
        theirs.setTextFormat(Qt::PlainText);
        for (auto *label : {ours.get(), &theirs})
            label->setWordWrap(true);
        const auto before = heightsOf(*ours);
        QCOMPARE(before, heightsOf(theirs));

        for (auto *label : {ours.get(), &theirs})
            changes[row].make(*label);
        QCOMPARE(heightsOf(*ours), heightsOf(theirs));
        QCOMPARE(heightsOf(*ours) != before, changes[row].isOther);
    }
    void anyNumberOfWidthsIsAnswered()
    {
        const std::unique_ptr<QLabel> ours(ui::makeLabel(sentence, {}, nullptr));
        QLabel theirs(sentence);
        for (auto *label : {ours.get(), &theirs})
            label->setWordWrap(true);
        for (int width = 40; width < 400; ++width)
            QCOMPARE(ours->heightForWidth(width), theirs.heightForWidth(width));
    }
};

LOCKSCOPE_GUI_TEST(TestLabels)
#include "tst_labels.moc"
