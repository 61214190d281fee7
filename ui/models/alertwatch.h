// SPDX-License-Identifier: Apache-2.0
// Which news is worth a notification, by a rule of the user's: new findings, each once. What was there at the
// first look is not new. GUI thread only.
#pragma once

#include "core/workspace/values.h"
#include "ui/models/connectionbook.h"

#include <QObject>
#include <QRegularExpression>

#include <map>
#include <set>

class QSettings;

namespace lockscope::ui {

struct AlertRule {
    bool isOn = false;
    inspect::Severity least = inspect::Severity::Critical;
    QString code;    // one finding's; empty: any
    QString pattern; // as a shell's file names, of LOCK; empty: any
    bool onlyProduction = true;

    void save(QSettings &settings) const;
    void restore(const QSettings &settings);
    friend bool operator==(const AlertRule &, const AlertRule &) = default;
};

struct Alert {
    inspect::LockName lock;
    inspect::Severity severity = inspect::Severity::Info;
    QString title; // of the kind of finding: nothing that a client wrote
};

class AlertWatch : public QObject {
    Q_OBJECT
public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;
    // `book` outlives it and hears each batch before.
    explicit AlertWatch(const ConnectionBook &book, QObject *parent = nullptr,
                        Clock clock = std::chrono::steady_clock::now);

    void setRule(AlertRule rule);
    // What is muted is not told. It outlives this; null: nothing is muted.
    void setMutes(const MuteStore *mutes) { m_mutes = mutes; }
    [[nodiscard]] const AlertRule &rule() const { return m_rule; }
    void apply(const Batch &batch);

signals:
    // What came within one batch.
    void alerted(const std::vector<lockscope::ui::Alert> &alerts);

private:
    struct Told {
        bool isThere = false;
        std::chrono::steady_clock::time_point last;
        bool wasAlerted = false;
    };
    using Key = std::pair<inspect::LockName, inspect::FindingCode>;

    [[nodiscard]] bool concerns(const inspect::LockSnapshot &lock) const;
    [[nodiscard]] bool concerns(const inspect::Finding &finding) const;
    [[nodiscard]] bool isMuted(const inspect::LockName &lock, const inspect::Finding &finding) const;
    // Of a deadlock, by another of its locks.
    [[nodiscard]] bool isToldElsewhere(const inspect::Finding &finding) const;
    void noteFirstLooks();
    void forgetOld();

    const ConnectionBook &m_book;
    Clock m_clock;
    AlertRule m_rule;
    const MuteStore *m_mutes = nullptr;
    QRegularExpression m_pattern;
    std::map<Key, Told> m_told;
    std::set<ConnectionName> m_isLookedThrough; // as of the batch before
};

} // namespace lockscope::ui
