// SPDX-License-Identifier: Apache-2.0
// The doors of the start page: connect to a server by its URI, the sandbox, the lessons.
#include "core/base/text.h"
#include "ui/dialogs/connectform.h"
#include "ui/pages/startpage.h"
#include "ui/theme/pill.h"
#include "ui/theme/theme.h"

#include <QLabel>
#include <QLineEdit>
#include <QPainter>

#include <set>

namespace lockscope::ui {

namespace {

// The icon of a door, in the color of the text.
class DoorSign : public QWidget {
public:
    DoorSign(QString icon, QWidget *parent) : QWidget(parent), m_icon(std::move(icon)) { setFixedSize(20, 20); }

private:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        paintIcon(painter, QRectF(rect()), m_icon, Theme::tokens().text);
    }

    const QString m_icon;
};

} // namespace

QWidget *StartPage::makeDoor(const QString &icon, const QString &title, const QString &text,
                             std::initializer_list<BoxPart> parts)
{
    auto *door = new QFrame(m_doors);
    door->setProperty("look", u"door"_s);
    auto *sign = new DoorSign(icon, door);
    auto *column = makeColumn(door, {.margins = {16, 14, 16, 14}, .spacing = 8},
                              {makeRow({.spacing = 10}, {sign, makeLabel(title, u"title"_s, door), Stretch{1}}),
                               makeWrapped(text, u"muted"_s, door)});
    addParts(*column, parts);
    return door;
}

void StartPage::buildDoors()
{
    m_uri->setFont(monoFont());
    m_uri->setPlaceholderText(u"zk://zk-1.example.net:2181/shop"_s);
    m_uri->setAccessibleName(tr("URI of a server"));
    // A pasted address is tried at once, a typed one when Enter is pressed.
    connect(m_uri, &QLineEdit::textChanged, this, [this, before = QString()](const QString &text) mutable {
        const bool isPasted = text.size() > before.size() + 1;
        before = text;
        m_checklist->clear();
        m_uri->setProperty("tone", QString());
        if (isPasted && text.contains("://"_L1) && typed())
            test();
    });
    connect(m_uri, &QLineEdit::returnPressed, this, &StartPage::test);
    connect(m_checklist, &TrialChecklist::fixRequested, this, &StartPage::fix);
    auto *options = makeButton(tr("All options…"), m_doors, this, [this] { emit optionsRequested(typedFields()); });
    auto *testing = makeButton(tr("Test"), m_doors, this, &StartPage::test);
    auto *connecting = makeButton(tr("Connect"), m_doors, this, &StartPage::connectTyped, u"primary"_s);
    QStringList servers;
    for (const auto &backend : allBackends())
        servers << backend.title;
    auto *demo = makeButton(tr("Start the sandbox"), m_doors, this, &StartPage::demoRequested);
    auto *lessons = makeButton(tr("Open the lessons"), m_doors, this, &StartPage::lessonsRequested);
    makeColumn(
        m_doors, {.margins = {16, 22, 16, 16}, .spacing = 14},
        {makeDoor(u"connect"_s, tr("Connect to a server"),
                  tr("Paste a URI of %1. The answer is a checklist.").arg(servers.join(u", "_s)),
                  {m_uri, m_checklist, makeRow({.spacing = 8}, {options, Stretch{1}, testing, connecting})}),
         makeDoor(u"sandbox"_s, tr("Try the sandbox"),
                  tr("Private servers on this computer, filled with demo locks: a deadlock, a herd, a row lock. They "
                     "end with this window."),
                  {makeRow({}, {Stretch{1}, demo})}),
         makeDoor(u"lessons"_s, tr("Take a lesson"),
                  tr("Short lessons with moving pictures, from a znode to fencing tokens. No server is needed."),
                  {makeRow({}, {Stretch{1}, lessons})}),
         Stretch{1}});
}

Result<ConnectionSpec> StartPage::typed()
{
    if (hasUnencodedPassword(m_uri->text().trimmed()))
        return Error{ErrorCode::BadInput, u"the password holds / or ?; write them as %2F and %3F, or give it in the "
                                          u"form (All options…)"_s};
    std::vector<ConnectionSpec> specs;
    TRY(auto &spec, parseConnection(m_uri->text().trimmed()));
    specs.push_back(std::move(spec));
    // Another server's name is no default of this one: opening it would end the other connection.
    std::set<ConnectionName> taken;
    for (const auto &status : m_book.all()) {
        if (status.uri != specs.front().displayUri())
            taken.insert(status.name);
    }
    for (const auto *card : m_cards) {
        if (card->saved().uri != uriOf(specs.front()))
            taken.insert(card->name());
    }
    for (const auto &name : taken) {
        specs.emplace_back();
        specs.back().name = name;
    }
    TRY_VOID(nameConnections(specs));
    return specs.front();
}

SavedConnection StartPage::typedFields()
{
    SavedConnection fields;
    fields.uri = m_uri->text().trimmed();
    if (const auto spec = typed())
        fields.user = spec->user;
    return fields;
}

void StartPage::test()
{
    const auto spec = typed();
    if (m_uri->text().isEmpty())
        return emit optionsRequested({});
    if (spec && spec->hosts.empty())
        return connectTyped();
    if (spec)
        m_checklist->begin(*spec);
    else
        m_checklist->show(spec.error());
}

void StartPage::connectTyped()
{
    const auto spec = typed();
    if (!spec)
        return m_checklist->show(spec.error());
    if (spec->scheme == Scheme::Sandbox)
        return emit demoRequested();
    m_checklist->clear();
    SavedConnection used;
    used.name = QString::fromUtf8(spec->name.bytes());
    used.uri = uriOf(*spec);
    used.user = spec->user;
    if (m_store)
        m_store->noteUsed(used);
    m_uri->clear(); // its password is not for the next who looks
    emit openRequested(*spec);
}

void StartPage::fix(TrialCheck::Fix fix)
{
    auto spec = typed();
    if (!spec || fix == TrialCheck::Fix::Hosts)
        return m_uri->setFocus();
    if (fix != TrialCheck::Fix::TurnOnTls)
        return emit optionsRequested(typedFields());
    const auto uri = m_uri->text().trimmed();
    m_uri->setText(uri + (uri.contains(u'?') ? u'&' : u'?') + u"tls=on"_s); // which tests it again
}

} // namespace lockscope::ui
