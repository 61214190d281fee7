// SPDX-License-Identifier: Apache-2.0
// A banner for each connection that is not there: why, as of when its locks are shown, Retry and Edit.
#pragma once

#include <version>

#include "ui/models/connectionbook.h"

#include <QWidget>

#include <algorithm>

class QVBoxLayout;

namespace lockscope::ui {

class BrokenBanners : public QWidget {
    Q_OBJECT
public:
    explicit BrokenBanners(QWidget *parent = nullptr);

    // Of all connections unless one is chosen. `isElsewhere`: another moment than now is on screen, of which only what
    // was seen is told.
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

} // namespace lockscope::ui
