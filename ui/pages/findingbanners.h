// SPDX-License-Identifier: Apache-2.0
// What is wrong with one lock, a banner each, the worst first. Where there is little height it is the worst alone, of
// two lines at most, until somebody opens it: the queue below is what one came for.
#pragma once

#include <version>

#include "core/workspace/values.h"

#include <QWidget>

class QVBoxLayout;

namespace lockscope::ui {

class Banner;

class FindingBanners : public QWidget {
    Q_OBJECT
public:
    explicit FindingBanners(QWidget *parent = nullptr);

    // As worded at `now`, by the server's clock. Another lock's begin folded.
    void show(const inspect::LockSnapshot &lock, inspect::ServerTime now);
    void setLow(bool isLow);

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    void refresh();
    void say(Banner &banner, const inspect::Finding &finding, qsizetype unsaid, bool opens);
    Banner *addBanner();

    QVBoxLayout *m_column;
    inspect::LockName m_of;
    std::vector<inspect::Finding> m_findings; // the worst first
    inspect::ServerTime m_now{};
    bool m_isLow = false;
    bool m_isOpen = false;
};

} // namespace lockscope::ui
