// SPDX-License-Identifier: Apache-2.0
// Small things that several pages are made of.
#pragma once

#include "core/workspace/backend.h"

#include <QFrame>

#include <chrono>

class QBoxLayout;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;

namespace lockscope::ui {

// A filter is applied when its writer pauses.
inline constexpr std::chrono::milliseconds filterDelay{150};

// A label that never reads its text as HTML. `look` is one of the style sheet's.
[[nodiscard]] QLabel *makeLabel(const QString &text, const QString &look, QWidget *parent);
// The same, with text that can be selected by mouse and keyboard.
[[nodiscard]] QLabel *makeSelectable(const QString &text, QWidget *parent, bool isMono = true);
[[nodiscard]] QFrame *makeHairline(QWidget *parent);
// The strip above a page's rows; its layout is a QHBoxLayout.
[[nodiscard]] QFrame *makeToolStrip(QWidget *parent);
[[nodiscard]] QHBoxLayout *stripLayout(QFrame *strip);

// Views still say things while they are taken down. Called in the destructor of whoever owns both the
// views and the model that they show.
void stopListening(QObject *owner);

// "Not connected: … As of 14:02:11." above what was last seen; hidden while all is well.
class StaleBanner : public QFrame {
    Q_OBJECT
public:
    explicit StaleBanner(QWidget *parent = nullptr);
    // Returns whether what is shown is stale.
    bool show(const ConnectionStatus &status);
};

// The connections of some schemes that a page can show, and the one it shows.
class ConnectionChoice {
public:
    explicit ConnectionChoice(std::initializer_list<Scheme> schemes) : m_schemes(schemes) {}

    // Takes a batch's statuses in. Returns whether the shown one's status is among them.
    bool take(const std::vector<ConnectionStatus> &statuses);
    // The window's choice; empty, or one that this page cannot show, leaves it to the first that it can.
    void prefer(const ConnectionName &name) { m_preferred = name; }
    // Null when there is none.
    [[nodiscard]] const ConnectionStatus *shown() const;

private:
    [[nodiscard]] bool canShow(const ConnectionStatus &status) const;

    std::vector<Scheme> m_schemes;
    std::vector<ConnectionStatus> m_known;
    ConnectionName m_preferred;
};

} // namespace lockscope::ui
