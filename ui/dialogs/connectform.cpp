// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/connectform.h"

#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QAbstractButton>
#include <QBoxLayout>
#include <QButtonGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QRegularExpression>
#include <QToolButton>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int colourCount = 7;

// One colour to choose: a disc, ringed when chosen.
class Swatch : public QAbstractButton {
public:
    Swatch(ConnectionColour colour, QWidget *parent) : QAbstractButton(parent), m_colour(colour)
    {
        setCheckable(true);
        setFocusPolicy(Qt::StrongFocus);
        setToolTip(wordOf(colour));
        setAccessibleName(u"Colour: "_s + wordOf(colour));
    }
    [[nodiscard]] QSize sizeHint() const override { return {26, 26}; }

protected:
    void paintEvent(QPaintEvent *) override
    {
        const Tokens &tokens = Theme::tokens();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const QRectF disc = QRectF(rect()).adjusted(6, 6, -6, -6);
        const QColor colour = colourOf(m_colour);
        painter.setPen(colour.isValid() ? Qt::NoPen : QPen(tokens.muted, 1.2));
        painter.setBrush(colour.isValid() ? QBrush(colour) : Qt::NoBrush);
        painter.drawEllipse(disc);
        if (isChecked() || hasFocus()) {
            painter.setPen(QPen(hasFocus() ? tokens.accent : tokens.muted, isChecked() ? 2 : 1,
                                isChecked() ? Qt::SolidLine : Qt::DotLine));
            painter.setBrush(Qt::NoBrush);
            painter.drawEllipse(disc.adjusted(-4, -4, 4, 4));
        }
    }

private:
    ConnectionColour m_colour;
};

QString withoutProgram(const QString &message)
{
    // Written for the command line first.
    return message.startsWith("--connect: "_L1) ? message.mid(11) : message;
}

} // namespace

QColor colourOf(ConnectionColour colour)
{
    const Tokens &tokens = Theme::tokens();
    switch (colour) {
    case ConnectionColour::None: return {};
    case ConnectionColour::Red: return tokens.critical;
    case ConnectionColour::Orange: return tokens.warning;
    case ConnectionColour::Yellow: return tokens.wait;
    case ConnectionColour::Green: return tokens.ok;
    case ConnectionColour::Teal: return tokens.hold;
    case ConnectionColour::Blue: return tokens.accent;
    }
    return {};
}

QString wordOf(ConnectionColour colour)
{
    static const std::array<QString, colourCount> words{u"none"_s,  u"red"_s,  u"orange"_s, u"yellow"_s,
                                                        u"green"_s, u"teal"_s, u"blue"_s};
    return words[static_cast<std::size_t>(colour)];
}

ConnectForm::ConnectForm(bool canKeepPasswords, QWidget *parent) : QWidget(parent)
{
    m_form = new QFormLayout(this);
    m_form->setContentsMargins(0, 0, 0, 0);
    m_form->setHorizontalSpacing(16);
    m_form->setVerticalSpacing(9);
    m_form->setLabelAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    buildAddress(m_form);
    buildMarks(m_form);
    m_keep->setEnabled(canKeepPasswords);
    m_keep->setText(canKeepPasswords ? u"Keep it in the system's keychain"_s
                                     : u"Asked for each time: this build has no keychain"_s);
    const auto edits = findChildren<QLineEdit *>();
    for (auto *edit : edits)
        connect(edit, &QLineEdit::textEdited, this, &ConnectForm::preview);
    for (auto *box : {m_tls, m_keep, m_production, m_readOnly})
        connect(box, &QCheckBox::clicked, this, &ConnectForm::preview);
    for (auto *box : {m_kind, m_group})
        connect(box, &QComboBox::activated, this, &ConnectForm::preview);
    connect(m_colours, &QButtonGroup::idClicked, this, &ConnectForm::preview);
    connect(m_kind, &QComboBox::currentIndexChanged, this, &ConnectForm::showKind);
    connect(m_hosts, &QLineEdit::textChanged, this, &ConnectForm::spread);
    connect(m_production, &QCheckBox::toggled, this, [this](bool isProduction) {
        m_readOnly->setEnabled(!isProduction);
        if (isProduction)
            m_readOnly->setChecked(true);
    });
    showKind();
}

void ConnectForm::buildAddress(QFormLayout *form)
{
    m_kind = new QComboBox(this);
    m_kind->addItems(
        {u"ZooKeeper"_s, u"Redis"_s, u"MariaDB or MySQL"_s, u"Sandbox: private servers on this machine"_s});
    m_name = new QLineEdit(this);
    m_name->setPlaceholderText(u"orders-zk"_s);
    m_hosts = new QLineEdit(this);
    m_hosts->setFont(monoFont());
    m_place = new QLineEdit(this);
    m_place->setFont(monoFont());
    m_placeLabel = new QLabel(this);
    m_placeLabel->setBuddy(m_place);
    m_tls = new QCheckBox(u"Encrypt with TLS (rediss://)"_s, this);
    m_user = new QLineEdit(this);
    m_password = new QLineEdit(this);
    m_password->setEchoMode(QLineEdit::Password);
    m_keep = new QCheckBox(this);
    form->addRow(u"&Type"_s, m_kind);
    form->addRow(u"&Name"_s, m_name);
    form->addRow(u"&Hosts"_s, m_hosts);
    form->addRow(m_placeLabel, m_place);
    form->addRow(QString(), m_tls);
    form->addRow(u"&User"_s, m_user);
    form->addRow(u"&Password"_s, m_password);
    form->addRow(QString(), m_keep);
}

QWidget *ConnectForm::buildColours()
{
    auto *row = new QWidget(this);
    auto *layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    m_colours = new QButtonGroup(this);
    for (int i = 0; i < colourCount; ++i) {
        auto *swatch = new Swatch(static_cast<ConnectionColour>(i), row);
        m_colours->addButton(swatch, i);
        layout->addWidget(swatch);
    }
    layout->addStretch();
    m_colours->button(0)->setChecked(true);
    return row;
}

void ConnectForm::buildMarks(QFormLayout *form)
{
    m_group = new QComboBox(this);
    m_group->setEditable(true);
    m_group->lineEdit()->setPlaceholderText(u"none"_s);
    m_production = new QCheckBox(u"Production: marked red, opens read-only"_s, this);
    m_readOnly = new QCheckBox(u"Open read-only"_s, this);
    m_preview = makeLabel({}, u"muted"_s, this);
    m_preview->setFont(monoFont());
    m_preview->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred); // a long one is cut, not the dialog wider
    m_problem = makeLabel({}, u"critical"_s, this);
    m_problem->setWordWrap(true);
    form->addRow(u"&Group"_s, m_group);
    form->addRow(u"Colour"_s, buildColours());
    form->addRow(QString(), m_production);
    form->addRow(QString(), m_readOnly);
    form->addRow(u"Address"_s, m_preview);
    form->addRow(QString(), m_problem);
}

ConnectForm::Kind ConnectForm::kind() const
{
    return static_cast<Kind>(m_kind->currentIndex());
}

void ConnectForm::showKind()
{
    const bool isServer = kind() != Sandbox;
    for (QWidget *field : std::initializer_list<QWidget *>{m_hosts, m_place, m_user, m_password, m_keep}) {
        field->setVisible(isServer);
        if (auto *label = m_form->labelForField(field))
            label->setVisible(isServer);
    }
    m_tls->setVisible(kind() == Redis);
    struct Words {
        QString hosts;
        QString placeLabel;
        QString place;
    };
    static const Words words[] = {
        {u"10.0.1.11:2181,10.0.1.12:2181, or paste zk://…"_s, u"&Chroot"_s, u"none: the whole tree"_s},
        {u"10.0.5.1:6379 (several: a Redlock set), or paste redis://…"_s, u"&Database"_s, u"0"_s},
        {u"10.0.6.1:3306, or paste mariadb://…"_s, u"&Database"_s, u"none: all that the user may see"_s},
        {},
    };
    m_hosts->setPlaceholderText(words[kind()].hosts);
    m_placeLabel->setText(words[kind()].placeLabel);
    m_place->setPlaceholderText(words[kind()].place);
    preview();
}

QString ConnectForm::uri() const
{
    if (kind() == Sandbox)
        return u"sandbox:"_s;
    QString place = m_place->text().trimmed();
    if (!place.isEmpty() && !place.startsWith(u'/'))
        place.prepend(u'/');
    const QString redis = m_tls->isChecked() ? u"rediss"_s : u"redis"_s;
    const QString scheme = kind() == ZooKeeper ? u"zk"_s : kind() == MariaDb ? u"mariadb"_s : redis;
    // People write "a, b"; user and password have fields of their own.
    QString hosts = m_hosts->text();
    hosts.remove(u' ');
    QString uri = u"%1://%2%3"_s.arg(scheme, hosts, place);
    if (kind() == ZooKeeper && m_adminPort != 0)
        uri += u"?admin=%1"_s.arg(m_adminPort);
    return uri;
}

std::optional<ConnectForm::Kind> ConnectForm::kindOf(Scheme scheme)
{
    switch (scheme) {
    case Scheme::ZooKeeper: return ZooKeeper;
    case Scheme::Redis:
    case Scheme::RedisTls: return Redis;
    case Scheme::MariaDb: return MariaDb;
    case Scheme::Sandbox:
    case Scheme::Simulated: break;
    }
    return std::nullopt;
}

void ConnectForm::spread()
{
    const QString text = m_hosts->text().trimmed();
    if (!text.contains("://"_L1))
        return;
    const auto spec = parseConnection(text);
    if (!spec)
        return; // still being typed, or wrong: said when it is read
    const auto kind = kindOf(spec->scheme);
    if (!kind)
        return;
    const bool isZooKeeper = *kind == ZooKeeper;
    m_kind->setCurrentIndex(*kind);
    m_tls->setChecked(spec->scheme == Scheme::RedisTls);
    if (!spec->name.isEmpty())
        m_name->setText(QString::fromUtf8(spec->name.bytes()));
    if (!spec->user.isEmpty())
        m_user->setText(spec->user);
    if (!spec->password.isEmpty())
        m_password->setText(spec->password);
    const QString rest = uriOf(*spec).section(u"//"_s, 1).section(u'?', 0, 0);
    m_adminPort = spec->adminPort == ConnectionSpec().adminPort ? quint16(0) : spec->adminPort;
    m_place->setText(rest.contains(u'/') ? (isZooKeeper ? rest.mid(rest.indexOf(u'/')) : rest.section(u'/', 1))
                                         : QString());
    m_hosts->setText(rest.section(u'/', 0, 0));
    preview();
}

void ConnectForm::show(const SavedConnection &connection, const QStringList &groups)
{
    m_id = connection.id;
    m_adminPort = 0;
    m_place->clear();
    m_tls->setChecked(false);
    m_password->clear();
    m_password->setPlaceholderText(connection.hasPassword ? u"kept in the keychain"_s : QString());
    m_keep->setChecked(connection.hasPassword || connection.id.isEmpty());
    m_keep->setChecked(m_keep->isEnabled() && m_keep->isChecked());
    m_name->setText(connection.name);
    m_user->clear();
    m_kind->setCurrentIndex(connection.uri == "sandbox:"_L1 ? Sandbox : ZooKeeper);
    m_hosts->setText(connection.uri == "sandbox:"_L1 ? QString() : connection.uri); // spreads
    m_user->setText(connection.user);
    m_group->clear();
    m_group->addItems(groups);
    m_group->setCurrentText(connection.group);
    m_colours->button(static_cast<int>(connection.colour))->setChecked(true);
    m_production->setChecked(connection.production);
    m_readOnly->setChecked(connection.readOnly || connection.production);
    m_readOnly->setEnabled(!connection.production);
    preview();
}

Result<SavedConnection> ConnectForm::read()
{
    static const QRegularExpression plainName(u"^[A-Za-z0-9_.-]*$"_s);
    const auto wrong = [this](const QString &problem, QWidget *field) {
        say(problem);
        if (field)
            field->setFocus();
        return Error{ErrorCode::BadInput, problem};
    };
    SavedConnection connection;
    connection.id = m_id;
    connection.name = m_name->text().trimmed();
    if (!plainName.match(connection.name).hasMatch())
        return wrong(u"A name has letters, digits and . _ - only: it stands before the ':' of a lock's name."_s,
                     m_name);
    if (kind() != Sandbox && m_hosts->text().trimmed().isEmpty())
        return wrong(
            u"Which host? Write for example %1"_s.arg(kind() == Redis ? u"10.0.5.1:6379"_s : u"10.0.1.11:2181"_s),
            m_hosts);
    const auto spec = parseConnection(uri());
    if (!spec)
        return wrong(withoutProgram(spec.error().message), m_hosts);
    connection.uri = uriOf(*spec);
    connection.user = kind() == Sandbox ? QString() : m_user->text();
    connection.group = m_group->currentText().trimmed();
    connection.colour = static_cast<ConnectionColour>(m_colours->checkedId());
    connection.production = m_production->isChecked();
    connection.readOnly = m_readOnly->isChecked() || connection.production;
    say({});
    return connection;
}

Result<ConnectionSpec> ConnectForm::spec()
{
    const auto connection = read();
    if (!connection)
        return connection.error();
    return specOf(*connection, m_password->text());
}

QString ConnectForm::password() const
{
    return m_password->text();
}

void ConnectForm::setPassword(const QString &password)
{
    m_password->setText(password);
}

bool ConnectForm::keepsPassword() const
{
    return m_keep->isEnabled() && m_keep->isChecked();
}

void ConnectForm::say(const QString &problem)
{
    m_problem->setText(problem);
}

QString ConnectForm::problem() const
{
    return m_problem->text();
}

void ConnectForm::preview()
{
    if (!m_preview)
        return;
    const auto spec = parseConnection(uri());
    m_preview->setText(spec ? uriOf(*spec) : uri());
    m_problem->clear();
    emit edited();
}

} // namespace lockscope::ui
