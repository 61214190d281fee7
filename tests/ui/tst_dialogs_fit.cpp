// SPDX-License-Identifier: Apache-2.0
// Every dialog over a window of 1366 × 768, light and dark: it fits in there, and no words of it are cut. With
// LOCKSCOPE_SHOTS=folder it leaves pictures, to be looked at.
#include "tests/support/testmain.h"
#include "tests/ui/cutparts.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/connectform.h"
#include "ui/dialogs/editdialog.h"
#include "ui/dialogs/factsform.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/dialogs/settingsdialog.h"
#include "ui/shell/actions.h"
#include "ui/simulator/comparison.h"
#include "ui/simulator/scenariodialog.h"
#include "ui/windowdialogs.h"

#include <QAction>
#include <QDialog>
#include <QDir>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTabWidget>
#include <QTemporaryDir>

namespace {

constexpr QSize smallWindow(1366, 768);

} // namespace

class TestDialogsFit : public testing::WindowFixture {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<ConnectionStore> m_store;

    void shoot(QWidget &widget, const QString &name)
    {
        const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
        if (folder.isEmpty())
            return;
        QVERIFY(QDir().mkpath(folder));
        for (const auto choice : {ui::ThemeChoice::Light, ui::ThemeChoice::Dark}) {
            ui::Theme::instance()->setChoice(choice);
            QCoreApplication::processEvents();
            const auto dark = choice == ui::ThemeChoice::Dark ? u"dark"_s : u"light"_s;
            QVERIFY(widget.grab().save(u"%1/fit-%2-%3.png"_s.arg(folder, name, dark)));
        }
        ui::Theme::instance()->setChoice(ui::ThemeChoice::Light);
    }
    void fits(QDialog &dialog, const QString &name)
    {
        QVERIFY(QTest::qWaitForWindowExposed(&dialog));
        QCoreApplication::processEvents(); // what is new in a form is laid out a turn later
        QVERIFY2(dialog.width() <= smallWindow.width() && dialog.height() <= smallWindow.height(),
                 qPrintable(u"%1: %2x%3"_s.arg(name).arg(dialog.width()).arg(dialog.height())));
        shoot(dialog, name);
        const auto cut = testing::cutParts(dialog);
        QVERIFY2(cut.isEmpty(), qPrintable(name + u": "_s + cut.join(u"; "_s)));
        scrollsOnlyForWantOfRoom(dialog, name);
    }
    // A form that the screen has room for does not hide what it sends behind a scroll bar.
    static void scrollsOnlyForWantOfRoom(const QDialog &dialog, const QString &name)
    {
        for (const auto *area : dialog.findChildren<QScrollArea *>()) {
            const auto hidden = [area] { return area->isVisible() ? area->verticalScrollBar()->maximum() : 0; };
            QTRY_VERIFY2(dialog.height() + hidden() > smallWindow.height() - 60 || hidden() == 0,
                         qPrintable(u"%1: %2 of %3 hidden"_s.arg(name).arg(hidden()).arg(area->height() + hidden())));
        }
    }
    // Strongly, and in that hue.
    static bool isColoured(QWidget &widget, const QColor &like)
    {
        const auto image = widget.grab().toImage();
        for (int i = 0; i < image.width() * image.height(); ++i) {
            const auto one = image.pixelColor(i % image.width(), i / image.width());
            if (one.hsvSaturation() > 150 && std::abs(one.hsvHue() - like.hsvHue()) < 10)
                return true;
        }
        return false;
    }
    QDialog *dialogOf(const QString &action)
    {
        m_window->actions().find(action)->trigger();
        const auto all = m_window->findChildren<QDialog *>();
        return all.isEmpty() ? nullptr : all.back();
    }

private slots:
    void init()
    {
        openWindow();
        planReleases(3);
        m_backend->on<PlanEdit>() = [](const PlanEdit &query) {
            operate::EditPlan plan{.request = query.request};
            plan.before.exists = true;
            plan.before.value = "replicas=3\nlease=30";
            plan.before.acls = zk::openAcl();
            plan.before.type = "hash";
            return Result<operate::EditPlan>(plan);
        };
        m_store = std::make_unique<ConnectionStore>(m_folder.filePath(u"connections.json"_s), nullptr);
        m_window->useConnections(*m_store);
        m_window->resize(smallWindow);
        notifyConnected(true);
        m_backend->notifyLocks({lockOf("/locks/orders", 3)});
        m_window->selectLock({ConnectionName("zk"), "/locks/orders"});
    }

    void byAction_data()
    {
        const Rows<QString> row("action");
        for (const auto *action : {"connect", "guarantees", "findings-help", "about", "alerts", "force-release",
                                   "acquire", "release-session", "release-listed", "remove-stale", "save-filter"})
            row(action, QString::fromLatin1(action));
    }
    void byAction()
    {
        QFETCH(QString, action);
        auto *dialog = dialogOf(action);
        QVERIFY(dialog);
        fits(*dialog, action);
    }

    // Over a window of 700, as a panel and a title leave of 768: its own title is on the screen, too.
    void standsWithinTheWindow_data()
    {
        const Rows<QString> row("action");
        for (const auto *action : {"connect", "about", "findings-help", "guarantees", "settings", "release-listed"})
            row(action, QString::fromLatin1(action));
    }
    void standsWithinTheWindow()
    {
        QFETCH(const QString, action);
        m_window->resize(smallWindow.width(), 700);
        auto *dialog = dialogOf(action);
        QVERIFY(dialog);
        QVERIFY2(dialog->height() <= 660, qPrintable(QString::number(dialog->height())));
        fits(*dialog, action + u"-700"_s);
    }

    // What lifts the guard of a production's server is ink, not red, which says that something is wrong; and it
    // stands at the right of Cancel, as in every form.
    void productionWriteButtonIsInkAndLast()
    {
        notifyConnected(true, true);
        m_window->dialogs().askReadOnly(ConnectionName("zk"), false);
        auto *question = part<QMessageBox>("armQuestion");
        QVERIFY(question && QTest::qWaitForWindowExposed(question));
        QCOMPARE(question->buttons().size(), 2);
        const auto *cancel = question->button(QMessageBox::Cancel);
        for (auto *button : question->buttons()) {
            QVERIFY(!isColoured(*button, ui::Theme::tokens().critical));
            QCOMPARE(button->font().weight() >= QFont::DemiBold, button != cancel);
            QVERIFY(button == cancel || button->x() > cancel->x());
        }
    }

    // A flat one was as blue as the others.
    void aButtonThatDoesNothingLooksSo()
    {
        for (const bool isEnabled : {true, false}) {
            QPushButton button(u"Forget use"_s, m_window.get());
            button.setProperty("look", u"flat"_s);
            button.setEnabled(isEnabled);
            button.show();
            QCOMPARE(isColoured(button, ui::Theme::tokens().link), isEnabled);
        }
    }

    // The line that shows what all fields make was one line, and its end was off the form without a sign.
    void aLongAddressIsWhole_data()
    {
        const Rows<QString> row("address");
        const auto host = u"db-primary-0%1.orders.eu-central-1.production.example.internal:15432"_s;
        row("three members", u"zk://%1,%2,%3/chroot/of/the/shop"_s.arg(host.arg(1), host.arg(2), host.arg(3)));
        row("SSH", u"postgresql://%1/orders_of_the_shop?ssh=operator@bastion.eu.example.com:2222"_s.arg(host.arg(1)));
    }
    void aLongAddressIsWhole()
    {
        QFETCH(const QString, address);
        m_window->dialogs().openEdit({}, {.name = u"long"_s, .uri = address});
        auto *dialog = m_window->findChild<ui::ConnectDialog *>();
        QVERIFY(dialog);
        auto *shown = dialog->findChild<ui::CodeLabel *>(u"address"_s);
        QVERIFY(shown);
        QCOMPARE(shown->text(), address);
        QTRY_COMPARE(shown->height(), shown->heightForWidth(shown->width()));
        QVERIFY(shown->height() > shown->heightForWidth(10'000));
        QTRY_COMPARE(shown->visibleRegion().boundingRect(), shown->rect());
        fits(*dialog, u"connect-long"_s);
    }

    // What its plan says comes when the form stands already, and is of many lines.
    void aReleaseOfManyLinesIsWhole()
    {
        auto held =
            testing::redisLock("zk", "/locks/orders", std::chrono::seconds(26),
                               testing::serverTime(testing::present)); // which has gentler ways to choose from
        m_backend->notifyLocks({testing::change(inspect::ChangeKind::Changed, held)});
        m_backend->on<PlanRelease>() = [held](const PlanRelease &) {
            operate::ForceReleasePlan plan{
                .before = held, .holder = held.contenders[0].id, .guard = held.contenders[0].guard};
            plan.alternatives = {
                u"its TTL expires in 26 s unless the holder renews it; then one of the waiters gets it"_s,
                u"shorten its lease to 10 s, unless its holder renews it"_s,
                u"have the client that holds it release it, or stop it"_s};
            plan.commands = {u"EVALSHA redisson-force-release 5 orders:checkout … "_s
                             + u"fdaed7d2-12b1-4b23-b69c-40994ee5f8bb:1 "_s.repeated(3)};
            return plan;
        };
        auto *dialog = qobject_cast<ui::ForceReleaseDialog *>(dialogOf(u"force-release"_s));
        QVERIFY(dialog);
        fits(*dialog, u"release-of-many-lines"_s);
    }

    void everyTabOfTheSettings()
    {
        auto *dialog = qobject_cast<ui::SettingsDialog *>(dialogOf(u"settings"_s));
        QVERIFY(dialog);
        for (int tab = 0; tab < dialog->tabs().count(); ++tab) {
            dialog->tabs().setCurrentIndex(tab);
            fits(*dialog, u"settings-%1"_s.arg(tab));
        }
    }

    void everyEdit_data()
    {
        const Rows<int> row("kind");
        row("create", int(operate::EditKind::ZnodeCreate));
        row("acl", int(operate::EditKind::ZnodeAcl));
        row("delete", int(operate::EditKind::ZnodeDelete));
        row("add-field", int(operate::EditKind::FieldSet));
        row("expire", int(operate::EditKind::KeyExpire));
    }
    void everyEdit()
    {
        QFETCH(int, kind);
        operate::EditRequest request{.kind = static_cast<operate::EditKind>(kind),
                                     .connection = ConnectionName("zk"),
                                     .name = "/app/config",
                                     .acls = zk::openAcl()};
        m_window->dialogs().openEditOf(request);
        auto *dialog = m_window->findChild<ui::EditDialog *>();
        QVERIFY(dialog);
        dialog->setAvailable(QRect(QPoint(), smallWindow));
        QTRY_VERIFY(dialog->plan().has_value());
        fits(*dialog, u"edit-"_s + QString::fromLatin1(QTest::currentDataTag()));
    }

    // No desktop may have icons for them; Qt's own are in none of the theme's colours.
    void aMessageHasAnIconOfOurs()
    {
        for (const auto choice : {ui::ThemeChoice::Light, ui::ThemeChoice::Dark}) {
            ui::Theme::instance()->setChoice(choice);
            const QMessageBox said(QMessageBox::Warning, u"Not exported"_s, u"The disk is full."_s);
            const auto icon = said.iconPixmap().toImage();
            QVERIFY2(!icon.isNull(), "Qt has no plugin for SVG: since Debian 13 it is in qt6-svg-plugins");
            QCOMPARE(icon.pixelColor(icon.width() / 2, icon.height() / 2), ui::Theme::tokens().warning);
        }
        ui::Theme::instance()->setChoice(ui::ThemeChoice::Light);
    }

    // All keys stand on the screen, and none of them under another.
    void theKeys()
    {
        m_window->actions().find(u"help"_s)->trigger();
        auto *card = m_window->findChild<QWidget *>(u"helpCard"_s);
        QTRY_VERIFY(card && card->isVisible());
        QCoreApplication::processEvents();
        shoot(*m_window, u"keys"_s);
        QVERIFY2(card->width() <= smallWindow.width() && card->height() <= smallWindow.height(),
                 qPrintable(u"%1x%2"_s.arg(card->width()).arg(card->height())));
        QVERIFY(m_window->rect().contains(QRect(card->mapTo(m_window.get(), QPoint()), card->size())));
        const auto cut = testing::cutParts(*card);
        QVERIFY2(cut.isEmpty(), qPrintable(cut.join(u"; "_s)));
    }

    void theScenario_data()
    {
        addRows<int>("height", {{"768", 768}, {"700: a panel and a title are on the screen, too", 700}});
    }
    void theScenario()
    {
        QFETCH(const int, height);
        m_window->resize(smallWindow.width(), height);
        ui::ScenarioDialog dialog(ui::presets().front().comparison, m_window->connections(), m_window.get());
        dialog.show();
        QVERIFY2(dialog.height() <= height - 40, qPrintable(QString::number(dialog.height())));
        fits(dialog, u"scenario-%1"_s.arg(height));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestDialogsFit)
#include "tst_dialogs_fit.moc"
