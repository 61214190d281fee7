// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/findingdetail.h"

#include "core/base/text.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/views/incidentlist.h"

#include <QResizeEvent>
#include <QScrollBar>
#include <QVBoxLayout>

namespace lockscope::ui {

using inspect::Severity;

namespace {

QString mutedWords(const Mute &mute)
{
    return u"until %1: %2 (%3)"_s.arg(
        QDateTime::fromSecsSinceEpoch(mute.until.time_since_epoch().count()).toString(u"yyyy-MM-dd HH:mm"_s),
        harmless(mute.reason), wordsOf(mute));
}

} // namespace

FindingDetail::FindingDetail(QWidget *parent)
    : QFrame(parent), m_pill(new PillLabel(this)), m_title(makeLabel({}, u"title"_s, this)),
      m_facts(new FactsForm(this)), m_scroll(new QScrollArea(this)),
      m_lock(makeButton(tr("Go to lock"), this, &FindingDetail::lockRequested)),
      m_session(makeButton(tr("Session"), this, &FindingDetail::sessionRequested)),
      m_mute(makeButton(tr("Mute…"), this, &FindingDetail::muteRequested)),
      m_unmute(makeButton(tr("Unmute"), this, &FindingDetail::unmuteRequested))
{
    setProperty("look", u"panel"_s);
    setObjectName(u"findingDetail"_s);
    m_lock->setToolTip(tr("Enter"));
    m_session->setToolTip(tr("S"));
    m_mute->setToolTip(tr("M"));
    m_unmute->setToolTip(tr("U"));
    m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto *head = makeRow({.margins = {16, 10, 16, 8}, .spacing = 10},
                         {m_pill, {m_title, 1}, m_lock, m_session, m_mute, m_unmute});
    auto *inside = new QWidget;
    makeColumn(inside, {.margins = {16, 0, 16, 12}}, {m_facts, Stretch{1}});
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setAccessibleName(tr("What the finding means"));
    m_scroll->setWidget(inside);
    makeColumn(this, {.spacing = 0}, {head, {m_scroll, 1}});
    clear();
}

void FindingDetail::clear()
{
    m_facts->clear();
    m_shown.clear();
    m_pill->hide();
    m_title->setText(tr("Choose a finding: here stands what it means, and what to do."));
    for (auto *button : {m_lock, m_session, m_mute, m_unmute})
        button->hide();
}

void FindingDetail::setFinding(const FindingRow &row, SystemTime now, bool canMute)
{
    const auto &kind = inspect::kindOf(row.finding.code);
    m_pill->setPill(row.pill());
    m_pill->show();
    const auto names = mapped<QStringList>(row.locks, [&](const auto &lock) { return escaped(lock.text()); });
    m_title->setText(u"%1 · %2"_s.arg(kind.title, row.lockWords(u", "_s)));
    m_title->setToolTip(plainToolTip(names.join(u'\n')));
    m_lock->setText(names.size() > 1 ? tr("Go to lock…") : tr("Go to lock"));
    m_lock->show();
    m_session->setVisible(row.session().has_value());
    m_mute->setVisible(canMute && !row.muted);
    m_unmute->setVisible(canMute && row.muted);
    auto about = mapped<QStringList>(row.everybody(), [&](const auto &party) { return party.words; });
    if (row.concerned > row.parties.size())
        about << tr("and %1 more").arg(row.concerned - row.parties.size());
    const auto muted = row.muted ? mutedWords(*row.muted) : QString();
    const QStringList what{QString::number(row.number), inspect::word(row.finding.code), muted, row.why};
    const auto shown = (what + names + about).join(u'\n');
    if (shown == m_shown) {
        tick(row, now);
        return;
    }
    m_shown = shown;
    const int at = m_scroll->verticalScrollBar()->value();
    m_facts->clear();
    m_facts->addText(tr("Seen"), row.messageAtTime(now));
    if (row.muted)
        m_facts->addText(tr("Muted"), muted);
    if (names.size() > 1)
        m_facts->addText(tr("Locks"), names.join(u'\n'));
    if (!about.isEmpty())
        m_facts->addText(tr("Who"), about.join(u'\n'));
    m_facts->addText(tr("It means"), withoutCodeMarks(kind.meaning));
    m_facts->addText(tr("To confirm"), withoutCodeMarks(kind.confirm));
    m_facts->addText(tr("What to do"), withoutCodeMarks(kind.remedy));
    if (!row.why.isEmpty())
        m_facts->addText(tr("Seen as a lock"), harmless(row.why));
    m_facts->addText(tr("First seen"),
                     row.isOlder ? tr("%1, at the initial scan; it may be older").arg(row.sinceWords(now).mid(2))
                                 : row.sinceWords(now));
    m_scroll->verticalScrollBar()->setValue(at);
}

constexpr qsizetype mostBanners = 3;
constexpr int linesWhereLow = 2;
constexpr int linesOfAnIncident = 3;

FindingBanners::FindingBanners(QWidget *parent)
    : QWidget(parent), m_column(new QVBoxLayout), m_incidentBanner(named(new Banner(this), u"incidentBanner"_s))
{
    makeColumn(this, {.margins = {16, 0, 16, 0}, .spacing = 6}, {m_incidentBanner, m_column});
    m_incidentBanner->button()->setProperty("look", u"danger"_s);
    m_incidentBanner->secondButton()->setProperty("look", u"flat"_s);
    m_incidentBanner->hide();
    connect(m_incidentBanner, &Banner::actionRequested, this, [this] { emit incidentActRequested(*m_incident); });
    connect(m_incidentBanner, &Banner::secondRequested, this, [this] {
        m_isFolded = false;
        m_isOpen = true;
        refreshFindings();
    });
    m_column->setSpacing(6);
}

void FindingBanners::show(const inspect::LockSnapshot &lock, inspect::ServerTime now)
{
    if (lock.lock != m_of)
        m_isOpen = false;
    m_of = lock.lock;
    m_all = lock.findings;
    m_now = now;
    refreshFindings();
}

void FindingBanners::refreshFindings()
{
    m_findings = m_all;
    std::erase_if(m_findings, [this](const auto &finding) { return isExplained(finding); });
    std::ranges::stable_sort(m_findings, std::ranges::greater(), &inspect::Finding::severity);
    showIncident();
    refresh();
}

void FindingBanners::setIncident(const inspect::Incident *incident)
{
    const bool isOther =
        m_incident.has_value() != (incident != nullptr)
        || (incident && (incident->code != m_incident->code || incident->locks != m_incident->locks));
    if (isOther)
        m_isFolded = true;
    m_incident = incident ? std::optional(*incident) : std::nullopt;
    refreshFindings();
}

// Of one banner the worst is it.
bool FindingBanners::isIncidentWorst() const
{
    return m_incident && (m_findings.empty() || m_findings.front().severity <= m_incident->severity);
}

void FindingBanners::showIncident()
{
    m_incidentBanner->setVisible(m_incident && (isIncidentWorst() || m_isOpen || !isLow()));
    if (!m_incident)
        return;
    const auto text = textOf(*m_incident);
    const auto look = m_incident->severity == Severity::Critical  ? Banner::Look::Critical
                      : m_incident->severity == Severity::Warning ? Banner::Look::Warning
                                                                  : Banner::Look::Info;
    const bool isClosed = m_isFolded || (isLow() && !m_isOpen);
    const auto more = std::ranges::count_if(m_all, [this](const inspect::Finding &finding) {
        return finding.code != m_incident->code && (isLow() || isExplained(finding));
    });
    m_incidentBanner->setMostLines(m_isLow ? linesWhereLow : m_isTall ? linesOfAnIncident : 0);
    m_incidentBanner->say(look, text.kind, incidentSentence(), m_isPast ? QString() : text.action,
                          isClosed && more > 0 ? tr("and %1 more").arg(more) : QString());
    m_incidentBanner->setToolTip(plainToolTip(incidentSentence()));
}

// What its finding says of this lock counts down; a root blocker is more than any one finding.
QString FindingBanners::incidentSentence() const
{
    const auto own = std::ranges::find(m_all, m_incident->code, &inspect::Finding::code);
    const bool isOneFinding = own != m_all.end() && m_incident->code != inspect::FindingCode::LongWait
                              && m_incident->code != inspect::FindingCode::Deadlock;
    const auto cause = isOneFinding ? harmless(messageAt(*own, m_now)) : label(m_incident->cause.toUtf8(), 600);
    return u"%1%2 %3"_s.arg(cause, cause.endsWith(u'.') ? QString() : u"."_s,
                            label(m_incident->action.toUtf8(), 600));
}

bool FindingBanners::isExplained(const inspect::Finding &finding) const
{
    const auto isFolded = [&](const inspect::FoldedFinding &folded) {
        return folded.lock == m_of && folded.code == finding.code;
    };
    return m_incident
           && (m_incident->code == finding.code || (m_isFolded && std::ranges::any_of(m_incident->folded, isFolded)));
}

void FindingBanners::setRoom(bool isTall, bool isLow)
{
    if (m_isTall == isTall && m_isLow == isLow)
        return;
    m_isTall = isTall;
    m_isLow = isLow;
    refreshFindings();
}

void FindingBanners::setPast(bool isPast)
{
    m_isPast = isPast;
    showIncident();
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
        showIncident();
        refresh();
    });
    m_column->addWidget(banner);
    return banner;
}

void FindingBanners::refresh()
{
    const auto all = static_cast<qsizetype>(m_findings.size());
    const bool isFolded = isLow() && !m_isOpen;
    const auto shown = std::min(isFolded ? qsizetype(isIncidentWorst() ? 0 : 1) : mostBanners, all);
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
        const auto unsaid = all - shown + (m_incident && isFolded && !isIncidentWorst() ? 1 : 0);
        say(*banner, m_findings[static_cast<std::size_t>(i)], i == shown - 1 ? unsaid : 0, i == 0);
    }
    setVisible(all > 0 || m_incident);
}

void FindingBanners::say(Banner &banner, const inspect::Finding &finding, qsizetype unsaid, bool opens)
{
    const auto look = finding.severity == Severity::Critical  ? Banner::Look::Critical
                      : finding.severity == Severity::Warning ? Banner::Look::Warning
                                                              : Banner::Look::Info;
    const bool isFolded = isLow() && !m_isOpen;
    QString sentence = harmless(messageAt(finding, m_now));
    if (unsaid > 0 && !isFolded)
        sentence += tr("  (and %1 more)").arg(unsaid);
    const auto &kind = inspect::kindOf(finding.code);
    const QString title = kind.title.toString();
    QString action;
    if (opens && isLow() && m_isOpen)
        action = tr("Less");
    else if (opens && isFolded && unsaid > 0)
        action = tr("and %1 more").arg(unsaid);
    else if (opens && isFolded && banner.linesOf(title, sentence, width() - 32) > linesWhereLow)
        action = tr("All of it");
    banner.say(look, title, sentence, action);
    banner.setToolTip(plainToolTip(helpOn(kind)));
}

} // namespace lockscope::ui

#include "moc_findingdetail.cpp"
