// SPDX-License-Identifier: Apache-2.0
// What somebody searched for and wants to find again: the text and the chip, under a name. GUI thread only.
#pragma once

#include <QObject>

#include <vector>

class QSettings;

namespace lockscope::ui {

struct SavedFilter {
    QString name;
    QString text;
    int chip = 0; // LockFilter::Chip
    friend bool operator==(const SavedFilter &, const SavedFilter &) = default;
};

class SavedFilters : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    static constexpr std::size_t most = 50;

    // By name.
    [[nodiscard]] const std::vector<SavedFilter> &all() const { return m_all; }
    // Replaces the one of that name. False where there is no room, or no name.
    bool keep(SavedFilter filter);
    void forget(const QString &name);

    void save(QSettings &settings) const;
    void restore(QSettings &settings);

private:
    std::vector<SavedFilter> m_all;
};

} // namespace lockscope::ui
