// SPDX-License-Identifier: Apache-2.0
#include "ui/models/keysitems.h"

#include "core/base/text.h"
#include "ui/theme/text.h"

namespace lockscope::ui {

using namespace Qt::StringLiterals;

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

} // namespace lockscope::ui

#include "moc_keysitems.cpp"
