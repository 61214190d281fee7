// SPDX-License-Identifier: Apache-2.0
// What was seen before now, as the window asks for it: the recorder of its run, or a file. Every question is answered
// from a thread that does nothing else, so nothing in a recording, however long, holds the window up. GUI thread.
#pragma once

#include <version>

#include "core/history/timeline.h"
#include "core/inspect/waits/incidents.h"
#include "core/operate/audit.h"

#include <QObject>

#include <atomic>

namespace lockscope {

// The incident note: a lock in Markdown, for a ticket or chat. What servers said stands in code spans: no markup, no
// link and no mention of anybody can come of it.
struct NoteFacts {
    inspect::LockSnapshot lock;
    std::chrono::milliseconds wallSetBy{}; // since it was seen, on this machine: its times of day are told by that
    history::Moment asOf{};                // by the clock of the machine that saw it
    std::optional<history::Moment>
        goneBy;                    // it is not there any more: all but the history is of when it was seen last
    inspect::LinkState connection; // without credentials
    std::vector<inspect::Coverage> coverage;
    std::optional<history::LockHistory> history; // up to then; nothing where nobody recorded
    std::vector<inspect::Incident> incidents{};  // of this lock
    QString historyProblem;                      // why the history is missing or ends early; empty: nothing failed
    QString actsProblem;                         // why actions may be missing
    QString source;                              // "a recording from … to …"; empty: one look at the server
    std::vector<inspect::Act> acts;              // of this lock
    std::vector<inspect::ClientLabel> labels{};  // what the user calls clients; those of `lock` say so already
};
[[nodiscard]] QString incidentNote(const NoteFacts &facts);

// Adds what the audit file says was done to this lock, up to the moment `upTo`.
void addActs(NoteFacts &facts, const std::vector<operate::AuditRecord> &records,
             history::Moment upTo = history::Moment::max());
// Adds those of its history that the audit file does not have.
void addRecordedActs(NoteFacts &facts);

// A code span, whatever is in it; `inTable`: in a cell of one.
[[nodiscard]] QString codeSpan(const QString &text, bool inTable = false);

class Workers;

struct RecordedSpan {
    history::Moment begin{}, end{};
    qint64 bytes = 0;
    QStringList damage; // what could not be read, in words
};

// By when each connection had been looked through for the first time.
using FirstSnapshots = std::map<ConnectionName, history::Moment>;

struct PastPicture {
    history::Moment at{}; // that of the question, or the nearest that is recorded
    inspect::StateSnapshot picture;
    history::Moment since{}; // the first moment that is complete
    FirstSnapshots firsts{}; // of the connections that are known to the recording
};

struct LockPast {
    RecordedSpan span;       // of which it is
    history::Moment since{}; // the first complete snapshot of its connection
    history::Timeline timeline;
    std::vector<history::Moment> changes; // the times of its events from then on, in order
};

class Past : public QObject {
    Q_OBJECT
public:
    using Moment = history::Moment;
    template <class T>
    using Answer = std::function<void(Result<T>)>;

    // `files` says, on any thread, which files it is in now.
    explicit Past(std::function<QStringList()> files, QObject *parent = nullptr);
    // Of files that nobody writes to any more.
    explicit Past(QStringList files, QObject *parent = nullptr);
    // Waits for what is just read.
    ~Past() override;

    // Whether it still goes on.
    [[nodiscard]] bool isGoingOn() const { return m_isGoingOn; }

    // Answers come while `context` lives, in their order.
    void span(QObject *context, Answer<RecordedSpan> answer);
    struct Place {
        Moment moment{};
        ConnectionName of{}; // whose first complete snapshot is the earliest; empty: that of all of the start
        bool mayBeIncomplete = false; // any moment that is recorded
    };
    // With the deadlocks there were then: a recording that no window made has none among its findings. `labels`: by
    // what the user calls clients.
    void at(Place place, std::vector<inspect::ClientLabel> labels, QObject *context, Answer<PastPicture> answer);
    // Up to then. A context's second question drops its first one, if that is not answered yet.
    void lock(const inspect::LockName &lock, Moment to, std::vector<inspect::ClientLabel> labels, QObject *context,
              Answer<LockPast> answer);
    // With the lock's history up to facts.asOf, and what is known of its connection.
    void note(NoteFacts facts, QObject *context, Answer<QString> answer);
    void save(const QString &file, QObject *context, Answer<RecordedSpan> answer);

    // What the recorder tells; both are kept for who comes late.
    void recorderFailed(const Error &error);
    void recorderResumed();
    void recorderFound(const history::LeftRecording &left);
    [[nodiscard]] const QString &failure() const { return m_failure; }
    [[nodiscard]] const std::vector<history::LeftRecording> &leftBehind() const { return m_left; }

signals:
    void failed(const QString &why);
    void resumed();
    void foundLeft();

private:
    class Reader;
    template <class T>
    void ask(Workers &thread, QObject *context, Answer<T> answer, std::function<Result<T>()> question);

    bool m_isGoingOn;
    std::shared_ptr<Reader> m_scrubbing, m_telling; // each on one thread: a long tale must not hold up scrubbing
    std::unique_ptr<Workers> m_scrubber, m_teller;
    std::map<const QObject *, std::shared_ptr<std::atomic<quint64>>> m_lockAsked; // which question is the last
    QString m_failure;
    std::vector<history::LeftRecording> m_left;
};

} // namespace lockscope
