// SPDX-License-Identifier: Apache-2.0
#include "ui/models/keysmodel.h"

#include "core/base/text.h"
#include "ui/theme/pill.h"

namespace lockscope::ui {

using std::chrono::milliseconds;

namespace {

std::optional<milliseconds> keyTimeLeft(std::optional<milliseconds> ttl, KeyNode::Moment seen, KeyNode::Moment now)
{
    // Servers say -1 for a key that never expires.
    if (!ttl || ttl->count() == -1)
        return std::nullopt;
    return *ttl - std::chrono::duration_cast<milliseconds>(now - seen);
}

// A key of a thousand ':' is a name, not a thousand folders.
constexpr int deepestFolder = 24;

// The next colon that parts names: none inside of "{…}", which a cluster keeps together. Where the brace is not
// closed nothing is parted behind it, or the keys of one folder would not stand side by side.
qsizetype colonAt(const QByteArray &key, qsizetype at)
{
    for (;;) {
        const auto colon = key.indexOf(':', at);
        const auto open = key.indexOf('{', at);
        if (colon < 0 || open < 0 || colon < open)
            return colon;
        const auto close = key.indexOf('}', open);
        if (close < 0)
            return -1;
        at = close + 1;
    }
}

std::pair<QByteArray, bool> segmentAt(const QByteArray &key, qsizetype at, int depth)
{
    const auto colon = depth < deepestFolder ? colonAt(key, at) : -1;
    return {key.mid(at, colon < 0 ? -1 : colon - at), colon >= 0};
}

} // namespace

std::optional<milliseconds> KeyNode::left(Moment now) const
{
    return isFolder ? std::nullopt : keyTimeLeft(ttl, seen, now);
}

QString KeyNode::ttlText(std::optional<milliseconds> ttl, Moment seen, Moment now)
{
    const auto rest = keyTimeLeft(ttl, seen, now);
    if (!rest)
        return u"∞ no TTL"_s;
    if (*rest <= 0ms)
        return u"due"_s; // by the last look: it may have been renewed since
    // Tenths that only change when the screen does say nothing.
    return formatDuration(*rest < keyExpiresSoon ? *rest : std::chrono::floor<std::chrono::seconds>(*rest));
}

QString KeyNode::cell(int column, Moment now) const
{
    switch (column) {
    case Name: return nameText(segment) + (isFolder ? u":"_s : QString());
    case Type:
        if (isFolder)
            return keys == 1 ? u"1 key"_s : u"%1 keys"_s.arg(countText(keys));
        return label(type, 40);
    case Ttl: return isFolder || type.isEmpty() ? QString() : ttlText(ttl, seen, now);
    case Bytes: return bytes ? countText(*bytes) : QString();
    default: return {};
    }
}

// What a page says of one child of a folder: a key, or the keys below a folder.
struct KeysModel::Entry {
    QByteArray segment;
    bool isFolder = false;
    std::span<KeyRow> rows;
};

KeysModel::KeysModel(QObject *parent, Clock clock)
    : TreeModel(std::make_unique<KeyNode>(), parent), m_clock(std::move(clock)),
      m_answers(std::make_unique<QObject>())
{
    constexpr auto frame = 16ms;
    m_next.setSingleShot(true);
    m_next.setInterval(frame);
    connect(&m_next, &QTimer::timeout, this, &KeysModel::ask);
}

KeysModel::~KeysModel() = default;

void KeysModel::clear()
{
    beginResetModel(); // reset: a scan of another connection or pattern has nothing in common with the last
    m_next.stop();
    m_answers = std::make_unique<QObject>(); // what is still out finds nobody
    m_isAsked = false;
    replaceRoot(std::make_unique<KeyNode>());
    m_progress = {};
    m_cursor = 0;
    endResetModel();
    emit progressed();
}

void KeysModel::setConnection(Backend *backend, const ConnectionName &name)
{
    m_backend = backend;
    m_connection = name;
    clear();
}

void KeysModel::setPattern(const QByteArray &pattern)
{
    if (pattern == m_pattern)
        return;
    m_pattern = pattern;
    clear();
}

KeyNode *KeysModel::findNode(const RedisKey &key) const
{
    auto *folder = static_cast<KeyNode *>(root());
    qsizetype at = 0;
    for (int depth = 0;; ++depth) {
        const auto [segment, isFolder] = segmentAt(key.bytes(), at, depth);
        const int row = folder->lowerBound(isFolder, segment);
        if (row == folder->count() || !folder->child(row)->is(isFolder, segment))
            return nullptr;
        folder = folder->child(row);
        if (!isFolder)
            return folder;
        at += segment.size() + 1;
    }
}

QModelIndex KeysModel::find(const RedisKey &key) const
{
    const KeyNode *found = findNode(key);
    return found ? indexOf(found) : QModelIndex();
}

RedisKey KeysModel::keyOf(const QModelIndex &index) const
{
    const KeyNode *asked = node(index);
    return asked == root() || asked->isFolder ? RedisKey() : RedisKey(asked->fullName());
}

QVariant KeysModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const KeyNode *asked = node(index);
    switch (role) {
    case Qt::DisplayRole: return asked->cell(index.column(), m_clock());
    case Qt::ToolTipRole:
        return index.column() == KeyNode::Name ? plainToolTip(label(asked->fullName(), 2000)) : QVariant();
    case Qt::TextAlignmentRole:
        if (index.column() >= KeyNode::Ttl)
            return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
        return {};
    case KeyRole: return asked->fullName();
    case FolderRole: return asked->isFolder;
    case ToneRole: {
        const auto rest = index.column() == KeyNode::Ttl ? asked->left(m_clock()) : std::nullopt;
        if (!rest || *rest >= keyExpiresSoon)
            return {};
        return static_cast<int>(*rest <= 0ms ? Tone::Free : Tone::Wait);
    }
    case FilterRole: return escaped(asked->segment);
    default: return {};
    }
}

QVariant KeysModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const std::array titles{u"Key"_s, u"Type"_s, u"TTL"_s, u"Bytes"_s};
    if (orientation != Qt::Horizontal || section < 0 || section >= KeyNode::ColumnCount)
        return {};
    if (role == Qt::DisplayRole)
        return titles[static_cast<std::size_t>(section)];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((section >= KeyNode::Ttl ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

// --- The scan: asking for pages, merging them into the tree, and taking out what is gone ---

void KeysModel::setScan(Scan scan)
{
    m_progress.scan = scan;
    emit progressed();
}

void KeysModel::start()
{
    if (!m_backend || m_connection.isEmpty())
        return;
    m_answers = std::make_unique<QObject>();
    m_isAsked = false;
    m_cursor = 0;
    ++m_round;
    m_pauseAt = stretch;
    m_progress.scanned = 0;
    m_progress.error.clear();
    setScan(Scan::Running);
    ask();
}

void KeysModel::pause()
{
    if (m_progress.scan == Scan::Running)
        setScan(Scan::Paused); // a page that is out still comes in
}

void KeysModel::proceed()
{
    if (m_progress.scan != Scan::Paused && m_progress.scan != Scan::Failed)
        return;
    m_pauseAt = m_progress.scanned + stretch;
    m_progress.error.clear();
    setScan(Scan::Running);
    ask();
}

void KeysModel::ask()
{
    if (m_isAsked || m_progress.scan != Scan::Running)
        return;
    m_isAsked = true;
    m_backend->ask(ScanKeys{m_connection, m_pattern.isEmpty() ? "*"_ba : m_pattern, m_cursor}, m_answers.get(),
                   [this](Result<KeyPage> page) { take(std::move(page)); });
}

void KeysModel::take(Result<KeyPage> page)
{
    m_isAsked = false;
    if (!page) {
        m_progress.error = page.error().message;
        setScan(Scan::Failed);
        return;
    }
    m_cursor = page->cursor;
    m_progress.scanned += page->scanned;
    m_progress.total = page->total;
    emit turnBegins();
    merge(std::move(page->rows));
    if (m_cursor == 0) {
        m_progress.loaded -= sweepUnseen(static_cast<KeyNode *>(root()));
        m_progress.scan = Scan::Done;
    } else if (m_progress.scan == Scan::Running && m_progress.scanned >= m_pauseAt) {
        m_progress.scan = Scan::Paused;
    }
    emit turnEnds();
    emit progressed();
    if (m_progress.scan == Scan::Running)
        m_next.start();
}

void KeysModel::merge(std::vector<KeyRow> rows)
{
    std::sort(rows.begin(), rows.end(), [](const KeyRow &a, const KeyRow &b) { return a.key < b.key; });
    const auto end =
        std::unique(rows.begin(), rows.end(), [](const KeyRow &a, const KeyRow &b) { return a.key == b.key; });
    rows.erase(end, rows.end());
    m_progress.loaded += mergeInto(static_cast<KeyNode *>(root()), rows, 0, true);
}

std::vector<KeysModel::Entry> KeysModel::entriesOf(std::span<KeyRow> rows, qsizetype prefix, int depth)
{
    std::vector<Entry> entries;
    for (std::size_t first = 0; first < rows.size();) {
        const auto [segment, isFolder] = segmentAt(rows[first].key.bytes(), prefix, depth);
        std::size_t last = first + 1;
        // Keys of one folder stand side by side, since they share what is before the ':' and the ':'.
        while (isFolder && last < rows.size()
               && segmentAt(rows[last].key.bytes(), prefix, depth) == std::pair(segment, true))
            ++last;
        entries.push_back({segment, isFolder, rows.subspan(first, last - first)});
        first = last;
    }
    std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
        return a.isFolder != b.isFolder ? a.isFolder : a.segment < b.segment;
    });
    return entries;
}

qint64 KeysModel::mergeInto(KeyNode *folder, std::span<KeyRow> rows, int depth, bool isLive)
{
    const auto entries = entriesOf(rows, folder->fullName().size(), depth);
    qint64 added = 0;
    int row = 0;
    int firstChanged = -1;
    int lastChanged = -1;
    for (std::size_t next = 0; next < entries.size();) {
        const Entry &entry = entries[next];
        row = folder->lowerBound(entry.isFolder, entry.segment, row);
        if (row < folder->count() && folder->child(row)->is(entry.isFolder, entry.segment)) {
            KeyNode *known = folder->child(row);
            if (entry.isFolder)
                added += mergeInto(known, entry.rows, depth + 1, isLive);
            else
                fill(known, entry.rows.front());
            firstChanged = firstChanged < 0 ? row : firstChanged;
            lastChanged = row;
            ++next;
            continue;
        }
        Run run;
        const auto belongsHere = [&](const Entry &other) {
            return row == folder->count() || folder->lowerBound(other.isFolder, other.segment, row) == row;
        };
        const auto isKnown = [&](const Entry &other) {
            return row < folder->count() && folder->child(row)->is(other.isFolder, other.segment);
        };
        for (; next < entries.size() && belongsHere(entries[next]) && !isKnown(entries[next]); ++next)
            run.push_back(make(entries[next], depth, added, folder));
        const int count = static_cast<int>(run.size());
        if (isLive)
            insertRun(folder, row, std::move(run));
        else
            adopt(folder, row, std::move(run));
        row += count;
    }
    folder->keys += added;
    if (isLive && firstChanged >= 0)
        notifyChanged(folder, firstChanged, lastChanged);
    return added;
}

std::unique_ptr<TreeNode> KeysModel::make(const Entry &entry, int depth, qint64 &added, KeyNode *folder)
{
    auto node = std::make_unique<KeyNode>();
    node->segment = entry.segment;
    node->isFolder = entry.isFolder;
    node->parent = folder; // its full name is asked for while it is filled
    if (entry.isFolder) {
        added += mergeInto(node.get(), entry.rows, depth + 1, false);
    } else {
        fill(node.get(), entry.rows.front());
        ++added;
    }
    return node;
}

void KeysModel::fill(KeyNode *leaf, const KeyRow &row) const
{
    leaf->type = row.type;
    leaf->ttl = row.ttl;
    leaf->bytes = row.bytes;
    leaf->seen = m_clock();
    leaf->round = m_round;
}

qint64 KeysModel::sweepUnseen(KeyNode *folder)
{
    qint64 gone = 0;
    const auto isGone = [this](const KeyNode *child) {
        return child->isFolder ? child->keys == 0 : child->round != m_round;
    };
    int firstChanged = -1;
    int lastChanged = -1;
    for (int row = 0; row < folder->count(); ++row) {
        KeyNode *child = folder->child(row);
        const qint64 below = child->isFolder ? sweepUnseen(child) : 0;
        gone += below;
        if (below > 0 && child->keys > 0) {
            firstChanged = firstChanged < 0 ? row : firstChanged;
            lastChanged = row;
        }
    }
    if (firstChanged >= 0)
        notifyChanged(folder, firstChanged, lastChanged);
    for (int last = folder->count() - 1; last >= 0; --last) {
        if (!isGone(folder->child(last)))
            continue;
        int first = last;
        while (first > 0 && isGone(folder->child(first - 1)))
            --first;
        for (int row = first; row <= last; ++row)
            gone += folder->child(row)->isFolder ? 0 : 1;
        removeRun(folder, first, last - first + 1);
        last = first;
    }
    folder->keys -= gone;
    return gone;
}

void KeysModel::update(const KeyRow &row)
{
    KeyNode *leaf = findNode(row.key);
    if (!leaf)
        return;
    const auto round = leaf->round;
    fill(leaf, row);
    leaf->round = round;
    notifyChanged(leaf->parent, rowOf(leaf), rowOf(leaf));
}

void KeysModel::add(const KeyRow &row)
{
    if (findNode(row.key)) {
        update(row);
        return;
    }
    emit turnBegins();
    merge({row});
    emit turnEnds();
    emit progressed();
}

void KeysModel::remove(const RedisKey &key)
{
    KeyNode *leaving = findNode(key);
    if (!leaving)
        return;
    auto *folder = static_cast<KeyNode *>(leaving->parent);
    removeRun(folder, rowOf(leaving), 1);
    --m_progress.loaded;
    while (folder) {
        --folder->keys;
        auto *above = static_cast<KeyNode *>(folder->parent);
        if (above && folder->keys == 0)
            removeRun(above, rowOf(folder), 1);
        else if (above)
            notifyChanged(above, rowOf(folder), rowOf(folder));
        folder = above;
    }
    emit progressed();
}

QString KeysModel::progressText() const
{
    // A page's count is what SCAN was asked to look at, which may be more than there are; keys come and go while we
    // count.
    const auto there = std::max(m_progress.total, m_progress.loaded);
    const QString scanned = countText(std::min(m_progress.scanned, there));
    const QString total = countText(there);
    switch (m_progress.scan) {
    case Scan::Idle: return u"not scanned"_s;
    case Scan::Running: return u"scanned %1 of %2 keys"_s.arg(scanned, total);
    case Scan::Paused: return u"paused · scanned %1 of %2 keys"_s.arg(scanned, total);
    case Scan::Failed: return u"stopped at %1 of %2 keys: %3"_s.arg(scanned, total, m_progress.error);
    case Scan::Done: break;
    }
    if (m_pattern.isEmpty())
        return m_progress.loaded == 1 ? u"1 key"_s : u"%1 keys"_s.arg(countText(m_progress.loaded));
    return u"%1 of %2 keys match"_s.arg(countText(m_progress.loaded), total);
}

} // namespace lockscope::ui

#include "moc_keysmodel.cpp"
