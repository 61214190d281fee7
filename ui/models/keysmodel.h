// SPDX-License-Identifier: Apache-2.0
// The keys of one Redis as a tree by ':', built from SCAN a page at a time.
//
// SCAN has no order and may say a key twice; pages are merged in runs, folders first, by name. It
// pauses by itself every `stretch` keys, so that a Redis of millions fills neither the memory nor the
// time of anybody who did not ask for it. After a whole scan, keys that it did not meet are gone. The
// model is reset only when the connection or the pattern changes. GUI thread only.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/treemodel.h"

#include <QTimer>

namespace lockscope::ui {

// A node of the tree of keys: a key, or a folder of those that share what is before a ':'.
struct KeyNode : TreeNode {
    enum Column { Name, Type, Ttl, Bytes, ColumnCount };
    using Moment = std::chrono::steady_clock::time_point;

    QByteArray segment; // the part of the key between two ':', or after the last
    bool isFolder = true;
    // Of folders: how many keys are below.
    qint64 keys = 0;
    // Of keys:
    QByteArray type;
    std::optional<std::chrono::milliseconds> ttl;
    std::optional<qint64> bytes;
    Moment seen;       // when ttl was true
    quint32 round = 0; // the last scan that met it

    [[nodiscard]] KeyNode *child(int at) const
    {
        return static_cast<KeyNode *>(children[static_cast<std::size_t>(at)].get());
    }
    [[nodiscard]] int count() const { return static_cast<int>(children.size()); }
    [[nodiscard]] bool is(bool asFolder, const QByteArray &name) const
    {
        return isFolder == asFolder && segment == name;
    }
    // Folders first, then by name.
    [[nodiscard]] bool isBefore(bool asFolder, const QByteArray &name) const
    {
        return isFolder != asFolder ? isFolder : segment < name;
    }
    [[nodiscard]] int lowerBound(bool asFolder, const QByteArray &name, int from = 0) const
    {
        const auto isBelow = [asFolder](const std::unique_ptr<TreeNode> &node, const QByteArray &other) {
            return static_cast<const KeyNode *>(node.get())->isBefore(asFolder, other);
        };
        return static_cast<int>(std::lower_bound(children.begin() + from, children.end(), name, isBelow)
                                - children.begin());
    }
    // The whole key; of a folder its prefix with the ':'.
    [[nodiscard]] QByteArray fullName() const
    {
        if (!parent)
            return {};
        const QByteArray own = isFolder ? segment + ':' : segment;
        return static_cast<const KeyNode *>(parent)->fullName() + own;
    }
    // What is left of its time to live; empty for a key that never expires, or is none.
    [[nodiscard]] std::optional<std::chrono::milliseconds> left(Moment now) const;
    [[nodiscard]] QString cell(int column, Moment now) const;
    // "12 s", "no TTL", "expired": what is left at `now` of a time to live seen at `seen`.
    [[nodiscard]] static QString ttlText(std::optional<std::chrono::milliseconds> ttl, Moment seen, Moment now);
};

constexpr std::chrono::seconds keyExpiresSoon{10};

class KeysModel : public TreeModel {
    Q_OBJECT
public:
    enum Role {
        KeyRole = Qt::UserRole, // QByteArray: the whole key; of a folder, its prefix with the ':'
        FolderRole,             // bool
        ToneRole,               // int of a Tone for the row's text, or invalid
        FilterRole,
    };
    static constexpr qint64 stretch = 100'000;
    using Clock = std::function<std::chrono::steady_clock::time_point()>;

    enum class Scan { Idle, Running, Paused, Done, Failed };
    struct Progress {
        Scan scan = Scan::Idle;
        qint64 scanned = 0;
        qint64 total = 0;
        qint64 loaded = 0; // keys in the tree
        QString error;
    };

    explicit KeysModel(QObject *parent = nullptr, Clock clock = std::chrono::steady_clock::now);
    ~KeysModel() override;

    // Empties the tree. The backend outlives the model.
    void setConnection(Backend *backend, const ConnectionName &name);
    [[nodiscard]] const ConnectionName &connection() const { return m_connection; }
    // Empty means all keys. Another pattern is another tree.
    void setPattern(const QByteArray &pattern);
    [[nodiscard]] const QByteArray &pattern() const { return m_pattern; }

    void start(); // from the beginning; what is in the tree stays until the scan is through
    void pause();
    void proceed();
    [[nodiscard]] const Progress &progress() const { return m_progress; }
    [[nodiscard]] QString progressText() const;

    [[nodiscard]] RedisKey keyOf(const QModelIndex &index) const; // empty for a folder
    [[nodiscard]] QModelIndex find(const RedisKey &key) const;
    // What a look at one key told.
    void update(const KeyRow &row);
    // The same of one that may not be in the tree yet.
    void add(const KeyRow &row);
    void remove(const RedisKey &key);

    [[nodiscard]] int columnCount(const QModelIndex & = {}) const override { return KeyNode::ColumnCount; }
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    void progressed();

private:
    struct Entry; // what a page says of one child of a folder

    [[nodiscard]] KeyNode *node(const QModelIndex &index) const { return static_cast<KeyNode *>(nodeOf(index)); }
    [[nodiscard]] KeyNode *findNode(const RedisKey &key) const;
    void clear();
    void ask();
    void take(Result<KeyPage> page);
    void merge(std::vector<KeyRow> rows);
    // Merges sorted rows that share the folder's prefix. Returns how many keys are new. A folder that is
    // not in the model yet (`isLive` false) is filled without signals.
    qint64 mergeInto(KeyNode *folder, std::span<KeyRow> rows, int depth, bool isLive);
    [[nodiscard]] static std::vector<Entry> entriesOf(std::span<KeyRow> rows, qsizetype prefix, int depth);
    [[nodiscard]] std::unique_ptr<TreeNode> make(const Entry &entry, int depth, qint64 &added, KeyNode *folder);
    void fill(KeyNode *leaf, const KeyRow &row) const;
    // Returns how many keys left.
    qint64 sweepUnseen(KeyNode *folder);
    void setScan(Scan scan);

    Backend *m_backend = nullptr;
    ConnectionName m_connection;
    QByteArray m_pattern;
    Clock m_clock;
    Progress m_progress;
    quint64 m_cursor = 0;
    quint32 m_round = 0; // the number of the scan
    qint64 m_pauseAt = stretch;
    bool m_isAsked = false;
    QTimer m_next;
    std::unique_ptr<QObject> m_answers;
};

} // namespace lockscope::ui
