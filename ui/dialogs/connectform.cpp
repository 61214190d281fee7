// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/connectform.h"

#include "ui/dialogs/factsform.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QFormLayout>
#include <QPainter>
#include <QRegularExpression>
#include <QStyle>

namespace lockscope::ui {

namespace {

constexpr int colourCount = 7;

// One colour to choose: a disc, ringed when chosen.
class Swatch : public QAbstractButton {
public:
    Swatch(ConnectionColour colour, QWidget *parent) : QAbstractButton(parent), m_colour(colour)
    {
        setCheckable(true);
        setFocusPolicy(Qt::StrongFocus);
        setToolTip(colour == ConnectionColour::None ? u"none"_s : wordOfColour(colour));
        setAccessibleName(u"Colour: "_s + toolTip());
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

// Whether the one becomes the other by a letter typed or taken away.
bool isOneLetter(const QString &before, const QString &after)
{
    const auto shorter = std::min(before.size(), after.size());
    const auto begun = std::mismatch(before.begin(), before.begin() + shorter, after.begin()).first - before.begin();
    const auto ended =
        std::mismatch(before.rbegin(), before.rbegin() + (shorter - begun), after.rbegin()).first - before.rbegin();
    return std::abs(before.size() - after.size()) <= 1 && begun + ended == shorter;
}

} // namespace

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
    m_keep->setText(canKeepPasswords ? u"Keep it: in the keychain, else in a file only you can read"_s
                                     : u"Asked for each time"_s);
    const auto edits = findChildren<QLineEdit *>();
    for (auto *edit : edits)
        connect(edit, &QLineEdit::textEdited, this, &ConnectForm::preview);
    for (auto *box : {m_keep, m_production, m_development, m_readOnly})
        connect(box, &QCheckBox::clicked, this, &ConnectForm::preview);
    for (auto *box : {m_kind, m_group})
        connect(box, &QComboBox::activated, this, &ConnectForm::preview);
    connect(m_colours, &QButtonGroup::idClicked, this, &ConnectForm::preview);
    connect(m_transport, &TransportFields::edited, this, &ConnectForm::preview);
    connect(m_kind, &QComboBox::currentIndexChanged, this, &ConnectForm::showKind);
    // What is pasted is spread at once, what is typed when it is whole: half an address is one, too.
    connect(m_hosts, &QLineEdit::textChanged, this, [this](const QString &text) {
        if (!isOneLetter(std::exchange(m_hostsBefore, text), text))
            spread();
    });
    connect(m_hosts, &QLineEdit::editingFinished, this, &ConnectForm::spread);
    connect(m_production, &QCheckBox::toggled, this, [this](bool isProduction) {
        m_readOnly->setEnabled(!isProduction);
        if (isProduction)
            m_readOnly->setChecked(true);
        if (isProduction)
            m_development->setChecked(false);
    });
    connect(m_development, &QCheckBox::toggled, this, [this](bool isDevelopment) {
        if (isDevelopment)
            m_production->setChecked(false);
    });
    showKind();
    setFocusProxy(m_kind); // a new connection begins there
}

void ConnectForm::buildAddress(QFormLayout *form)
{
    m_kind = new QComboBox(this);
    for (const auto &backend : allBackends()) {
        m_kind->addItem(backend.title, int(backend.schemes.front().scheme));
        for (const auto &scheme : backend.schemes) {
            if (scheme.isOneDeployment)
                m_kind->addItem(scheme.title, int(scheme.scheme));
        }
    }
    m_kind->addItem(u"Sandbox: private servers on this machine"_s, int(Scheme::Sandbox));
    m_name = new QLineEdit(this);
    m_hosts = new QLineEdit(this);
    m_hosts->setFont(monoFont());
    m_place = new QLineEdit(this);
    m_place->setFont(monoFont());
    m_placeLabel = new QLabel(this);
    m_placeLabel->setBuddy(m_place);
    m_user = new QLineEdit(this);
    m_password = new QLineEdit(this);
    m_password->setEchoMode(QLineEdit::Password);
    m_keep = new QCheckBox(this);
    form->addRow(u"&Type"_s, m_kind);
    form->addRow(u"&Name"_s, m_name);
    m_hostsLabel = new QLabel(this);
    m_hostsLabel->setBuddy(m_hosts);
    form->addRow(m_hostsLabel, m_hosts);
    form->addRow(m_placeLabel, m_place);
    form->addRow(u"&User"_s, m_user);
    form->addRow(u"&Password"_s, m_password);
    form->addRow(QString(), m_keep);
    m_transport = new TransportFields(form, this);
}

QWidget *ConnectForm::buildColours()
{
    auto *row = new QWidget(this);
    auto *layout = makeRow(row, {.spacing = 2}, {});
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
    m_development = new QCheckBox(u"Development: Ctrl+Enter confirms, no name or reason is typed"_s, this);
    m_readOnly = new QCheckBox(u"Open read-only"_s, this);
    m_preview = named(new CodeLabel({}, this), u"address"_s);
    m_checklist = new TrialChecklist(this);
    connect(m_checklist, &TrialChecklist::fixRequested, this, &ConnectForm::fix);
    connect(m_checklist, &TrialChecklist::shown, this, &ConnectForm::markFailed);
    form->addRow(u"&Group"_s, m_group);
    form->addRow(u"Color"_s, buildColours());
    form->addRow(QString(), m_production);
    form->addRow(QString(), m_development);
    form->addRow(QString(), m_readOnly);
    form->addRow(u"Address"_s, m_preview);
    form->addRow(m_checklist);
}

const BackendScheme *ConnectForm::scheme() const
{
    return schemeInfoOf(static_cast<Scheme>(m_kind->currentData().toInt()));
}

const BackendInfo *ConnectForm::backend() const
{
    const auto *chosen = scheme();
    const auto kind = chosen ? backendOf(chosen->scheme) : std::nullopt;
    return kind ? &infoOf(*kind) : nullptr;
}

const BackendScheme *ConnectForm::tlsScheme() const
{
    const auto *chosen = scheme() && !scheme()->isOneDeployment ? backend() : nullptr;
    const auto found = chosen ? std::ranges::find(chosen->schemes, true, &BackendScheme::tls)
                              : std::vector<BackendScheme>::const_iterator();
    return chosen && found != chosen->schemes.end() ? &*found : nullptr;
}

void ConnectForm::showKind()
{
    const auto *chosen = backend();
    for (QWidget *field : std::initializer_list<QWidget *>{m_hosts, m_place, m_user, m_password, m_keep}) {
        field->setVisible(chosen);
        if (auto *label = m_form->labelForField(field))
            label->setVisible(chosen);
    }
    const auto *tls = tlsScheme();
    m_transport->setShown(chosen);
    m_transport->setScheme(tls ? tls->word : QString());
    const auto *kind = scheme();
    const auto hosts = kind && kind->isOneDeployment ? kind->exampleUri.section(u'/', 2, 2)
                       : chosen                      ? chosen->exampleHosts
                                                     : QString();
    m_hostsLabel->setText(chosen && chosen->isOneHost ? u"&Host"_s : u"&Hosts"_s);
    m_hosts->setPlaceholderText(chosen ? u"%1, or paste %2://…"_s.arg(hosts, kind->word) : QString());
    const bool isOfService = kind && kind->namesService;
    m_placeLabel->setText(isOfService ? u"&Service"_s : chosen ? chosen->pathLabel : QString());
    m_place->setPlaceholderText(isOfService ? u"as its sentinels call it: mymaster, or mymaster/2 for database 2"_s
                                : chosen    ? chosen->pathMissing
                                            : QString());
    m_form->setRowVisible(m_place, chosen && (isOfService || !kind->isOneDeployment));
    m_name->setPlaceholderText(chosen ? chosen->exampleName : u"sandbox"_s);
    m_user->setPlaceholderText(chosen ? chosen->userMissing : QString());
    preview();
}

QString ConnectForm::uri() const
{
    const auto *chosen = backend();
    if (!chosen)
        return u"sandbox:"_s;
    QString place = m_place->text().trimmed();
    if (!place.isEmpty() && !place.startsWith(u'/'))
        place.prepend(u'/');
    const auto *tls = m_transport->isTls() ? tlsScheme() : nullptr;
    if (scheme()->isOneDeployment && !scheme()->namesService)
        place.clear();
    // People write "a, b"; user and password have fields of their own.
    QString hosts = m_hosts->text();
    hosts.remove(u' ');
    if (hosts.contains("://"_L1))
        return hosts; // a whole address is being typed
    QString uri = u"%1://%2%3"_s.arg(tls ? tls->word : scheme()->word, hosts, place);
    QStringList query;
    if (chosen->hasAdminPort && m_adminPort != 0)
        query << u"admin=%1"_s.arg(m_adminPort);
    query << m_transport->query(tls);
    return query.isEmpty() ? uri : uri + u'?' + query.join(u'&');
}

QString ConnectForm::hostsProblem() const
{
    const auto *chosen = backend();
    const bool areSeveral = m_hosts->text().contains(u',') && !m_hosts->text().contains("://"_L1);
    return chosen && chosen->isOneHost && areSeveral
               ? u"A connection to %1 is to one server: make a connection for each."_s.arg(chosen->title)
               : QString();
}

void ConnectForm::spread()
{
    const QString text = m_hosts->text().trimmed();
    if (!text.contains("://"_L1))
        return;
    const auto spec = parseConnection(text);
    if (!spec)
        return; // still being typed, or wrong: said when it is read
    const auto kind = backendOf(spec->scheme);
    if (!kind)
        return;
    const auto scheme =
        schemeInfoOf(spec->scheme)->isOneDeployment ? spec->scheme : infoOf(*kind).schemes.front().scheme;
    m_kind->setCurrentIndex(m_kind->findData(int(scheme)));
    m_transport->show(spec->transport);
    if (!spec->name.isEmpty())
        m_name->setText(QString::fromUtf8(spec->name.bytes()));
    if (!spec->user.isEmpty())
        m_user->setText(spec->user);
    if (!spec->password.isEmpty())
        m_password->setText(spec->password);
    const QString rest = uriOf(*spec).section(u"//"_s, 1).section(u'?', 0, 0);
    m_adminPort = spec->adminPort == ConnectionSpec().adminPort ? quint16(0) : spec->adminPort;
    const bool isChroot = infoOf(*kind).path == UriPath::Chroot;
    m_place->setText(rest.contains(u'/') ? (isChroot ? rest.mid(rest.indexOf(u'/')) : rest.section(u'/', 1))
                                         : QString());
    m_hosts->setText(rest.section(u'/', 0, 0));
    preview();
}

void ConnectForm::show(const SavedConnection &connection, const QStringList &groups)
{
    m_id = connection.id;
    m_adminPort = 0;
    m_place->clear();
    m_transport->show({});
    m_password->clear();
    m_password->setPlaceholderText(connection.hasPassword ? u"kept"_s : QString());
    m_keep->setChecked(connection.hasPassword || connection.id.isEmpty());
    m_keep->setChecked(m_keep->isEnabled() && m_keep->isChecked());
    m_name->setText(connection.name);
    m_user->clear();
    m_kind->setCurrentIndex(connection.uri == "sandbox:"_L1 ? m_kind->count() - 1 : 0);
    m_hosts->setText(connection.uri == "sandbox:"_L1 ? QString() : connection.uri); // spreads
    m_hosts->setCursorPosition(0);                                                  // a long one shows how it begins
    m_user->setText(connection.user);
    m_group->clear();
    m_group->addItems(groups);
    m_group->setCurrentText(connection.group);
    m_colours->button(static_cast<int>(connection.colour))->setChecked(true);
    m_production->setChecked(connection.production);
    m_development->setChecked(connection.development && !connection.production);
    m_readOnly->setChecked(connection.readOnly || connection.production);
    m_readOnly->setEnabled(!connection.production);
    preview();
}

Result<SavedConnection> ConnectForm::read()
{
    static const QRegularExpression plainName(u"^[A-Za-z0-9_.-]*$"_s);
    const auto wrong = [this](const QString &problem, QWidget *field) {
        say(problem);
        markField(field);
        field->setFocus();
        return Error{ErrorCode::BadInput, problem};
    };
    spread();
    SavedConnection connection;
    connection.id = m_id;
    connection.name = m_name->text().trimmed();
    if (!plainName.match(connection.name).hasMatch())
        return wrong(u"A name has letters, digits and . _ - only: it stands before the ':' of a lock's name."_s,
                     m_name);
    if (backend() && m_hosts->text().trimmed().isEmpty())
        return wrong(u"Which host? Write for example %1"_s.arg(
                         backend()->exampleHosts.section(u',', 0, 0).section(u' ', 0, 0)),
                     m_hosts);
    if (const auto problem = hostsProblem(); !problem.isEmpty())
        return wrong(problem, m_hosts);
    const auto spec = parseConnection(uri());
    if (!spec)
        return wrong(withoutProgram(spec.error().message), m_hosts);
    connection.uri = uriOf(*spec);
    connection.user = backend() ? m_user->text() : QString();
    connection.group = m_group->currentText().trimmed();
    connection.colour = static_cast<ConnectionColour>(m_colours->checkedId());
    connection.production = m_production->isChecked();
    connection.development = isDevelopment();
    connection.readOnly = m_readOnly->isChecked() || connection.production;
    say({});
    return connection;
}

Result<ConnectionSpec> ConnectForm::spec()
{
    TRY(const auto &connection, read());
    return specOf(connection, m_password->text());
}

void ConnectForm::setPassword(const QString &password, bool keeps)
{
    m_password->setText(password);
    m_keep->setChecked(keeps);
}

bool ConnectForm::hasServer() const
{
    return backend();
}

bool ConnectForm::isDevelopment() const
{
    return m_development->isChecked() && !m_production->isChecked();
}

void ConnectForm::markField(QWidget *field)
{
    for (QWidget *one : {std::exchange(m_wrong, field).data(), field}) {
        if (one)
            setStyleProperty(one, "tone", one == field ? u"critical"_s : QString());
    }
}

QWidget *ConnectForm::fieldOf(TrialCheck::Fix fix) const
{
    switch (fix) {
    case TrialCheck::Fix::Hosts: return m_hosts;
    case TrialCheck::Fix::Login: return m_user->text().isEmpty() ? m_user : m_password;
    case TrialCheck::Fix::Tls: return m_transport->firstFile();
    case TrialCheck::Fix::TurnOnTls:
    case TrialCheck::Fix::None: break;
    }
    return nullptr;
}

// Puts the keyboard where that is fixed, or fixes it.
void ConnectForm::fix(TrialCheck::Fix fix)
{
    if (fix == TrialCheck::Fix::TurnOnTls)
        m_transport->turnOn();
    else if (auto *field = fieldOf(fix))
        field->setFocus();
}

void ConnectForm::markFailed()
{
    for (const auto &check : m_checklist->checks()) {
        if (check.state == TrialCheck::State::Failed && fieldOf(check.fix))
            return markField(fieldOf(check.fix));
    }
}

void ConnectForm::say(const QString &problem)
{
    markField(nullptr);
    m_checklist->clear();
    if (!problem.isEmpty())
        m_checklist->show(std::vector{TrialCheck{TrialCheck::State::Failed, problem}});
}

QString ConnectForm::problem() const
{
    const auto found = std::ranges::find(m_checklist->checks(), TrialCheck::State::Failed, &TrialCheck::state);
    return found == m_checklist->checks().end() ? QString() : found->text;
}

void ConnectForm::preview()
{
    if (!m_preview)
        return;
    const auto spec = parseConnection(uri());
    m_preview->setText(spec ? uriOf(*spec) : uri());
    markField(nullptr);
    m_checklist->clear(); // an answer that is awaited would be about something else
    if (const auto problem = hostsProblem();
        !problem.isEmpty()) // without shown(): nothing scrolls while somebody types
        m_checklist->set({{TrialCheck::State::Failed, problem}});
    emit edited();
}

} // namespace lockscope::ui

#include "moc_connectform.cpp"
