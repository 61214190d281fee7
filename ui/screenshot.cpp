#include "ui/screenshot.h"

#include "ui/mainwindow.h"

#include <QImageWriter>
#include <QPixmap>
#include <QTimer>

namespace lockscope::ui {

using namespace std::chrono_literals;

bool saveScreenshot(MainWindow &window, const QString &file, QString *whyNot)
{
    QImageWriter writer(file, "png");
    if (writer.write(window.grab().toImage()))
        return true;
    *whyNot = writer.errorString();
    return false;
}

ScreenshotTaker::ScreenshotTaker(MainWindow &window, QString file, std::chrono::milliseconds atMost,
                                 std::function<void(const QString &)> done)
    : QObject(&window), m_window(window), m_file(std::move(file)), m_done(std::move(done))
{
    connect(&window, &MainWindow::firstPictureComplete, this, &ScreenshotTaker::settle);
    QTimer::singleShot(atMost, this, &ScreenshotTaker::take);
    if (window.isFirstPictureComplete())
        settle();
}

void ScreenshotTaker::settle()
{
    if (std::exchange(m_settling, true))
        return;
    // Rows, detail and evidence arrive within the next few frames.
    QTimer::singleShot(700ms, this, &ScreenshotTaker::take);
}

void ScreenshotTaker::take()
{
    if (std::exchange(m_taken, true))
        return;
    QString whyNot;
    const bool saved = saveScreenshot(m_window, m_file, &whyNot);
    m_done(saved ? QString() : whyNot);
}

} // namespace lockscope::ui
