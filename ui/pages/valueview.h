// SPDX-License-Identifier: Apache-2.0
// A value from a server, as text, JSON or hex, read-only. It shows the first 64 KiB at once and the
// rest when asked. GUI thread only.
#pragma once

#include "ui/pages/valuetext.h"

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTabBar;

namespace lockscope::ui {

class ValueView : public QWidget {
    Q_OBJECT
public:
    static constexpr qsizetype shownAtFirst = 64 * 1024;

    explicit ValueView(QWidget *parent = nullptr);

    // `whole` is the length on the server, where `value` may be only its beginning. Showing the same
    // thing again (`isSame`) keeps the form and the scroll position.
    void setValue(const QByteArray &value, qint64 whole, bool isSame);
    void clear();

    [[nodiscard]] ValueForm form() const;
    void setForm(ValueForm form);
    [[nodiscard]] QString shownText() const;
    [[nodiscard]] QString noteText() const;
    [[nodiscard]] QPushButton *showAllButton() const { return m_showAll; }

private:
    void render();
    [[nodiscard]] QString textOf(QStringList &notes) const;

    QByteArray m_value;
    qint64 m_whole = 0;
    bool m_isAll = false;
    bool m_isChosen = false; // the person chose a form; keep it
    QTabBar *m_forms = nullptr;
    QLabel *m_size = nullptr;
    QLabel *m_note = nullptr;
    QPushButton *m_showAll = nullptr;
    QPlainTextEdit *m_text = nullptr;
};

} // namespace lockscope::ui
