// SPDX-License-Identifier: Apache-2.0
// The incident note of the lock in the detail: the one that lockscopectl writes (core/workspace/incidentnote.h).
#include "core/base/text.h"
#include "core/workspace/values.h"
#include "ui/models/screenclock.h"
#include "ui/pages/lockdetail.h"

#include <QFileDialog>
#include <QMessageBox>
#include <QPointer>
#include <QRegularExpression>
#include <QSaveFile>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

NoteFacts LockDetail::noteFacts() const
{
    NoteFacts facts;
    facts.lock = *m_lock;
    facts.wallSetBy = wallSetBy();
    facts.asOf = std::chrono::floor<std::chrono::milliseconds>(seenAt());
    if (m_gone != Gone::No)
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

QString LockDetail::note() const
{
    return m_lock ? incidentNote(noteFacts()) : QString();
}

void LockDetail::withNote(const std::function<void(const QString &)> &use)
{
    auto *past = m_backend ? m_backend->past() : nullptr;
    if (!m_lock)
        return;
    if (!past)
        return use(note());
    past->note(noteFacts(), this, [use, without = note()](const Result<QString> &note) {
        use(note ? *note : without); // it says that it has no history
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
    auto *dialog = new QFileDialog(this, tr("Save note"), {}, tr("Markdown (*.md);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setObjectName(u"noteDialog"_s);
    dialog->setDefaultSuffix(u"md"_s);
    dialog->selectFile(name + u".md"_s);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &file) {
        withNote([file, over = QPointer<QWidget>(this)](const QString &note) {
            QSaveFile to(file);
            const auto bytes = note.toUtf8();
            const bool isSaved = to.open(QIODevice::WriteOnly) && to.write(bytes) == bytes.size() && to.commit();
            if (isSaved || !over)
                return;
            auto *failed = new QMessageBox(
                QMessageBox::Warning, tr("Save note"),
                tr("The note cannot be saved to %1: %2").arg(label(file.toUtf8(), 200), to.errorString()),
                QMessageBox::Ok, over);
            failed->setAttribute(Qt::WA_DeleteOnClose);
            failed->setTextFormat(Qt::PlainText);
            failed->open();
        });
    });
    dialog->open();
}

} // namespace lockscope::ui
