// SPDX-License-Identifier: Apache-2.0
// A line of keys below a page, for a presentation: what the page's own keys do, and how to end it. It stays while
// they are pressed, and takes the room it needs: nothing of the page is behind it.
#pragma once

#include "ui/parts/parts.h"

#include <QLabel>

#include <functional>

namespace lockscope::ui {

class KeyBar : public QLabel {
    Q_OBJECT
public:
    // `keys`: the page's, in the language it speaks. Hidden at first.
    KeyBar(std::function<KeyHints()> keys, QWidget *parent);

    // Another page is shown; one without keys of its own has no line.
    void tell();

private:
    void changeEvent(QEvent *event) override;

    const std::function<KeyHints()> m_keys;
};

} // namespace lockscope::ui
