// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/statusbar.h"

#include "core/base/text.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QStyle>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

QString clockTime(std::chrono::system_clock::time_point time)
{
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
    return QDateTime::fromMSecsSinceEpoch(ms).toString(u"HH:mm:ss"_s);
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

} // namespace

StatusBar::StatusBar(const ConnectionBook &book, QWidget *parent)
    : QFrame(parent), m_book(book), m_asOf(new QLabel(this)), m_watches(new QLabel(this)),
      m_budget(new QProgressBar(this)), m_bytes(new QLabel(this)), m_requests(new QLabel(this)),
      m_coverage(new QLabel(this)), m_progress(new QLabel(this))
{
    setProperty("look", u"statusbar"_s);
    setFixedHeight(28);
    setObjectName(u"statusBar"_s);
    for (auto *label : {m_asOf, m_watches, m_bytes, m_requests, m_coverage, m_progress})
        label->setTextFormat(Qt::PlainText);
    m_asOf->setObjectName(u"asOf"_s);
    m_coverage->setObjectName(u"coverage"_s);
    m_progress->setObjectName(u"progress"_s);
    m_coverage->setMinimumWidth(0);
    m_coverage->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_budget->setTextVisible(false);
    m_budget->setFixedSize(80, 6);
    m_budget->setAccessibleName(tr("Watch budget"));
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(12, 1, 12, 0);
    row->setSpacing(18);
    row->addWidget(m_asOf);
    auto *watching = new QHBoxLayout;
    watching->setSpacing(6);
    watching->addWidget(m_watches);
    watching->addWidget(m_budget);
    watching->addWidget(m_bytes);
    row->addLayout(watching);
    row->addWidget(m_requests);
    row->addWidget(m_coverage, 1);
    row->addWidget(m_progress);
    connect(&book, &ConnectionBook::changed, this, &StatusBar::refresh);
    refresh();
}

void StatusBar::setContext(const ConnectionName &connection)
{
    m_context = connection;
    refresh();
}

void StatusBar::setPaused(bool paused)
{
    m_paused = paused;
    refresh();
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
                        : !oldest ? tr("nothing seen yet")
                                  : tr("as of %1").arg(clockTime(*oldest)) + (m_paused ? tr(" · paused") : QString()));
    setTone(*m_asOf, stale ? u"critical"_s : m_paused ? u"warning"_s : QString());
    const bool budgeted = sum.watchBudgetBytes > 0;
    m_watches->setVisible(budgeted || sum.watches > 0);
    m_watches->setText(tr("watches %1").arg(grouped(sum.watches)));
    m_budget->setVisible(budgeted);
    m_bytes->setVisible(budgeted && width() > 860);
    if (budgeted) {
        m_budget->setRange(0, 1000);
        m_budget->setValue(static_cast<int>(std::min<qint64>(1000, sum.watchedBytes * 1000 / sum.watchBudgetBytes)));
        m_bytes->setText(tr("%1 of %2 KiB")
                             .arg(grouped((sum.watchedBytes + 1023) / 1024), grouped(sum.watchBudgetBytes / 1024)));
    }
    m_requests->setVisible(!shown.empty());
    m_requests->setText(tr("%1 requests/s").arg(sum.requestsPerSecond, 0, 'f', sum.requestsPerSecond < 9.95 ? 1 : 0));
    refreshCoverage(shown);
    refreshProgress(shown);
}

void StatusBar::refreshCoverage(const std::vector<const ConnectionStatus *> &shown)
{
    QStringList missing;
    for (const auto *status : shown) {
        for (const auto &coverage : m_book.coverageOf(status->name)) {
            if (!coverage.complete)
                missing << (shown.size() > 1 ? label(status->name.bytes(), 30) + u": "_s : QString())
                        + label(coverage.message.toUtf8(), 160);
        }
    }
    m_coverage->setText(missing.isEmpty() ? QString() : tr("◐ coverage: ") + missing.join(u" · "_s));
    m_coverage->setToolTip(plainToolTip(missing.join(u'\n')));
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
        const bool redis = backendOf(status->scheme) == BackendKind::Redis;
        const QString things = redis ? tr("keys") : tr("znodes");
        QString line;
        if (progress.running && progress.total > 0)
            line = tr("scanned %1 of %2 %3").arg(grouped(progress.done), grouped(progress.total), things);
        else if (progress.done > 0)
            line = tr("%1 %2").arg(grouped(progress.done), things);
        line += (line.isEmpty() ? QString() : u" · "_s) + tr("new locks by %1").arg(progress.how);
        lines << line;
        tips << label(status->name.bytes(), 40) + u": "_s + line;
    }
    // All of them fit only for one or two; the tip has the rest.
    m_progress->setText(lines.size() > 1 && width() < 1300 ? lines.front() + u" …"_s : lines.mid(0, 2).join(u" · "_s));
    m_progress->setVisible(width() > 760);
    m_progress->setToolTip(plainToolTip(tips.join(u'\n')));
}

void StatusBar::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    refresh();
}

} // namespace lockscope::ui
