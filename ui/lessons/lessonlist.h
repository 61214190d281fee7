// SPDX-License-Identifier: Apache-2.0
// All lessons, one below the other, below the headings of their chapters: number, title, what it is about. And what
// is wrong with files that are none.
#pragma once

#include "core/workspace/values.h"

#include <QListWidget>

class QLabel;
class QVBoxLayout;

namespace lockscope::ui {

using lessons::Language;
using lessons::pageWord;

class LessonList : public QWidget {
    Q_OBJECT
public:
    explicit LessonList(QWidget *parent = nullptr);

    void show(const lessons::Lessons &lessons, Language language);
    void setFilter(const QString &text);
    void choose(std::size_t lesson) { m_rows->setCurrentRow(static_cast<int>(lesson)); }
    [[nodiscard]] QListWidget &rows() { return *m_rows; }
    [[nodiscard]] QStringList complaints() const;
    [[nodiscard]] QStringList headings() const; // of the chapters that are shown

signals:
    void chosen(std::size_t lesson);

private:
    void placeHeadings();

    Language m_language = Language::English;
    QLabel *m_heading;
    QLabel *m_hint;
    QListWidget *m_rows;
    QVBoxLayout *m_refused;
};

} // namespace lockscope::ui
