#pragma once

#include <QMainWindow>

namespace lockscope::ui {

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget *parent = nullptr);
};

} // namespace lockscope::ui
