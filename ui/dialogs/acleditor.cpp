// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/acleditor.h"

#include "core/workspace/values.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

AclEditor::AclEditor(QWidget *parent) : QWidget(parent)
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    auto *title =
        makeLabel(tr("ACL: who may (c)reate and (d)elete children, (r)ead, (w)rite, (a)dminister; one entry a line"),
                  u"muted"_s, this);
    title->setWordWrap(true);
    column->addWidget(title);
    m_edit = new QPlainTextEdit(this);
    m_edit->setObjectName(u"acls"_s);
    m_edit->setFont(monoFont());
    m_edit->setTabChangesFocus(true);
    m_edit->setFixedHeight(66);
    m_edit->setAccessibleName(tr("ACL"));
    column->addWidget(m_edit);
    m_user = new QLineEdit(this);
    m_user->setObjectName(u"user"_s);
    m_user->setPlaceholderText(tr("user"));
    m_password = new QLineEdit(this);
    m_password->setObjectName(u"password"_s);
    m_password->setPlaceholderText(tr("password"));
    m_password->setEchoMode(QLineEdit::Password);
    auto *add = new QPushButton(tr("Add as digest"), this);
    add->setObjectName(u"addUser"_s);
    add->setAutoDefault(false);
    add->setToolTip(tr("Only the hash that ZooKeeper keeps is shown, sent and recorded."));
    connect(add, &QPushButton::clicked, this, &AclEditor::addHashedUser);
    connect(m_edit, &QPlainTextEdit::textChanged, this, &AclEditor::changed);
    m_adding = new QWidget(this);
    auto *row = new QHBoxLayout(m_adding);
    row->setContentsMargins(0, 0, 0, 0);
    for (QWidget *part : std::initializer_list<QWidget *>{m_user, m_password, add})
        row->addWidget(part);
    column->addWidget(m_adding);
    setAcls(zk::openAcl());
}

void AclEditor::setAcls(const zk::Acls &acls)
{
    QStringList lines;
    for (const auto &acl : acls)
        lines << operate::aclText(acl);
    m_edit->setPlainText(lines.join(u'\n'));
}

void AclEditor::setReadOnly()
{
    m_edit->setReadOnly(true);
    m_adding->hide();
}

Result<zk::Acls> AclEditor::acls() const
{
    return operate::parseAcls(m_edit->toPlainText());
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

#include "moc_acleditor.cpp"
