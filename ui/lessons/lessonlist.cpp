// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessonview.h"

#include "ui/parts/parts.h"

#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>

namespace lockscope::ui {

namespace {

constexpr int summaryRole = Qt::UserRole, headingRole = Qt::UserRole + 1, chapterRole = Qt::UserRole + 2;
constexpr int numberWidth = 52;
constexpr int besideRow = 14, aboveRow = 8, betweenLines = 4, aboveHeading = 16, belowHeading = 6;

constexpr int numberSize = 20, titleSize = 16, summarySize = 13, headingSize = 13;

// How high the heading above a row is: 0 where there is none. It belongs to the first row of its chapter that is
// shown, so that rows are lessons, for keys as for whoever counts them.
int headingHeight(const QModelIndex &index)
{
    return index.data(headingRole).toString().isEmpty()
               ? 0
               : aboveHeading + QFontMetrics(textFont(headingSize, QFont::DemiBold)).height() + belowHeading;
}

// A heading opens nothing.
class LessonRows : public QListWidget {
public:
    using QListWidget::QListWidget;

protected:
    bool viewportEvent(QEvent *event) override
    {
        const auto type = event->type();
        const bool isClick = type == QEvent::MouseButtonPress || type == QEvent::MouseButtonRelease
                             || type == QEvent::MouseButtonDblClick;
        return (isClick && isOnHeading(static_cast<QMouseEvent *>(event)->position().toPoint()))
               || QListWidget::viewportEvent(event);
    }

private:
    [[nodiscard]] bool isOnHeading(const QPoint &at) const
    {
        const auto index = indexAt(at);
        return index.isValid() && at.y() < visualRect(index).top() + headingHeight(index);
    }
};

class LessonRow : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    // Nothing is cut: what is long takes two lines.
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const auto *list = qobject_cast<const QAbstractItemView *>(option.widget);
        // It is asked before there is a bar, too.
        const int bar = list ? list->verticalScrollBar()->sizeHint().width() : 0;
        const int room = list ? list->width() - 2 * list->frameWidth() - bar - 2 * besideRow - wordsFrom() : 600;
        const int height = heightOf(index.data(), textFont(titleSize, QFont::DemiBold), room) + betweenLines
                           + heightOf(index.data(summaryRole), textFont(summarySize), room);
        return {200, height + 2 * aboveRow + headingHeight(index)};
    }
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const auto &tokens = Theme::tokens();
        painter->save();
        const bool isLit =
            option.state.testFlag(QStyle::State_Selected) || option.state.testFlag(QStyle::State_MouseOver);
        const int heading = headingHeight(index);
        const QRect row = option.rect.adjusted(0, heading, 0, 0);
        painter->fillRect(option.rect, tokens.panel);
        painter->fillRect(row, isLit ? tokens.selection : tokens.panel);
        painter->setPen(tokens.line);
        painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
        if (heading > 0) {
            painter->drawLine(row.topLeft(), row.topRight());
            painter->setFont(textFont(headingSize, QFont::DemiBold));
            painter->setPen(tokens.muted);
            painter->drawText(option.rect.adjusted(besideRow, aboveHeading, -besideRow, 0),
                              Qt::AlignLeft | Qt::AlignTop, index.data(headingRole).toString().toUpper());
        }
        const QRect inside = row.adjusted(besideRow, aboveRow, -besideRow, -aboveRow);
        painter->setFont(textFont(numberSize));
        painter->setPen(tokens.muted);
        painter->drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, QString::number(index.row() + 1));
        const QRect words = inside.adjusted(wordsFrom(), 0, 0, 0);
        painter->setFont(textFont(titleSize, QFont::DemiBold));
        painter->setPen(tokens.text);
        painter->drawText(words, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, index.data().toString());
        painter->setFont(textFont(summarySize));
        painter->setPen(tokens.muted);
        painter->drawText(words, Qt::AlignLeft | Qt::AlignBottom | Qt::TextWordWrap,
                          index.data(summaryRole).toString());
        painter->restore();
    }

private:
    [[nodiscard]] static int wordsFrom()
    {
        return std::max(numberWidth - besideRow, QFontMetrics(textFont(numberSize)).horizontalAdvance(u"00 "_s));
    }
    [[nodiscard]] static int heightOf(const QVariant &text, const QFont &font, int width)
    {
        return QFontMetrics(font)
            .boundingRect(QRect(0, 0, std::max(width, 80), 1000), Qt::TextWordWrap, text.toString())
            .height();
    }
};

} // namespace

LessonList::LessonList(QWidget *parent)
    : QWidget(parent), m_heading(makeLabel({}, u"heading"_s, this)), m_hint(makeWrapped({}, u"muted"_s, this)),
      m_rows(named(new LessonRows(this), u"lessonRows"_s)), m_refused(new QVBoxLayout)
{
    m_rows->setItemDelegate(new LessonRow(m_rows));
    m_rows->setMouseTracking(true);
    m_rows->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_rows->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_rows->setResizeMode(QListView::Adjust); // rows are as high as their words are, in this width
    // One click opens, and so does Enter; where a click already activates, the two come as one.
    const auto open = [this](QListWidgetItem *item) { emit chosen(static_cast<std::size_t>(m_rows->row(item))); };
    connect(m_rows, &QListWidget::itemClicked, this, open);
    connect(m_rows, &QListWidget::itemActivated, this, open);
    connect(Theme::instance(), &Theme::changed, m_rows, [this] { m_rows->doItemsLayout(); });
    makeColumn(this, {.spacing = 8}, {m_heading, m_hint, m_refused, {m_rows, 1}});
}

void LessonList::show(const lessons::Lessons &lessons, Language language)
{
    m_language = language;
    m_heading->setText(pageWord("heading", language));
    m_hint->setText(pageWord("hint", language));
    m_rows->clear();
    m_rows->setAccessibleName(pageWord("heading", language));
    for (const auto &lesson : lessons.lessons) {
        auto *item = new QListWidgetItem(lesson.title.in(language), m_rows);
        item->setData(summaryRole, lesson.summary.in(language));
        const auto chapter = lessons::chapterTitle(lesson.chapter).in(language);
        item->setData(chapterRole, chapter);
        item->setData(Qt::AccessibleDescriptionRole, u"%1: %2"_s.arg(chapter, lesson.summary.in(language)));
    }
    placeHeadings();
    clearLayout(*m_refused);
    for (const auto &error : lessons.refused) {
        auto *banner = new Banner(this);
        banner->say(Banner::Look::Warning, {}, pageWord("refused", language).arg(error.message));
        m_refused->addWidget(banner);
    }
}

void LessonList::setFilter(const QString &text)
{
    for (int row = 0; row < m_rows->count(); ++row) {
        const auto *item = m_rows->item(row);
        const bool isWanted = item->text().contains(text, Qt::CaseInsensitive)
                              || item->data(summaryRole).toString().contains(text, Qt::CaseInsensitive);
        m_rows->setRowHidden(row, !isWanted);
    }
    placeHeadings();
}

// Above the first of each chapter that is shown. Where no lesson is of a chapter, a heading would say nothing.
void LessonList::placeHeadings()
{
    const auto none = lessons::chapterTitle({}).in(m_language);
    QString last = none;
    for (int row = 0; row < m_rows->count(); ++row) {
        auto *item = m_rows->item(row);
        const auto chapter = item->data(chapterRole).toString();
        const bool isFirst = !m_rows->isRowHidden(row) && chapter != last;
        item->setData(headingRole, isFirst ? chapter : QString());
        if (!m_rows->isRowHidden(row))
            last = chapter;
    }
    m_rows->doItemsLayout();
}

QStringList LessonList::headings() const
{
    QStringList all;
    for (int row = 0; row < m_rows->count(); ++row)
        if (const auto heading = m_rows->item(row)->data(headingRole).toString(); !heading.isEmpty())
            all << heading;
    return all;
}

QStringList LessonList::complaints() const
{
    QStringList sentences;
    for (int i = 0; i < m_refused->count(); ++i) {
        if (const auto *banner = qobject_cast<Banner *>(m_refused->itemAt(i)->widget()))
            sentences << banner->sentence();
    }
    return sentences;
}

} // namespace lockscope::ui
