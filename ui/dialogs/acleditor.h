// SPDX-License-Identifier: Apache-2.0
// The ACL of a znode as lines that can be typed, "cdrwa world:anyone". A password is hashed before it is shown.
#pragma once

#include "core/workspace/backend.h"

#include <QWidget>

class QLineEdit;
class QPlainTextEdit;

namespace lockscope::ui {

class AclEditor : public QWidget {
    Q_OBJECT
public:
    explicit AclEditor(QWidget *parent = nullptr);

    void setAcls(const zk::Acls &acls);
    [[nodiscard]] Result<zk::Acls> acls() const;
    [[nodiscard]] QPlainTextEdit *edit() const { return m_edit; }
    void setReadOnly();

signals:
    void changed();

private:
    void addHashedUser();

    QPlainTextEdit *m_edit = nullptr;
    QLineEdit *m_user = nullptr;
    QLineEdit *m_password = nullptr;
    QWidget *m_adding = nullptr;
};

} // namespace lockscope::ui
