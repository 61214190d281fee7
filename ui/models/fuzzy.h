// SPDX-License-Identifier: Apache-2.0
// How well a few typed letters fit a name. Read where it lies, byte by byte: fifty thousand of them between two keys.
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>

#include <optional>

namespace lockscope::ui {

class FuzzyQuery {
public:
    // Words, each of which has to fit; case counts for nothing.
    explicit FuzzyQuery(const QString &typed);

    [[nodiscard]] bool isEmpty() const { return m_words.isEmpty(); }
    // The better the fit the higher; empty where a word fits neither. What stands `beside` the text fits less well.
    [[nodiscard]] std::optional<int> score(QByteArrayView text, QByteArrayView beside = {}) const;

private:
    QList<QByteArray> m_words;
};

} // namespace lockscope::ui
