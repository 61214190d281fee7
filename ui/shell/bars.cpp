// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/bars.h"

#include "core/base/duration.h"
#include "core/base/logging.h"
#include "core/base/text.h"
#include "ui/models/screenclock.h"
#include "ui/parts/environment.h"
#include "ui/parts/labels.h"
#include "ui/parts/layouts.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QDateTime>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QStyle>
#include <QTimer>

#include <algorithm>

namespace lockscope::ui {

namespace {

void setLook(QWidget &widget, const QString &look)
{
    if (widget.property("look") == look)
        return;
    widget.setProperty("look", look);
    widget.style()->unpolish(&widget);
    widget.style()->polish(&widget);
}

} // namespace

TopBar::TopBar(const ConnectionBook &book, QWidget *parent)
    : QFrame(parent), m_book(book), m_title(new QLabel(u"Lockscope"_s, this)),
      m_find(named(new QLineEdit(this), u"find"_s, tr("Find"))),
      m_filters(named(new QPushButton(u"▾"_s, this), u"filtersButton"_s, tr("Saved filters"))),
      m_menu(named(new QPushButton(u"⋯"_s, this), u"menuButton"_s, tr("All actions"))),
      m_environment(named(new QLabel(this), u"environment"_s)),
      m_writes(named(new QPushButton(this), u"writesButton"_s)),
      m_pause(named(makeButton({}, this, &TopBar::pauseToggled), u"pauseButton"_s))
{
    setProperty("look", u"topbar"_s);
    setFixedHeight(45);
    m_title->setFont(textFont(13, QFont::Bold));
    m_title->setStyleSheet(u"font-weight: 700;"_s);

    m_find->setPlaceholderText(tr("Find a lock, session or host (Ctrl+F)"));
    m_find->setProperty("look", u"find"_s);
    m_find->setClearButtonEnabled(true);
    m_find->setMinimumWidth(140);
    m_find->setMaximumWidth(450);
    m_find->installEventFilter(this);
    // A filter over 100,000 rows need not run for every letter.
    auto *pauseInTyping = new QTimer(this);
    pauseInTyping->setSingleShot(true);
    pauseInTyping->setInterval(120);
    connect(m_find, &QLineEdit::textChanged, pauseInTyping, qOverload<>(&QTimer::start));
    connect(pauseInTyping, &QTimer::timeout, this, [this] { emit findChanged(m_find->text()); });
    connect(m_find, &QLineEdit::returnPressed, this, [this, pauseInTyping] {
        pauseInTyping->stop();
        emit findChanged(m_find->text());
        emit findDone();
    });

    m_environment->setTextFormat(Qt::PlainText);
    m_environment->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_writes->setProperty("look", u"tag-readonly"_s);
    m_writes->setToolTip(
        tr("Which connections Lockscope may write to, and how many writes it sent. A click changes it."));
    connect(m_writes, &QPushButton::clicked, this,
            [this] { emit writesMenuRequested(m_writes->mapToGlobal(QPoint(0, m_writes->height()))); });
    m_pause->setToolTip(tr(
        "Freeze the display (Space). Changes that arrive in the meantime are counted below. Actions always check the live state."));
    setPaused(false);
    auto *time = named(makeButton(tr("Time"), this, &TopBar::timeRequested), u"timeButton"_s);
    time->setToolTip(tr("View recorded history (Ctrl+T)"));
    auto *help = makeButton(u"?"_s, this, &TopBar::helpRequested);
    help->setAccessibleName(tr("Keys"));
    help->setToolTip(tr("Keys (?)"));
    m_filters->setFixedWidth(34);
    m_filters->setToolTip(tr("Saved filters (Ctrl+Shift+S)"));
    m_menu->setToolTip(tr("All actions (F10)"));
    auto *finding = makeRow({.spacing = 4}, {{m_find, 1}, m_filters});
    makeRow(this, {.margins = {12, 0, 12, 1}, .spacing = 10},
            {m_title, Gap{8}, {finding, 1}, Stretch{1}, m_environment, m_writes, time, m_pause, help, m_menu});
    connect(&book, &ConnectionBook::changed, this, &TopBar::refresh);
    refresh();
}

void TopBar::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    m_title->setVisible(width() >= 900); // the window's own title says it
}

void TopBar::setContext(const ConnectionName &connection)
{
    m_context = connection;
    refresh();
}

void TopBar::refresh()
{
    const auto *one = m_book.find(m_context);
    const auto &all = m_book.all();
    m_environment->setVisible(one != nullptr);
    if (one) {
        showEnvironment(*m_environment, m_book, one->name);
    }
    const bool production =
        one ? one->production
            : std::any_of(all.begin(), all.end(), [](const auto &status) { return status.production; });
    setLook(*this, production ? u"topbar-production"_s : u"topbar"_s); // what is on screen may be production's
    qint64 writes = 0;
    qsizetype readOnly = 0;
    bool armedProduction = false;
    for (const auto &status : all) {
        if (one && status.name != one->name)
            continue;
        writes += status.writesSent;
        readOnly += status.readOnly;
        armedProduction |= status.production && !status.readOnly;
    }
    const qsizetype count = one ? 1 : static_cast<qsizetype>(all.size());
    const QString sent = writes == 1 ? u"1 write sent"_s : u"%1 writes sent"_s.arg(writes);
    const QString may = readOnly == count ? u"READ-ONLY"_s
                        : readOnly == 0   ? u"WRITES ALLOWED"_s
                                          : u"READ-ONLY %1 of %2"_s.arg(readOnly).arg(count);
    m_writes->setVisible(count > 0);
    m_writes->setText(may + u" · "_s + sent);
    setLook(*m_writes, armedProduction ? u"tag-armed"_s : u"tag-readonly"_s);
}

void TopBar::focusFind()
{
    m_find->setFocus(Qt::ShortcutFocusReason);
    m_find->selectAll();
}

QString TopBar::findText() const
{
    return m_find->text();
}

void TopBar::setFindText(const QString &text)
{
    m_find->setText(text);
}

void TopBar::setPaused(bool paused)
{
    m_pause->setText(paused ? tr("Resume") : tr("Pause"));
}

bool TopBar::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_find && event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        if (key->key() == Qt::Key_Escape) {
            m_find->clear();
            emit findDone();
            return true;
        }
        if (key->key() == Qt::Key_Down) {
            emit findDone();
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

namespace {

QString clockTime(std::chrono::system_clock::time_point time)
{
    return timeOfDay(time).toString(u"HH:mm:ss"_s);
}

QString grouped(qint64 number)
{
    return QLocale(QLocale::English).toString(number);
}

void setTone(QLabel &label, const QString &tone)
{
    if (label.property("tone").toString() == tone)
        return;
    label.setProperty("tone", tone);
    label.style()->unpolish(&label);
    label.style()->polish(&label);
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
    setTone(*m_notice, u"warning"_s);
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
    if (m_pausedAt) {
        const QString held = m_waiting == 0   ? tr("nothing changed since")
                             : m_waiting == 1 ? tr("1 change waits")
                                              : tr("%1 changes wait").arg(grouped(m_waiting));
        m_asOf->setText(tr("paused at %1 · %2").arg(clockTime(*m_pausedAt), held));
    }
    if (m_past)
        m_asOf->setText(tr("◆ PAST: %1").arg(clockTime(*m_past)));
    setTone(*m_asOf, stale ? u"critical"_s : m_pausedAt || m_past ? u"warning"_s : QString());
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
    const auto how =
        partly > 1 ? tr("◐ coverage: %1 of %2 in part · ").arg(partly).arg(shown.size()) : tr("◐ coverage: ");
    m_coverage->setText(all.isEmpty() ? QString() : how + worst.join(u" · "_s));
    m_coverage->setToolTip(plainToolTip(all.join(u'\n')));
    setTone(*m_coverage, u"warning"_s);
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

} // namespace lockscope::ui

#include "moc_bars.cpp"
