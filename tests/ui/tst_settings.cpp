// SPDX-License-Identifier: Apache-2.0
// The settings: what is chosen counts at once, is kept, and every control can be reached by the keyboard.
#include "tests/support/fakebackend.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/dialogs/settingsdialog.h"
#include "ui/mainwindow.h"
#include "ui/shell/actions.h"
#include "ui/theme/theme.h"

#include <QHeaderView>
#include <QAction>
#include <QComboBox>
#include <QImage>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableWidget>
#include <QTemporaryDir>

// As Qt makes it where the desktop shows no notifications: black on pale yellow, whatever the theme.
class QBalloonTip : public QWidget {
    Q_OBJECT
public:
    QBalloonTip() : m_text(u"Lockscope: 3 new findings"_s, this)
    {
        QPalette colours = palette();
        colours.setColor(QPalette::Window, QColor(0xff, 0xff, 0xe1));
        colours.setColor(QPalette::WindowText, Qt::black);
        setPalette(colours);
        resize(240, 40);
    }
    QLabel &text() { return m_text; }

private:
    QLabel m_text;
};

class TestSettings : public QObject {
    Q_OBJECT

    std::unique_ptr<ui::Theme> m_theme;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<QSettings> m_settings;
    std::unique_ptr<MuteStore> m_mutes;
    std::unique_ptr<ui::SettingsDialog> m_dialog;

    QString thresholdsFile() const { return m_folder->filePath(u"thresholds.json"_s); }
    void open()
    {
        m_dialog = std::make_unique<ui::SettingsDialog>(*m_settings, m_mutes.get(), thresholdsFile());
        m_dialog->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_dialog.get()));
    }
    template <class T>
    T *control(QLatin1String key)
    {
        return m_dialog->findChild<T *>(QString(key));
    }
    void type(int row, int column, const QString &text)
    {
        m_dialog->thresholds().table().item(row, column)->setText(text);
    }

private slots:
    void initTestCase() { m_theme = std::make_unique<ui::Theme>(*qApp, ui::ThemeChoice::Light); }
    void cleanupTestCase() { m_theme.reset(); }
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_settings = std::make_unique<QSettings>(m_folder->filePath(u"settings.ini"_s), QSettings::IniFormat);
        m_mutes = std::make_unique<MuteStore>(m_folder->filePath(u"mutes.json"_s));
    }
    void cleanup()
    {
        m_dialog.reset();
        m_mutes.reset();
        m_settings.reset(); // writes once more
        m_folder.reset();
        m_theme->setChoice(ui::ThemeChoice::Light);
    }

    void theTraysBalloonIsReadableInTheDark()
    {
        m_theme->setChoice(ui::ThemeChoice::Dark);
        QBalloonTip balloon;
        balloon.show();
        QVERIFY(QTest::qWaitForWindowExposed(&balloon));
        QCOMPARE(balloon.text().palette().color(QPalette::WindowText), QColor(Qt::black));
    }

    // The program lays the style sheet over a window that was made without it. Whatever is measured while it is made,
    // and kept, would show here.
    void theSheetMayComeLater()
    {
        const auto pictures = [this](ui::Theme::Sheet sheet) {
            m_theme.reset();
            qApp->setStyleSheet({});
            m_theme = std::make_unique<ui::Theme>(*qApp, ui::ThemeChoice::Light, sheet);
            const bool isBare = qApp->styleSheet().isEmpty();
            testing::FakeBackend backend;
            ui::MainWindow window(backend);
            m_theme->useSheet();
            window.show();
            QList<QImage> all;
            for (const auto &id :
                 {u"locks"_s, u"graph"_s, u"findings"_s, u"znodes"_s, u"keys"_s, u"sessions"_s, u"log"_s}) {
                window.showPage(id);
                QCoreApplication::sendPostedEvents();
                all << window.grab().toImage();
            }
            return std::pair(isBare, all);
        };
        QApplication::setCursorFlashTime(0); // a caret that comes and goes is no difference
        const auto [isBare, late] = pictures(ui::Theme::Sheet::Later);
        QVERIFY(isBare);
        QVERIFY(!qApp->styleSheet().isEmpty());
        const auto [wasBare, atOnce] = pictures(ui::Theme::Sheet::AtOnce);
        QVERIFY(!wasBare);
        for (qsizetype i = 0; i < late.size(); ++i)
            QVERIFY2(late[i] == atOnce[i], qPrintable(QString::number(i)));
    }

    void theLookChangesAtOnce()
    {
        open();
        auto *box = control<QComboBox>(ui::settings::theme);
        box->setCurrentIndex(box->findData(u"dark"_s));
        QVERIFY(ui::Theme::tokens().dark);
        QCOMPARE(m_settings->value(ui::settings::theme).toString(), u"dark"_s);
        QSignalSpy language(m_dialog.get(), &ui::SettingsDialog::languageChosen);
        auto *languages = control<QComboBox>(ui::settings::language);
        languages->setCurrentIndex(languages->findData(u"ru"_s));
        QCOMPARE(language.size(), 1);
        QCOMPARE(m_settings->value(ui::settings::language).toString(), u"ru"_s);
    }

    void numbersAndConfirmationsAreKept()
    {
        open();
        QCOMPARE(control<QSpinBox>(ui::settings::recorderMinutes)->value(), 30);
        QCOMPARE(control<QSpinBox>(ui::settings::recorderMebibytes)->value(), 256);
        QCOMPARE(control<QComboBox>(ui::settings::confirmDevelopment)->currentData().toString(), u"one-key"_s);
        control<QSpinBox>(ui::settings::recorderMinutes)->setValue(60);
        control<QComboBox>(ui::settings::confirmDevelopment)->setCurrentIndex(1);
        open();
        QCOMPARE(control<QSpinBox>(ui::settings::recorderMinutes)->value(), 60);
        QCOMPARE(m_settings->value(ui::settings::confirmDevelopment).toString(), u"reason"_s);
    }

    void thresholdsAreKeptAsSoonAsTheyCanBeRead()
    {
        open();
        QSignalSpy changed(m_dialog.get(), &ui::SettingsDialog::thresholdsChanged);
        type(0, 1, u"20m"_s);
        QCOMPARE(readThresholds(thresholdsFile())->usual.longHeld, 20min);
        QCOMPARE(changed.size(), 1);
        type(0, 1, u"soon"_s);
        QVERIFY2(m_dialog->thresholds().problem().contains(u"“soon” of every lock"_s),
                 qPrintable(m_dialog->thresholds().problem()));
        QCOMPARE(readThresholds(thresholdsFile())->usual.longHeld, 20min);
        type(0, 1, u"1h"_s);
        QCOMPARE(m_dialog->thresholds().problem(), QString());
        QVERIFY(!(m_dialog->thresholds().table().item(0, 0)->flags() & Qt::ItemIsEditable));
    }

    // "aux-…" had stood there of aux-redis:lock:batch-12*.
    void aPatternCanBeRead()
    {
        open();
        auto &table = m_dialog->thresholds().table();
        m_dialog->findChild<QTabWidget *>()->setCurrentWidget(&m_dialog->thresholds());
        table.insertRow(1);
        const auto pattern = u"cache-redis:lock:nightly-report-*"_s;
        table.setItem(1, 0, new QTableWidgetItem(pattern));
        QCoreApplication::processEvents();
        QVERIFY(!table.wordWrap());
        QVERIFY(table.columnWidth(0) >= table.fontMetrics().horizontalAdvance(pattern) + 12);
        for (int column = 0; column < table.columnCount(); ++column)
            QVERIFY(table.columnWidth(column) >= table.horizontalHeader()->sectionSizeHint(column));
    }

    void aBrokenFileIsShownAndLeftAsItIs()
    {
        QFile file(thresholdsFile());
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("{");
        file.close();
        open();
        QVERIFY(m_dialog->thresholds().problem().contains(u"thresholds.json: byte"_s));
        QVERIFY(!m_dialog->thresholds().table().isEnabled());
    }

    void mutesAreListedAndTakenAway()
    {
        const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
        QVERIFY(m_mutes->add({u"zk:/a"_s, {}, inspect::FindingCode::LongHeld, u"known"_s, now, now + 1h}));
        open();
        m_dialog->tabs().setCurrentIndex(2);
        auto *list = m_dialog->findChild<QListWidget *>(u"mutesList"_s);
        QCOMPARE(list->count(), 1);
        QVERIFY(list->item(0)->text().startsWith(u"long-held of zk:/a · until "_s));
        list->setFocus();
        QTest::keyClick(list, Qt::Key_Delete);
        QCOMPARE(list->count(), 0);
        QVERIFY(m_mutes->all().empty());
        QVERIFY(!m_dialog->findChild<QPushButton *>(u"unmute"_s)->isEnabled()); // there is nothing left
    }

    void clientsAreCalledWhatTheUserSays()
    {
        const auto file = m_folder->filePath(u"labels"_s);
        QVERIFY(writeClientLabels({{"10.0.3.7:*", u"till"_s}}, file));
        ui::LabelsForm form(file);
        QCOMPARE(form.table().rowCount(), 1);
        QSignalSpy changed(&form, &ui::LabelsForm::changed);
        form.table().item(0, 1)->setText(u"billing"_s);
        using Labels = std::vector<inspect::ClientLabel>;
        QCOMPARE(savedClientLabels(file), (Labels{{"10.0.3.7:*", u"billing"_s}}));
        QCOMPARE(changed.size(), 1);
        form.findChild<QPushButton *>()->click(); // one more
        form.table().item(1, 0)->setText(u"app-9"_s);
        QVERIFY2(form.problem().contains(u"“app-9” has no name yet"_s), qPrintable(form.problem()));
        QCOMPARE(savedClientLabels(file).size(), std::size_t(1));
        form.table().item(1, 1)->setText(u"a=b"_s);
        QVERIFY(form.problem().contains(u"a name has no ="_s));
        form.table().item(1, 1)->setText(u"stock"_s);
        QCOMPARE(form.problem(), QString());
        QCOMPARE(savedClientLabels(file), (Labels{{"10.0.3.7:*", u"billing"_s}, {"app-9", u"stock"_s}}));
    }

    // Tab reaches each of them.
    void everyControlByKeyboard()
    {
        for (int tab = 0; tab < 4; ++tab) {
            open();
            m_dialog->tabs().setCurrentIndex(tab);
            QSet<QWidget *> missing;
            for (auto *widget : m_dialog->tabs().currentWidget()->findChildren<QWidget *>()) {
                const bool isControl = qobject_cast<QComboBox *>(widget) || qobject_cast<QSpinBox *>(widget)
                                       || qobject_cast<QAbstractItemView *>(widget)
                                       || qobject_cast<QPushButton *>(widget);
                if (isControl && widget->isVisible() && widget->isEnabled() && (widget->focusPolicy() & Qt::TabFocus))
                    missing.insert(widget);
            }
            QCOMPARE(missing.isEmpty(), tab == 2); // where nothing is muted there is nothing to go to
            m_dialog->tabs().setFocus();
            for (int i = 0; i < 30 && !missing.isEmpty(); ++i) {
                QTest::keyClick(m_dialog->focusWidget() ? m_dialog->focusWidget() : m_dialog.get(), Qt::Key_Tab);
                missing.remove(m_dialog->focusWidget());
            }
            for (const auto *widget : std::as_const(missing))
                qInfo().noquote() << u"tab %1: not reached: %2 %3"_s.arg(tab).arg(
                    QString::fromLatin1(widget->metaObject()->className()), widget->objectName());
            QVERIFY(missing.isEmpty());
        }
    }

    // An empty list took it, and nothing on the screen had it; of a table nothing was marked.
    void theKeyboardIsWhereItIsSeen()
    {
        ui::LabelsForm labels(m_folder->filePath(u"labels"_s));
        labels.show();
        QVERIFY(QTest::qWaitForWindowActive(&labels));
        auto *table = labels.findChild<QTableWidget *>();
        QVERIFY(!table->hasFocus());
        QVERIFY(!(table->focusPolicy() & Qt::TabFocus));
        labels.findChild<QPushButton *>()->click(); // a row
        QVERIFY(table->focusPolicy() & Qt::TabFocus);
        open();
        m_dialog->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_dialog.get()));
        m_dialog->tabs().setCurrentIndex(1);
        auto &rules = m_dialog->thresholds().table();
        rules.setFocus(Qt::TabFocusReason);
        QVERIFY(rules.hasFocus());
        QVERIFY(rules.currentItem());
        QVERIFY(rules.currentItem()->isSelected());
    }

    void fitsASmallScreen()
    {
        testing::FakeBackend backend;
        ui::MainWindow window(backend);
        window.resize(1024, 600);
        window.show();
        auto *action = window.actions().find(u"settings"_s);
        QCOMPARE(action->shortcut(), QKeySequence(u"Ctrl+,"_s));
        action->trigger();
        auto *dialog = window.findChild<ui::SettingsDialog *>();
        QVERIFY(dialog);
        QVERIFY(dialog->width() <= 1024 && dialog->height() <= 600);
        QVERIFY(dialog->minimumSizeHint().height() <= 560 && dialog->minimumSizeHint().width() <= 1000);
        emit dialog->thresholdsChanged(inspect::ThresholdRules{{1min, 1min, 3}, {}});
        QCOMPARE(backend.last<SetThresholds>()->rules.usual.longHeld, 1min);
        emit dialog->labelsChanged({{"10.0.3.7:*", u"billing"_s}});
        QCOMPARE(backend.labels.size(), std::size_t(1));
    }
};

LOCKSCOPE_GUI_TEST(TestSettings)
#include "tst_settings.moc"
