// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/palette.h"

#include "ui/parts/parts.h"

#include <QApplication>
#include <QKeyEvent>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTextLayout>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int together = 1000;
constexpr int wholeText = 600;
constexpr int wholePart = 400; // between separators
constexpr int atWord = 300;
constexpr int atEnd = 150; // a path's own name
constexpr int atStart = 100;
constexpr int initials = 400; // letters that begin words, or go on in them
constexpr qsizetype longestInitials = 8;
constexpr int besideIt = 600;
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

bool beginsWord(QByteArrayView text, qsizetype at)
{
    return at == 0 || !isWordPart(text[at - 1]);
}

struct Piece {
    int score = 0;
    qsizetype at = 0;
};

// As one piece: the best of its places.
std::optional<Piece> piece(QByteArrayView word, QByteArrayView text)
{
    std::optional<Piece> best;
    for (qsizetype at = 0; at + word.size() <= text.size(); ++at) {
        if (lowered(text[at]) != word[0] || !standsAt(word, text, at))
            continue;
        const auto end = at + word.size();
        int score = together + (at == 0 ? atStart : 0) + (word.size() == text.size() ? wholeText : 0);
        if (beginsWord(text, at)) {
            // A part of a path or key; a word of a sentence is none.
            const bool isWhole = (at == 0 || text[at - 1] != ' ')
                                 && (end == text.size() || (!isWordPart(text[end]) && text[end] != ' '));
            score += atWord + (isWhole ? wholePart + (end == text.size() ? atEnd : 0) : 0);
        }
        if (!best || score > best->score)
            best = Piece{score, at};
    }
    return best;
}

// Each letter goes on after the one before, or begins a later word; where, is written to `places`.
bool fitsInitials(QByteArrayView word, QByteArrayView text, qsizetype from, QList<qsizetype> &places)
{
    if (word.isEmpty())
        return true;
    for (qsizetype at = from; at < text.size(); ++at) {
        const bool goesOn = at == from && !places.isEmpty();
        if (lowered(text[at]) != word[0] || (!goesOn && !beginsWord(text, at)))
            continue;
        places << at;
        if (fitsInitials(word.sliced(1), text, at + 1, places))
            return true;
        places.removeLast();
    }
    return false;
}

std::optional<int> fit(QByteArrayView word, QByteArrayView text)
{
    if (const auto found = piece(word, text))
        return found->score;
    QList<qsizetype> places;
    if (word.size() > 1 && word.size() <= longestInitials && fitsInitials(word, text, 0, places))
        return initials;
    return std::nullopt;
}

constexpr int paletteWidth = 680;
constexpr int paletteRow = 30;
constexpr int shownRows = 12;
enum PaletteRole { KindRole = Qt::UserRole, NoteRole, RefusedRole, MatchedRole };

// The letters that were typed in bold, its tail given up where it is too long.
void drawMatched(QPainter &painter, const QRectF &rect, const QString &text, const QList<int> &matched)
{
    QFont bold = painter.font();
    bold.setWeight(QFont::Bold);
    const QFontMetricsF plain(painter.font());
    const QFontMetricsF strong(bold);
    // Bold letters are wider: what is left for the others is measured with them.
    const QString shown = (matched.isEmpty() ? plain : strong).elidedText(text, Qt::ElideRight, rect.width());
    QTextLayout layout(shown, painter.font());
    QList<QTextLayout::FormatRange> formats;
    for (const int at : matched) {
        QTextCharFormat format;
        format.setFontWeight(QFont::Bold);
        if (at < shown.size() - (shown == text ? 0 : 1))
            formats << QTextLayout::FormatRange{at, 1, format};
    }
    layout.setFormats(formats);
    layout.beginLayout();
    layout.createLine().setLineWidth(rect.width() + 200);
    layout.endLayout();
    layout.draw(&painter, QPointF(rect.left(), rect.center().y() - plain.height() / 2));
}

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
        painter->drawText(row, Qt::AlignVCenter | Qt::AlignRight, small.elidedText(note, Qt::ElideRight, most));
        const QRectF name = row.adjusted(72, 0, note.isEmpty() ? 0 : -noteWidth - 12, 0);
        painter->setFont(textFont(13));
        painter->setPen(index.data(RefusedRole).toBool() ? t.muted : t.text);
        drawMatched(*painter, name, index.data().toString(), index.data(MatchedRole).value<QList<int>>());
        painter->restore();
    }
};

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
            if (const auto found = piece(word, beside))
                one = found->score - besideIt;
        }
        if (!one)
            return {};
        sum += *one;
    }
    return sum - static_cast<int>(std::min<qsizetype>(text.size(), lengthCounts));
}

QList<int> FuzzyQuery::matched(const QString &text) const
{
    const auto bytes = text.toUtf8();
    QList<int> letters;
    const auto add = [&](qsizetype at) { letters << static_cast<int>(QString::fromUtf8(bytes.first(at)).size()); };
    for (const auto &word : m_words) {
        QList<qsizetype> places;
        if (const auto found = piece(word, bytes)) {
            for (qsizetype i = 0; i < word.size(); ++i)
                add(found->at + i);
        } else if (word.size() > 1 && word.size() <= longestInitials && fitsInitials(word, bytes, 0, places)) {
            std::ranges::for_each(places, add);
        }
    }
    std::ranges::sort(letters);
    letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
    return letters;
}

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
    for (const auto &hit : m_hits) {
        items.push_back(hit.make());
        items.back().matched = m_query.matched(items.back().text);
    }
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
    m_field->setPlaceholderText(tr("Go to a lock, a state, a finding, a lesson or a page, or do something"));
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
        row->setData(MatchedRole, QVariant::fromValue(item.matched));
        row->setData(Qt::AccessibleTextRole, QStringList{item.kind, item.text, item.note}.join(u", "_s));
    }
    if (m_items.empty()) {
        auto *none = new QListWidgetItem(tr("Nothing fits"), m_list);
        none->setFlags(Qt::NoItemFlags);
    } else {
        m_list->setCurrentRow(m_items.front().isWrite ? -1 : 0); // a write is chosen by hand only
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
