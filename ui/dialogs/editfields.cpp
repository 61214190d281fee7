// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "ui/dialogs/editdialog.h"

#include "ui/theme/text.h"
#include "ui/theme/theme.h"

namespace lockscope::ui {

namespace {

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
