// SPDX-License-Identifier: Apache-2.0
#include "ui/models/savedfilters.h"

#include "ui/models/lockrow.h"

#include <QSettings>

#include <algorithm>

namespace lockscope::ui {

bool SavedFilters::keep(SavedFilter filter)
{
    filter.name = filter.name.simplified().left(60);
    if (filter.name.isEmpty())
        return false;
    const auto place = std::ranges::lower_bound(m_all, filter.name, {}, &SavedFilter::name);
    if (place != m_all.end() && place->name == filter.name) {
        *place = std::move(filter);
        return true;
    }
    if (m_all.size() == most)
        return false;
    m_all.insert(place, std::move(filter));
    return true;
}

void SavedFilters::forget(const QString &name)
{
    std::erase_if(m_all, [&](const SavedFilter &filter) { return filter.name == name; });
}

void SavedFilters::save(QSettings &settings) const
{
    settings.beginWriteArray(u"filters"_s, static_cast<int>(m_all.size()));
    for (std::size_t i = 0; i < m_all.size(); ++i) {
        settings.setArrayIndex(static_cast<int>(i));
        settings.setValue(u"name"_s, m_all[i].name);
        settings.setValue(u"text"_s, m_all[i].text);
        settings.setValue(u"chip"_s, m_all[i].chip);
    }
    settings.endArray();
}

// A settings file is text that somebody may have edited.
void SavedFilters::restore(QSettings &settings)
{
    m_all.clear();
    const int count = settings.beginReadArray(u"filters"_s);
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        const int chip = settings.value(u"chip"_s).toInt();
        const bool isChip = chip >= 0 && chip <= static_cast<int>(LockFilter::Chip::Mine);
        keep({settings.value(u"name"_s).toString(), settings.value(u"text"_s).toString().left(500),
              isChip ? chip : 0});
    }
    settings.endArray();
}

} // namespace lockscope::ui

#include "moc_savedfilters.cpp"
