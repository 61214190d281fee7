// SPDX-License-Identifier: Apache-2.0
#include "ui/models/keysmodel.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "ui/models/keysmodel_p.h"
#include "ui/models/treenames.h"
#include "ui/theme/plaintext.h"
#include "ui/theme/pill.h"

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr auto keyExpiresSoon = 10s;

std::optional<milliseconds> left(std::optional<milliseconds> ttl, std::chrono::steady_clock::time_point seen,
                                 std::chrono::steady_clock::time_point now)
{
    // Servers say -1 for a key that never expires.
    if (!ttl || ttl->count() == -1)
        return std::nullopt;
    return *ttl - std::chrono::duration_cast<milliseconds>(now - seen);
}

} // namespace

KeysModel::KeysModel(QObject *parent, Clock clock)
    : TreeModel(std::make_unique<Node>(), parent), m_clock(std::move(clock)), m_answers(std::make_unique<QObject>())
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
    replaceRoot(std::make_unique<Node>());
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

KeysModel::Node *KeysModel::node(const QModelIndex &index) const
{
    return static_cast<Node *>(nodeOf(index));
}

KeysModel::Node *KeysModel::findNode(const RedisKey &key) const
{
    auto *folder = static_cast<Node *>(root());
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
    const Node *found = findNode(key);
    return found ? indexOf(found) : QModelIndex();
}

RedisKey KeysModel::keyOf(const QModelIndex &index) const
{
    const Node *asked = node(index);
    return asked == root() || asked->isFolder ? RedisKey() : RedisKey(asked->fullName());
}

int KeysModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

QString KeysModel::ttlText(std::optional<milliseconds> ttl, std::chrono::steady_clock::time_point seen,
                           std::chrono::steady_clock::time_point now)
{
    const auto rest = left(ttl, seen, now);
    if (!rest)
        return u"∞ no TTL"_s;
    if (*rest <= 0ms)
        return u"expired"_s;
    // Tenths that only change when the screen does say nothing.
    return spokenDuration(*rest < keyExpiresSoon ? *rest : std::chrono::floor<std::chrono::seconds>(*rest));
}

QVariant KeysModel::display(const Node *node, int column) const
{
    switch (column) {
    case Name:
        return node->isFolder ? nameText(node->segment) + u':' : nameText(node->segment);
    case Type:
        if (node->isFolder)
            return node->keys == 1 ? u"1 key"_s : u"%1 keys"_s.arg(countText(node->keys));
        return label(node->type, 40);
    case Ttl:
        return node->isFolder || node->type.isEmpty() ? QString() : ttlText(node->ttl, node->seen, m_clock());
    case Bytes:
        return node->bytes ? countText(*node->bytes) : QString();
    default:
        return {};
    }
}

QVariant KeysModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const Node *asked = node(index);
    switch (role) {
    case Qt::DisplayRole:
        return display(asked, index.column());
    case Qt::ToolTipRole:
        return index.column() == Name ? plainToolTip(label(asked->fullName(), 2000)) : QVariant();
    case Qt::TextAlignmentRole:
        if (index.column() >= Ttl)
            return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
        return {};
    case KeyRole:
        return asked->fullName();
    case FolderRole:
        return asked->isFolder;
    case ToneRole: {
        const auto rest = index.column() == Ttl && !asked->isFolder ? left(asked->ttl, asked->seen, m_clock())
                                                                    : std::nullopt;
        if (!rest || *rest >= keyExpiresSoon)
            return {};
        return static_cast<int>(*rest <= 0ms ? Tone::Free : Tone::Wait);
    }
    case FilterRole:
        return escaped(asked->segment);
    default:
        return {};
    }
}

QVariant KeysModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const std::array titles{u"Key"_s, u"Type"_s, u"TTL"_s, u"Bytes"_s};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::DisplayRole)
        return titles[static_cast<std::size_t>(section)];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((section >= Ttl ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

} // namespace lockscope::ui
