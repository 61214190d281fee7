// SPDX-License-Identifier: Apache-2.0
// Findings that the user does not want to hear of for a while: which, why, and until when. They stand in a file
// that both programs read, mutes.json. Muted is not gone: whoever lists findings says that they are, and why.
#pragma once

#include "core/base/result.h"
#include "core/inspect/waits/incidents.h"

#include <QObject>

class QFileSystemWatcher;

namespace lockscope {

using MuteTime = std::chrono::sys_seconds;

struct Mute {
    QString lock;                               // CONNECTION:NAME, escaped; or
    QString pattern;                            // of locks (inspect/findings.h)
    std::optional<inspect::FindingCode> code{}; // empty: whatever is found
    QString reason{};
    MuteTime since{};
    MuteTime until{};
    friend bool operator==(const Mute &, const Mute &) = default;
};

constexpr std::chrono::days longestMute{90};

// What is critical is muted lock by lock only: a pattern must not hide what nobody has looked at.
[[nodiscard]] bool covers(const Mute &mute, const inspect::LockName &lock, inspect::FindingCode code,
                          inspect::Severity severity);
// The one that lasts longest of those that cover it; null: it is not muted. Whether they are over is not asked.
[[nodiscard]] const Mute *muteOf(const std::vector<Mute> &mutes, const inspect::LockName &lock,
                                 inspect::FindingCode code, inspect::Severity severity);
// Takes out the incidents all of whose locks are muted for their finding.
void removeMuted(std::vector<inspect::Incident> &incidents, const std::vector<Mute> &mutes);
// Why this is no mute: the field, and what it is to be. Empty where it is one.
[[nodiscard]] QString objectionTo(const Mute &mute);
// "long-held of zk:/locks/a", "whatever is found of zk:/tmp/*".
[[nodiscard]] QString wordsOf(const Mute &mute);

[[nodiscard]] QString muteFile();
// None where there is no file. An error names file and field, and then nothing is muted.
[[nodiscard]] Result<std::vector<Mute>> readMutes(const QString &file = muteFile());

// The file, kept up to date.
class MuteStore : public QObject {
    Q_OBJECT
public:
    explicit MuteStore(QString file = muteFile(), QObject *parent = nullptr);

    [[nodiscard]] const std::vector<Mute> &all() const { return m_all; }
    // Why the file was not understood; nothing is muted then, and nothing is saved.
    [[nodiscard]] QString loadError() const { return m_loadError; }
    // Reads the file again: the other program may have changed it.
    void reload();
    // From here on whenever it was changed, whoever did it.
    void follow();
    // Those that are over go with the next change.
    Result<void> add(Mute mute);
    Result<void> remove(const Mute &mute);

signals:
    void changed();

private:
    Result<void> store(std::vector<Mute> mutes, MuteTime now);
    void watchFile();

    QString m_file;
    QFileSystemWatcher *m_watcher = nullptr;
    std::vector<Mute> m_all;
    QString m_loadError;
};

} // namespace lockscope
