// SPDX-License-Identifier: Apache-2.0
// An edit of a znode or a key as a form: what is there, what it will be, what will be sent under which guard, which
// locks it reaches into, and how it can be taken back. The core reads once more before it acts; where that differs,
// nothing is sent and the form says so.
#pragma once

#include "ui/dialogs/actingdialog.h"

#include <QCoreApplication>
#include <QPlainTextEdit>
#include <QRadioButton>

class QComboBox;

namespace lockscope::ui {

class AclEditor;
class FactsForm;
class ValueEditor;

class EditDialog : public ActingDialog {
    Q_OBJECT
public:
    // A request to create something (ZnodeCreate, KeySet without a name,
    // FieldSet without a field) asks for the name: request.name is the folder, or the beginning of it, or the key.
    // Starts reading at once. With `undone` the request takes that edit back, and is not changed any more.
    EditDialog(Backend &backend, const ConnectionBook &book, operate::EditRequest request, QWidget *parent = nullptr,
               std::optional<operate::EditRequest> undone = {});

    [[nodiscard]] FactsForm &facts() { return *m_facts; }
    [[nodiscard]] const std::optional<operate::EditPlan> &plan() const { return m_plan; }

signals:
    // Something was changed: all of it, or a part.
    void edited(const lockscope::operate::EditRequest &request, const lockscope::operate::EditOutcome &outcome);
    void undoRequested(const lockscope::operate::EditRequest &undo, const lockscope::operate::EditRequest &undone);

private:
    enum class Life { Stays, Ephemeral, Timed };

    void build();
    QWidget *makeHead();
    QWidget *makeContent();
    QWidget *makeFields();
    QLayout *makeLife(QWidget *fields);
    QWidget *makeQuestions();
    QWidget *makeButtons();
    void read();
    void lookAgain();
    void followConnection();
    bool findOut();
    void showPlan(bool isFirst);
    void takeFields();
    void takeLife(operate::EditRequest &request);
    void showPreview();
    void showError(const Error &error);
    void send() override;
    void showOutcome(const operate::EditOutcome &outcome);
    void showStep() override;
    [[nodiscard]] std::optional<QRect> standing() const override;
    void updateReady() override;
    [[nodiscard]] QString obstacle() const override;
    [[nodiscard]] bool isProduction() const;
    // What has to be typed; empty: nothing.
    [[nodiscard]] QString toType() const;

    operate::EditRequest m_request;                     // as asked for
    const std::optional<operate::EditRequest> m_undone; // what it takes back
    const bool m_isNew;
    const bool m_isNewField; // one of those
    std::optional<operate::EditPlan> m_plan;
    QString m_fieldTrouble; // what is typed is not what it should be
    std::optional<operate::EditRequest> m_undo;
    // Its answer was lost: it is read as soon as its connection is back, and when it is asked for.
    struct Lost {
        operate::EditPlan plan;
        Error error;
        bool wasConnected = true;
        bool isLooking = false;
    };
    std::optional<Lost> m_lost; // until it is found out
    bool m_isPlaced = false;    // as what is there asks for: from then on what is typed only makes it higher
    QTimer m_readSoon;          // a name is typed

    Banner *m_locks = nullptr;
    QWidget *m_fields = nullptr;
    QLineEdit *m_line = nullptr; // a name, or a time
    ValueEditor *m_value = nullptr;
    QCheckBox *m_sequential = nullptr;
    QComboBox *m_life = nullptr; // of a znode to be made
    QLineEdit *m_ttl = nullptr;
    AclEditor *m_acls = nullptr;
    FactsForm *m_facts = nullptr;
    QCheckBox *m_acceptLocks = nullptr;
    QPushButton *m_again = nullptr;
};

// What the form of an edit says: pure functions of a request.
class EditWords {
    Q_DECLARE_TR_FUNCTIONS(Edit)
public:
    // Of one that takes another back, `undone`, which; else empty.
    using Undone = std::optional<operate::EditRequest>;
    [[nodiscard]] static QString title(const operate::EditRequest &request, bool isNew, const Undone &undone);
    // On the button.
    [[nodiscard]] static QString act(const operate::EditRequest &request, bool isNew, bool isUndo);
    // Of the form's window, whatever is typed in it.
    [[nodiscard]] static QString window(const operate::EditRequest &request, bool isNew, bool isUndo);
    // What there was and what there will be, the lines that differ only; empty where nothing does.
    [[nodiscard]] static QStringList difference(const operate::EditPlan &plan);
    // What would be done. Of what is typed and cannot be read (`trouble`: why) nothing is said as if it were nothing.
    struct Fact {
        QString title;
        QStringList lines;
        bool isCode = false;
    };
    [[nodiscard]] static std::vector<Fact> facts(const operate::EditPlan &plan, const operate::EditPreview &preview,
                                                 const QString &trouble);
};

// Lines that both have at their beginning and end are left out.
[[nodiscard]] QStringList lineDifference(const QStringList &before, const QStringList &after);

// Bytes as something that can be typed: as text where that loses nothing, else as hex digits. GUI thread only.
class ValueEditor : public QWidget {
    Q_OBJECT
public:
    explicit ValueEditor(QWidget *parent = nullptr);

    void setValue(const QByteArray &value);
    // Nothing while what is typed as hex is none.
    [[nodiscard]] std::optional<QByteArray> value() const;
    [[nodiscard]] bool isHex() const { return m_hex->isChecked(); }
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

// The ACL of a znode as lines that can be typed, "cdrwa world:anyone". A password is hashed before it is shown.

class AclEditor : public QWidget {
    Q_OBJECT
public:
    explicit AclEditor(QWidget *parent = nullptr);

    void setAcls(const zk::Acls &acls);
    [[nodiscard]] Result<zk::Acls> acls() const { return operate::parseAcls(m_edit->toPlainText()); }
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
