// SPDX-License-Identifier: Apache-2.0
// How the form of an edit is built, the fields that it has for values, and how it finds room on the screen.
#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "ui/dialogs/editdialog.h"
#include "ui/dialogs/factsform.h"
#include "ui/parts/notices.h"

#include <QCheckBox>
#include <QComboBox>
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

constexpr qsizetype mostDiffLines = 14; // of each side
constexpr int longestDiffLine = 160;

// Both as text where both are, else both as bytes.
QStringList linesOfValue(const QByteArray &value, bool asText)
{
    if (value.isEmpty())
        return {};
    QStringList lines;
    if (asText) {
        for (const auto &line : value.split('\n'))
            lines << label(line, longestDiffLine);
        return lines;
    }
    constexpr qsizetype perLine = 16;
    for (qsizetype at = 0; at < value.size(); at += perLine)
        lines << u"%1  %2"_s.arg(QString::number(at, 16).rightJustified(6, u'0'),
                                 QString::fromLatin1(value.mid(at, perLine).toHex(' ')));
    return lines;
}

QStringList linesOfAcls(const zk::Acls &acls)
{
    return mapped<QStringList>(acls, [&](const auto &acl) { return operate::aclText(acl); });
}

QString timeWords(std::optional<std::chrono::milliseconds> ttl)
{
    return ttl ? EditWords::tr("expires in %1").arg(formatDuration(*ttl)) : EditWords::tr("no TTL");
}

// What is said of a kind of edit, and in its other case.
struct EditTexts {
    QString title, otherTitle, act, otherAct, undoTitle, otherUndoTitle, undoAct, otherUndoAct;
};

const EditTexts &textsOf(EditKind kind)
{
    static const auto all = [] {
        std::map<EditKind, EditTexts> read;
        readResourceList(u"words/edits.json"_s, "edits", [&read](FieldReader &reader) {
            auto of = EditKind::ZnodeCreate;
            reader.readWord("kind",
                            "ZnodeCreate ZnodeSet ZnodeDelete ZnodeAcl ZnodeRestore KeySet KeyExpire KeyRename "
                            "KeyDelete KeyRestore FieldSet FieldDelete",
                            of);
            read[of] = {reader.text("title"),     reader.text("otherTitle", QString()),
                        reader.text("act"),       reader.text("otherAct", QString()),
                        reader.text("undoTitle"), reader.text("otherUndoTitle", QString()),
                        reader.text("undoAct"),   reader.text("otherUndoAct", QString())};
        });
        return read;
    }();
    return all.at(kind);
}

QString either(const QString &usual, const QString &other, bool isOther)
{
    return isOther && !other.isEmpty() ? other : usual;
}

constexpr qsizetype bytesPerHexLine = 16;

QString hexText(const QByteArray &value)
{
    QByteArray text;
    for (qsizetype at = 0; at < value.size(); at += bytesPerHexLine)
        text += (at > 0 ? "\n" : "") + value.mid(at, bytesPerHexLine).toHex(' ');
    return QString::fromLatin1(text);
}

std::optional<QByteArray> bytesOfHex(const QString &text)
{
    QByteArray digits;
    for (const auto letter : text) {
        if (letter.isSpace())
            continue;
        if (letter.unicode() > 0x7f || !QByteArrayView("0123456789abcdefABCDEF").contains(letter.toLatin1()))
            return std::nullopt;
        digits += letter.toLatin1();
    }
    return digits.size() % 2 == 0 ? std::optional(QByteArray::fromHex(digits)) : std::nullopt;
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

QString EditWords::title(const operate::EditRequest &request, bool isNew, const Undone &undone)
{
    const auto &texts = textsOf(undone ? undone->kind : request.kind);
    const bool wasMade = request.kind == EditKind::KeyDelete || request.kind == EditKind::FieldDelete;
    return undone ? either(texts.undoTitle, texts.otherUndoTitle, wasMade)
                  : either(texts.title, texts.otherTitle, isNew);
}

QString EditWords::act(const operate::EditRequest &request, bool isNew, bool isUndo)
{
    const auto &texts = textsOf(request.kind);
    const bool stays = request.kind == EditKind::KeyExpire && !request.ttl && !request.expiryMs;
    return isUndo ? either(texts.undoAct, texts.otherUndoAct, stays)
                  : either(texts.act, texts.otherAct, isNew || stays);
}

QString EditWords::window(const operate::EditRequest &request, bool isNew, bool isUndo)
{
    const bool isTyped = request.kind == EditKind::KeyExpire; // whether it sets one or takes it away
    return isUndo ? tr("Undo") : isTyped ? tr("Time to live") : act(request, isNew, false);
}

QStringList EditWords::difference(const operate::EditPlan &plan)
{
    const auto &request = plan.request;
    const auto &before = plan.before;
    switch (request.kind) {
    case EditKind::ZnodeAcl: return lineDifference(linesOfAcls(before.acls), linesOfAcls(request.acls));
    case EditKind::KeyExpire: {
        const auto left = request.expiryMs ? std::optional(std::chrono::milliseconds(*request.expiryMs)
                                                           - std::chrono::duration_cast<std::chrono::milliseconds>(
                                                               std::chrono::system_clock::now().time_since_epoch()))
                                           : request.ttl;
        return lineDifference({timeWords(before.ttl)}, {timeWords(left)});
    }
    case EditKind::KeyRename:
        return lineDifference({label(request.name, longestDiffLine)}, {label(request.value, longestDiffLine)});
    case EditKind::ZnodeDelete:
    case EditKind::KeyDelete:
    case EditKind::FieldDelete:
        return lineDifference(linesOfValue(before.value, ValueEditor::isText(before.value)), {});
    case EditKind::ZnodeRestore:
    case EditKind::KeyRestore: return {};
    default: break;
    }
    const bool areTexts = ValueEditor::isText(before.value) && ValueEditor::isText(request.value);
    return lineDifference(linesOfValue(before.value, areTexts), linesOfValue(request.value, areTexts));
}

QStringList lineDifference(const QStringList &before, const QStringList &after)
{
    const auto both = std::min(before.size(), after.size());
    qsizetype start = 0;
    while (start < both && before[start] == after[start])
        ++start;
    qsizetype end = 0;
    while (end < both - start && before[before.size() - 1 - end] == after[after.size() - 1 - end])
        ++end;
    QStringList lines;
    const auto add = [&](const QStringList &from, const QString &sign) {
        const auto count = from.size() - end - start;
        for (qsizetype i = 0; i < std::min(count, mostDiffLines); ++i)
            lines << sign + from[start + i];
        if (count > mostDiffLines)
            lines << sign + u"… %1 more lines"_s.arg(count - mostDiffLines);
    };
    add(before, u"− "_s);
    add(after, u"+ "_s);
    return lines;
}

std::vector<EditWords::Fact> EditWords::facts(const operate::EditPlan &plan, const operate::EditPreview &preview,
                                              const QString &trouble)
{
    const QString sent = tr("Will be sent");
    if (!trouble.isEmpty())
        return {{sent, {tr("unknown: %1").arg(trouble)}}};
    std::vector<Fact> facts;
    if (const auto change = difference(plan); !change.isEmpty())
        facts.push_back({tr("Change"), change, true});
    else if (plan.request.kind == EditKind::KeyRestore)
        facts.push_back({tr("Change"), {tr("the previous key")}});
    facts.push_back({sent, preview.commands, true});
    const auto guard = preview.exact ? preview.guard : tr("%1; a gap remains, see above").arg(preview.guard);
    facts.push_back({tr("Only if unchanged"), {guard}});
    facts.push_back({tr("Undo"), {preview.undo}});
    return facts;
}

// Editors of text make of a non-breaking space a plain one, and of each way to end a line the same.
bool ValueEditor::isText(const QByteArray &value)
{
    const auto text = QString::fromUtf8(value);
    if (text.toUtf8() != value)
        return false;
    return std::all_of(text.begin(), text.end(), [](QChar c) {
        return c == u'\n' || c == u'\t'
               || (c.isPrint() && c != QChar::Nbsp && c != QChar::LineSeparator && c != QChar::ParagraphSeparator)
               || c.isSurrogate();
    });
}

ValueEditor::ValueEditor(QWidget *parent) : QWidget(parent)
{
    m_edit = named(new QPlainTextEdit(this), u"value"_s, tr("New value"));
    m_edit->setFont(monoFont());
    m_edit->setTabChangesFocus(true);
    m_edit->setFixedHeight(132);
    m_text = new QRadioButton(tr("Text"), this);
    m_hex = named(new QRadioButton(tr("Hex"), this), u"valueAsHex"_s);
    m_text->setChecked(true);
    m_note = makeLabel({}, u"small"_s, this);
    auto *forms = makeRow({}, {m_text, m_hex, Stretch{}, m_note});
    makeColumn(this, {.spacing = 4}, {m_edit, forms});
    connect(m_edit, &QPlainTextEdit::textChanged, this, [this] {
        const auto bytes = value();
        m_note->setText(bytes ? (bytes->size() == 1 ? tr("1 byte") : tr("%1 bytes").arg(countText(bytes->size())))
                              : tr("not hex: enter two digits for each byte"));
        emit changed();
    });
    connect(m_hex, &QRadioButton::clicked, this, [this] { show(m_edit->toPlainText().toUtf8()); });
    connect(m_text, &QRadioButton::clicked, this, [this] {
        const auto bytes = bytesOfHex(m_edit->toPlainText());
        if (bytes && isText(*bytes)) {
            show(*bytes);
            return;
        }
        m_hex->setChecked(true);
        m_note->setText(bytes ? tr("some of its bytes are not text") : tr("not hex: enter two digits for each byte"));
    });
}

void ValueEditor::setValue(const QByteArray &value)
{
    (isText(value) ? m_text : m_hex)->setChecked(true);
    show(value);
}

void ValueEditor::show(const QByteArray &value)
{
    m_edit->setPlainText(isHex() ? hexText(value) : QString::fromUtf8(value));
}

std::optional<QByteArray> ValueEditor::value() const
{
    return isHex() ? bytesOfHex(m_edit->toPlainText()) : std::optional(m_edit->toPlainText().toUtf8());
}

void ValueEditor::setHex(bool isHex)
{
    if (isHex != this->isHex())
        (isHex ? m_hex : m_text)->click();
}

AclEditor::AclEditor(QWidget *parent) : QWidget(parent)
{
    auto *title =
        makeLabel(tr("ACL: who may (c)reate and (d)elete children, (r)ead, (w)rite, (a)dminister; one entry a line"),
                  u"muted"_s, this);
    title->setWordWrap(true);
    m_edit = named(new QPlainTextEdit(this), u"acls"_s, tr("ACL"));
    m_edit->setFont(monoFont());
    m_edit->setTabChangesFocus(true);
    m_edit->setFixedHeight(66);
    m_user = named(new QLineEdit(this), u"user"_s);
    m_user->setPlaceholderText(tr("user"));
    m_password = named(new QLineEdit(this), u"password"_s);
    m_password->setPlaceholderText(tr("password"));
    m_password->setEchoMode(QLineEdit::Password);
    auto *add = named(makeButton(tr("Add as digest"), this, &AclEditor::addHashedUser), u"addUser"_s);
    add->setAutoDefault(false);
    add->setToolTip(tr("Only the hash that ZooKeeper keeps is shown, sent and recorded."));
    connect(m_edit, &QPlainTextEdit::textChanged, this, &AclEditor::changed);
    m_adding = new QWidget(this);
    makeRow(m_adding, {}, {m_user, m_password, add});
    makeColumn(this, {.spacing = 6}, {title, m_edit, m_adding});
    setAcls(zk::openAcl());
}

void AclEditor::setAcls(const zk::Acls &acls)
{
    const auto lines = mapped<QStringList>(acls, [&](const auto &acl) { return operate::aclText(acl); });
    m_edit->setPlainText(lines.join(u'\n'));
}

void AclEditor::setReadOnly()
{
    m_edit->setReadOnly(true);
    m_adding->hide();
}

// The password ends here: what goes on is what ZooKeeper keeps of it.
void AclEditor::addHashedUser()
{
    if (m_user->text().isEmpty() || m_password->text().isEmpty())
        return;
    const auto id = operate::digestId(m_user->text().toUtf8(), m_password->text().toUtf8());
    m_password->clear();
    m_edit->appendPlainText(operate::aclText({zk::perms::all, "digest", id}));
}

} // namespace lockscope::ui
