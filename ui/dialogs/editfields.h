// SPDX-License-Identifier: Apache-2.0
// Bytes as something that can be typed: as text where that loses nothing, else as hex digits. GUI thread only.
#pragma once

#include "core/workspace/backend.h"

#include <QByteArray>
#include <QWidget>

#include <optional>

class QLabel;
class QPlainTextEdit;
class QRadioButton;

namespace lockscope::ui {

class ValueEditor : public QWidget {
    Q_OBJECT
public:
    explicit ValueEditor(QWidget *parent = nullptr);

    void setValue(const QByteArray &value);
    // Nothing while what is typed as hex is none.
    [[nodiscard]] std::optional<QByteArray> value() const;
    [[nodiscard]] bool isHex() const;
    void setHex(bool isHex);
    [[nodiscard]] QPlainTextEdit *edit() const { return m_edit; }

    // Whether an editor of text gives these bytes back as they are.
    [[nodiscard]] static bool isText(const QByteArray &value);

signals:
    void changed();

private:
    void show(const QByteArray &value);

    QPlainTextEdit *m_edit = nullptr;
    QRadioButton *m_text = nullptr;
    QRadioButton *m_hex = nullptr;
    QLabel *m_note = nullptr;
};

} // namespace lockscope::ui

class QLineEdit;
class QPlainTextEdit;

// The ACL of a znode as lines that can be typed, "cdrwa world:anyone". A password is hashed before it is shown.

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
