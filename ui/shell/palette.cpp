// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/palette.h"

#include "ui/parts/layouts.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int wholeText = 600;
constexpr int atStart = 300;
constexpr int atWord = 200;
constexpr int together = 1000;
constexpr int apart = 400; // letters in order with others between them
constexpr int besideIt = 500;
constexpr int lengthCounts = 200;

char lowered(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool isWordPart(char c)
{
    const char low = lowered(c);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

bool standsAt(QByteArrayView word, QByteArrayView text, qsizetype at)
{
    for (qsizetype i = 0; i < word.size(); ++i) {
        if (lowered(text[at + i]) != word[i])
            return false;
    }
    return true;
}

// As one piece: the best of its places.
std::optional<int> piece(QByteArrayView word, QByteArrayView text)
{
    std::optional<int> best;
    for (qsizetype at = 0; at + word.size() <= text.size(); ++at) {
        if (lowered(text[at]) != word[0] || !standsAt(word, text, at))
            continue;
        const bool isWhole = word.size() == text.size();
        const bool beginsWord = at == 0 || !isWordPart(text[at - 1]);
        best = std::max(best.value_or(0),
                        together + (at == 0 ? atStart : 0) + (beginsWord ? atWord : 0) + (isWhole ? wholeText : 0));
        if (beginsWord)
            break; // none further on is better
    }
    return best;
}

// In order, with others between: each letter as early as it comes, those at the beginning of words worth more.
std::optional<int> scattered(QByteArrayView word, QByteArrayView text)
{
    int score = apart;
    qsizetype last = -1;
    for (const char wanted : word) {
        qsizetype at = last + 1;
        while (at < text.size() && lowered(text[at]) != wanted)
            ++at;
        if (at == text.size())
            return {};
        if (last >= 0 && at > last + 1)
            score -= at == 0 || !isWordPart(text[at - 1]) ? 5 : 40;
        last = at;
    }
    return score > 0 ? std::optional(score) : std::nullopt;
}

std::optional<int> fit(QByteArrayView word, QByteArrayView text)
{
    if (const auto whole = piece(word, text))
        return whole;
    return word.size() > 1 ? scattered(word, text) : std::nullopt;
}

} // namespace

FuzzyQuery::FuzzyQuery(const QString &typed)
{
    for (const auto &word : typed.toUtf8().simplified().split(' ')) {
        if (!word.isEmpty())
            m_words << word.toLower();
    }
}

std::optional<int> FuzzyQuery::score(QByteArrayView text, QByteArrayView beside) const
{
    int sum = 0;
    for (const auto &word : m_words) {
        auto one = fit(word, text);
        if (!one && !beside.isEmpty()) {
            one = piece(word, beside);
            if (one)
                *one -= besideIt;
        }
        if (!one)
            return {};
        sum += *one;
    }
    return sum - static_cast<int>(std::min<qsizetype>(text.size(), lengthCounts));
}

namespace {

constexpr int paletteWidth = 680;
constexpr int paletteRow = 30;
constexpr int shownRows = 12;
enum PaletteRole { KindRole = Qt::UserRole, NoteRole, RefusedRole };

class PaletteDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const override
    {
        return {200, paletteRow};
    }
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const Tokens &t = Theme::tokens();
        painter->save();
        painter->fillRect(option.rect, option.state & QStyle::State_Selected ? t.selection : t.panel);
        const QRectF row = QRectF(option.rect).adjusted(12, 0, -12, 0);
        painter->setFont(textFont(12));
        painter->setPen(t.muted);
        painter->drawText(QRectF(row.left(), row.top(), 66, row.height()), Qt::AlignVCenter,
                          index.data(KindRole).toString());
        const QString note = index.data(NoteRole).toString();
        const QFontMetricsF small(painter->font());
        const qreal most = row.width() * 0.4;
        const qreal noteWidth = std::min(most, small.horizontalAdvance(note));
        painter->drawText(row, Qt::AlignVCenter | Qt::AlignRight, small.elidedText(note, Qt::ElideMiddle, most));
        const QRectF name = row.adjusted(72, 0, note.isEmpty() ? 0 : -noteWidth - 12, 0);
        painter->setFont(textFont(13));
        painter->setPen(index.data(RefusedRole).toBool() ? t.muted : t.text);
        painter->drawText(
            name, Qt::AlignVCenter | Qt::TextSingleLine,
            QFontMetricsF(painter->font()).elidedText(index.data().toString(), Qt::ElideMiddle, name.width()));
        painter->restore();
    }
};

} // namespace

void PaletteHits::keep(int score, Make make)
{
    if (m_hits.size() == most) {
        std::pop_heap(m_hits.begin(), m_hits.end());
        m_hits.pop_back();
    }
    m_hits.push_back({score, m_offered++, std::move(make)});
    std::push_heap(m_hits.begin(), m_hits.end());
}

std::vector<PaletteItem> PaletteHits::take()
{
    std::sort_heap(m_hits.begin(), m_hits.end());
    std::vector<PaletteItem> items;
    for (const auto &hit : m_hits)
        items.push_back(hit.make());
    m_hits.clear();
    return items;
}

CommandPalette::CommandPalette(QWidget *window)
    : QFrame(window), m_field(named(new QLineEdit(this), u"paletteField"_s, tr("Go to, or do"))),
      m_list(new QListWidget(this))
{
    setProperty("look", u"card"_s);
    setObjectName(u"palette"_s);
    setAutoFillBackground(true);
    m_field->setPlaceholderText(tr("Go to a lock, a session or a page, or do something"));
    m_field->installEventFilter(this);
    m_list->setItemDelegate(new PaletteDelegate(m_list));
    m_list->setFocusPolicy(Qt::NoFocus); // the keys go to the field, which hands them on
    m_list->setUniformItemSizes(true);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setAccessibleName(tr("What fits"));
    makeColumn(this, {.margins = {10, 10, 10, 10}, .spacing = 8}, {m_field, {m_list, 1}});
    connect(m_field, &QLineEdit::textChanged, this, &CommandPalette::search);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::go);
    window->installEventFilter(this);
    hide();
}

void CommandPalette::open()
{
    if (isVisible()) {
        close(true);
        return;
    }
    m_focusBefore = QApplication::focusWidget();
    m_field->clear();
    search();
    show();
    raise();
    m_field->setFocus(Qt::PopupFocusReason);
}

void CommandPalette::close(bool returnFocus)
{
    hide();
    m_items.clear(); // they may keep what they would go to
    m_list->clear();
    if (returnFocus && m_focusBefore)
        m_focusBefore->setFocus(Qt::PopupFocusReason);
}

void CommandPalette::search()
{
    PaletteHits hits(m_field->text());
    for (const auto &source : m_sources)
        source(hits);
    m_items = hits.take();
    m_list->clear();
    for (const auto &item : m_items) {
        auto *row = new QListWidgetItem(item.text, m_list);
        row->setData(KindRole, item.kind);
        row->setData(NoteRole, item.note);
        row->setData(RefusedRole, item.isRefused);
        row->setData(Qt::AccessibleTextRole, QStringList{item.kind, item.text, item.note}.join(u", "_s));
    }
    if (m_items.empty()) {
        auto *none = new QListWidgetItem(tr("Nothing fits"), m_list);
        none->setFlags(Qt::NoItemFlags);
    } else {
        m_list->setCurrentRow(0);
    }
    place();
}

void CommandPalette::place()
{
    const QSize room = parentWidget()->size();
    const int width = std::min(paletteWidth, room.width() - 40);
    const int rows = std::clamp(m_list->count(), 1, shownRows);
    const int height = std::min(rows * paletteRow + m_field->sizeHint().height() + 30, room.height() - 80);
    setGeometry((room.width() - width) / 2, 54, width, height);
}

void CommandPalette::go()
{
    const int row = m_list->currentRow();
    if (row < 0 || row >= static_cast<int>(m_items.size()))
        return;
    const auto act = std::move(m_items[static_cast<std::size_t>(row)].act);
    close(true); // what is done may put the focus elsewhere
    act();
}

bool CommandPalette::takeKey(int key)
{
    const int last = m_list->count() - 1;
    const int row = m_list->currentRow();
    switch (key) {
    case Qt::Key_Down: m_list->setCurrentRow(row >= last ? 0 : row + 1); return true;
    case Qt::Key_Up: m_list->setCurrentRow(row <= 0 ? last : row - 1); return true;
    case Qt::Key_PageDown: m_list->setCurrentRow(std::min(last, row + shownRows)); return true;
    case Qt::Key_PageUp: m_list->setCurrentRow(std::max(0, row - shownRows)); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: go(); return true;
    case Qt::Key_Escape: close(true); return true;
    case Qt::Key_Tab:
    case Qt::Key_Backtab: return true; // there is nothing else here
    default: return false;
    }
}

bool CommandPalette::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_field && event->type() == QEvent::KeyPress)
        return takeKey(static_cast<QKeyEvent *>(event)->key());
    if (watched == m_field && event->type() == QEvent::FocusOut && isVisible()) {
        const auto reason = static_cast<QFocusEvent *>(event)->reason();
        if (reason != Qt::ActiveWindowFocusReason && reason != Qt::PopupFocusReason)
            close(false); // somebody went elsewhere
    }
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible())
        place();
    return QFrame::eventFilter(watched, event);
}

} // namespace lockscope::ui

#include "moc_palette.cpp"
