// SPDX-License-Identifier: Apache-2.0
// The least a Qt program can be that shows a table in a window: what lockscope's start is held against.
#include <QApplication>
#include <QMainWindow>
#include <QPixmap>
#include <QStandardItemModel>
#include <QTableView>
#include <QTimer>

int main(int argc, char **argv)
{
    QApplication application(argc, argv);
    QStandardItemModel rows(20, 5);
    auto *table = new QTableView;
    table->setModel(&rows);
    QMainWindow window;
    window.setCentralWidget(table);
    window.resize(1280, 800);
    window.show();
    QTimer::singleShot(0, &window,
                       [&] { QApplication::exit(window.grab().save(QApplication::arguments().at(1)) ? 0 : 1); });
    return QApplication::exec();
}
