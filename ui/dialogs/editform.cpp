// SPDX-License-Identifier: Apache-2.0
// How the form of an edit is built, and how it finds room on the screen.
#include "ui/dialogs/actingform.h"
#include "ui/dialogs/editdialog.h"
#include "ui/dialogs/factsform.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include "core/base/text.h"
#include "ui/dialogs/editfields.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QTimer>
#include <QVBoxLayout>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
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
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(24, 16, 24, 16);
    column->setSpacing(10);
    column->addWidget(makeHead());
    column->addWidget(m_scroll = new QScrollArea(this), 1);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setMinimumHeight(60);
    m_scroll->setWidget(m_content = makeContent());
    column->addWidget(m_inputs = makeInputs());
    column->addWidget(makeHairline(this));
    column->addWidget(makeButtons());
}

QWidget *EditDialog::makeHead()
{
    auto *head = new QWidget(this);
    m_tag = makeLabel({}, {}, head);
    m_tag->setObjectName(u"environment"_s);
    auto *row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(12);
    row->addWidget(makeLabel(EditWords::title(m_request, m_isNew, m_undone), u"heading"_s, head));
    const auto name = m_request.field.isEmpty()
                          ? label(m_request.name, 200)
                          : tr("%1, field %2").arg(label(m_request.name, 200), label(m_request.field, 100));
    if (m_isNew && !m_isNewField)
        row->addStretch(1);
    else
        row->addWidget(new CodeLabel(name, head), 1); // wraps anywhere: no name can widen the form
    row->addWidget(m_tag, 0, Qt::AlignVCenter);
    return head;
}

QWidget *EditDialog::makeContent()
{
    auto *content = new QWidget(this);
    m_state = new Banner(content);
    m_state->setObjectName(u"stateBanner"_s);
    m_locks = new Banner(content);
    m_locks->setObjectName(u"locksBanner"_s);
    m_locks->hide();
    m_facts = new FactsForm(content);
    m_warnings = new QVBoxLayout;
    m_warnings->setSpacing(6);
    connect(m_state, &Banner::actionRequested, this, [this] {
        if (m_undo)
            emit undoRequested(*m_undo, m_plan->request);
        accept();
    });
    auto *column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(10);
    column->addWidget(m_state);
    column->addWidget(m_locks);
    column->addWidget(m_fields = makeFields());
    column->addLayout(m_warnings); // before what may be many lines: they must be seen
    column->addWidget(m_facts);
    column->addStretch();
    return content;
}

// What is typed, by what it is an edit of.
QWidget *EditDialog::makeFields()
{
    auto *fields = new QWidget(this);
    auto *column = new QVBoxLayout(fields);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    const auto kind = m_request.kind;
    const bool hasLine = m_isNew || ((kind == EditKind::KeyRename || kind == EditKind::KeyExpire) && !m_undone);
    if (hasLine) {
        m_line = new ContinuedLine(fields);
        m_line->setObjectName(u"line"_s);
        m_line->setFont(monoFont());
        if (kind == EditKind::ZnodeCreate)
            m_line->setText(escaped(m_request.name == "/" ? "/"_ba : m_request.name + '/'));
        else if (kind == EditKind::KeyRename)
            m_line->setText(escaped(m_request.value.isEmpty() ? m_request.name : m_request.value));
        else if (kind == EditKind::KeyExpire)
            m_line->setPlaceholderText(tr("30s, 10m, 2h; empty: it stays until somebody deletes it"));
        auto *title = new QLabel(kind == EditKind::KeyExpire     ? tr("&Ends in")
                                 : kind == EditKind::KeyRename   ? tr("&New name")
                                 : kind == EditKind::ZnodeCreate ? tr("&Path")
                                 : kind == EditKind::FieldSet    ? tr("&Name of the field")
                                                                 : tr("&Name of the key"),
                                 fields);
        title->setBuddy(m_line);
        title->setProperty("look", u"muted"_s);
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
    auto *row = new QHBoxLayout;
    row->setSpacing(8);
    m_life = new QComboBox(fields);
    m_life->setObjectName(u"life"_s);
    m_life->addItems({tr("stays until somebody deletes it"), tr("ephemeral: goes with Lockscope's session"),
                      tr("with a TTL: the server deletes it")});
    auto *title = new QLabel(tr("It &lives"), fields);
    title->setBuddy(m_life);
    title->setProperty("look", u"muted"_s);
    m_ttl = new QLineEdit(fields);
    m_ttl->setObjectName(u"ttl"_s);
    m_ttl->setFont(monoFont());
    m_ttl->setPlaceholderText(tr("30s, 10m, 2h"));
    m_ttl->setAccessibleName(tr("Time to live"));
    m_ttl->setVisible(false);
    row->addWidget(title);
    row->addWidget(m_life);
    row->addWidget(m_ttl, 1);
    row->addStretch();
    connect(m_life, &QComboBox::currentIndexChanged, this, [this](int life) {
        m_ttl->setVisible(life == static_cast<int>(Life::Timed));
        takeFields();
    });
    connect(m_ttl, &QLineEdit::textChanged, this, &EditDialog::takeFields);
    return row;
}

QWidget *EditDialog::makeInputs()
{
    const ActingWords words{tr("&Reason (recorded)"), tr("ticket, what happened"), {}};
    const auto inputs = makeActingInputs(this, u"typeName"_s, words);
    m_reason = inputs.reason;
    m_type = inputs.typed;
    m_typeLabel = inputs.typedLabel;
    m_acceptLocks = new QCheckBox(tr("I know the holders named above, and that they are not told"), inputs.widget);
    m_acceptLocks->setObjectName(u"acceptLocks"_s);
    inputs.grid->addWidget(m_acceptLocks, 2, 1);
    m_acceptLocks->hide();
    for (auto *line : {m_reason, m_type})
        connect(line, &QLineEdit::textChanged, this, &EditDialog::updateReady);
    connect(m_acceptLocks, &QCheckBox::toggled, this, &EditDialog::updateReady);
    return inputs.widget;
}

QWidget *EditDialog::makeButtons()
{
    auto *buttons = new QWidget(this);
    m_why = makeLabel({}, u"small"_s, buttons);
    m_why->setObjectName(u"obstacle"_s);
    m_why->setWordWrap(true);
    m_arm = new QPushButton(buttons);
    m_arm->setObjectName(u"armButton"_s);
    m_arm->setProperty("look", u"danger"_s);
    m_again = new QPushButton(tr("Look again"), buttons);
    m_again->setObjectName(u"lookAgain"_s);
    m_cancel = new QPushButton(tr("Cancel"), buttons);
    m_cancel->setObjectName(u"cancelButton"_s);
    m_apply = new QPushButton(EditWords::act(m_request, m_isNew, m_undone.has_value()), buttons);
    m_apply->setObjectName(u"applyButton"_s);
    m_apply->setProperty("look", u"dangerFilled"_s);
    for (auto *button : {m_arm, m_again, m_cancel, m_apply})
        button->setAutoDefault(false); // Enter in a text field shall not change anything
    auto *row = new QHBoxLayout(buttons);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(10);
    row->addWidget(m_why, 1);
    row->addWidget(m_arm);
    row->addWidget(m_again);
    row->addWidget(m_cancel);
    row->addWidget(m_apply);
    connect(m_arm, &QPushButton::clicked, this, [this] { emit armRequested(m_request.connection); });
    connect(m_again, &QPushButton::clicked, this, &EditDialog::lookAgain);
    connect(m_cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_apply, &QPushButton::clicked, this, &EditDialog::send);
    // As in the form of a force-release; what has to be ticked or counted is, all the same.
    for (const auto &keys : {QKeySequence(Qt::CTRL | Qt::Key_Return), QKeySequence(Qt::CTRL | Qt::Key_Enter)}) {
        connect(new QShortcut(keys, this), &QShortcut::activated, this, [this] {
            if (frictionOf(m_book, m_request.connection).oneKey)
                send();
        });
    }
    return buttons;
}

void EditDialog::setAvailable(const QRect &available)
{
    m_available = available;
    fit();
}

void EditDialog::fit()
{
    // Nothing moves below the pointer while somebody types, nor away from where the form was dragged.
    const auto fitNow = [this] {
        const auto stands = m_isPlaced ? std::optional(geometry()) : std::nullopt;
        fitToScreen(this, m_scroll, m_available, editFormWidth, stands);
    };
    fitNow();
    QTimer::singleShot(0, this, fitNow); // what is new in a form is shown, and measured, a turn later
}

void EditDialog::showEvent(QShowEvent *event)
{
    QDialog::showEvent(event); // which moves it over its parent
    fit();
}

} // namespace lockscope::ui
