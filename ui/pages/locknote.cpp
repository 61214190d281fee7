// SPDX-License-Identifier: Apache-2.0
// The incident note of the lock in the detail: the one that lockscopectl writes (core/workspace/past.h).
#include "core/base/text.h"
#include "ui/models/screenclock.h"
#include "ui/pages/lockdetail.h"
#include "ui/parts/parts.h"

#include <QFileDialog>
#include <QMessageBox>
#include <QRegularExpression>
#include <QSaveFile>

namespace lockscope::ui {

NoteFacts LockDetail::noteFacts() const
{
    NoteFacts facts;
    facts.lock = *m_lock;
    facts.wallSetBy = wallSetBy();
    facts.asOf = std::chrono::floor<std::chrono::milliseconds>(seenAt());
    if (m_isGone)
        facts.goneBy = std::chrono::floor<std::chrono::milliseconds>(m_clock());
    for (auto &finding : facts.lock.findings) // in the words of then
        finding.message = messageAt(finding, serverTimeAt(seenAt(), *m_lock));
    facts.connection.name = m_lock->lock.connection;
    facts.connection.backend = m_lock->backend;
    if (m_backend)
        facts.labels = m_backend->clientLabels();
    if (m_surroundings)
        m_surroundings(facts);
    return facts;
}

// What a failure leaves out, the note says.
void LockDetail::withNote(const std::function<void(const QString &)> &use)
{
    if (!m_lock)
        return;
    auto facts = noteFacts();
    auto *past = m_backend ? m_backend->past() : nullptr;
    if (!m_backend || (past && !past->isGoingOn()))
        return withHistory(std::move(facts), use); // The audit file of this machine says nothing of a recording.
    const auto upTo = m_isPast ? std::max(facts.asOf, facts.goneBy.value_or(facts.asOf)) : history::Moment::max();
    m_backend->ask(ReadAudit{}, this, [this, facts, use, upTo](const Result<operate::AuditReport> &audit) mutable {
        if (audit)
            addActs(facts, audit->records, upTo);
        facts.actsProblem = audit ? audit->problems.join(u"; "_s) : audit.error().message;
        withHistory(std::move(facts), use);
    });
}

void LockDetail::withHistory(NoteFacts facts, const std::function<void(const QString &)> &use)
{
    facts.source = u"Lockscope's window"_s;
    auto *past = m_backend ? m_backend->past() : nullptr;
    if (!past) {
        facts.historyProblem = u"the recorder is off"_s;
        return use(incidentNote(facts));
    }
    facts.historyProblem = past->failure();
    past->note(facts, this, [use, facts](const Result<QString> &note) mutable {
        if (note)
            return use(*note);
        facts.historyProblem = note.error().message;
        use(incidentNote(facts));
    });
}

void LockDetail::copyNote(const std::function<void()> &copied)
{
    withNote([copied](const QString &note) {
        copyToClipboard(note);
        copied();
    });
}

void LockDetail::saveNote()
{
    if (!m_lock)
        return;
    static const QRegularExpression noFileName(u"[^\\p{L}\\p{N}._]+"_s,
                                               QRegularExpression::UseUnicodePropertiesOption);
    QString name = u"incident"_s + label(m_lock->lock.name, 60).prepend(u'/').replace(noFileName, u"-"_s);
    while (name.endsWith(u'-'))
        name.chop(1);
    auto *dialog =
        named(new QFileDialog(this, tr("Save note"), {}, tr("Markdown (*.md);;All files (*)")), u"noteDialog"_s);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(u"md"_s);
    dialog->selectFile(name + u".md"_s);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &file) {
        withNote([file, over = QPointer<QWidget>(this)](const QString &note) {
            QSaveFile to(file);
            const auto bytes = note.toUtf8();
            const bool isSaved = to.open(QIODevice::WriteOnly) && to.write(bytes) == bytes.size() && to.commit();
            if (isSaved || !over)
                return;
            auto *failed = passing(new QMessageBox(
                QMessageBox::Warning, tr("Save note"),
                tr("The note cannot be saved to %1: %2").arg(label(file.toUtf8(), 200), to.errorString()),
                QMessageBox::Ok, over));
            failed->setTextFormat(Qt::PlainText);
            failed->open();
        });
    });
    dialog->open();
}

} // namespace lockscope::ui
