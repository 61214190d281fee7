// SPDX-License-Identifier: Apache-2.0
// What a Redis value is made of, as rows: field and value of a hash, numbered items of a list, the
// members of a set. A string has one row and needs no table.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/rowsmodel.h"

namespace lockscope::ui {

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

} // namespace lockscope::ui
