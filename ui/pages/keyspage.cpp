// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/keyspage.h"

#include "core/base/text.h"
#include "ui/pages/livetree.h"
#include "ui/parts/tabletools.h"

#include <QProgressBar>
#include <QSortFilterProxyModel>

namespace lockscope::ui {

constexpr int barSteps = 1000;

KeysPage::KeysPage(QWidget *parent)
    : TreePage(
        {Scheme::Redis, Scheme::RedisTls, Scheme::RedisCluster, Scheme::RedisSentinel},
        {u"No Redis here yet"_s,
         u"Connect to one (redis://host:6379/0) and its keys appear as a tree by ':', found by SCAN a page at a "
         u"time. Each key has its type, its value, and the time it has left."_s,
         u"keys"_s, u"The filter looks through the keys that are loaded; the pattern beside it scans the server."_s,
         u"Redis keys"_s},
        parent)
{
    m_detail = new KeyDetailView(this);
    m_tree->setAccessibleName(u"Keys"_s);
    m_cells->setMono({KeyNode::Name});
    m_cells->setMuted({KeyNode::Type});
    m_cells->setToneRole(KeysModel::ToneRole);
    connectModel();
    addActions();
    assemble(buildStrip(), m_detail, {690, 520});
    showProgressText();
}

QWidget *KeysPage::buildStrip()
{
    auto *strip = makeToolStrip(this);
    m_pattern = named(new QLineEdit(strip), u"pattern"_s, u"Pattern of keys to scan for"_s);
    m_pattern->setPlaceholderText(u"Pattern, e.g. lock:*  (Enter scans)"_s);
    m_pattern->setFont(monoFont());
    m_pattern->setMaximumWidth(300);
    connect(m_pattern, &QLineEdit::returnPressed, this, &KeysPage::takePattern);
    m_bar = new QProgressBar(strip);
    m_bar->setTextVisible(false);
    m_bar->setRange(0, barSteps);
    m_bar->setFixedWidth(80);
    m_scan = makeButton({}, strip, this, &KeysPage::scanClicked);
    addParts(*stripLayout(strip), {{m_pattern, 3}, {m_filter, 2}, Stretch{1}, m_status, m_bar, m_scan});
    return strip;
}

void KeysPage::addActions()
{
    using operate::EditKind;
    using Request = std::optional<operate::EditRequest>;
    addAct(u"Copy name"_s, QKeySequence::Copy,
           [this] { copyToClipboard(escaped(m_tree->currentIndex().data(KeysModel::KeyRole).toByteArray())); });
    addEdit(u"New key…"_s, Qt::Key_Insert, [this]() -> Request { return requestOf(EditKind::KeySet, {}); });
    const auto add = [this](const QString &text, const QKeySequence &key, EditKind kind, const QByteArray &type) {
        addEdit(text, key, [this, kind, type]() -> Request {
            const auto *detail = m_detail->detail();
            if (!detail || m_detail->key().isEmpty() || (!type.isEmpty() && detail->row.type != type))
                return std::nullopt;
            auto request = requestOf(kind, m_detail->key().bytes());
            if (type == "hash")
                request.field = m_detail->chosenField();
            return type == "hash" && request.field.isEmpty() ? Request() : request;
        });
    };
    add(u"Set…"_s, Qt::Key_F2, EditKind::KeySet, "string");
    add(u"Set field…"_s, {}, EditKind::FieldSet, "hash");
    addEdit(u"Add field…"_s, {}, [this]() -> Request {
        const auto *detail = m_detail->detail();
        if (!detail || m_detail->key().isEmpty() || detail->row.type != "hash")
            return std::nullopt;
        return requestOf(EditKind::FieldSet, m_detail->key().bytes()); // the form asks for its name
    });
    add(u"Delete field…"_s, {}, EditKind::FieldDelete, "hash");
    add(u"Expire…"_s, {}, EditKind::KeyExpire, {});
    add(u"Rename…"_s, {}, EditKind::KeyRename, {});
    add(u"Delete…"_s, Qt::Key_Delete, EditKind::KeyDelete, {});
    offerEdits(*m_detail->head());
}

void KeysPage::connectModel()
{
    useModel(m_model, KeysModel::FilterRole);
    m_tree->setWidths(KeyNode::Name, {{KeyNode::Type, 110}, {KeyNode::Ttl, 110}, {KeyNode::Bytes, 90}});
    m_tree->tools().setNameRole(KeysModel::KeyRole);
    m_tree->setLeastStretched(170); // what is not there stands in the detail

    connect(&m_model, &KeysModel::progressed, this, &KeysPage::showProgressText);
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, &KeysPage::chooseKey);
    connect(m_detail, &KeyDetailView::looked, this, [this](const KeyRow &row) {
        m_model.update(row);
        showLinks(*m_detail->head(), row.key.bytes(), false);
        if (row.key == m_wanted) {
            m_model.add(row);
            m_tree->setCurrentIndex(m_proxy->mapFromSource(m_model.find(m_wanted)));
            m_wanted = {};
        }
    });
    connect(m_detail, &KeyDetailView::gone, this, [this](const RedisKey &key) {
        // The detail stays and says that it is gone; the neighbour is not what was asked for.
        m_isLeaving = true;
        m_tree->setCurrentIndex({});
        m_model.remove(key);
        m_isLeaving = false;
    });
}

void KeysPage::chooseKey(const QModelIndex &current)
{
    const RedisKey key = m_model.keyOf(m_proxy->mapToSource(current));
    const bool isKey = current.isValid() && !current.data(KeysModel::FolderRole).toBool();
    if (isKey && key != m_detail->key())
        m_detail->show(m_backend, m_model.connection(), key);
    else if (!isKey && !m_isLeaving)
        m_detail->show(nullptr, {}, {}); // what is not chosen is not shown
    updateEdits();
}

void KeysPage::applyFilter()
{
    m_proxy->setFilterFixedString(m_filter->text());
    chooseKey(m_tree->currentIndex()); // nobody tells of a current row that left with its folder
    showProgressText();
}

void KeysPage::cameBack()
{
    if (m_detail->isVisible())
        m_detail->refresh();
}

void KeysPage::connectionChosen(const ConnectionStatus &status)
{
    m_wanted = {};
    m_detail->show(nullptr, {}, {});
    m_model.setConnection(m_backend, status.name);
    startIfWanted();
}

// Read by its name, whether the scan has met it or not.
void KeysPage::showKey(const RedisKey &key)
{
    if (!m_filter->text().isEmpty()) {
        m_filter->clear();
        m_filterSoon.stop();
        applyFilter();
    }
    m_tree->setCurrentIndex({});
    m_wanted = key;
    m_detail->show(m_backend, m_model.connection(), key);
}

bool KeysPage::showSubject(const Subject &subject)
{
    if (subject.kind != Subject::Kind::Key || !turnTo(subject.connection))
        return false;
    showKey(RedisKey(subject.name));
    return true;
}

void KeysPage::follow(const operate::EditRequest &request, const operate::EditOutcome &)
{
    const bool isRenamed = request.kind == operate::EditKind::KeyRename;
    if (isRenamed)
        m_model.remove(RedisKey(request.name));
    if (request.kind == operate::EditKind::KeyDelete)
        m_detail->refresh(); // which finds it gone, and says so
    else
        showKey(RedisKey(isRenamed ? request.value : request.name));
}

// Nobody pays for a scan that nobody looks at.
void KeysPage::startIfWanted()
{
    if (isVisible() && !m_isStale && !m_isFrozen && m_choice.shown()
        && m_model.progress().scan == KeysModel::Scan::Idle)
        m_model.start();
}

void KeysPage::scanClicked()
{
    switch (m_model.progress().scan) {
    case KeysModel::Scan::Running: m_model.pause(); return;
    case KeysModel::Scan::Paused:
    case KeysModel::Scan::Failed: m_model.proceed(); return;
    case KeysModel::Scan::Idle:
    case KeysModel::Scan::Done: m_model.start(); return;
    }
}

void KeysPage::takePattern()
{
    const auto pattern = unescaped(m_pattern->text());
    if (!pattern) {
        m_status->setText(u"A backslash begins \\xHH or \\\\"_s);
        return;
    }
    m_model.setPattern(*pattern);
    m_model.start();
}

void KeysPage::showProgressText()
{
    showNoMatch();
    const auto &progress = m_model.progress();
    const bool isUnderWay = progress.scan == KeysModel::Scan::Running || progress.scan == KeysModel::Scan::Paused;
    if (progress.scan == KeysModel::Scan::Done && progress.loaded == 0)
        showNothingText(m_model.pattern().isEmpty() ? u"No keys"_s
                                                    : u"No key is called “%1”"_s.arg(label(m_model.pattern(), 80)),
                        m_model.pattern().isEmpty()
                            ? u"This database is empty."_s
                            : u"The pattern is compared with whole names: lock:* finds all that begin with lock:."_s);
    QString text = m_model.progressText();
    if (!m_filter->text().isEmpty())
        text = u"%1 · the filter covers only those loaded"_s.arg(text);
    m_status->setText(text);
    m_bar->setVisible(isUnderWay);
    const auto total = std::max<qint64>({progress.total, progress.scanned, 1});
    m_bar->setValue(static_cast<int>(progress.scanned * barSteps / total));
    m_scan->setText(progress.scan == KeysModel::Scan::Running ? u"Pause"_s
                    : progress.scan == KeysModel::Scan::Paused || progress.scan == KeysModel::Scan::Failed
                        ? u"Continue"_s
                        : u"Scan again"_s);
}

// What was asked for by name is chosen once it is read.
void KeysPage::focusContent()
{
    if (m_wanted.isEmpty())
        TreePage::focusContent();
    else
        m_tree->setFocus();
}

void KeysPage::refresh()
{
    m_model.start();
    m_detail->refresh();
}

void KeysPage::showEvent(QShowEvent *event)
{
    Page::showEvent(event);
    startIfWanted();
}

void KeysPage::hideEvent(QHideEvent *event)
{
    Page::hideEvent(event);
    m_model.pause();
}

void KeysPage::freeze(std::optional<std::chrono::system_clock::time_point> at)
{
    m_isFrozen = at.has_value();
    if (at)
        m_model.pause(); // what it would find would move rows
}

void KeysPage::ticked()
{
    m_tree->viewport()->update(); // TTLs count down
    m_detail->tick(clock().steadyNow());
}

} // namespace lockscope::ui

#include "moc_keyspage.cpp"
