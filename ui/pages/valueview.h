// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QLabel>
#include <QPlainTextEdit>
#include <QTabBar>
#include <QByteArray>

#include <optional>

class QPushButton;

namespace lockscope::ui {

// A value from a server as text that a person can read: plain, as JSON, as a hex dump. Whatever the
// bytes are, the result holds no control characters but line ends and tabs. Pure functions.
enum class ValueForm { Text, Json, Hex };

// Longer lines are broken: editors lay a line out as a whole.
constexpr qsizetype longestLine = 2000;

struct ReadableText {
    QString text;
    bool isEscaped = false; // some bytes stand as \xHH, and then every backslash is doubled
    bool isBroken = false;  // a line longer than longestLine was broken
};
[[nodiscard]] ReadableText readableText(const QByteArray &bytes);

// Indents without touching anything else: the order of keys, numbers of any length and doubled keys stay as they are.
// Empty if the bytes are no JSON object or array (or one nested so deep that indenting it would help nobody).
[[nodiscard]] std::optional<QString> prettyJson(const QByteArray &bytes);

// "00000000  7b 22 6f 77 6e 65 72 22  3a 20 …  |{"owner": |", sixteen bytes a line.
[[nodiscard]] QString hexDump(const QByteArray &bytes);

// The form that says most about it.
[[nodiscard]] ValueForm bestForm(const QByteArray &bytes);

// A value from a server, as text, JSON or hex, read-only. It shows the first 64 KiB at once and the
// rest when asked. GUI thread only.
class ValueView : public QWidget {
    Q_OBJECT
public:
    static constexpr qsizetype shownAtFirst = 64 * 1024;

    explicit ValueView(QWidget *parent = nullptr);

    // `whole` is the length on the server, where `value` may be only its beginning. Showing the same
    // thing again (`isSame`) keeps the form and the scroll position.
    void setValue(const QByteArray &value, qint64 whole, bool isSame);
    void clear();

    [[nodiscard]] ValueForm form() const { return static_cast<ValueForm>(m_forms->currentIndex()); }
    void setForm(ValueForm form);
    [[nodiscard]] QString shownText() const { return m_text->toPlainText(); }
    [[nodiscard]] QString noteText() const { return m_note->text(); }
    [[nodiscard]] QPushButton *showAllButton() const { return m_showAll; }

private:
    void render();
    [[nodiscard]] QString textOf(QStringList &notes) const;

    QByteArray m_value;
    qint64 m_whole = 0;
    bool m_isAll = false;
    bool m_isChosen = false; // the person chose a form; keep it
    QTabBar *m_forms = nullptr;
    QLabel *m_size = nullptr;
    QLabel *m_note = nullptr;
    QPushButton *m_showAll = nullptr;
    QPlainTextEdit *m_text = nullptr;
};

} // namespace lockscope::ui
