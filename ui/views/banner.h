// SPDX-License-Identifier: Apache-2.0
// A coloured line that says something is wrong (or done): a bold word, a sentence, perhaps a button.
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace lockscope::ui {

class Banner : public QFrame {
    Q_OBJECT
public:
    enum class Look { Critical, Warning, Info, Ok };

    explicit Banner(QWidget *parent = nullptr);

    // Plain text both. An empty action has no button.
    void say(Look look, const QString &word, const QString &sentence, const QString &action = {});
    [[nodiscard]] QString sentence() const;
    [[nodiscard]] QPushButton *button() const { return m_action; }

signals:
    void actionRequested();

private:
    QLabel *m_word;
    QLabel *m_sentence;
    QPushButton *m_action;
};

} // namespace lockscope::ui
