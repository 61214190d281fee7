// SPDX-License-Identifier: Apache-2.0
// What an empty page says: what would be here, why there is nothing, and what to do next.
#pragma once

#include <QLabel>
#include <QPushButton>
#include <QWidget>

namespace lockscope::ui {

class EmptyNotice : public QWidget {
    Q_OBJECT
public:
    explicit EmptyNotice(QWidget *parent = nullptr);

    // An empty action hides the button.
    void say(const QString &title, const QString &text, const QString &action = {});
    [[nodiscard]] QString title() const { return m_title->text(); }

signals:
    void actionRequested();

private:
    QLabel *m_title;
    QLabel *m_text;
    QPushButton *m_action;
};

} // namespace lockscope::ui
