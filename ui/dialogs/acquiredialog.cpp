// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/acquiredialog.h"

#include "core/base/text.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"

#include <QCheckBox>
#include <QComboBox>
#include <QSpinBox>

namespace lockscope::ui {

namespace {

constexpr int recipeRole = Qt::UserRole;

// Whether the recipe can be acquired over that connection: a set of nodes takes what needs a quorum and nothing else,
// and production nothing that is for teaching.
bool isOffered(const recipes::RecipeInfo &recipe, const ConnectionStatus &status)
{
    const auto backend = backendOf(status.scheme);
    const bool isSet = areNodesApart(status.scheme) && status.uri.contains(u',');
    return recipe.acquirable && recipe.backend == backend && recipe.quorum == isSet
           && !(recipe.teachingOnly && status.production);
}

// Which of ours queues with the clients that left this lock; none where it is only seen.
QByteArray compatibleRecipe(const QByteArray &seen)
{
    return recipes::recipeOf(seen).acquirable ? seen : QByteArray();
}

void showRow(QGridLayout &grid, QWidget *field, bool visible)
{
    field->setVisible(visible);
    const int index = grid.indexOf(field);
    int row = 0;
    int column = 0;
    int rowSpan = 0;
    int columnSpan = 0;
    grid.getItemPosition(index, &row, &column, &rowSpan, &columnSpan);
    if (auto *title = grid.itemAtPosition(row, 0))
        title->widget()->setVisible(visible);
}

} // namespace

AcquireDialog::AcquireDialog(Backend &backend, const ConnectionBook &book, const inspect::LockSnapshot *like,
                             QWidget *parent)
    : QDialog(parent), m_backend(backend), m_book(book)
{
    setWindowTitle(tr("Acquire a lock"));
    setObjectName(u"acquireDialog"_s);
    auto *title = makeLabel(tr("Acquire a lock"), u"heading"_s, this);
    m_why = named(makeWrapped({}, u"small"_s, this), u"obstacle"_s);
    m_why->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    const auto arm = [this] { emit armRequested(connection()->name); };
    m_arm = named(makeButton({}, this, this, arm, u"danger"_s), u"armButton"_s);
    auto *cancel = makeButton(tr("Cancel"), this, &QDialog::reject);
    m_acquire = named(makeButton(tr("Acquire"), this, &AcquireDialog::send, u"primary"_s), u"acquire"_s);
    m_acquire->setDefault(true);
    auto *buttons = makeRow({.spacing = 10}, {{m_why, 1}, m_arm, cancel, m_acquire});
    m_tag = named(makeLabel({}, {}, this), u"environment"_s);
    auto *head = makeRow({}, {title, Stretch{}, m_tag});
    m_about = makeWrapped({}, u"muted"_s, this);
    makeColumn(this, {.margins = {24, 20, 24, 20}, .spacing = 14}, {head, makeFields(), m_about, Stretch{}, buttons});
    resize(640, 0);

    if (like)
        m_lock->setText(escaped(like->lock.name));
    fillConnections(like ? like->lock.connection : ConnectionName());
    fillRecipes(like ? compatibleRecipe(like->recipe) : QByteArray());
    connect(m_connection, &QComboBox::currentIndexChanged, this, [this] { fillRecipes({}); });
    connect(m_recipe, &QComboBox::currentIndexChanged, this, &AcquireDialog::showRecipe);
    connect(m_lock, &QLineEdit::textChanged, this, &AcquireDialog::updateReady);
    connect(m_wait, &QLineEdit::textChanged, this, &AcquireDialog::updateReady);
    connect(m_ttl, &QLineEdit::textChanged, this, &AcquireDialog::updateReady);
    connect(m_waitForever, &QCheckBox::toggled, this, &AcquireDialog::updateReady);
    connect(&book, &ConnectionBook::changed, this, &AcquireDialog::updateReady);
    m_lock->setFocus();
}

QWidget *AcquireDialog::makeFields()
{
    auto *fields = new QWidget(this);
    m_grid = makeGrid(fields, {.across = 12, .titles = 120});
    m_connection = named(new QComboBox(fields), u"connection"_s);
    m_lock = named(new QLineEdit(fields), u"lockName"_s);
    m_lock->setFont(monoFont());
    m_recipe = named(new QComboBox(fields), u"recipe"_s);
    m_mode = new QComboBox(fields);
    m_mode->addItems({tr("write"), tr("read")});
    m_limit = new QSpinBox(fields);
    m_limit->setRange(1, 10'000);
    m_limit->setSuffix(tr(" permits"));
    m_wait = named(new QLineEdit(u"30s"_s, fields), u"wait"_s);
    m_waitForever = new QCheckBox(tr("without limit"), fields);
    auto *waiting = new QWidget(fields);
    makeRow(waiting, {}, {{m_wait, 1}, m_waitForever});
    m_ttl = named(new QLineEdit(u"30s"_s, fields), u"ttl"_s);
    m_ttl->setToolTip(tr("The lock frees itself after this time, unless the recipe prolongs it while you hold it"));
    connect(m_waitForever, &QCheckBox::toggled, m_wait, &QWidget::setDisabled);
    addField(tr("Connection"), m_connection);
    addField(tr("Lock"), m_lock);
    addField(tr("Recipe"), m_recipe);
    addField(tr("Mode"), m_mode);
    addField(tr("Limit"), m_limit);
    addField(tr("Wait at most"), waiting);
    addField(tr("TTL"), m_ttl);
    return fields;
}

void AcquireDialog::addField(const QString &title, QWidget *field)
{
    const int row = m_grid->rowCount();
    auto *name = makeLabel(title, u"muted"_s, field->parentWidget());
    name->setBuddy(field);
    m_grid->addWidget(name, row, 0);
    m_grid->addWidget(field, row, 1);
    field->setAccessibleName(title);
}

void AcquireDialog::fillConnections(const ConnectionName &preferred)
{
    for (const auto &status : m_book.all()) {
        m_connection->addItem(label(status.name.bytes(), 60) + (status.production ? u"  PROD"_s : QString()),
                              status.name.bytes());
        if (status.name == preferred)
            m_connection->setCurrentIndex(m_connection->count() - 1);
    }
}

const ConnectionStatus *AcquireDialog::connection() const
{
    return m_book.find(ConnectionName(m_connection->currentData().toByteArray()));
}

bool AcquireDialog::hasTtl() const
{
    const auto *status = connection();
    const auto backend = status ? backendOf(status->scheme) : std::nullopt;
    return backend && infoOf(*backend).hasTtl;
}

void AcquireDialog::fillRecipes(const QByteArray &preferred)
{
    const QSignalBlocker quiet(m_recipe);
    m_recipe->clear();
    const auto *status = connection();
    for (const auto &recipe : recipes::catalogue()) {
        if (!status || !isOffered(recipe, *status))
            continue;
        m_recipe->addItem(QString::fromLatin1(recipe.id) + u" — "_s + recipe.summary, QVariant());
        m_recipe->setItemData(m_recipe->count() - 1, recipe.id, recipeRole);
        // The queue lock is what one wants unless one knows better.
        if (recipe.id == preferred || (preferred.isEmpty() && recipe.preferred))
            m_recipe->setCurrentIndex(m_recipe->count() - 1);
    }
    const auto backend = status ? backendOf(status->scheme) : std::nullopt;
    m_lock->setPlaceholderText(backend ? infoOf(*backend).exampleLock : QString());
    showRecipe();
}

void AcquireDialog::showRecipe()
{
    const auto id = m_recipe->currentData(recipeRole).toByteArray();
    const auto *recipe = recipes::findRecipe(id);
    showRow(*m_grid, m_mode, recipe && recipe->readWrite);
    showRow(*m_grid, m_limit, recipe && recipe->counted);
    showRow(*m_grid, m_ttl, hasTtl());
    if (recipe) {
        QStringList about{tr("Requests: %1 when free, %2 when queued, %3 to release; a release wakes %4.")
                              .arg(recipe->counts.acquireFree, recipe->counts.acquireQueued, recipe->counts.release,
                                   recipe->counts.wakeUps)};
        if (recipe->teachingOnly)
            about << tr("For teaching only.");
        for (const auto &flaw : recipe->flaws)
            about << u"• "_s + flaw;
        m_about->setText(about.join(u'\n'));
    }
    updateReady();
}

Result<AcquireRequest> AcquireDialog::request() const
{
    AcquireRequest request;
    const auto *status = connection();
    if (!status)
        return Error{ErrorCode::BadInput, tr("choose a connection")};
    auto name = unescaped(m_lock->text());
    if (!name || name->isEmpty())
        return Error{ErrorCode::BadInput, name ? tr("name the lock") : tr("a backslash in the name is written \\\\")};
    const auto backend = backendOf(status->scheme);
    const bool isPath = backend && infoOf(*backend).namesPaths;
    if (isPath && name->size() > 1 && name->endsWith('/'))
        name->chop(1); // as it is pasted from elsewhere
    if (isPath && (!name->startsWith('/') || name->size() == 1 || name->contains("//")))
        return Error{ErrorCode::BadInput, tr("a path begins with / and has no empty part")};
    request.lock = {status->name, *name};
    request.recipe = m_recipe->currentData(recipeRole).toByteArray();
    if (request.recipe.isEmpty())
        return Error{ErrorCode::BadInput, tr("no recipe of this build can be acquired here")};
    const auto &recipe = recipes::recipeOf(request.recipe);
    request.readMode = recipe.readWrite && m_mode->currentIndex() == 1;
    request.limit = recipe.counted ? m_limit->value() : 1;
    if (!m_waitForever->isChecked()) {
        TRY(const auto &wait, parseDuration(m_wait->text().trimmed()));
        request.wait = wait;
    }
    if (hasTtl()) {
        TRY(const auto &ttl, parseDuration(m_ttl->text().trimmed()));
        if (ttl.count() == 0)
            return Error{ErrorCode::BadInput, tr("a TTL of 0 would be over at once")};
        request.ttl = ttl;
    }
    return request;
}

QString AcquireDialog::obstacle() const
{
    const auto *status = connection();
    if (status) {
        const QString name = label(status->name.bytes(), 60);
        if (status->state != ConnectionStatus::State::Connected)
            return tr("%1 is not connected").arg(name);
        if (status->readOnly)
            return status->readOnlyForGood ? tr("%1 is read-only for this run (--read-only)").arg(name)
                                           : tr("%1 is read-only").arg(name);
    }
    const auto now = request();
    return now ? QString() : now.error().message;
}

void AcquireDialog::updateReady()
{
    const auto *status = connection();
    m_tag->setVisible(status);
    if (status)
        showEnvironment(*m_tag, m_book, status->name);
    const QString why = obstacle();
    const bool canArm =
        status && status->state == ConnectionStatus::State::Connected && status->readOnly && !status->readOnlyForGood;
    if (!canArm && m_arm->hasFocus())
        m_lock->setFocus();
    m_arm->setVisible(canArm);
    if (canArm)
        m_arm->setText(tr("Allow writes on %1…").arg(label(status->name.bytes(), 40)).replace(u'&', u"&&"_s));
    m_acquire->setEnabled(why.isEmpty());
    m_why->setText(why);
}

void AcquireDialog::send()
{
    const auto now = request();
    if (!now || !obstacle().isEmpty())
        return;
    emit acquiring(m_backend.acquire(*now), now->lock);
    accept();
}

} // namespace lockscope::ui

#include "moc_acquiredialog.cpp"
