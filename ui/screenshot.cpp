// SPDX-License-Identifier: Apache-2.0
#include "ui/screenshot.h"

#include "ui/mainwindow.h"

#include <QCoreApplication>
#include <QDialog>
#include <QEvent>
#include <QImageWriter>
#include <QPainter>
#include <QPixmap>

namespace lockscope::ui {

namespace {

// Dialogs are windows of their own: painted where a person would see them, over the shaded window.
void paintOver(QImage &image, QDialog &dialog)
{
    const QPixmap picture = dialog.grab();
    QPainter painter(&image);
    QColor shade = Theme::tokens().background;
    shade.setAlphaF(0.65f);
    const QRectF whole(QPointF(), QSizeF(image.size()) / image.devicePixelRatio());
    painter.fillRect(whole, shade);
    QRectF place(QPointF(), QSizeF(picture.size()) / picture.devicePixelRatio());
    place.moveCenter(whole.center());
    painter.setPen(Theme::tokens().line);
    painter.drawRect(place.adjusted(-1, -1, 0, 0));
    painter.drawPixmap(place.topLeft(), picture);
}

} // namespace

bool saveScreenshot(MainWindow &window, const QString &file, QString *whyNot)
{
    // What was said a moment ago has its room in the next turn only: a picture of before cuts it.
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
    QImage image = window.grab().toImage();
    for (auto *dialog : window.findChildren<QDialog *>(Qt::FindDirectChildrenOnly)) {
        if (dialog->isVisible())
            paintOver(image, *dialog);
    }
    QImageWriter writer(file, "png");
    if (writer.write(image))
        return true;
    *whyNot = writer.errorString();
    return false;
}

ScreenshotTaker::ScreenshotTaker(MainWindow &window, QString file, std::chrono::milliseconds atMost,
                                 std::function<void(const QString &)> done)
    : QObject(&window), m_window(window), m_file(std::move(file)), m_done(std::move(done))
{
    connect(&window, &MainWindow::firstSnapshotComplete, this, &ScreenshotTaker::settle);
    QTimer::singleShot(atMost, this, &ScreenshotTaker::take);
    if (window.isFirstSnapshotComplete())
        settle();
}

void ScreenshotTaker::settle()
{
    if (std::exchange(m_settling, true))
        return;
    // The rail has numbers of every page; rows, detail and evidence arrive within the next few frames.
    m_window.pages().whenComplete(this, [this] { QTimer::singleShot(700ms, this, &ScreenshotTaker::take); });
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

#include "moc_screenshot.cpp"
