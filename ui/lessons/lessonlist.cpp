// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessonlist.h"

#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int summaryRole = Qt::UserRole;
constexpr int rowHeight = 58;
constexpr int numberWidth = 52;

class LessonRow : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const override
    {
        return {200, rowHeight};
    }
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const auto &tokens = Theme::tokens();
        painter->save();
        const bool isLit =
            option.state.testFlag(QStyle::State_Selected) || option.state.testFlag(QStyle::State_MouseOver);
        painter->fillRect(option.rect, isLit ? tokens.selection : tokens.panel);
        painter->setPen(tokens.line);
        painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
        const QRect inside = option.rect.adjusted(14, 8, -14, -8);
        QFont font = option.font;
        font.setPixelSize(20);
        painter->setFont(font);
        painter->setPen(tokens.muted);
        painter->drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, QString::number(index.row() + 1));
        const QRect words = inside.adjusted(numberWidth - 14, 0, 0, 0);
        font.setPixelSize(16);
        font.setWeight(QFont::DemiBold);
        painter->setFont(font);
        painter->setPen(tokens.text);
        painter->drawText(words, Qt::AlignLeft | Qt::AlignTop, cut(painter, index.data(), words.width()));
        font.setPixelSize(13);
        font.setWeight(QFont::Normal);
        painter->setFont(font);
        painter->setPen(tokens.muted);
        painter->drawText(words, Qt::AlignLeft | Qt::AlignBottom,
                          cut(painter, index.data(summaryRole), words.width()));
        painter->restore();
    }

private:
    [[nodiscard]] static QString cut(const QPainter *painter, const QVariant &text, int width)
    {
        return painter->fontMetrics().elidedText(text.toString(), Qt::ElideRight, width);
    }
};

} // namespace

LessonList::LessonList(QWidget *parent)
    : QWidget(parent), m_heading(makeLabel({}, u"heading"_s, this)), m_hint(makeLabel({}, u"muted"_s, this)),
      m_rows(new QListWidget(this)), m_refused(new QVBoxLayout)
{
    m_hint->setWordWrap(true);
    m_rows->setItemDelegate(new LessonRow(m_rows));
    m_rows->setObjectName(u"lessonRows"_s);
    m_rows->setMouseTracking(true);
    m_rows->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_rows->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    // One click opens, and so does Enter; where a click already activates, the two come as one.
    const auto open = [this](QListWidgetItem *item) { emit chosen(static_cast<std::size_t>(m_rows->row(item))); };
    connect(m_rows, &QListWidget::itemClicked, this, open);
    connect(m_rows, &QListWidget::itemActivated, this, open);
    connect(Theme::instance(), &Theme::changed, m_rows->viewport(), qOverload<>(&QWidget::update));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(m_heading);
    column->addWidget(m_hint);
    column->addLayout(m_refused);
    column->addWidget(m_rows, 1);
}

void LessonList::show(const lessons::Lessons &lessons, Language language)
{
    const auto &words = lessonWords(language);
    m_heading->setText(words.heading);
    m_hint->setText(words.hint);
    m_rows->clear();
    m_rows->setAccessibleName(words.heading);
    for (const auto &lesson : lessons.lessons) {
        auto *item = new QListWidgetItem(lesson.title.in(language), m_rows);
        item->setData(summaryRole, lesson.summary.in(language));
        item->setData(Qt::AccessibleDescriptionRole, lesson.summary.in(language));
    }
    while (auto *old = m_refused->takeAt(0)) {
        old->widget()->hide();
        old->widget()->deleteLater();
        delete old;
    }
    for (const auto &error : lessons.refused) {
        auto *banner = new Banner(this);
        banner->say(Banner::Look::Warning, {}, words.refused.arg(error.message));
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
}

void LessonList::choose(std::size_t lesson)
{
    m_rows->setCurrentRow(static_cast<int>(lesson));
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

#include "moc_lessonlist.cpp"
