// SPDX-License-Identifier: Apache-2.0
// Lays widgets out like words: as many on a line as there is room for.
#pragma once

#include <QLayout>
#include <QList>

namespace lockscope::ui {

class FlowLayout : public QLayout {
public:
    explicit FlowLayout(int spacing, QWidget *parent = nullptr);
    ~FlowLayout() override;

    void addItem(QLayoutItem *item) override { m_items << item; }
    [[nodiscard]] int count() const override { return static_cast<int>(m_items.size()); }
    [[nodiscard]] QLayoutItem *itemAt(int index) const override { return m_items.value(index); }
    QLayoutItem *takeAt(int index) override;
    [[nodiscard]] Qt::Orientations expandingDirections() const override { return {}; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override { return layOut(QRect(0, 0, width, 0), false); }
    void setGeometry(const QRect &rect) override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSize() const override;

private:
    int layOut(const QRect &rect, bool isReal) const;

    QList<QLayoutItem *> m_items;
};

} // namespace lockscope::ui
