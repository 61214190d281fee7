// SPDX-License-Identifier: Apache-2.0
// One Redis key: its name, what is left of its time, and its value by type. Reads it from the backend
// when shown, again when its time is up, and when asked. GUI thread only.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/keysitems.h"

#include <QTimer>
#include <QWidget>

class QFrame;
class QLabel;
class QLineEdit;
class QPushButton;
class QSplitter;
class QStackedWidget;

namespace lockscope::ui {

class EmptyNotice;
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
    // What is left of its time is not counted down, nor looked after.
    void setFrozen(bool frozen) { m_isFrozen = frozen; }

    [[nodiscard]] ValueView *value() const { return m_value; }
    [[nodiscard]] LiveTree *items() const { return m_itemsView; }
    [[nodiscard]] QString summaryText() const;
    [[nodiscard]] QString bannerText() const;

signals:
    // What the server said about the key on show.
    void looked(const lockscope::KeyRow &row);
    void gone(const lockscope::RedisKey &key);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    QWidget *buildHead();
    void take(const RedisKey &key, const Result<KeyDetail> &answer);
    void showGone();
    void sayRest();
    void showItem();

    Backend *m_backend = nullptr;
    ConnectionName m_connection;
    RedisKey m_key;
    std::optional<KeyDetail> m_detail; // as last read
    std::chrono::steady_clock::time_point m_seen;
    bool m_wasExpired = false;
    bool m_isFrozen = false;
    QTimer m_tick;
    KeyItemsModel m_items;

    QStackedWidget *m_stack = nullptr;
    QLineEdit *m_name = nullptr;
    QLabel *m_summary = nullptr;
    QFrame *m_banner = nullptr;
    QLabel *m_bannerText = nullptr;
    QSplitter *m_content = nullptr;
    LiveTree *m_itemsView = nullptr;
    ValueView *m_value = nullptr;
};

} // namespace lockscope::ui
