// SPDX-License-Identifier: Apache-2.0
// The comparison under way: started where it says, in the simulated world or on real servers; how far it is, and its
// end.
#pragma once

#include <version>

#include "ui/models/connectionbook.h"
#include "ui/simulator/comparison.h"
#include "ui/simulator/runner.h"

#include <QFrame>

class QLabel;
class QProgressBar;
class QPushButton;

namespace lockscope::ui {

class Player : public QFrame {
    Q_OBJECT
public:
    // `runner` plays in the simulated world; it outlives the player.
    explicit Player(Runner &runner, QWidget *parent);

    void setBackend(Backend *backend) { m_servers.setBackend(backend); }
    // Outlives the player; without it there is only the simulated world.
    void useConnections(const ConnectionBook &book) { m_book = &book; }
    [[nodiscard]] const ConnectionBook &book() const;
    // The sandbox starts (`state` says how far it is), or is all there: its servers are in the book.
    void sandboxChanged(const QString &state, bool isComplete);

    // In place of what is under way. ended() follows, after played() or failed() unless it is cancelled.
    void play(const Comparison &comparison);
    void load(const QStringList &files);
    void cancel();
    [[nodiscard]] bool isBusy() const { return m_runner.isBusy() || m_servers.isBusy() || m_awaitsSandbox; }
    [[nodiscard]] const Comparison &pending() const { return m_pending; }

signals:
    void played(const lockscope::ui::Comparison &comparison, const std::vector<lockscope::ui::PlayedRunPtr> &runs);
    void failed(const QString &why);
    void ended();
    void shareChanged(const QString &share); // "40 %"; empty: nothing is under way
    // A sandbox is needed that is not there. sandboxChanged() follows.
    void sandboxRequested();

private:
    void retranslate();
    void begin(const Comparison &comparison, const QString &text);
    void beginOnServers();
    void take(const std::vector<PlayedRunPtr> &runs);
    void fail(const Error &error);
    void end();
    void showProgress(double share, const QString &text);
    [[nodiscard]] QString serverText(const RealRunOptions &options, const RealRunProgress &progress) const;

    Runner &m_runner;
    ServerRunner m_servers;
    const ConnectionBook *m_book = nullptr;
    bool m_awaitsSandbox = false;
    Comparison m_pending;
    QLabel *m_text;
    QProgressBar *m_bar;
    QPushButton *m_cancel;
};

} // namespace lockscope::ui
