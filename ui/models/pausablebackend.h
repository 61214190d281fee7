// SPDX-License-Identifier: Apache-2.0
// What stands between the backend and the pages, so that "Pause" stops all of them at once: while paused, news is
// kept back, counted, and told as one batch afterwards. Questions and acts go through, and so does what somebody must
// know before acting: whether a connection is there, and whether it may be written to. The observers go on looking,
// or nobody could say what is held back.
//
// It also shows the pages another moment, of a recording: they are told the difference of what they show and
// what was then, and on return the difference back, so that no page knows of it. Meanwhile no server is asked, and
// nothing is done there. GUI thread only.
#pragma once

#include "core/workspace/backend.h"

namespace lockscope::ui {

// What the pages show: the sum of all they were told. Pages hear of differences only, so to show them another moment
// is to tell them the difference between two of these.
// Its connections are told by their statuses, which say more than a LinkState.
struct Shown : inspect::StateSnapshot {
    std::map<ConnectionName, ConnectionStatus> statuses;
};

[[nodiscard]] Batch difference(const Shown &from, const Shown &to);

// As it was then. Nothing may be written to any of its connections. Those of `known` that the recording says nothing
// of are there, not connected.
[[nodiscard]] Shown shownOf(PastPicture past, const std::map<ConnectionName, ConnectionStatus> &known);

class LocksModel;

class PausableBackend : public Backend {
    Q_OBJECT
public:
    // `backend` outlives this.
    explicit PausableBackend(Backend &backend, QObject *parent = nullptr);

    void setPaused(bool paused);
    // How many locks changed since.
    [[nodiscard]] int waiting() const { return static_cast<int>(m_news.lockCount()); }

    // The locks that pages show now: the model that has them all, so that nobody keeps them twice.
    void useLocks(const LocksModel &locks) { m_allLocks = &locks; }
    // Shows that moment, `of` which its lock's history comes from now on, too.
    void showPast(PastPicture then, Past *of);
    void leavePast();
    [[nodiscard]] Past *past() override { return m_of ? m_of : m_backend.past(); }
    // Why nothing is asked or done there.
    [[nodiscard]] static Error notNow();
    // The same beside a greyed action.
    [[nodiscard]] static QString historyModeReason()
    {
        return tr("Not available in the past view. Return to live view first.");
    }

    [[nodiscard]] std::vector<inspect::ClientLabel> clientLabels() const override { return m_backend.clientLabels(); }
    void post(PostedQuery query) override;
    void execute(Command command) override;

signals:
    // updated() follows: who is to hear it and is not there yet has to be made now.
    void aboutToTell();
    void waitingChanged();
    // Something was to be asked of a server, or done there, in the past.
    void refused();
    // It was in a recording only.
    void connectionLeft(const lockscope::ConnectionName &name);

private:
    void take(const Batch &batch);
    void tell(const Batch &batch);
    void keep(const Batch &batch);
    void goOn();
    [[nodiscard]] bool holdsBack() const { return m_isPaused || m_present; }
    void forget(const ConnectionName &name);
    template <class T>
    [[nodiscard]] bool refuses(const T &command);
    void notifyDifference(const Shown &from, const Shown &to);

    Backend &m_backend;
    bool m_isPaused = false;
    const LocksModel *m_allLocks = nullptr;
    Shown m_shown;                  // as the pages know it; without the locks in the live view
    std::optional<Shown> m_present; // while another moment is shown: what the pages showed before
    Past *m_of = nullptr;
    std::map<ConnectionName, std::vector<ZPath>> m_watchThen; // asked for meanwhile
    News m_news;                                              // that waits
    std::set<std::pair<ConnectionName, ZPath>> m_znodes;
};

} // namespace lockscope::ui
