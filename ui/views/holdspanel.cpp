// SPDX-License-Identifier: Apache-2.0
#include "ui/views/holdspanel.h"

#include "core/base/text.h"
#include "ui/parts/parts.h"

#include <QHBoxLayout>
#include <QStyle>
#include <QVBoxLayout>

namespace lockscope::ui {

using State = Hold::State;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

bool isOver(State state)
{
    return state == State::Released || state == State::Lost || state == State::Failed;
}

Pill pillOfHold(const Hold &hold)
{
    switch (hold.state) {
    case State::Waiting: return {PillShape::Ring, Tone::Wait, u"you wait"_s};
    case State::Held: return {PillShape::Disc, Tone::Hold, u"you hold"_s};
    case State::Released: return {PillShape::Ring, Tone::Free, u"released"_s};
    case State::Lost: return {PillShape::Cross, Tone::Critical, u"lost"_s};
    case State::Failed: return {PillShape::Cross, Tone::Warning, u"not had"_s};
    }
    return {};
}

} // namespace

class HoldRow : public QFrame {
    Q_OBJECT
public:
    explicit HoldRow(QWidget *parent) : QFrame(parent)
    {
        m_text->setTextFormat(Qt::PlainText);
        m_text->setWordWrap(true);
        makeRow(this, {.margins = {10, 5, 10, 5}, .spacing = 10}, {m_pill, {m_text, 1}, m_show, m_act});
        m_show->setText(tr("Show"));
    }

    void setHold(const Hold &hold, std::chrono::system_clock::time_point now)
    {
        m_hold = hold;
        m_pill->setPill(pillOfHold(hold));
        const bool lost = hold.state == State::Lost;
        setProperty("look", lost ? u"banner-critical"_s : u"banner-info"_s);
        for (QWidget *widget : std::initializer_list<QWidget *>{this, m_text}) {
            widget->style()->unpolish(widget);
            widget->style()->polish(widget);
        }
        m_act->setText(isOver(hold.state)             ? tr("Dismiss")
                       : hold.state == State::Waiting ? tr("Stop waiting")
                                                      : tr("Release"));
        tick(now);
    }

    void tick(std::chrono::system_clock::time_point now)
    {
        const QString lock = label(m_hold.request.lock.text(), 120);
        const QString recipe = QString::fromLatin1(m_hold.request.recipe);
        const auto age = formatDuration(duration_cast<milliseconds>(now - m_hold.since));
        const QString message = label(m_hold.message.toUtf8(), 300);
        const QString because = message.isEmpty() ? QString() : u": "_s + message;
        switch (m_hold.state) {
        case State::Waiting: m_text->setText(tr("%1 · %2 · waiting %3").arg(lock, recipe, age)); break;
        case State::Held:
            m_text->setText(m_hold.fencingToken
                                ? tr("%1 · %2 · held %3 · fencing token %4").arg(lock, recipe, age, tokenText())
                                : tr("%1 · %2 · held %3").arg(lock, recipe, age));
            break;
        case State::Released: m_text->setText(tr("%1 was released%2").arg(lock, because)); break;
        case State::Lost:
            m_text->setText(tr("You no longer hold %1%2. Stop all work that depends on it.").arg(lock, because));
            break;
        case State::Failed: m_text->setText(tr("%1 was not acquired%2").arg(lock, because)); break;
        }
    }

    // As the lock's own detail says it.
    [[nodiscard]] QString tokenText() const
    {
        const bool isHex = infoOf(recipes::recipeOf(m_hold.request.recipe).backend).isTokenTransactionId;
        return isHex ? u"0x"_s + QString::number(*m_hold.fencingToken, 16) : QString::number(*m_hold.fencingToken);
    }
    [[nodiscard]] const Hold &hold() const { return m_hold; }
    [[nodiscard]] QPushButton *act() const { return m_act; }
    [[nodiscard]] QPushButton *showButton() const { return m_show; }

private:
    Hold m_hold;
    PillLabel *m_pill = new PillLabel(this);
    QLabel *m_text = new QLabel(this);
    QPushButton *m_show = new QPushButton(this);
    QPushButton *m_act = new QPushButton(this);
};

HoldsPanel::HoldsPanel(QWidget *parent)
    : QWidget(parent), m_column(makeColumn(this, {.margins = {12, 8, 12, 0}, .spacing = 4}, {}))
{
    setObjectName(u"holdsPanel"_s);
    hide();
}

void HoldsPanel::setHold(const Hold &hold)
{
    if (hold.state == State::Released) { // as asked for: nothing to read
        dismiss(hold.id);
        return;
    }
    auto &row = m_rows[hold.id];
    if (!row) {
        row = new HoldRow(this);
        m_column->addWidget(row);
        const auto id = hold.id;
        connect(row->act(), &QPushButton::clicked, this, [this, id] {
            const Hold known = m_rows.at(id)->hold();
            if (isOver(known.state))
                dismiss(id);
            else
                emit releaseRequested(id);
        });
        connect(row->showButton(), &QPushButton::clicked, this,
                [this, id] { emit lockActivated(m_rows.at(id)->hold().request.lock); });
    }
    row->setHold(hold, m_clock());
    show();
    emit changed();
}

void HoldsPanel::dismiss(quint64 id)
{
    const auto row = m_rows.find(id);
    if (row == m_rows.end())
        return;
    row->second->hide();
    row->second->deleteLater();
    m_rows.erase(row);
    setVisible(!m_rows.empty());
    emit changed();
}

QSet<inspect::LockName> HoldsPanel::locks() const
{
    QSet<inspect::LockName> locks;
    for (const auto &[id, row] : m_rows) {
        if (!isOver(row->hold().state))
            locks.insert(row->hold().request.lock);
    }
    return locks;
}

QHash<QByteArray, quint64> HoldsPanel::contendersIn(const inspect::LockName &lock) const
{
    QHash<QByteArray, quint64> own;
    for (const auto &[id, row] : m_rows) {
        const Hold &hold = row->hold();
        if (!isOver(hold.state) && !hold.contender.isEmpty() && hold.request.lock == lock)
            own.insert(hold.contender, id);
    }
    return own;
}

void HoldsPanel::tick()
{
    for (const auto &[id, row] : m_rows)
        row->tick(m_clock());
}

} // namespace lockscope::ui

#include "holdspanel.moc"

#include "moc_holdspanel.cpp"
