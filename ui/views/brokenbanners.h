// SPDX-License-Identifier: Apache-2.0
// What a list does not show: a banner for each connection that is not there (why, as of when its locks are shown,
// Retry and Edit), and a line about what was not read.
#pragma once

#include "ui/models/connectionbook.h"

#include <QWidget>

class QLabel;
class QVBoxLayout;

namespace lockscope::ui {

class BrokenBanners : public QWidget {
    Q_OBJECT
public:
    explicit BrokenBanners(QWidget *parent = nullptr);

    // Of all connections unless one is chosen. `isElsewhere`: another moment than now is on screen, of which only
    // what was seen is told.
    void show(const ConnectionBook &book, const ConnectionName &connection, bool isElsewhere);

    [[nodiscard]] bool isShown(const ConnectionName &name) const
    {
        return std::ranges::find(m_broken, name) != m_broken.end();
    }

signals:
    void retryRequested(const lockscope::ConnectionName &name);
    void editRequested(const lockscope::ConnectionName &name);

private:
    QVBoxLayout *m_column;
    std::vector<ConnectionName> m_broken; // what each of them is about
};

// The line below a list about what was not read, or no lock explains.
class GapsLine : public QWidget {
    Q_OBJECT
public:
    explicit GapsLine(QWidget *parent = nullptr);
    // A line for each gap; hidden without one.
    void say(const QStringList &gaps);

signals:
    void moreRequested();

private:
    QLabel *m_text;
};

} // namespace lockscope::ui
