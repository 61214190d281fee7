// SPDX-License-Identifier: Apache-2.0
// How the form of an edit is built, and how it finds room on the screen.
#include "ui/dialogs/editdialog.h"
#include "ui/dialogs/factsform.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include "core/base/text.h"
#include "ui/dialogs/editfields.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace lockscope::ui {

using operate::EditKind;

namespace {

constexpr int editFormWidth = 820;

// The first line of a form is selected as a whole when it opens: the first letter would take away the parent there.
class ContinuedLine : public QLineEdit {
public:
    using QLineEdit::QLineEdit;

protected:
    void focusInEvent(QFocusEvent *event) override
    {
        QLineEdit::focusInEvent(event);
        deselect();
        end(false);
    }
};

QString lineTitle(EditKind kind)
{
    switch (kind) {
    case EditKind::KeyExpire: return EditDialog::tr("&Expires in");
    case EditKind::KeyRename: return EditDialog::tr("&New name");
    case EditKind::ZnodeCreate: return EditDialog::tr("&Path");
    case EditKind::FieldSet: return EditDialog::tr("&Name of the field");
    default: return EditDialog::tr("&Name of the key");
    }
}

// An edit that takes another back is what it says, and no other: what is to be can be read, all of it.
void keepAsTheyAre(QWidget &fields)
{
    if (auto *value = fields.findChild<ValueEditor *>())
        value->edit()->setReadOnly(true);
    if (auto *acls = fields.findChild<AclEditor *>())
        acls->setReadOnly();
}

} // namespace

void EditDialog::build()
{
    setWindowTitle(EditWords::window(m_request, m_isNew, m_undone.has_value()));
    setObjectName(u"editDialog"_s);
    makeColumn(this, {.margins = {24, 16, 24, 16}, .spacing = 10},
               {makeHead(),
                {makeScrolled(makeContent(), editFormWidth), 1},
                makeQuestions(),
                makeHairline(this),
                makeButtons()});
}

QWidget *EditDialog::makeHead()
{
    auto *head = new QWidget(this);
    makeTag(head);
    auto *title = makeLabel(EditWords::title(m_request, m_isNew, m_undone), u"heading"_s, head);
    const auto name = m_request.field.isEmpty()
                          ? label(m_request.name, 200)
                          : tr("%1, field %2").arg(label(m_request.name, 200), label(m_request.field, 100));
    // It wraps anywhere: no name can widen the form.
    const auto middle = m_isNew && !m_isNewField ? BoxPart(Stretch{1}) : BoxPart(new CodeLabel(name, head), 1);
    makeRow(head, {.spacing = 12}, {title, middle, {m_tag, 0, Qt::AlignVCenter}});
    return head;
}

QWidget *EditDialog::makeContent()
{
    auto *content = new QWidget(this);
    m_state = named(new Banner(content), u"stateBanner"_s);
    m_locks = named(new Banner(content), u"locksBanner"_s);
    m_locks->hide();
    m_facts = new FactsForm(content);
    m_warnings = makeColumn({.spacing = 6}, {});
    connect(m_state, &Banner::actionRequested, this, [this] {
        if (m_undo)
            emit undoRequested(*m_undo, m_plan->request);
        accept();
    });
    // The warnings before what may be many lines: they must be seen.
    makeColumn(content, {.spacing = 10}, {m_state, m_locks, m_fields = makeFields(), m_warnings, m_facts, Stretch{}});
    return content;
}

// What is typed, by what it is an edit of.
QWidget *EditDialog::makeFields()
{
    auto *fields = new QWidget(this);
    auto *column = makeColumn(fields, {.spacing = 6}, {});
    const auto kind = m_request.kind;
    const bool hasLine = m_isNew || ((kind == EditKind::KeyRename || kind == EditKind::KeyExpire) && !m_undone);
    if (hasLine) {
        m_line = named(new ContinuedLine(fields), u"line"_s);
        m_line->setFont(monoFont());
        if (kind == EditKind::ZnodeCreate)
            m_line->setText(escaped(m_request.name == "/" ? "/"_ba : m_request.name + '/'));
        else if (kind == EditKind::KeyRename)
            m_line->setText(escaped(m_request.value.isEmpty() ? m_request.name : m_request.value));
        else if (kind == EditKind::KeyExpire)
            m_line->setPlaceholderText(tr("30s, 10m or 2h; empty for no TTL"));
        auto *title = makeLabel(lineTitle(kind), u"muted"_s, fields);
        title->setBuddy(m_line);
        column->addWidget(title);
        column->addWidget(m_line);
        connect(m_line, &QLineEdit::textChanged, this, &EditDialog::takeFields);
    }
    if (kind == EditKind::ZnodeCreate) {
        m_sequential = new QCheckBox(tr("The server adds a number (sequence node)"), fields);
        column->addWidget(m_sequential);
        column->addLayout(makeLife(fields));
        connect(m_sequential, &QCheckBox::toggled, this, &EditDialog::takeFields);
    }
    if (kind == EditKind::ZnodeCreate || kind == EditKind::ZnodeSet || kind == EditKind::KeySet
        || kind == EditKind::FieldSet) {
        column->addWidget(
            makeLabel(kind == EditKind::ZnodeCreate ? tr("Data") : tr("New value"), u"muted"_s, fields));
        m_value = new ValueEditor(fields);
        column->addWidget(m_value);
        connect(m_value, &ValueEditor::changed, this, &EditDialog::takeFields);
    }
    if (kind == EditKind::ZnodeCreate || kind == EditKind::ZnodeAcl) {
        m_acls = new AclEditor(fields);
        column->addWidget(m_acls);
        connect(m_acls, &AclEditor::changed, this, &EditDialog::takeFields);
    }
    if (m_undone)
        keepAsTheyAre(*fields);
    return fields;
}

// In the order of EditDialog::Life. Containers are not made: a client's own, which the server clears away.
QLayout *EditDialog::makeLife(QWidget *fields)
{
    m_life = named(new QComboBox(fields), u"life"_s);
    m_life->addItems({tr("persistent: it stays until a client deletes it"),
                      tr("ephemeral: it is deleted with Lockscope's session"),
                      tr("with a TTL: the server deletes it")});
    auto *title = makeLabel(tr("&Lifetime"), u"muted"_s, fields);
    title->setBuddy(m_life);
    m_ttl = named(new QLineEdit(fields), u"ttl"_s, tr("Time to live"));
    m_ttl->setFont(monoFont());
    m_ttl->setPlaceholderText(tr("30s, 10m, 2h"));
    m_ttl->setVisible(false);
    auto *row = makeRow({.spacing = 8}, {title, m_life, {m_ttl, 1}, Stretch{}});
    connect(m_life, &QComboBox::currentIndexChanged, this, [this](int life) {
        m_ttl->setVisible(life == static_cast<int>(Life::Timed));
        takeFields();
    });
    connect(m_ttl, &QLineEdit::textChanged, this, &EditDialog::takeFields);
    return row;
}

QWidget *EditDialog::makeQuestions()
{
    makeInputs(u"typeName"_s, {});
    m_acceptLocks = makeTick(u"acceptLocks"_s, tr("I understand that the holders listed above are not notified"));
    m_acceptLocks->hide();
    return m_inputs;
}

QWidget *EditDialog::makeButtons()
{
    auto *buttons = new QWidget(this);
    makeObstacle(buttons)->setWordWrap(true);
    m_again = named(makeButton(tr("Refresh"), buttons, this, &EditDialog::lookAgain), u"lookAgain"_s);
    m_again->setAutoDefault(false);
    makeCancel(buttons);
    makeAct(EditWords::act(m_request, m_isNew, m_undone.has_value()), u"applyButton"_s, buttons);
    makeRow(buttons, {.spacing = 10}, {{m_why, 1}, m_again, m_cancel, m_act});
    addOneKey(); // what has to be ticked or counted is, all the same
    return buttons;
}

} // namespace lockscope::ui
