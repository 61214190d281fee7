// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/player.h"

#include "core/base/text.h"
#include "ui/parts/pagetext.h"
#include "ui/parts/parts.h"
#include "ui/simulator/simulatortext.h"

#include <QLabel>
#include <QProgressBar>

namespace lockscope::ui {

Player::Player(Runner &runner, QWidget *parent)
    : QFrame(parent), m_runner(runner), m_text(makeLabel({}, {}, this)), m_bar(new QProgressBar(this)),
      m_cancel(named(makeButton({}, this, &Player::cancel), u"cancelRun"_s))
{
    setProperty("look", u"banner-info"_s);
    m_text->setMinimumWidth(240);
    m_bar->setTextVisible(false);
    makeRow(this, {.margins = {10, 5, 10, 5}}, {m_text, {m_bar, 1}, m_cancel});
    sayInEachLanguage(this, [this] { retranslate(); });
    hide();

    connect(&m_runner, &Runner::finished, this, &Player::take);
    connect(&m_runner, &Runner::failed, this, &Player::fail);
    connect(&m_runner, &Runner::cancelled, this, &Player::end);
    connect(&m_runner, &Runner::progressed, this, [this](double share, Moment at) {
        showProgress(share, tr("Playing: %1 of simulated time").arg(momentText(at)));
    });
    connect(&m_servers, &ServerRunner::played, &m_runner, &Runner::show);
    connect(&m_servers, &ServerRunner::failed, this, &Player::fail);
    connect(&m_servers, &ServerRunner::cancelled, this, &Player::end);
    connect(&m_servers, &ServerRunner::progressed, this,
            [this](std::size_t run, const RealRunOptions &options, const RealRunProgress &progress) {
                const bool isDone = progress.stage == RealRunProgress::Stage::Tidying;
                const double done = isDone ? 1
                                           : static_cast<double>(progress.grants)
                                                 / static_cast<double>(std::max<qint64>(1, progress.grantsExpected));
                showProgress((static_cast<double>(run) + std::min(done, 1.0))
                                 / static_cast<double>(m_pending.recipes.size()),
                             serverText(options, progress));
            });
}

void Player::retranslate()
{
    m_bar->setAccessibleName(tr("Progress"));
    m_cancel->setText(tr("Cancel"));
}

const ConnectionBook &Player::book() const
{
    static const ConnectionBook none;
    return m_book ? *m_book : none;
}

void Player::begin(const Comparison &comparison, const QString &text)
{
    m_awaitsSandbox = false;
    m_servers.abandon();
    if (comparison.place.isReal())
        m_runner.cancel();
    m_pending = comparison;
    m_bar->setRange(0, 0);
    m_text->setText(text);
    show();
}

void Player::play(const Comparison &comparison)
{
    begin(comparison, tr("Playing"));
    if (comparison.place.isReal())
        beginOnServers();
    else
        m_runner.play(comparison.scenarios());
}

void Player::load(const QStringList &files)
{
    begin({}, tr("Reading"));
    m_runner.load(files);
}

void Player::beginOnServers()
{
    if (const auto verdict = m_pending.check(); !verdict) {
        fail(verdict.error());
        return;
    }
    if (wantsSandbox(book(), m_pending)) {
        m_awaitsSandbox = true;
        m_text->setText(tr("Starting the sandbox: private servers on this machine"));
        emit sandboxRequested();
        return;
    }
    auto runs = realRuns(book(), m_pending);
    if (!runs) {
        fail(runs.error());
        return;
    }
    m_text->setText(tr("Connecting to %1").arg(placeName(m_pending.place)));
    m_servers.play(std::move(*runs));
}

void Player::sandboxChanged(const QString &state, bool isComplete)
{
    if (!m_awaitsSandbox || !isComplete)
        return;
    m_awaitsSandbox = false;
    if (wantsSandbox(book(), m_pending)) {
        const auto runs = realRuns(book(), m_pending);
        fail({ErrorCode::NotConnected,
              tr("Nothing was played: %1 (%2)").arg(runs.error().message, label(state.toUtf8(), 300))});
        return;
    }
    beginOnServers();
}

QString Player::serverText(const RealRunOptions &options, const RealRunProgress &progress) const
{
    using Stage = RealRunProgress::Stage;
    const QString where = label(options.connection.bytes(), 40);
    const QString recipe = label(options.scenario.recipe, 40);
    if (progress.stage == Stage::Connecting)
        return tr("Opening %1 sessions on %2 for %3").arg(formatCount(progress.sessions), where, recipe);
    if (progress.stage == Stage::Tidying)
        return tr("Deleting from %1 what the run created").arg(where);
    return tr("Playing %1 on %2: %3 of %4 grants, %5")
        .arg(recipe, where, formatCount(progress.grants), formatCount(progress.grantsExpected),
             momentText(progress.at));
}

// A negative share is not known.
void Player::showProgress(double share, const QString &text)
{
    m_bar->setRange(0, share < 0 ? 0 : 1000);
    m_bar->setValue(static_cast<int>(share * 1000));
    m_text->setText(text);
    emit shareChanged(share < 0 ? tr("plays") : u"%1 %"_s.arg(m_bar->value() / 10));
}

void Player::cancel()
{
    if (std::exchange(m_awaitsSandbox, false)) {
        end();
    } else if (m_servers.isBusy()) {
        m_text->setText(tr("Ending the run and deleting what it created"));
        m_servers.cancel();
    } else {
        m_runner.cancel();
    }
}

void Player::take(const std::vector<PlayedRunPtr> &runs)
{
    auto comparison = std::exchange(m_pending, {});
    if (comparison.recipes.empty()) { // read from files
        comparison.scenario = runs.front()->recording().scenario;
        for (const auto &run : runs)
            comparison.recipes.push_back(run->recording().scenario.recipe);
    }
    emit played(comparison, runs);
    end();
}

void Player::fail(const Error &error)
{
    emit failed(error.message);
    end();
}

void Player::end()
{
    m_pending = {};
    hide();
    emit shareChanged({});
    emit ended();
}

} // namespace lockscope::ui

#include "moc_player.cpp"
