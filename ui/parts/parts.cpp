// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/parts.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QEvent>
#include <QGuiApplication>
#include <QHash>
#include <QPainter>
#include <QTranslator>

#include <tuple>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using lessons::Language;

namespace {

// Layouts ask a label with several lines for its height dozens of times until a page is laid out, and QLabel breaks
// its text anew each time: three quarters of what a step of a lesson takes. What it said once is kept until its words
// or its looks are others.
class WrappedLabel : public QLabel {
public:
    using QLabel::QLabel;

    int heightForWidth(int width) const override
    {
        // What these setters change, no event tells.
        const auto now = std::make_tuple(text(), font(), wordWrap(), margin(), indent(), minimumSize());
        if (now != m_of || m_heights.size() >= mostHeights) {
            m_of = now;
            m_heights.clear();
        }
        const auto known = m_heights.constFind(width);
        if (known != m_heights.cend())
            return *known;
        return *m_heights.insert(width, QLabel::heightForWidth(width));
    }

protected:
    bool event(QEvent *event) override
    {
        switch (event->type()) {
        case QEvent::Polish: // these three: a style sheet has other margins
        case QEvent::StyleChange:
        case QEvent::DynamicPropertyChange:
        case QEvent::ContentsRectChange:
        case QEvent::LayoutDirectionChange:
        case QEvent::ScreenChangeInternal: m_heights.clear(); break;
        default: break;
        }
        return QLabel::event(event);
    }

private:
    static constexpr qsizetype mostHeights = 64; // who drags a window's edge asks for every width

    mutable std::tuple<QString, QFont, bool, int, int, QSize> m_of;
    mutable QHash<int, int> m_heights; // of that, by width
};

template <typename Box>
Box *filled(Box *box, const BoxLook &look, std::initializer_list<BoxPart> parts)
{
    box->setContentsMargins(look.margins);
    if (look.spacing >= 0)
        box->setSpacing(look.spacing);
    addParts(*box, parts);
    return box;
}

std::atomic<Language> g_language = Language::English;

class LanguageFollower : public QObject {
public:
    LanguageFollower(QWidget *widget, std::function<void()> say) : QObject(widget), m_say(std::move(say))
    {
        widget->installEventFilter(this);
    }

    bool eventFilter(QObject *, QEvent *event) override
    {
        if (event->type() == QEvent::LanguageChange)
            m_say();
        return false;
    }

private:
    std::function<void()> m_say;
};

} // namespace

QLabel *makeLabel(const QString &text, const QString &look, QWidget *parent)
{
    auto *label = new WrappedLabel(text, parent);
    label->setTextFormat(Qt::PlainText);
    if (!look.isEmpty())
        label->setProperty("look", look);
    return label;
}

QLabel *makeWrapped(const QString &text, const QString &look, QWidget *parent)
{
    auto *label = makeLabel(text, look, parent);
    label->setWordWrap(true);
    return label;
}

QLabel *makeSelectable(const QString &text, QWidget *parent, bool isMono)
{
    auto *label = makeLabel(text, {}, parent);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setFont(isMono ? monoFont() : textFont());
    return label;
}

QFrame *makeHairline(QWidget *parent)
{
    auto *line = new QFrame(parent);
    line->setProperty("look", u"hairline"_s);
    return line;
}

QFrame *makeToolStrip(QWidget *parent)
{
    auto *strip = new QFrame(parent);
    makeRow(strip, {.margins = {12, 8, 12, 8}, .spacing = 10}, {});
    return strip;
}

QHBoxLayout *stripLayout(QFrame *strip)
{
    return qobject_cast<QHBoxLayout *>(strip->layout());
}

QPushButton *makeChip(const QString &text, QWidget *parent)
{
    auto *chip = new QPushButton(text, parent);
    chip->setProperty("look", u"chip"_s);
    chip->setCheckable(true);
    return chip;
}

QLineEdit *makeFilterField(const QString &hint, const QString &accessibleName, QWidget *parent)
{
    auto *field = named(new QLineEdit(parent), {}, accessibleName);
    field->setPlaceholderText(hint);
    field->setClearButtonEnabled(true);
    field->setMaximumWidth(380);
    return field;
}

void copyToClipboard(const QString &text)
{
    QGuiApplication::clipboard()->setText(text);
}

void addMenuHeading(QMenu &menu, const QString &text)
{
    if (!menu.isEmpty())
        menu.addSeparator();
    auto *heading = menu.addAction(QString(text).replace(u'&', u"&&"_s));
    heading->setObjectName(u"heading"_s);
    heading->setEnabled(false);
    QFont font = menu.font();
    font.setWeight(QFont::DemiBold);
    heading->setFont(font);
}

void resizeWithinParent(QWidget &dialog, QSize wanted)
{
    constexpr QSize frame(48, 40);
    const auto *parent = dialog.parentWidget();
    dialog.resize(parent ? wanted.boundedTo(parent->window()->size() - frame) : wanted);
}

QMenu *makePassingMenu(const QString &name, QWidget *parent)
{
    return passing(named(new QMenu(parent), name));
}

void setStyleProperty(QWidget *widget, const char *property, const QString &value)
{
    if (widget->property(property).toString() == value)
        return;
    widget->setProperty(property, value);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
}

void clearLayout(QLayout &layout, int first)
{
    while (auto *item = layout.takeAt(first)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
}

void stopListening(QObject *owner)
{
    const auto children = owner->findChildren<QObject *>();
    for (auto *child : children)
        child->disconnect(owner);
}

PillLabel::PillLabel(QWidget *parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void PillLabel::setPill(const Pill &pill)
{
    if (pill == m_pill)
        return;
    m_pill = pill;
    setAccessibleName(pill.word);
    updateGeometry();
    update();
}

void PillLabel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paintPill(painter, rect(), m_pill);
}

void BoxPart::addTo(QBoxLayout &box) const
{
    if (m_widget)
        box.addWidget(m_widget, m_stretch, m_alignment);
    else if (m_layout)
        box.addLayout(m_layout, m_stretch);
    else if (m_gap >= 0)
        box.addSpacing(m_gap);
    else
        box.addStretch(m_stretch);
}

void addParts(QBoxLayout &box, std::initializer_list<BoxPart> parts)
{
    for (const auto &part : parts)
        part.addTo(box);
}

QHBoxLayout *makeRow(QWidget *owner, const BoxLook &look, std::initializer_list<BoxPart> parts)
{
    return filled(new QHBoxLayout(owner), look, parts);
}

QVBoxLayout *makeColumn(QWidget *owner, const BoxLook &look, std::initializer_list<BoxPart> parts)
{
    return filled(new QVBoxLayout(owner), look, parts);
}

QHBoxLayout *makeRow(const BoxLook &look, std::initializer_list<BoxPart> parts)
{
    return filled(new QHBoxLayout, look, parts);
}

QVBoxLayout *makeColumn(const BoxLook &look, std::initializer_list<BoxPart> parts)
{
    return filled(new QVBoxLayout, look, parts);
}

QGridLayout *makeGrid(QWidget *owner, const GridLook &look)
{
    auto *grid = new QGridLayout(owner);
    grid->setContentsMargins(look.margins);
    grid->setHorizontalSpacing(look.across);
    grid->setVerticalSpacing(look.down);
    grid->setColumnMinimumWidth(0, look.titles);
    grid->setColumnStretch(look.stretched, 1);
    return grid;
}

QScrollArea *makeScroll(QWidget *inside, QWidget *parent)
{
    auto *scroll = new QScrollArea(parent);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(inside);
    return scroll;
}

Language displayLanguage()
{
    return g_language;
}

void speak(Language language)
{
    g_language = language;
    auto *application = QCoreApplication::instance();
    const auto name = u"pageWords"_s;
    const auto file = language == Language::English
                          ? QString()
                          : u":/lockscope/words/lockscope_%1.qm"_s.arg(QLatin1StringView(nameOf(language)));
    auto *spoken = application->findChild<QTranslator *>(name, Qt::FindDirectChildrenOnly);
    if ((spoken ? spoken->filePath() : QString()) == file)
        return; // every widget of the window would hear of it
    delete spoken;
    if (file.isEmpty())
        return;
    auto *words = new QTranslator(application);
    words->setObjectName(name);
    if (words->load(file))
        QCoreApplication::installTranslator(words);
}

void sayInEachLanguage(QWidget *widget, std::function<void()> say)
{
    say();
    new LanguageFollower(widget, std::move(say));
}

} // namespace lockscope::ui

#include "moc_parts.cpp"
