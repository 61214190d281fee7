#include "ui/mainwindow.h"

namespace lockscope::ui {

MainWindow::MainWindow(QWidget *parent) : QMainWindow(parent)
{
    setWindowTitle(QStringLiteral("Lockscope"));
    resize(1440, 900);
}

} // namespace lockscope::ui
