// SPDX-License-Identifier: Apache-2.0
// Above the detail of a znode or a key: its name, what can be done with it, where else it leads, and what is wrong.
#pragma once

#include <QLabel>
#include <QWidget>

#include <functional>
#include <vector>

class QFrame;
class QHBoxLayout;
class QLineEdit;
class QMenu;
class QPushButton;

namespace lockscope::ui {

class EntryHead : public QWidget {
    Q_OBJECT
public:
    struct Link {
        QString text; // short: the pane is as wide as the person made it
        QString tip;
        std::function<void()> follow;
    };
    // `copy`: the words on the button that copies the name; `accessibleName`: of the name.
    EntryHead(const QString &copy, const QString &accessibleName, QWidget *parent = nullptr);

    void setName(const QByteArray &name);
    void setSummary(const QString &text) { m_summary->setText(text); }
    [[nodiscard]] QString summary() const { return m_summary->text(); }
    // A banner; empty: none.
    void warn(const QString &text);
    [[nodiscard]] QString warning() const { return m_bannerText->text(); }
    void setLinks(std::vector<Link> links);
    [[nodiscard]] std::vector<QPushButton *> links() const { return m_links; }
    // What the button "Edit" offers; without a menu there is none.
    void setEditMenu(QMenu *menu);

private:
    QByteArray m_bytes;
    QLineEdit *m_name = nullptr;
    QPushButton *m_edit = nullptr;
    QLabel *m_summary = nullptr;
    QWidget *m_linkRow = nullptr;
    QHBoxLayout *m_linkLayout = nullptr;
    std::vector<QPushButton *> m_links;
    QFrame *m_banner = nullptr;
    QLabel *m_bannerText = nullptr;
};

} // namespace lockscope::ui
