// SPDX-License-Identifier: Apache-2.0
// What a Redis value is made of, as rows: field and value of a hash, numbered items of a list, the
// members of a set. A string has one row and needs no table.
#pragma once

#include "core/workspace/backend.h"

#include <QAbstractTableModel>

namespace lockscope::ui {

class KeyItemsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum class Shape { Single, Pairs, Numbered, Members };
    enum Column { Label, Value, ColumnCount };
    static constexpr int ValueRole = Qt::UserRole; // QByteArray, whole

    using QAbstractTableModel::QAbstractTableModel;

    void show(const KeyDetail &detail);
    void clear();
    [[nodiscard]] Shape shape() const { return m_shape; }
    // By what an item is known when the key is read again: field, member, or place in a list; empty: by nothing.
    [[nodiscard]] QByteArray nameAt(int row) const;
    [[nodiscard]] int rowOf(const QByteArray &name) const;

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    [[nodiscard]] static Shape shapeOf(const QByteArray &type);

private:
    [[nodiscard]] int countOf(const std::vector<QByteArray> &items) const;

    Shape m_shape = Shape::Single;
    std::vector<QByteArray> m_items;
};

} // namespace lockscope::ui
