// SPDX-License-Identifier: Apache-2.0
// Acquire a lock from the window: recipe, mode, wait, TTL; says what the recipe costs and how it can
// fail before anything is sent.
#pragma once

#include "ui/models/connectionbook.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace lockscope::ui {

class AcquireDialog : public QDialog {
    Q_OBJECT
public:
    // Fills in `like`'s name and the recipe its clients use, if given.
    AcquireDialog(Backend &backend, const ConnectionBook &book, const inspect::LockSnapshot *like,
                  QWidget *parent = nullptr);

    // What the fields say now, or what is wrong with them.
    [[nodiscard]] Result<AcquireRequest> request() const;

signals:
    // Writes are to be allowed on that connection.
    void armRequested(const lockscope::ConnectionName &name);
    void acquiring(quint64 holdId, const lockscope::inspect::LockName &lock);

private:
    QWidget *makeFields();
    void addField(const QString &title, QWidget *field);
    void fillConnections(const ConnectionName &preferred);
    void fillRecipes(const QByteArray &preferred);
    void showRecipe();
    void updateReady();
    void send();
    [[nodiscard]] const ConnectionStatus *connection() const;
    [[nodiscard]] bool hasTtl() const;
    [[nodiscard]] QString obstacle() const;

    Backend &m_backend;
    const ConnectionBook &m_book;
    QGridLayout *m_grid = nullptr;
    QComboBox *m_connection = nullptr;
    QLineEdit *m_lock = nullptr;
    QComboBox *m_recipe = nullptr;
    QComboBox *m_mode = nullptr;
    QSpinBox *m_limit = nullptr;
    QCheckBox *m_waitForever = nullptr;
    QLineEdit *m_wait = nullptr;
    QLineEdit *m_ttl = nullptr;
    QLabel *m_about = nullptr;
    QLabel *m_tag = nullptr; // the environment
    QLabel *m_why = nullptr;
    QPushButton *m_arm = nullptr;
    QPushButton *m_acquire = nullptr;
};

} // namespace lockscope::ui
