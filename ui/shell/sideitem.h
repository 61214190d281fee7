// SPDX-License-Identifier: Apache-2.0
// One line of the side bar: a dot, a name, a tag, and something at the right.
#pragma once

#include "ui/theme/pill.h"

#include <QAbstractButton>

#include <optional>

namespace lockscope::ui {

class SideItem : public QAbstractButton {
    Q_OBJECT
public:
    explicit SideItem(const QString &text, QWidget *parent = nullptr);

    void setDot(std::optional<Tone> tone, bool hollow = false);
    // "PROD" in the critical colour, "DEV" in the friendly one.
    void setTag(const QString &tag, Tone tone);
    void setNote(const QString &note, std::optional<Tone> tone = {});
    void setStripe(const QColor &colour); // at the left edge; invalid for none
    [[nodiscard]] const QString &note() const { return m_note; }

    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    std::optional<Tone> m_dot;
    bool m_hollow = false;
    QString m_tag;
    Tone m_tagTone = Tone::Free;
    QString m_note;
    std::optional<Tone> m_noteTone;
    QColor m_stripe;
    bool m_hovered = false;
};

} // namespace lockscope::ui
