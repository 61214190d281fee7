// SPDX-License-Identifier: Apache-2.0
// The user's recogniser rules (docs/rules.md): every *.json and *.toml in a folder beside the other settings, and
// files that were named on the command line. A file with mistakes is not used, and told with all of them.
#pragma once

#include "core/inspect/redis/userrulelocks.h"
#include "core/redis/connection.h"

#include <QObject>
#include <QTimer>

class QFileSystemWatcher;

namespace lockscope {

[[nodiscard]] QString ruleFolder();
// By their names.
[[nodiscard]] QStringList ruleFilesIn(const QString &folder);
// One after the other; what an earlier file says is asked first.
[[nodiscard]] recipes::RuleFile readRuleFiles(const QStringList &files);

// Puts what these files say into force, now and whenever one of them changes, comes or goes.
class RuleWatch : public QObject {
    Q_OBJECT
public:
    explicit RuleWatch(QStringList files, QString folder = ruleFolder(), QObject *parent = nullptr);
    [[nodiscard]] const QStringList &problems() const { return m_problems; }

signals:
    // Only where it is something else than before.
    void problemsChanged(const QStringList &problems);
    void rulesChanged(); // after problemsChanged

private:
    void load();
    void watch();

    QStringList m_files;
    QString m_folder;
    QStringList m_problems;
    bool m_hasRead = false;
    QByteArray m_read; // what the files said when they were read
    QFileSystemWatcher *m_watcher;
    QTimer m_soon; // an editor writes more than once
};

// The rules in force, and forms of tokens, tried on every key of a Redis: what each makes of the keys that its
// pattern fits, and why not.
struct RuleTrials {
    std::vector<inspect::RuleTrial> trials; // by key
    qint64 keys = 0;                        // looked at
    QStringList refused;                    // what the server did not let us see
    bool isCut = false;                     // more fit than are kept
};
// `connection` outlives the task.
[[nodiscard]] Task<Result<RuleTrials>> tryRulesOn(redis::Connection *connection, ConnectionName name);

} // namespace lockscope
