// SPDX-License-Identifier: Apache-2.0
// How a list and the detail below it divide their page: the list takes what its rows need, half of the page at most,
// the detail the rest. Once somebody drags the handle between them it stays where he left it, over restarts, too.
//
// Nothing moves below the pointer or while the detail has the keyboard: it waits for the next change.
#pragma once

#include <QObject>

class QSettings;
class QSplitter;
class QTableView;

namespace lockscope::ui {

class ListShare : public QObject {
    Q_OBJECT
public:
    // `list` stands in the first part of the splitter, alone, in a stack or below other things; all outlive this.
    // While the splitter divides the width, this does nothing.
    ListShare(QSplitter &splitter, QTableView &list);

    // After rows came or went.
    void divide();
    void save(QSettings &settings, const QString &key) const;
    void restore(QSettings &settings, const QString &key);

    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    [[nodiscard]] int neededHeight() const;
    [[nodiscard]] bool isDetailInUse() const;

    QSplitter &m_splitter;
    QTableView &m_list;
    bool m_isTheirs = false; // somebody dragged it
};

} // namespace lockscope::ui
