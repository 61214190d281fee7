// SPDX-License-Identifier: Apache-2.0
// A label of several lines keeps the heights it has told (ui/parts/parts.cpp). It says what QLabel would, whatever
// has changed since. And where a sentence with names in it is broken (ui/parts/labels.h).
#include "tests/support/testmain.h"
#include "ui/parts/labels.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QLabel>

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

    void aSentenceIsBrokenAtItsClauses_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("letters"); // about what a line has room for
        QTest::addColumn<QStringList>("lines");
        const auto root = u"root blocker app-1 holds zk:/locks/orders, 3 wait behind it, together 1 m 11 s"_s;
        QTest::newRow("there is room") << root << 100 << QStringList{root};
        QTest::newRow("after a clause, not before its last word")
            << root << 59
            << QStringList{u"root blocker app-1 holds zk:/locks/orders,"_s, u"3 wait behind it, together 1 m 11 s"_s};
        QTest::newRow("before a name, not in it")
            << root << 34
            << QStringList{u"root blocker app-1 holds"_s, u"zk:/locks/orders,"_s, u"3 wait behind it,"_s,
                           u"together 1 m 11 s"_s};
        QTest::newRow("a span of time is one word")
            << u"they wait together 1 m 11 s"_s << 24 << QStringList{u"they wait together"_s, u"1 m 11 s"_s};
        QTest::newRow("at the dot between two") << u"nothing ends it · 1 more deadlock"_s << 26
                                                << QStringList{u"nothing ends it ·"_s, u"1 more deadlock"_s};
    }
    void aSentenceIsBrokenAtItsClauses()
    {
        QFETCH(const QString, text);
        QFETCH(const int, letters);
        QFETCH(const QStringList, lines);
        const QFontMetrics metrics(ui::monoFont());
        QCOMPARE(ui::clauseLines(text, metrics, metrics.horizontalAdvance(QString(letters, u'x'))), lines);
    }

    // Its tool tip has the whole; and nothing is ever wider than the line.
    void aNameThatIsWiderKeepsItsEnds()
    {
        const auto name = u"zk:/locks/"_s + QString(80, u'o') + u"-the-end"_s;
        ui::ClauseLabel label({});
        label.resize(200, 60);
        label.say(u"held is "_s + name + u", by one"_s);
        const auto lines = label.text().split(u'\n');
        QCOMPARE(lines.size(), 3);
        QVERIFY2(lines[1].startsWith(u"zk:/lo"_s) && lines[1].endsWith(u"-end,"_s), qPrintable(lines[1]));
        for (const auto &line : lines)
            QVERIFY(label.fontMetrics().horizontalAdvance(line) <= 200);
        QVERIFY(label.toolTip().contains(name));
        QCOMPARE(label.heightForWidth(200), 3 * label.fontMetrics().lineSpacing());
        label.say(u"held is /a"_s);
        QVERIFY(label.toolTip().isEmpty());
    }
};

LOCKSCOPE_GUI_TEST(TestLabels)
#include "tst_labels.moc"
