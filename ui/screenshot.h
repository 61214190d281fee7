// SPDX-License-Identifier: Apache-2.0
// lockscope --screenshot: the window to a PNG file once its first picture is complete, or after a time.
#pragma once

#include <QObject>
#include <QSize>

#include <chrono>
#include <functional>
#include <optional>

namespace lockscope::ui {

class MainWindow;

// Paints the window (and what stands over it) to a file; false with a reason if it cannot be written.
[[nodiscard]] bool saveScreenshot(MainWindow &window, const QString &file, QString *whyNot);

// Takes the picture when the window's first picture is complete, at the latest `atMost` from now, and
// then calls `done` once, with an empty string or what went wrong. The first picture may be complete
// already. Owned by the window.
class ScreenshotTaker : public QObject {
    Q_OBJECT
public:
    ScreenshotTaker(MainWindow &window, QString file, std::chrono::milliseconds atMost,
                    std::function<void(const QString &failure)> done);

private:
    void settle();
    void take();

    MainWindow &m_window;
    QString m_file;
    std::function<void(const QString &)> m_done;
    bool m_settling = false;
    bool m_taken = false;
};

} // namespace lockscope::ui
