// SPDX-License-Identifier: Apache-2.0
// Models as text, so that what a test expects can be read.
#pragma once

#include <QAbstractItemModel>
#include <QSignalSpy>

namespace lockscope::testing {

inline QString treeText(const QAbstractItemModel &model, std::initializer_list<int> columns,
                        const QModelIndex &parent = {}, int depth = 0)
{
    QString text;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        QStringList cells;
        for (const int column : columns)
            cells << model.index(row, column, parent).data().toString();
        text += QString(depth * 2, QLatin1Char(' ')) + cells.join(QLatin1Char('|')) + QLatin1Char('\n');
        text += treeText(model, columns, model.index(row, 0, parent), depth + 1);
    }
    return text;
}

// Every row signal of a model as words: "+/locks 3-5", "-/locks 0-0", "~/locks 1-2" with the parent's
// first cell, and "reset".
class SignalWords : public QObject {
    Q_OBJECT
public:
    explicit SignalWords(const QAbstractItemModel &model)
    {
        const auto note = [this](QChar sign, const QModelIndex &parent, int first, int last) {
            words << QStringLiteral("%1%2 %3-%4").arg(sign).arg(parent.data().toString()).arg(first).arg(last);
        };
        connect(
            &model, &QAbstractItemModel::rowsInserted, this,
            [note](const QModelIndex &parent, int first, int last) { note(QLatin1Char('+'), parent, first, last); });
        connect(
            &model, &QAbstractItemModel::rowsRemoved, this,
            [note](const QModelIndex &parent, int first, int last) { note(QLatin1Char('-'), parent, first, last); });
        connect(&model, &QAbstractItemModel::dataChanged, this,
                [note](const QModelIndex &from, const QModelIndex &to) {
                    note(QLatin1Char('~'), from.parent(), from.row(), to.row());
                });
        connect(&model, &QAbstractItemModel::modelReset, this, [this] { words << QStringLiteral("reset"); });
    }
    QStringList take() { return std::exchange(words, {}); }
    QStringList words;
};

} // namespace lockscope::testing
