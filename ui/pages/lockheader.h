// SPDX-License-Identifier: Apache-2.0
// The top of a lock's detail: its state, the answer in a sentence, why we think so, and what can be done.
#pragma once

#include "ui/models/lockfacts.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace lockscope::ui {

class AnswerLabel;
class PillLabel;

class LockHeader : public QWidget {
    Q_OBJECT
public:
    explicit LockHeader(QWidget *parent = nullptr);

    // There is little height: only the answer is said.
    void setLow(bool isLow);
    // The lock as of `now`; `heldWith` is the sentence of what else its holder holds.
    void show(const inspect::LockSnapshot &lock, SystemTime now, bool isGone, const QString &heldWith);
    // Of another moment than now: told as such, without what cannot be done there.
    void setPast(bool isPast);
    // Whether the holder is this window's own, and why nothing can be released; empty: something can.
    void setRelease(bool isOwn, const QString &disabledReason);
    void showCopied();

signals:
    void acquireRequested();
    void copyNoteRequested();
    void saveNoteRequested();
    void releaseRequested();

private:
    PillLabel *m_pill;
    AnswerLabel *m_answer;
    QLabel *m_why;
    PillLabel *m_asOf;
    QLabel *m_instead;
    bool m_isPast = false;
    QPushButton *m_acquire;
    QPushButton *m_copy;
    QPushButton *m_forceRelease;
};

} // namespace lockscope::ui
