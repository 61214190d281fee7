// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/keyspage.h"

#include "core/base/text.h"
#include "ui/pages/livetree.h"
#include "ui/pages/valueview.h"

#include <QHeaderView>
#include <QSplitter>

namespace lockscope::ui {

KeyItemsModel::Shape KeyItemsModel::shapeOf(const QByteArray &type)
{
    if (type == "hash" || type == "zset")
        return Shape::Pairs;
    if (type == "list")
        return Shape::Numbered;
    return type == "set" ? Shape::Members : Shape::Single;
}

KeyItemsModel::KeyItemsModel(QObject *parent) : RowsModel(parent)
{
    const auto labelText = [this](const KeyItem &item) {
        return m_shape == Shape::Pairs      ? nameText(item.name)
               : m_shape == Shape::Numbered ? QString::fromLatin1(item.name)
                                            : QString();
    };
    const auto labelTip = [this](const KeyItem &item) {
        return label(m_shape == Shape::Pairs ? item.name : item.value, 2000);
    };
    m_columns = {{.text = labelText, .tip = labelTip},
                 {.title = u"Value"_s,
                  .text = [](const KeyItem &item) { return label(item.value); },
                  .tip = [](const KeyItem &item) { return label(item.value, 2000); }}};
    m_values = {{ValueRole, [](const KeyItem &item) { return item.value; }}};
}

void KeyItemsModel::show(const KeyDetail &detail)
{
    if (shapeOf(detail.row.type) != m_shape)
        clear();
    m_shape = shapeOf(detail.row.type);
    m_columns[Label].title = m_shape == Shape::Pairs ? u"Field"_s : m_shape == Shape::Numbered ? u"#"_s : QString();
    m_columns[Value].title = m_shape == Shape::Members ? u"Member"_s : u"Value"_s;
    const std::size_t step = m_shape == Shape::Pairs ? 2 : 1;
    std::vector<KeyItem> items;
    for (std::size_t at = 0; at + step <= detail.items.size(); at += step) {
        const auto name = m_shape == Shape::Single     ? QByteArray()
                          : m_shape == Shape::Numbered ? QByteArray::number(items.size())
                                                       : detail.items[at];
        items.push_back({.name = name, .value = detail.items[at + step - 1]});
    }
    setItems(std::move(items));
}

// By place: what is at a place now is shown there.
void KeyItemsModel::setItems(std::vector<KeyItem> items)
{
    replaceRows(std::move(items), [](const KeyItem &, const KeyItem &) { return true; });
}

int KeyItemsModel::rowOf(const QByteArray &name) const
{
    const auto item = std::ranges::find(m_rows, name, &KeyItem::name);
    return item == m_rows.end() ? -1 : static_cast<int>(item - m_rows.begin());
}

KeyDetailView::KeyDetailView(QWidget *parent) : QWidget(parent)
{
    m_stack = new QStackedWidget(this);
    auto *empty = new EmptyNotice(m_stack);
    empty->say(u"No key chosen"_s,
               u"Choose a key at the left to see its type, what is left of its time, and its value."_s);
    auto *content = new QFrame(m_stack);
    content->setProperty("look", u"panel"_s);
    m_content = new QSplitter(Qt::Vertical, content);
    m_content->setHandleWidth(1);
    m_content->setChildrenCollapsible(false);
    m_itemsView = new LiveTree(m_content);
    m_itemsView->becomeTable(u"Items of the value"_s)->setMono({KeyItemsModel::Label, KeyItemsModel::Value});
    m_itemsView->setModel(&m_items);
    m_itemsView->setWidths(KeyItemsModel::Value, {{KeyItemsModel::Label, 200}});
    m_value = new ValueView(m_content);
    m_content->addWidget(m_itemsView);
    m_content->addWidget(m_value);
    m_content->setSizes({260, 240});
    connect(m_itemsView->selectionModel(), &QItemSelectionModel::currentChanged, this, &KeyDetailView::showItem);

    makeColumn(content, {.spacing = 0},
               {m_head = new EntryHead(u"Copy name"_s, u"Name of the key"_s, content),
                makeHairline(content),
                {m_content, 1},
                Stretch{}});
    m_stack->addWidget(empty);
    m_stack->addWidget(content);
    makeColumn(this, {}, {m_stack});
}

KeyDetailView::~KeyDetailView()
{
    stopListening(this);
}

void KeyDetailView::show(Backend *backend, const ConnectionName &connection, const RedisKey &key)
{
    rememberItem();
    m_backend = backend;
    m_connection = connection;
    m_key = key;
    m_detail.reset();
    m_items.clear();
    m_value->clear();
    m_content->hide();
    m_head->warn({});
    m_head->setLinks({});
    m_stack->setCurrentIndex(backend ? 1 : 0);
    if (!backend)
        return;
    m_head->setName(key.bytes());
    m_head->setSummary(u"reading…"_s);
    refresh();
}

// A key is taken away and shown anew when it was edited.
void KeyDetailView::rememberItem()
{
    if (!m_backend || !m_itemsView->currentIndex().isValid())
        return;
    m_chosen = m_items.nameAt(m_itemsView->currentIndex().row());
    m_chosenOf = {m_connection, m_key};
}

void KeyDetailView::refresh()
{
    if (!m_backend)
        return;
    m_backend->ask(ReadKey{m_connection, m_key}, this,
                   [this, connection = m_connection, key = m_key](const Result<KeyDetail> &answer) {
                       if (connection == m_connection)
                           take(key, answer);
                   });
}

void KeyDetailView::take(const RedisKey &key, const Result<KeyDetail> &answer)
{
    if (key != m_key)
        return; // another key is on show by now
    if (!answer && answer.error().code != ErrorCode::NoNode) {
        m_head->warn(answer.error().message);
        if (!m_detail)
            m_head->setSummary({});
        return;
    }
    if (!answer || answer->row.type == "none") {
        showGone();
        return;
    }
    m_head->warn({});
    m_detail = *answer;
    m_seen = m_now = std::chrono::steady_clock::now();
    m_wasExpired = false;
    rememberItem();
    m_items.show(*m_detail);
    m_itemsView->setVisible(m_items.shape() != KeyItemsModel::Shape::Single);
    m_content->show();
    // The field that was chosen, wherever the server lists it now: what is edited next is what was looked at.
    const bool isIts = m_chosenOf == std::pair(m_connection, m_key);
    if (const int at = isIts ? m_items.rowOf(m_chosen) : -1; at >= 0)
        m_itemsView->setCurrentIndex(m_items.index(at, 0));
    else if (!m_itemsView->currentIndex().isValid() && m_items.rowCount() > 0)
        m_itemsView->setCurrentIndex(m_items.index(0, 0));
    showItem();
    updateRestLabel();
    emit looked(m_detail->row);
}

void KeyDetailView::showItem()
{
    if (!m_detail)
        return;
    // What cannot be shown item by item has one.
    const QModelIndex item = m_itemsView->currentIndex();
    const QByteArray value = item.isValid() ? item.data(KeyItemsModel::ValueRole).toByteArray() : QByteArray();
    const bool isString = m_items.shape() == KeyItemsModel::Shape::Single && m_detail->cut && m_detail->row.bytes;
    m_value->setValue(value,
                      isString ? std::max(*m_detail->row.bytes, static_cast<qint64>(value.size())) : value.size(),
                      sender() != m_itemsView->selectionModel());
}

QByteArray KeyDetailView::chosenField() const
{
    const auto row = static_cast<std::size_t>(std::max(0, m_itemsView->currentIndex().row()));
    const bool isField = m_detail && m_detail->row.type == "hash" && m_itemsView->currentIndex().isValid();
    return isField && 2 * row < m_detail->items.size() ? m_detail->items[2 * row] : QByteArray();
}

void KeyDetailView::showGone()
{
    const QString at = QDateTime::currentDateTime().toString(u"HH:mm:ss"_s);
    m_head->warn(m_detail ? u"This key no longer exists (read at %1). The last known data is below."_s.arg(at)
                          : u"This key does not exist (read at %1)."_s.arg(at));
    m_head->setSummary({});
    if (m_detail)
        m_detail->row.ttl = -1ms; // nothing left to count
    emit gone(m_key);
}

void KeyDetailView::updateRestLabel()
{
    if (!m_detail || !m_head->warning().isEmpty())
        return;
    const KeyRow &row = m_detail->row;
    const QString rest = KeyNode::ttlText(row.ttl, m_seen, m_now);
    QStringList parts{label(row.type, 40)};
    const bool hasTtl = row.ttl && row.ttl->count() != -1;
    parts << (!hasTtl            ? u"no TTL: it remains until a client deletes it"_s
              : rest == u"due"_s ? u"expired according to the last read"_s
                                 : u"expires in %1"_s.arg(rest));
    if (row.bytes)
        parts << u"%1 bytes of memory"_s.arg(countText(*row.bytes));
    if (m_items.shape() != KeyItemsModel::Shape::Single)
        parts << (m_detail->cut             ? u"the first %1 items"_s
                  : m_items.rowCount() == 1 ? u"%1 item"_s
                                            : u"%1 items"_s)
                     .arg(countText(m_items.rowCount()));
    m_head->setSummary(parts.join(u" · "_s));
    const bool isExpired = hasTtl && m_now - m_seen >= *row.ttl;
    if (isExpired && !m_wasExpired) {
        m_wasExpired = true;
        refresh(); // gone, or renewed meanwhile
    }
}

void KeyDetailView::tick(std::chrono::steady_clock::time_point now)
{
    m_now = std::max(now, m_seen); // read after the tick
    updateRestLabel();
}

} // namespace lockscope::ui
