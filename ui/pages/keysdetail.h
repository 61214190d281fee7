// SPDX-License-Identifier: Apache-2.0
// One Redis key: its name, what is left of its time, and its value by type. Reads it from the backend
// when shown, again when its time is up, and when asked. GUI thread only.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/keysitems.h"

#include <QWidget>

class QSplitter;
class QStackedWidget;

namespace lockscope::ui {

class EntryHead;
class LiveTree;
class ValueView;

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
    [[nodiscard]] QString summaryText() const;
    [[nodiscard]] QString bannerText() const;

signals:
    // What the server said about the key on show.
    void looked(const lockscope::KeyRow &row);
    void gone(const lockscope::RedisKey &key);

private:
    void take(const RedisKey &key, const Result<KeyDetail> &answer);
    void showGone();
    void rememberItem();
    void sayRest();
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

} // namespace lockscope::ui
