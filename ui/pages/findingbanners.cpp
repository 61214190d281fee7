// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/findingbanners.h"

#include "core/base/text.h"
#include "ui/models/lockfacts.h"
#include "ui/parts/notices.h"
#include "ui/theme/text.h"

#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using inspect::Severity;

namespace {

constexpr qsizetype mostBanners = 3;
constexpr int linesWhereLow = 2;

} // namespace

FindingBanners::FindingBanners(QWidget *parent) : QWidget(parent), m_column(new QVBoxLayout(this))
{
    m_column->setContentsMargins(16, 0, 16, 0);
    m_column->setSpacing(6);
}

void FindingBanners::show(const inspect::LockSnapshot &lock, inspect::ServerTime now)
{
    if (lock.lock != m_of)
        m_isOpen = false;
    m_of = lock.lock;
    m_findings = lock.findings;
    std::ranges::stable_sort(m_findings, std::ranges::greater(), &inspect::Finding::severity);
    m_now = now;
    refresh();
}

void FindingBanners::setLow(bool isLow)
{
    if (std::exchange(m_isLow, isLow) != isLow)
        refresh();
}

void FindingBanners::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    if (event->oldSize().width() != event->size().width())
        refresh();
}

Banner *FindingBanners::addBanner()
{
    auto *banner = new Banner(this);
    banner->button()->setProperty("look", u"flat"_s);
    banner->button()->setObjectName(u"openFindings"_s);
    connect(banner, &Banner::actionRequested, this, [this] {
        m_isOpen = !m_isOpen;
        refresh();
    });
    m_column->addWidget(banner);
    return banner;
}

void FindingBanners::refresh()
{
    const auto all = static_cast<qsizetype>(m_findings.size());
    const bool isFolded = m_isLow && !m_isOpen;
    const auto shown = std::min(isFolded ? qsizetype(1) : mostBanners, all);
    while (m_column->count() > shown) {
        auto *item = m_column->takeAt(m_column->count() - 1);
        item->widget()->deleteLater();
        item->widget()->hide();
        delete item;
    }
    while (m_column->count() < shown)
        addBanner();
    for (qsizetype i = 0; i < shown; ++i) {
        auto *banner = static_cast<Banner *>(m_column->itemAt(static_cast<int>(i))->widget());
        banner->setMostLines(isFolded ? linesWhereLow : 0);
        say(*banner, m_findings[static_cast<std::size_t>(i)], i == shown - 1 ? all - shown : 0, i == 0);
    }
    setVisible(all > 0);
}

void FindingBanners::say(Banner &banner, const inspect::Finding &finding, qsizetype unsaid, bool opens)
{
    const auto look = finding.severity == Severity::Critical  ? Banner::Look::Critical
                      : finding.severity == Severity::Warning ? Banner::Look::Warning
                                                              : Banner::Look::Info;
    const bool isFolded = m_isLow && !m_isOpen;
    QString sentence = harmless(messageAt(finding, m_now));
    if (unsaid > 0 && !isFolded)
        sentence += tr("  (and %1 more)").arg(unsaid);
    const auto &kind = inspect::kindOf(finding.code);
    const QString title = kind.title.toString();
    QString action;
    if (opens && m_isLow && m_isOpen)
        action = tr("Less");
    else if (opens && isFolded && unsaid > 0)
        action = tr("and %1 more").arg(unsaid);
    else if (opens && isFolded && banner.linesOf(title, sentence, width() - 32) > linesWhereLow)
        action = tr("All of it");
    banner.say(look, title, sentence, action);
    banner.setToolTip(plainToolTip(helpOn(kind)));
}

} // namespace lockscope::ui

#include "moc_findingbanners.cpp"
