// SPDX-License-Identifier: Apache-2.0
// The page of keys: the tree of one Redis' keys at the left, the chosen key at the right. The scan
// begins when the page is first looked at.
#pragma once

#include "ui/models/keysmodel.h"
#include "ui/models/rowsmodel.h"
#include "ui/pages/treepage.h"

class QProgressBar;
class QSplitter;

namespace lockscope::ui {

class LiveTree;
class ValueView;

// The parts of a Redis value as rows: field and value of a hash, numbered items of a list, the members of a set. A
// string has one row and needs no table.
struct KeyItem {
    // The item is known by it when the key is read again: field, member, or place in a list; a string has none.
    QByteArray name;
    QByteArray value;
    friend bool operator==(const KeyItem &, const KeyItem &) = default;
};

class KeyItemsModel : public RowsModel<KeyItem> {
    Q_OBJECT
public:
    enum class Shape { Single, Pairs, Numbered, Members };
    enum Column { Label, Value, ColumnCount };
    static constexpr int ValueRole = OwnRole; // QByteArray, complete

    explicit KeyItemsModel(QObject *parent = nullptr);
    void show(const KeyDetail &detail);
    void clear() { setItems({}); }
    [[nodiscard]] Shape shape() const { return m_shape; }
    [[nodiscard]] QByteArray nameAt(int row) const
    {
        return row < 0 || row >= rowCount() ? QByteArray() : at(row).name;
    }
    [[nodiscard]] int rowOf(const QByteArray &name) const;

    [[nodiscard]] static Shape shapeOf(const QByteArray &type);

private:
    void setItems(std::vector<KeyItem> items);

    Shape m_shape = Shape::Single;
};

// One Redis key: its name, what is left of its time, and its value by type. Reads it from the backend
// when shown, again when its time is up, and when asked. GUI thread only.
class KeyDetailView : public QWidget {
    Q_OBJECT
public:
    explicit KeyDetailView(QWidget *parent = nullptr);
    ~KeyDetailView() override;

    void show(Backend *backend, const ConnectionName &connection, const RedisKey &key);
    [[nodiscard]] const RedisKey &key() const { return m_key; }
    void refresh();
    // What is left of its time is counted down to this moment, and looked after when it is up.
    void tick(std::chrono::steady_clock::time_point now);

    // What was last read; null before.
    [[nodiscard]] const KeyDetail *detail() const { return m_detail ? &*m_detail : nullptr; }
    // The field of a hash that is chosen; empty: none, or no hash.
    [[nodiscard]] QByteArray chosenField() const;
    [[nodiscard]] EntryHead *head() const { return m_head; }
    [[nodiscard]] ValueView *value() const { return m_value; }
    [[nodiscard]] LiveTree *items() const { return m_itemsView; }

signals:
    // What the server said about the key on show.
    void looked(const lockscope::KeyRow &row);
    void gone(const lockscope::RedisKey &key);

private:
    void take(const RedisKey &key, const Result<KeyDetail> &answer);
    void showGone();
    void rememberItem();
    void updateRestLabel();
    void showItem();

    Backend *m_backend = nullptr;
    ConnectionName m_connection;
    RedisKey m_key;
    std::optional<KeyDetail> m_detail; // as last read
    std::chrono::steady_clock::time_point m_seen;
    bool m_wasExpired = false;
    std::chrono::steady_clock::time_point m_now;
    KeyItemsModel m_items;
    QByteArray m_chosen; // the item's name, and whose it is
    std::pair<ConnectionName, RedisKey> m_chosenOf;

    QStackedWidget *m_stack = nullptr;
    EntryHead *m_head = nullptr;
    QSplitter *m_content = nullptr;
    LiveTree *m_itemsView = nullptr;
    ValueView *m_value = nullptr;
};

class KeysPage : public TreePage {
    Q_OBJECT
public:
    explicit KeysPage(QWidget *parent = nullptr);
    ~KeysPage() override { stopListening(this); }

    void focusContent() override;
    void refresh() override;
    [[nodiscard]] bool showSubject(const Subject &subject) override;
    void freeze(std::optional<std::chrono::system_clock::time_point> at) override;

    [[nodiscard]] KeysModel &model() { return m_model; }
    [[nodiscard]] KeyDetailView *detail() const { return m_detail; }
    [[nodiscard]] QPushButton *scanButton() const { return m_scan; }

private:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    void ticked() override;
    void connectionChosen(const ConnectionStatus &status) override;
    void cameBack() override;
    void applyFilter() override;
    void follow(const operate::EditRequest &request, const operate::EditOutcome &outcome) override;
    void statusesTaken() override { startIfWanted(); }
    QWidget *buildStrip();
    void addActions();
    void connectModel();
    void showKey(const RedisKey &key);
    void startIfWanted();
    void scanClicked();
    void takePattern();
    void showProgressText();
    void chooseKey(const QModelIndex &current);

    bool m_isLeaving = false; // the key on show was found gone
    bool m_isFrozen = false;  // paused
    KeysModel m_model{nullptr, [this] { return clock().steadyNow(); }};
    RedisKey m_wanted; // asked for by name: chosen once it is read

    KeyDetailView *m_detail = nullptr;
    QLineEdit *m_pattern = nullptr;
    QProgressBar *m_bar = nullptr;
    QPushButton *m_scan = nullptr;
};

} // namespace lockscope::ui
