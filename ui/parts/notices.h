// SPDX-License-Identifier: Apache-2.0
// What stands above, over or instead of a page's rows when something is to be said about them.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/parts/labels.h"
#include "ui/theme/theme.h"

#include <QPushButton>

class QVBoxLayout;

namespace lockscope::ui {

// A coloured line that says something is wrong (or done): a bold word, a sentence, perhaps a button.
class Banner : public QFrame {
    Q_OBJECT
public:
    enum class Look { Critical, Warning, Info, Ok };

    explicit Banner(QWidget *parent = nullptr);

    // Plain text both. An empty action has no button.
    void say(Look look, const QString &word, const QString &sentence, const QString &action = {},
             const QString &second = {});
    [[nodiscard]] QString sentence() const { return m_sentence->text(); }
    // No more lines of the sentence; the last one says that there is more. 0: all of them.
    void setMostLines(int lines) { m_sentence->setMostLines(lines); }
    // How many it takes in a banner of that width without buttons.
    [[nodiscard]] int linesOf(const QString &word, const QString &sentence, int width) const;
    [[nodiscard]] QPushButton *button() const { return m_action; }
    [[nodiscard]] QPushButton *secondButton() const { return m_second; }

signals:
    void actionRequested();
    void secondRequested();

private:
    void resizeEvent(QResizeEvent *event) override;
    void alignWord();

    QLabel *m_word;
    WholeLinesLabel *m_sentence;
    QPushButton *m_action;
    QPushButton *m_second;
};

// What an empty page says: what would be here, why there is nothing, and what to do next.
class EmptyNotice : public QWidget {
    Q_OBJECT
public:
    explicit EmptyNotice(QWidget *parent = nullptr);

    // An empty action hides the button.
    void say(const QString &title, const QString &text, const QString &action = {}, const QString &second = {});
    [[nodiscard]] QString title() const { return m_title->text(); }
    // Enter does what it offers; where it offers nothing, it keeps the keyboard from going elsewhere.
    void focusAction() { (m_action->isVisibleTo(this) ? static_cast<QWidget *>(m_action) : this)->setFocus(); }

signals:
    void actionRequested();
    void secondRequested();

private:
    QLabel *m_title;
    QLabel *m_text;
    QPushButton *m_action;
    QPushButton *m_second;
};

// A notice instead of a widget, over it, for a while.
class Cover : public EmptyNotice {
    Q_OBJECT
public:
    // Covers `covered`, whatever its size, while visible. Hidden at first.
    explicit Cover(QWidget *covered);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void showEvent(QShowEvent *event) override;
};

// A pale sheet over a widget whose content is not known to be true any more. Clicks pass through.
class StaleOverlay : public QWidget {
    Q_OBJECT
public:
    // Covers `covered`, whatever its size, while visible. Hidden at first.
    explicit StaleOverlay(QWidget *covered);

protected:
    void paintEvent(QPaintEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;
};

// "Not connected: … · shown as of 14:02:11" above what was last seen; hidden while all is well.
class StaleBanner : public QFrame {
    Q_OBJECT
public:
    explicit StaleBanner(QWidget *parent = nullptr);
    // Returns whether what is shown is stale.
    bool show(const ConnectionStatus &status);

private:
    Banner *m_banner;
};

// Which environment a connection is marked as, in one way everywhere. A connection that nobody marked is not known to
// be harmless, and wears nothing that says so.

struct Environment {
    QString word; // "PROD", "DEV", "TLS UNVERIFIED", "sandbox", "unmarked"; empty of one not connected and not marked
    bool production = false; // or as alarming
};
[[nodiscard]] Environment environmentOf(const ConnectionBook &book, const ConnectionStatus &status);
// The word and the connection's name, in the look of its environment.
void showEnvironment(QLabel &tag, const ConnectionBook &book, const ConnectionName &name);

// The colour that a user gave a connection; invalid for None.
[[nodiscard]] QColor colourOf(ConnectionColour colour);

// What a list does not show: a banner for each connection that is not there (why, as of when its locks are shown,
// Retry and Edit), and a line about what was not read.
class BrokenBanners : public QWidget {
    Q_OBJECT
public:
    explicit BrokenBanners(QWidget *parent = nullptr);

    // Of all connections unless one is chosen. `isElsewhere`: another moment than now is on screen, of which only
    // what was seen is told.
    void show(const ConnectionBook &book, const ConnectionName &connection, bool isElsewhere);

    [[nodiscard]] bool isShown(const ConnectionName &name) const
    {
        return std::ranges::find(m_broken, name) != m_broken.end();
    }

signals:
    void retryRequested(const lockscope::ConnectionName &name);
    void editRequested(const lockscope::ConnectionName &name);

private:
    QVBoxLayout *m_column;
    std::vector<ConnectionName> m_broken; // what each of them is about
};

// The line below a list about what was not read, or no lock explains.
class GapsLine : public QWidget {
    Q_OBJECT
public:
    explicit GapsLine(QWidget *parent = nullptr);
    // A line for each gap; hidden without one.
    void say(const QStringList &gaps);

signals:
    void moreRequested();

private:
    QLabel *m_text;
};

} // namespace lockscope::ui
