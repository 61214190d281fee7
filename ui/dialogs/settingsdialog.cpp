// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/settingsdialog.h"

#include "core/base/text.h"
#include "ui/parts/parts.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHeaderView>
#include <QListWidget>
#include <QSettings>
#include <QShortcut>
#include <QSpinBox>
#include <QSystemTrayIcon>
#include <QTabWidget>
#include <QTableWidget>

namespace lockscope::ui {

using inspect::ClientLabel;
using inspect::Severity;
using inspect::ThresholdRule;
using inspect::ThresholdRules;

SettingsDialog::SettingsDialog(QSettings &settings, MuteStore *mutes, const QString &thresholdsFile, QWidget *parent)
    : QDialog(parent), m_settings(settings), m_mutes(mutes), m_tabs(new QTabWidget(this)),
      m_thresholds(new ThresholdsForm(thresholdsFile, this)), m_labels(new LabelsForm(clientLabelFile(), this))
{
    setWindowTitle(tr("Settings"));
    setObjectName(u"settingsDialog"_s);
    m_tabs->addTab(makeGeneral(), tr("&General"));
    m_tabs->addTab(m_thresholds, tr("&Thresholds"));
    m_tabs->addTab(makeMutes(), tr("&Muted"));
    m_tabs->addTab(m_labels, tr("&Clients"));
    connect(m_labels, &LabelsForm::changed, this, &SettingsDialog::labelsChanged);
    connect(m_thresholds, &ThresholdsForm::changed, this, &SettingsDialog::thresholdsChanged);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)
        ->setAutoDefault(false); // Enter ends an edit in the table, not the dialog
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    makeColumn(this, {.margins = {24, 18, 24, 14}},
               {makeLabel(windowTitle(), u"heading"_s, this), {m_tabs, 1}, buttons});
    resizeWithinParent(*this, {760, 540});
}

void SettingsDialog::addChoice(QGridLayout *grid, const QString &title, QLatin1String key, const QString &usual,
                               const std::vector<std::pair<QString, QString>> &choices,
                               std::function<void(const QString &)> act)
{
    auto *box = named(new QComboBox(this), key);
    for (const auto &[value, words] : choices)
        box->addItem(words, value);
    box->setCurrentIndex(std::max(0, box->findData(m_settings.value(key, usual).toString())));
    connect(box, &QComboBox::currentIndexChanged, this, [this, box, key, act = std::move(act)] {
        m_settings.setValue(key, box->currentData());
        if (act)
            act(box->currentData().toString());
    });
    auto *label = makeLabel(title, u"muted"_s, this);
    label->setBuddy(box);
    box->setAccessibleName(title);
    const int row = grid->rowCount();
    grid->addWidget(label, row, 0);
    grid->addWidget(box, row, 1);
}

void SettingsDialog::addNumber(QGridLayout *grid, const QString &title, QLatin1String key, int usual, int least,
                               int most, const QString &suffix)
{
    auto *box = named(new QSpinBox(this), key, title);
    box->setRange(least, most);
    box->setSuffix(suffix);
    box->setValue(m_settings.value(key, usual).toInt());
    connect(box, &QSpinBox::valueChanged, this, [this, key](int value) { m_settings.setValue(key, value); });
    const int row = grid->rowCount();
    grid->addWidget(makeLabel(title, u"muted"_s, this), row, 0);
    grid->addWidget(box, row, 1);
}

void SettingsDialog::addNote(QGridLayout *grid, const QString &text)
{
    auto *note = makeWrapped(text, u"small"_s, this);
    grid->addWidget(note, grid->rowCount(), 1, 1, 2);
}

QWidget *SettingsDialog::makeGeneral()
{
    auto *page = new QWidget(this);
    auto *grid = makeGrid(page, {.margins = {0, 14, 0, 0}, .across = 16, .down = 8, .stretched = 2});
    addChoice(grid, tr("Colors"), settings::theme, u"auto"_s,
              {{u"auto"_s, tr("as the desktop")}, {u"light"_s, tr("light")}, {u"dark"_s, tr("dark")}},
              [](const QString &choice) {
                  if (auto *theme = Theme::instance())
                      theme->setChoice(themeChoice(choice).value_or(ThemeChoice::Auto));
              });
    addChoice(grid, tr("Lessons and simulator in"), settings::language, u"en"_s,
              {{u"en"_s, u"English"_s}, {u"zh_CN"_s, u"简体中文"_s}, {u"ru"_s, u"Русский"_s}},
              [this](const QString &name) {
                  emit languageChosen(lessons::languageByName(name.toLatin1()).value_or(lessons::Language::English));
              });
    addNote(
        grid,
        tr("All else is in English; the simulator from the next start on. --theme and --language go before these for one run."));
    addNumber(grid, tr("Recorder keeps"), settings::recorderMinutes, settings::usualMinutes, 1, 24 * 60,
              tr(" minutes"));
    addNumber(grid, tr("in at most"), settings::recorderMebibytes, settings::usualMebibytes, 16, 16 * 1024,
              u" MiB"_s);
    addNote(grid, tr("The oldest goes first. A change counts from the next start on."));
    addChoice(grid, tr("In development"), settings::confirmDevelopment, u"one-key"_s,
              {{u"one-key"_s, tr("one key confirms")}, {u"reason"_s, tr("a reason is typed")}}, {});
    addNote(
        grid,
        tr("Applies to the sandbox and to connections marked as development. Production always requires the lock name and a reason; unmarked connections are never confirmed by one key. That cannot be changed."));
    grid->setRowStretch(grid->rowCount(), 1);
    return page;
}

QWidget *SettingsDialog::makeMutes()
{
    auto *page = new QWidget(this);
    m_list = named(new QListWidget(page), u"mutesList"_s, tr("Muted findings"));
    m_list->setWordWrap(true);
    m_list->setStyleSheet(u"QListWidget::item { padding: 5px 8px; }"_s); // rows, not lines of a text
    const auto unmute = [this] {
        auto *item = m_list->currentItem();
        if (!item || !m_mutes || !item->data(Qt::UserRole).isValid())
            return;
        const Mute mute = m_mutes->all()[item->data(Qt::UserRole).toULongLong()];
        if (const auto removed = m_mutes->remove(mute); !removed)
            m_list->addItem(harmless(removed.error().message));
    };
    auto *remove = named(makeButton(tr("Unmute"), page, this, unmute), u"unmute"_s);
    remove->setAutoDefault(false);
    remove->setEnabled(false);
    connect(m_list, &QListWidget::currentItemChanged, remove, [remove](const QListWidgetItem *item) {
        remove->setEnabled(item && item->data(Qt::UserRole).isValid());
    });
    new QShortcut(QKeySequence::Delete, m_list, this, unmute, Qt::WidgetShortcut);
    makeColumn(
        page, {.margins = {0, 12, 0, 0}},
        {makeLabel(tr("A finding is muted on the page Findings (M), with a reason and an end."), u"muted"_s, page),
         {m_list, 1},
         {remove, 0, Qt::AlignLeft}});
    if (m_mutes)
        connect(m_mutes, &MuteStore::changed, this, &SettingsDialog::fillMutes);
    fillMutes();
    return page;
}

void SettingsDialog::fillMutes()
{
    const int at = m_list->currentRow();
    m_list->clear();
    m_list->setFocusPolicy(Qt::NoFocus); // nothing in it would show where the keyboard is
    if (!m_mutes)
        return;
    if (!m_mutes->loadError().isEmpty()) {
        auto *item = new QListWidgetItem(harmless(m_mutes->loadError()), m_list);
        item->setFlags(Qt::NoItemFlags);
        return;
    }
    const auto now = QDateTime::currentDateTime();
    for (std::size_t i = 0; i < m_mutes->all().size(); ++i) {
        const auto &mute = m_mutes->all()[i];
        const auto until = QDateTime::fromSecsSinceEpoch(mute.until.time_since_epoch().count());
        auto *item = new QListWidgetItem(
            (until < now ? tr("%1 · over since %2 · %3") : tr("%1 · until %2 · %3"))
                .arg(harmless(wordsOf(mute)), until.toString(u"yyyy-MM-dd HH:mm"_s), harmless(mute.reason)),
            m_list);
        item->setData(Qt::UserRole, quint64(i));
    }
    m_list->setFocusPolicy(m_list->count() > 0 ? Qt::StrongFocus : Qt::NoFocus);
    m_list->setCurrentRow(std::min(std::max(0, at), m_list->count() - 1));
}

TypedTable::TypedTable(QString file, const QStringList &titles, const QString &addText, QWidget *parent)
    : QWidget(parent), m_file(std::move(file)), m_table(new QTableWidget(0, static_cast<int>(titles.size()), this)),
      m_problem(makeWrapped({}, u"small"_s, this)), m_add(new QPushButton(addText, this)),
      m_remove(new QPushButton(tr("Remove"), this))
{
    m_table->setHorizontalHeaderLabels(titles);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter); // as the cells below
    m_table->verticalHeader()->hide();
    m_table->setTabKeyNavigation(false);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
}

void TypedTable::begin()
{
    connect(m_table, &QTableWidget::cellChanged, this, &TypedTable::keep);
    connect(m_table, &QTableWidget::currentCellChanged, this, &TypedTable::showButtons);
    connect(m_add, &QPushButton::clicked, this, [this] {
        addRow(newRow());
        m_table->setFocus();
        m_table->setCurrentCell(m_table->rowCount() - 1, 0);
        m_table->editItem(m_table->currentItem());
    });
    connect(m_remove, &QPushButton::clicked, this, [this] {
        m_table->removeRow(m_table->currentRow());
        keep();
    });
    showButtons();
}

void TypedTable::layOut(const QString &about, std::initializer_list<QPushButton *> buttons)
{
    auto *row = makeRow({}, {});
    for (auto *button : buttons) {
        button->setAutoDefault(false);
        row->addWidget(button);
    }
    row->addStretch(1);
    makeColumn(this, {.margins = {0, 12, 0, 0}},
               {makeWrapped(about, u"muted"_s, this), {m_table, 1}, row, m_problem});
}

void TypedTable::addRow(const QStringList &cells)
{
    m_isFilling = true;
    const int row = m_table->rowCount();
    m_table->insertRow(row);
    for (int column = 0; column < cells.size(); ++column)
        m_table->setItem(row, column, new QTableWidgetItem(cells[column]));
    m_isFilling = false;
}

QString TypedTable::text(int row, int column) const
{
    const auto *item = m_table->item(row, column);
    return item ? item->text().trimmed() : QString();
}

LabelsForm::LabelsForm(QString file, QWidget *parent)
    : TypedTable(std::move(file), {tr("Address, identity, program or session"), tr("Is called")}, tr("Add client"),
                 parent)
{
    m_table->setAccessibleName(tr("What clients are called"));
    m_table->setObjectName(u"labelsTable"_s);
    m_problem->setObjectName(u"labelsProblem"_s);
    m_table->horizontalHeaderItem(Pattern)->setToolTip(
        tr("A shell's pattern: 10.0.3.7:*, app-9, billing*; the first row that fits a client counts"));
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    layOut(
        tr("Clients with the same label on different servers are treated as one client in the graph and in deadlock detection. If a pattern matches several clients on one server, they stay separate and only show the label."),
        {m_add, m_remove});
    for (const auto &label : savedClientLabels(m_file))
        addRow({QString::fromUtf8(label.pattern), label.name});
    begin();
}

Result<std::vector<ClientLabel>> LabelsForm::labels() const
{
    std::vector<ClientLabel> labels;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const auto pattern = text(row, Pattern), name = text(row, Name);
        if (pattern.isEmpty() && name.isEmpty())
            continue; // begun
        if (pattern.isEmpty() || name.isEmpty())
            return Error{ErrorCode::BadInput, pattern.isEmpty() ? tr("“%1” matches no client yet.").arg(name)
                                                                : tr("“%1” has no name yet.").arg(pattern)};
        // The file has a line for each, split at its last =.
        if (name.contains(u'=') || pattern.startsWith(u'#') || (pattern + name).contains(u'\n'))
            return Error{ErrorCode::BadInput,
                         tr("Row %1: a name has no =, and a pattern does not begin with #.").arg(row + 1)};
        labels.push_back({pattern.toUtf8(), name});
    }
    return labels;
}

void LabelsForm::keep()
{
    if (m_isFilling)
        return;
    showButtons();
    const auto now = labels();
    const auto written = now ? writeClientLabels(*now, m_file) : Result<void>(now.error());
    showProblem(written);
    if (written)
        emit changed(*now);
}

void LabelsForm::showButtons()
{
    m_remove->setEnabled(m_table->currentRow() >= 0);
    // Where the keyboard is shows by the cell: an empty table has none, and where it comes to is not selected.
    m_table->setFocusPolicy(m_table->rowCount() > 0 ? Qt::StrongFocus : Qt::NoFocus);
    if (auto *item = m_table->currentItem())
        m_table->setCurrentItem(item);
}

AlertsDialog::AlertsDialog(const AlertRule &rule, QWidget *parent)
    : QDialog(parent), m_on(named(new QCheckBox(tr("Tell me of new findings"), this), u"alertsOn"_s)),
      m_least(new QComboBox(this)), m_code(new QComboBox(this)), m_pattern(new QLineEdit(this)),
      m_production(new QCheckBox(tr("Only on connections marked as production"), this))
{
    setWindowTitle(tr("Notifications"));
    setObjectName(u"alertsDialog"_s);
    m_on->setChecked(rule.isOn);
    for (const auto severity : {Severity::Critical, Severity::Warning, Severity::Info})
        m_least->addItem(severity == Severity::Critical ? tr("critical")
                                                        : tr("%1 or worse").arg(inspect::word(severity)),
                         static_cast<int>(severity));
    m_least->setCurrentIndex(m_least->findData(static_cast<int>(rule.least)));
    m_code->addItem(tr("any finding"), QString());
    for (const auto &kind : inspect::findingKinds())
        m_code->addItem(inspect::word(kind.code), inspect::word(kind.code));
    m_code->setCurrentIndex(std::max(0, m_code->findData(rule.code)));
    m_pattern->setText(rule.pattern);
    m_pattern->setPlaceholderText(tr("all; or such as *:/locks/payments*"));
    m_production->setChecked(rule.onlyProduction);
    auto *form = new QFormLayout(this);
    form->setContentsMargins(24, 20, 24, 16);
    form->setVerticalSpacing(10);
    form->addRow(makeLabel(windowTitle(), u"heading"_s, this));
    form->addRow(m_on);
    form->addRow(tr("Severity"), m_least);
    form->addRow(tr("Finding"), m_code);
    form->addRow(tr("Locks"), m_pattern);
    form->addRow(m_production);
    const QString said = tr(
        "The desktop notifies once per finding; a click opens the lock. The notification names the finding and the lock, but no client data. Findings of the initial scan are not new.");
    auto *note = makeWrapped(QSystemTrayIcon::isSystemTrayAvailable()
                                 ? said
                                 : said + tr("\nThis desktop has no tray, so notifications are unavailable."),
                             u"muted"_s, this);
    note->setMinimumWidth(420);
    form->addRow(note);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    form->addRow(buttons);
}

AlertRule AlertsDialog::rule() const
{
    AlertRule rule;
    rule.isOn = m_on->isChecked();
    rule.least = static_cast<Severity>(m_least->currentData().toInt());
    rule.code = m_code->currentData().toString();
    rule.pattern = m_pattern->text().trimmed();
    rule.onlyProduction = m_production->isChecked();
    return rule;
}

ThresholdsForm::ThresholdsForm(QString file, QWidget *parent)
    : TypedTable(std::move(file),
                 {tr("Locks"), tr("Held longer than"), tr("Waits longer than"), tr("Times its usual hold")},
                 tr("Add pattern"), parent),
      m_up(makeButton(tr("Up"), this, [this] { moveRow(-1); })),
      m_down(makeButton(tr("Down"), this, [this] { moveRow(+1); }))
{
    m_table->setAccessibleName(tr("Thresholds"));
    const QStringList tips{tr("A shell's pattern of CONNECTION:NAME, or of NAME; of each value the first row that "
                              "fits and says it counts"),
                           tr("90s, 10m, 8h: from then on long-held is found"),
                           tr("90s, 10m, 8h: from then on long-wait is found"),
                           tr("Held so many times longer than ever seen of that lock, and at least 30 s, is found "
                              "earlier; 0 for never")};
    for (int column = 0; column < ColumnCount; ++column)
        m_table->horizontalHeaderItem(column)->setToolTip(tips[column]);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(Pattern, QHeaderView::Stretch);
    m_table->setWordWrap(false); // or a pattern is cut at its first hyphen
    m_table->setTextElideMode(Qt::ElideMiddle);
    layOut(
        tr("The first matching pattern applies. An empty cell uses the value of the next matching row, then the default. Elections, and locks held at most twice as long as before, never cause a warning."),
        {m_add, m_remove, m_up, m_down});
    const auto read = readThresholds(m_file);
    m_isBroken = !read;
    show(read ? *read : ThresholdRules());
    if (m_isBroken) {
        m_problem->setText(read.error().message);
        m_table->setEnabled(false);
        m_add->setEnabled(false);
    }
    begin();
}

void ThresholdsForm::show(const ThresholdRules &rules)
{
    m_table->setRowCount(0);
    addRule({tr("every lock"), rules.usual.longHeld, rules.usual.longWait, rules.usual.unusual});
    auto *every = m_table->item(0, Pattern);
    every->setFlags(every->flags() & ~Qt::ItemIsEditable);
    for (const auto &rule : rules.rules)
        addRule(rule);
}

void ThresholdsForm::addRule(const ThresholdRule &rule)
{
    addRow({rule.pattern, rule.longHeld ? writtenDuration(*rule.longHeld) : QString(),
            rule.longWait ? writtenDuration(*rule.longWait) : QString(),
            rule.unusual ? QString::number(*rule.unusual) : QString()});
}

Result<ThresholdRule> ThresholdsForm::ruleAt(int row) const
{
    ThresholdRule rule;
    rule.pattern = row == 0 ? QString() : text(row, Pattern);
    const auto where = row == 0 ? tr("every lock") : rule.pattern;
    if (row > 0 && rule.pattern.isEmpty())
        return Error{ErrorCode::BadInput, tr("Row %1 has no pattern.").arg(row + 1)};
    for (const auto &[column, value] : {std::pair(LongHeld, &rule.longHeld), std::pair(LongWait, &rule.longWait)}) {
        if (text(row, column).isEmpty())
            continue;
        const auto span = parseDuration(text(row, column));
        if (!span)
            return Error{ErrorCode::BadInput,
                         tr("“%1” of %2 is not a duration like 90s, 10m or 8h.").arg(text(row, column), where)};
        *value = *span;
    }
    if (!text(row, Unusual).isEmpty()) {
        bool isNumber = false;
        rule.unusual = text(row, Unusual).toInt(&isNumber);
        if (!isNumber)
            return Error{ErrorCode::BadInput, tr("“%1” of %2 is not a whole number.").arg(text(row, Unusual), where)};
    }
    if (const auto objection = objectionTo(rule); !objection.isEmpty())
        return Error{ErrorCode::BadInput, tr("Of %1: %2.").arg(where, objection)};
    return rule;
}

Result<ThresholdRules> ThresholdsForm::rules() const
{
    ThresholdRules rules;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        TRY(auto &rule, ruleAt(row));
        if (row > 0) {
            rules.rules.push_back(std::move(rule));
            continue;
        }
        const inspect::Thresholds defaults;
        rules.usual = {rule.longHeld.value_or(defaults.longHeld), rule.longWait.value_or(defaults.longWait),
                       rule.unusual.value_or(defaults.unusual)};
    }
    return rules;
}

void ThresholdsForm::keep()
{
    if (m_isFilling || m_isBroken)
        return;
    showButtons();
    const auto now = rules();
    const auto written = now ? writeThresholds(*now, m_file) : Result<void>(now.error());
    showProblem(written);
    if (written)
        emit changed(*now);
}

void ThresholdsForm::moveRow(int by)
{
    const int row = m_table->currentRow();
    m_isFilling = true;
    for (int column = 0; column < ColumnCount; ++column) {
        auto *from = m_table->takeItem(row, column);
        auto *to = m_table->takeItem(row + by, column);
        m_table->setItem(row, column, to);
        m_table->setItem(row + by, column, from);
    }
    m_isFilling = false;
    m_table->setCurrentCell(row + by, m_table->currentColumn());
    keep();
}

void ThresholdsForm::showButtons()
{
    const int row = m_table->currentRow();
    m_remove->setEnabled(row > 0 && !m_isBroken);
    m_up->setEnabled(row > 1 && !m_isBroken);
    m_down->setEnabled(row > 0 && row + 1 < m_table->rowCount() && !m_isBroken);
    if (auto *item = m_table->currentItem())
        m_table->setCurrentItem(item); // selected, or nobody sees where the keyboard is
}

} // namespace lockscope::ui

#include "moc_settingsdialog.cpp"
