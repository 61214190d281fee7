// SPDX-License-Identifier: Apache-2.0
// Which finding is not to be heard of, why, and until when: never without an end.
#pragma once

#include "ui/models/findingrow.h"

#include <QButtonGroup>
#include <QDialog>

class QComboBox;
class QDateTimeEdit;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace lockscope::ui {

// What the choice of an end means at `now`: an hour, the end of the day, seven days.
enum class MuteSpan { Hour, Today, Week, Date };
[[nodiscard]] MuteTime endOf(MuteSpan span, SystemTime now);

class MuteDialog : public QDialog {
    Q_OBJECT
public:
    // `store` outlives the dialog. `now`: the present.
    MuteDialog(MuteStore &store, const FindingRow &row, SystemTime now, QWidget *parent = nullptr);

    // As it is chosen; of a deadlock, for the first of its locks.
    [[nodiscard]] Mute mute() const;
    void accept() override;

private:
    enum class Reach { Finding, Lock, Code, Pattern };
    void addReach(QGridLayout *grid, Reach reach, const QString &text, bool isAllowed);
    [[nodiscard]] Reach reach() const { return static_cast<Reach>(m_reach->checkedId()); }
    void check();

    MuteStore &m_store;
    inspect::LockName m_lock;
    std::vector<inspect::LockName> m_locks; // it, and of a deadlock all
    inspect::FindingCode m_code;
    SystemTime m_now;
    QButtonGroup *m_reach;
    QLineEdit *m_pattern;
    QComboBox *m_span;
    QDateTimeEdit *m_date;
    QLineEdit *m_reason;
    QLabel *m_why;
    QPushButton *m_mute;
};

} // namespace lockscope::ui
