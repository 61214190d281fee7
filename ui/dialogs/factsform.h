// SPDX-License-Identifier: Apache-2.0
// A form of facts: a word at the left, what is the case at the right, hairlines between. Texts are
// plain; code is monospace on its own ground and wraps anywhere.
#pragma once

#include <QHash>
#include <QStringList>
#include <QWidget>

class QGridLayout;
class QLabel;

namespace lockscope::ui {

// One piece of text that can be pasted, drawn so that no name can widen the form.
class CodeLabel : public QWidget {
    Q_OBJECT
public:
    explicit CodeLabel(const QString &text, QWidget *parent = nullptr);
    [[nodiscard]] const QString &text() const { return m_text; }
    void setText(const QString &text);
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] QSize sizeHint() const override { return {420, heightForWidth(420)}; }
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    void paintEvent(QPaintEvent *event) override;

    QString m_text;
};

class FactsForm : public QWidget {
    Q_OBJECT
public:
    explicit FactsForm(QWidget *parent = nullptr);

    void addText(const QString &title, const QString &text);
    void addCode(const QString &title, const QStringList &lines);
    void clear();
    // Other words at a title that is there.
    void setText(const QString &title, const QString &text);
    // What stands at `title`; for tests.
    [[nodiscard]] QString valueOf(const QString &title) const;

private:
    void addRow(const QString &title, QWidget *value, const QString &plain);

    QGridLayout *m_grid;
    QList<std::pair<QString, QString>> m_values;
    QHash<QString, QLabel *> m_texts;
};

} // namespace lockscope::ui
