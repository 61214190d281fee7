// SPDX-License-Identifier: Apache-2.0
// What the form of a force-release is to do: one of the ways there are, gentlest first.
#pragma once

#include <version>

#include "core/workspace/backend.h"

#include <QWidget>

class QComboBox;

namespace lockscope::ui {

class WayPicker : public QWidget {
    Q_OBJECT
public:
    explicit WayPicker(QWidget *parent = nullptr);

    // Those for the holder, and those for a waiter chosen in the queue. The choice stays while there is such a way.
    void offer(const inspect::LockSnapshot &lock, const QByteArray &holder, const QByteArray &chosen);
    [[nodiscard]] operate::Way way() const { return m_way; }
    [[nodiscard]] bool isRelease() const { return m_way == operate::Way::Release; }
    [[nodiscard]] bool hasChoice() const { return m_offers.size() > 1; }
    // Whom it is about; empty: the holder.
    [[nodiscard]] const QByteArray &contender() const { return m_contender; }
    // Back to a release: what was chosen is done, or is there no more.
    void reset();

signals:
    void picked();

private:
    [[nodiscard]] static QString titleOf(const operate::WayOffer &offer, const inspect::LockSnapshot &lock);

    QComboBox *m_box;
    std::vector<operate::WayOffer> m_offers;
    operate::Way m_way = operate::Way::Release;
    QByteArray m_contender;
};

} // namespace lockscope::ui
