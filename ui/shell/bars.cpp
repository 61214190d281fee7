// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/bars.h"

#include "core/base/logging.h"
#include "core/base/text.h"
#include "ui/models/screenclock.h"
#include "ui/parts/labels.h"
#include "ui/parts/parts.h"

#include <QPainter>
#include <QProgressBar>
#include <QStyle>

#include <cmath>

namespace lockscope::ui {

namespace {

QString clockTime(std::chrono::system_clock::time_point time)
{
    return timeOfDay(time).toString(u"HH:mm:ss"_s);
}

QString grouped(qint64 number)
{
    return QLocale(QLocale::English).toString(number);
}

QString rate(double perSecond)
{
    return QString::number(perSecond, 'f', perSecond < 9.95 ? 1 : 0);
}

// Of all that a connection's servers are asked, what Lockscope asks. What is on its way is counted by us first.
std::optional<double> shareOf(const inspect::Cost &cost)
{
    const auto all = cost.servedPerSecond.value_or(0);
    return all > 0 ? std::optional(std::min(cost.requestsPerSecond / all, 1.0)) : std::nullopt;
}

QString percent(double share)
{
    const double all = share * 100;
    return all > 0 && all < 0.05 ? u"< 0.1 %"_s : QString::number(all, 'f', all < 9.95 ? 1 : 0) + u" %"_s;
}

constexpr int footHeight = 28;
constexpr int footMargin = 14;
constexpr int betweenKeys = 16;
constexpr qreal capPadding = 5;
constexpr qreal capHeight = 18;
constexpr qreal betweenCapAndText = 5;

QFont capFont()
{
    return textFont(11, QFont::DemiBold);
}

bool areAlike(const FootKey &a, const FootKey &b)
{
    return a.key == b.key && a.text == b.text;
}

} // namespace

StatusBar::StatusBar(const ConnectionBook &book, QWidget *parent)
    : QFrame(parent), m_book(book), m_asOf(named(new QLabel(this), u"asOf"_s)), m_watches(new QLabel(this)),
      m_budget(new QProgressBar(this)), m_bytes(new QLabel(this)), m_requests(named(new QLabel(this), u"requests"_s)),
      m_coverage(named(new ElidedLabel(this), u"coverage"_s)), m_progress(named(new QLabel(this), u"progress"_s)),
      m_notice(named(new QLabel(this), u"notice"_s))
{
    setProperty("look", u"statusbar"_s);
    setFixedHeight(28);
    setObjectName(u"statusBar"_s);
    for (auto *label : {m_asOf, m_watches, m_bytes, m_requests, m_coverage, m_progress})
        label->setTextFormat(Qt::PlainText);
    m_coverage->setMinimumWidth(0);
    m_coverage->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_budget->setTextVisible(false);
    m_budget->setFixedSize(80, 6);
    m_budget->setAccessibleName(tr("Watch budget"));
    m_asOf->setToolTip(tr("The age of what is shown: the last moment at which all of it was known to be true"));
    for (QWidget *part : std::initializer_list<QWidget *>{m_watches, m_budget, m_bytes})
        part->setToolTip(tr("Watches that Lockscope has set on ZooKeeper, and how much of its budget they take: what "
                            "a server has to send again after a reconnect. Beyond it Lockscope polls."));
    auto *watching = makeRow({.spacing = 6}, {m_watches, m_budget, m_bytes});
    makeRow(this, {.margins = {12, 1, 12, 0}, .spacing = 18},
            {m_asOf, watching, m_requests, {m_coverage, 1}, m_progress, m_notice});
    m_notice->setTextFormat(Qt::PlainText);
    m_notice->hide();
    connect(&book, &ConnectionBook::changed, this, &StatusBar::refresh);
    refresh();
}

void StatusBar::setContext(const ConnectionName &connection)
{
    m_context = connection;
    refresh();
}

void StatusBar::setPaused(std::optional<std::chrono::system_clock::time_point> at, int waiting)
{
    m_pausedAt = at;
    m_waiting = waiting;
    refresh();
}

void StatusBar::setPast(std::optional<std::chrono::system_clock::time_point> at)
{
    m_past = at;
    refresh();
}

void StatusBar::notify(const QString &sentence)
{
    const auto shown = label(sentence.toUtf8(), 300);
    m_notice->setText(m_notice->fontMetrics().elidedText(shown, Qt::ElideRight, std::max(260, roomForWords())));
    m_notice->setToolTip(plainToolTip(shown));
    setStyleProperty(m_notice, "tone", u"warning"_s);
    m_notice->show();
    fitProgress();
    QTimer::singleShot(std::chrono::seconds(20), m_notice, [this, text = m_notice->text()] {
        if (m_notice->text() == text)
            m_notice->hide();
        fitProgress();
    });
}

void StatusBar::showClockChange(const ClockJump &jump)
{
    qCWarning(logInspect, "%s", qUtf8Printable(wordsOf(jump)));
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(jump.at).time_since_epoch().count();
    const auto at = QDateTime::fromMSecsSinceEpoch(ms).toString(u"HH:mm:ss"_s);
    const auto span = formatDuration(std::chrono::abs(jump.by));
    refresh();
    notify(jump.by < std::chrono::milliseconds(0)
               ? tr("This machine's clock was set %1 back at %2; ages are not changed by it").arg(span, at)
               : tr("This machine's clock was set %1 forward at %2; ages are not changed by it").arg(span, at));
}

void StatusBar::refresh()
{
    std::vector<const ConnectionStatus *> shown;
    for (const auto &status : m_book.all()) {
        if (m_context.isEmpty() || !m_book.find(m_context) || status.name == m_context)
            shown.push_back(&status);
    }
    inspect::Cost sum;
    std::optional<std::chrono::system_clock::time_point> oldest;
    bool stale = false;
    for (const auto *status : shown) {
        sum.watches += status->cost.watches;
        sum.watchedBytes += status->cost.watchedBytes;
        sum.watchBudgetBytes += status->cost.watchBudgetBytes;
        sum.requestsPerSecond += status->cost.requestsPerSecond;
        stale |= ConnectionBook::isStale(*status);
        if (status->asOf != std::chrono::system_clock::time_point{})
            oldest = oldest ? std::min(*oldest, status->asOf) : status->asOf;
    }
    // With several connections the oldest counts: everything on screen is at least that new.
    m_asOf->setText(shown.empty() ? tr("no connection")
                    : !oldest     ? tr("nothing seen yet")
                                  : tr("as of %1").arg(clockTime(*oldest)));
    if (m_pausedAt)
        m_asOf->setText(tr("paused at %1 · %2").arg(clockTime(*m_pausedAt), heldBack()));
    if (m_past)
        m_asOf->setText(tr("◷ viewing %1").arg(clockTime(*m_past)));
    setStyleProperty(m_asOf, "tone", m_pausedAt || m_past ? u"past"_s : stale ? u"critical"_s : QString());
    const bool budgeted = sum.watchBudgetBytes > 0;
    m_watches->setVisible(budgeted || sum.watches > 0);
    m_watches->setText(tr("watches %1").arg(grouped(sum.watches)));
    m_budget->setVisible(budgeted);
    m_bytes->setVisible(budgeted && width() > 860);
    if (budgeted) {
        m_budget->setRange(0, 1000);
        m_budget->setValue(static_cast<int>(std::min<qint64>(1000, sum.watchedBytes * 1000 / sum.watchBudgetBytes)));
        m_bytes->setText(
            tr("%1 of %2 KiB").arg(grouped((sum.watchedBytes + 1023) / 1024), grouped(sum.watchBudgetBytes / 1024)));
    }
    refreshRequests(shown, sum.requestsPerSecond);
    refreshCoverage(shown);
    refreshProgress(shown);
}

QString StatusBar::heldBack() const
{
    return m_waiting == 0   ? tr("nothing changed since")
           : m_waiting == 1 ? tr("1 change waits")
                            : tr("%1 changes wait").arg(grouped(m_waiting));
}

// With several connections the one counts on which Lockscope weighs most, by its name; the tip has all of them.
void StatusBar::refreshRequests(const std::vector<const ConnectionStatus *> &shown, double perSecond)
{
    m_requests->setVisible(!shown.empty() && !m_past); // what is recorded costs nothing
    QStringList tips{tr("What Lockscope asks the servers, all connections shown taken together")};
    QString named;
    double most = -1;
    for (const auto *status : shown) {
        const auto name = label(status->name.bytes(), 40);
        const auto ours = rate(status->cost.requestsPerSecond);
        const auto share = shareOf(status->cost);
        tips << (share ? tr("%1: %2 of the %3 requests/s that the servers count themselves, %4")
                             .arg(name, ours, rate(*status->cost.servedPerSecond), percent(*share))
                       : tr("%1: %2 requests/s; the servers do not report the total load").arg(name, ours));
        if (share.value_or(-1) > most) {
            most = *share;
            named = shown.size() > 1 ? label(status->name.bytes(), 20) + u": "_s : QString();
        }
    }
    auto text = tr("%1 requests/s").arg(rate(perSecond));
    if (most >= 0 && width() > 860)
        text += u" · "_s + named + tr("%1 of all").arg(percent(most));
    m_requests->setText(text);
    m_requests->setToolTip(plainToolTip(tips.join(u'\n')));
}

void StatusBar::refreshCoverage(const std::vector<const ConnectionStatus *> &shown)
{
    QStringList all;
    QStringList worst; // of the connection of which most is missing
    int partly = 0;
    for (const auto *status : shown) {
        QStringList missing;
        for (const auto &coverage : m_book.coverageOf(status->name)) {
            if (!coverage.complete)
                missing << (shown.size() > 1 ? label(status->name.bytes(), 30) + u": "_s : QString())
                               + label(coverage.message.toUtf8(), 160);
        }
        missing.removeDuplicates();
        all += missing;
        partly += missing.isEmpty() ? 0 : 1;
        if (missing.size() > worst.size())
            worst = missing;
    }
    const auto what = worst.join(u" · "_s);
    const auto text = partly > 1 ? tr("◐ Incomplete on %1 of %2: %3").arg(partly).arg(shown.size()).arg(what)
                                 : tr("◐ Incomplete: %1").arg(what);
    m_coverage->setText(all.isEmpty() ? QString() : text);
    m_coverage->setToolTip(plainToolTip(all.join(u'\n')));
    setStyleProperty(m_coverage, "tone", u"warning"_s);
}

void StatusBar::refreshProgress(const std::vector<const ConnectionStatus *> &shown)
{
    QStringList lines;
    QStringList tips;
    for (const auto *status : shown) {
        const auto &progress = status->progress;
        if (progress.how.isEmpty())
            continue;
        const auto backend = backendOf(status->scheme);
        const auto counted = progress.running && progress.total > 0 ? progress.total : progress.done;
        const QString things = backend ? infoOf(*backend).words.lookedAs(counted) : QString();
        QString line;
        if (progress.running && progress.total > 0)
            line = tr("scanned %1 of %2 %3").arg(grouped(progress.done), grouped(progress.total), things);
        else if (progress.done > 0)
            line = tr("%1 %2").arg(grouped(progress.done), things);
        line += (line.isEmpty() ? QString() : u" · "_s) + tr("new locks by %1").arg(progress.how);
        const auto named = label(status->name.bytes(), 40) + u": "_s + line;
        const auto said = shown.size() > 1 ? named : line;
        lines.insert(progress.running ? 0 : lines.size(), said);
        tips << named;
    }
    m_progress->setToolTip(plainToolTip(tips.join(u'\n')));
    m_progressLines = lines;
    fitProgress();
}

// Whole lines only, as many as have room beside what matters more; the tip has the rest.
int StatusBar::roomForWords() const
{
    int room = width() - layout()->contentsMargins().left() - layout()->contentsMargins().right();
    for (const auto *part : std::initializer_list<QWidget *>{m_asOf, m_watches, m_budget, m_bytes, m_requests})
        room -= part->isHidden() ? 0 : part->sizeHint().width() + layout()->spacing();
    return room;
}

void StatusBar::fitProgress()
{
    const QFontMetrics metrics(m_progress->font());
    int room = roomForWords();
    room -= m_notice->isHidden() ? 0 : m_notice->sizeHint().width() + layout()->spacing();
    if (!m_coverage->text().isEmpty())
        room -= metrics.horizontalAdvance(m_coverage->text()) + layout()->spacing();
    qsizetype most = m_progressLines.size();
    QString text;
    for (; most > 0; --most) {
        const auto left = m_progressLines.size() - most;
        text = m_progressLines.mid(0, most).join(u"   "_s) + (left > 0 ? tr("   and %1 more").arg(left) : QString());
        if (metrics.horizontalAdvance(text) + layout()->spacing() < room)
            break;
    }
    m_progress->setText(text);
    m_progress->setVisible(most > 0);
}

void StatusBar::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    refresh();
}

FootKeyButton::FootKeyButton(const FootKey &key, QWidget *parent) : QAbstractButton(parent), m_key(key.key)
{
    setText(key.text);
    setAccessibleName(u"%1, %2"_s.arg(key.key, key.text));
    setFocusPolicy(Qt::NoFocus); // the key is the way to it
    if (key.act)
        connect(this, &QAbstractButton::clicked, this, key.act);
    else
        setAttribute(Qt::WA_TransparentForMouseEvents);
}

qreal FootKeyButton::capWidth() const
{
    return std::max(capHeight, std::ceil(QFontMetricsF(capFont()).horizontalAdvance(m_key)) + capPadding * 2);
}

QSize FootKeyButton::sizeHint() const
{
    const qreal text = QFontMetricsF(textFont(12)).horizontalAdvance(this->text());
    return {static_cast<int>(std::ceil(capWidth() + betweenCapAndText + text)) + 1, footHeight - 1};
}

void FootKeyButton::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF cap(0.5, std::floor((height() - capHeight) / 2) + 0.5, capWidth() - 1, capHeight - 1);
    painter.setPen(t.edge);
    painter.setBrush(underMouse() ? t.selection : t.panel);
    painter.drawRoundedRect(cap, 4, 4);
    painter.drawLine(QPointF(cap.left() + 3, cap.bottom() - 1), QPointF(cap.right() - 3, cap.bottom() - 1));
    painter.setFont(capFont());
    painter.setPen(t.text);
    painter.drawText(cap.adjusted(0, -1, 0, -1), Qt::AlignCenter, m_key);
    painter.setFont(textFont(12));
    painter.setPen(underMouse() ? t.text : t.muted);
    painter.drawText(QRectF(cap.right() + betweenCapAndText, 0, width(), height()),
                     Qt::AlignVCenter | Qt::TextSingleLine, text());
}

FootBar::FootBar(QWidget *parent) : QFrame(parent)
{
    setObjectName(u"footBar"_s);
    setProperty("look", u"footBar"_s);
    setAccessibleName(tr("Keys"));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

QSize FootBar::sizeHint() const
{
    return {400, footHeight};
}

void FootBar::setKeys(std::vector<FootKey> keys)
{
    if (std::ranges::equal(keys, m_keys, areAlike))
        return;
    m_keys = std::move(keys);
    for (auto *button : m_buttons) {
        button->hide();        // at once, or it is painted among the new ones
        button->deleteLater(); // it may be the one that was clicked
    }
    m_buttons.clear();
    for (const auto &key : m_keys)
        m_buttons.push_back(new FootKeyButton(key, this));
    place();
}

void FootBar::setLast(FootKey key)
{
    delete m_last;
    m_last = new FootKeyButton(key, this);
    place();
}

QStringList FootBar::shown() const
{
    QStringList texts;
    for (const auto *button : m_buttons) {
        if (!button->isHidden())
            texts << button->key() + u' ' + button->text();
    }
    return texts;
}

void FootBar::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    place();
}

void FootBar::place()
{
    int right = width() - footMargin;
    if (m_last) {
        const QSize size = m_last->sizeHint();
        m_last->setGeometry(right - size.width(), 1, size.width(), height() - 1);
        m_last->show();
        right -= size.width() + betweenKeys;
    }
    int x = footMargin;
    bool hasRoom = true;
    for (auto *button : m_buttons) {
        const QSize size = button->sizeHint();
        hasRoom = hasRoom && x + size.width() <= right;
        button->setGeometry(x, 1, size.width(), height() - 1);
        button->setVisible(hasRoom);
        x += size.width() + betweenKeys;
    }
}

} // namespace lockscope::ui

#include "moc_bars.cpp"
