// SPDX-License-Identifier: Apache-2.0
// What a person chooses once: look, language, thresholds, what is muted, the recorder's size, confirmations. All
// of it counts as soon as it is chosen, unless it says when.
#pragma once

#include "ui/models/alertwatch.h"

#include <QLabel>
#include <QDialog>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLineEdit;
class QListWidget;
class QPushButton;
class QSettings;
class QTabWidget;
class QTableWidget;

namespace lockscope::ui {

// The keys of QSettings, for whoever reads them, and what they are when nothing was chosen.
namespace settings {
inline constexpr QLatin1String theme("look/theme"); // "auto", "light", "dark"
inline constexpr QLatin1String language("lessons/language");
inline constexpr QLatin1String recorderMinutes("recorder/minutes");
inline constexpr QLatin1String recorderMebibytes("recorder/mebibytes");
inline constexpr QLatin1String confirmDevelopment("confirm/development"); // "one-key", "reason"
inline constexpr int usualMinutes = 30;
inline constexpr int usualMebibytes = 256;
} // namespace settings

class LabelsForm;
class ThresholdsForm;

class SettingsDialog : public QDialog {
    Q_OBJECT
public:
    // Both outlive it; `mutes` may be null.
    SettingsDialog(QSettings &settings, MuteStore *mutes, const QString &thresholdsFile, QWidget *parent = nullptr);

    [[nodiscard]] ThresholdsForm &thresholds() { return *m_thresholds; }
    [[nodiscard]] LabelsForm &labels() { return *m_labels; }
    [[nodiscard]] QTabWidget &tabs() { return *m_tabs; }

signals:
    void languageChosen(lockscope::lessons::Language language);
    void thresholdsChanged(const lockscope::inspect::ThresholdRules &rules);
    void labelsChanged(const std::vector<lockscope::inspect::ClientLabel> &labels);

private:
    [[nodiscard]] QWidget *makeGeneral();
    [[nodiscard]] QWidget *makeMutes();
    void addChoice(QGridLayout *grid, const QString &title, QLatin1String key, const QString &usual,
                   const std::vector<std::pair<QString, QString>> &choices, std::function<void(const QString &)> act);
    void addNumber(QGridLayout *grid, const QString &title, QLatin1String key, int usual, int least, int most,
                   const QString &suffix);
    void addNote(QGridLayout *grid, const QString &text);
    void fillMutes();

    QSettings &m_settings;
    MuteStore *m_mutes;
    QTabWidget *m_tabs;
    ThresholdsForm *m_thresholds;
    LabelsForm *m_labels;
    QListWidget *m_list = nullptr;
};

// A table that a file keeps. What is typed is kept as soon as all of it can be read; till then it says what cannot.
class TypedTable : public QWidget {
    Q_OBJECT
public:
    [[nodiscard]] QTableWidget &table() { return *m_table; }
    [[nodiscard]] QString problem() const { return m_problem->text(); }

protected:
    TypedTable(QString file, const QStringList &titles, const QString &addText, QWidget *parent);

    // What is typed is kept from now on.
    void begin();
    void layOut(const QString &about, std::initializer_list<QPushButton *> buttons);
    void addRow(const QStringList &cells);
    [[nodiscard]] QString text(int row, int column) const;
    void showProblem(const Result<void> &written)
    {
        m_problem->setText(written ? QString() : tr("Not kept yet: %1").arg(written.error().message));
    }
    virtual void keep() = 0;
    virtual void showButtons() = 0;
    // The cells of a row that is only begun.
    [[nodiscard]] virtual QStringList newRow() const = 0;

    const QString m_file;
    QTableWidget *m_table;
    QLabel *m_problem;
    QPushButton *m_add, *m_remove;
    bool m_isFilling = false;
};

// What the user calls clients: a pattern, and the name.
class LabelsForm : public TypedTable {
    Q_OBJECT
public:
    explicit LabelsForm(QString file, QWidget *parent = nullptr);

    // What the table says now, or why it says nothing.
    [[nodiscard]] Result<std::vector<inspect::ClientLabel>> labels() const;

signals:
    // They stand in the file.
    void changed(const std::vector<lockscope::inspect::ClientLabel> &labels);

private:
    enum Column { Pattern, Name };
    void keep() override;
    void showButtons() override;
    [[nodiscard]] QStringList newRow() const override { return {{}, {}}; }
};

// The thresholds of findings: a row for every lock, and a row for each pattern whose locks have others.
class ThresholdsForm : public TypedTable {
    Q_OBJECT
public:
    explicit ThresholdsForm(QString file, QWidget *parent = nullptr);

    // What the table says now, or why it says nothing.
    [[nodiscard]] Result<inspect::ThresholdRules> rules() const;

signals:
    // They stand in the file.
    void changed(const lockscope::inspect::ThresholdRules &rules);

private:
    enum Column { Pattern, LongHeld, LongWait, Unusual, ColumnCount };
    void show(const inspect::ThresholdRules &rules);
    void addRule(const inspect::ThresholdRule &rule);
    [[nodiscard]] Result<inspect::ThresholdRule> ruleAt(int row) const;
    void moveRow(int by);
    void keep() override;
    void showButtons() override;
    [[nodiscard]] QStringList newRow() const override { return {tr("CONNECTION:PATTERN*"), {}, {}, {}}; }

    QPushButton *m_up, *m_down;
    bool m_isBroken = false; // the file: it is left as it is
};

// Which new findings are told by the desktop.
class AlertsDialog : public QDialog {
    Q_OBJECT
public:
    explicit AlertsDialog(const AlertRule &rule, QWidget *parent = nullptr);

    [[nodiscard]] AlertRule rule() const;

private:
    QCheckBox *m_on;
    QComboBox *m_least;
    QComboBox *m_code;
    QLineEdit *m_pattern;
    QCheckBox *m_production;
};

} // namespace lockscope::ui
