// SPDX-License-Identifier: Apache-2.0
// Asks every member: one short connection per question, four-letter word first, then the AdminServer,
// or the other way round where that worked the last time.
#include "core/zookeeper/evidence.h"

#include "core/base/text.h"
#include "core/zookeeper/exchange.h"

namespace lockscope::zk {

namespace {

// The body of an HTTP/1.x answer with status 200; empty otherwise.
QByteArray bodyOf(const QByteArray &http)
{
    const auto end = http.indexOf("\r\n\r\n");
    const auto status = http.left(http.indexOf('\r'));
    if (end < 0 || !status.startsWith("HTTP/1.") || status.mid(9, 3) != "200")
        return {};
    return http.mid(end + 4);
}

QString refusalIn(const QByteArray &answer)
{
    if (answer.contains("is not executed because it is not in the whitelist"))
        return u"not in the whitelist"_s;
    if (answer.contains("not currently serving requests"))
        return u"not serving requests"_s;
    return answer.isEmpty() ? u"empty answer"_s : u"not understood: %1"_s.arg(label(answer.left(80)));
}

// What one place says in one round.
struct Seat {
    Membership::Place place;
    Evidence said;
    int open = 0; // questions
    qint64 bytes = 0;
    Duration took{};
    bool isHeard = false; // it said something, be it no
    [[nodiscard]] bool hasAnswered() const
    {
        return std::ranges::any_of(said.answers, [](const auto &entry) { return entry.second.answered > 0; });
    }
};

// All answers to one ask().
struct Round {
    Reply<Evidence> reply;
    std::vector<QByteArray> commands;
    Evidence blank;
    Instant started;
    Instant deadline;
    std::vector<Seat> seats;
    Timer enough;
    bool isOver = false;
};

constexpr auto identifyEvery = std::chrono::seconds(10); // where nobody says who the members are, or there is but one
constexpr auto grace = std::chrono::milliseconds(500);   // for the slower ones, once one has answered
constexpr auto graceForSilent = std::chrono::milliseconds(100);
constexpr int mostTimesSlower = 4;
constexpr auto mostGrace = std::chrono::seconds(2); // for a place that is known to be slow: it may be far away

// An answer that took long may have waited only: a server writes this many bytes in a microsecond, and more.
constexpr qint64 bytesPerMicrosecond = 4;
constexpr auto leastWork = std::chrono::milliseconds(20);

// What it cost a member at most to say that.
Duration workOf(const Seat &seat)
{
    return std::min<Duration>(seat.took, leastWork + Duration(seat.bytes / bytesPerMicrosecond));
}

// Why a place did not answer; empty if it did.
QString refusalOf(const Seat &seat, const QByteArray &command)
{
    const auto &answers = seat.said.answers;
    if (const auto at = answers.find(command); at != answers.end())
        return at->second.answered > 0 ? QString() : at->second.refusal;
    // It was silent the last time, and asked no more than whether it is back.
    const auto probed = answers.find("srvr");
    const bool isBack = probed != answers.end() && probed->second.answered > 0;
    return isBack || probed == answers.end() ? u"only just back"_s : probed->second.refusal;
}

// Who did not answer `command`, and why.
QString refusalsOf(const QByteArray &command, const std::map<qint64, const Seat *> &byId,
                   const Membership &membership)
{
    QStringList refusals;
    for (const auto &server : membership.configured()) {
        const auto at = byId.find(server.id);
        QString why = server.client ? u"no answer"_s : u"where clients reach it is not in the configuration"_s;
        if (at != byId.end())
            why = refusalOf(*at->second, command);
        if (why.isEmpty())
            continue;
        refusals << u"%1: %2"_s.arg(membership.nameOf(server.id), why);
    }
    return refusals.join(u"; "_s);
}

} // namespace

struct EvidenceSource::Private {
    Private(Loop &l, std::vector<HostPort> named, quint16 port, Reach r)
        : loop(l), membership(std::move(named)), adminPort(port), reach(std::move(r))
    {
    }

    struct Question {
        std::shared_ptr<Round> round;
        std::size_t seat;
        QByteArray command;
        Instant deadline;
        bool viaAdmin = false;
        bool isLastWay = false;
    };

    void begin(const std::shared_ptr<Round> &round, const std::vector<Membership::Place> &places)
    {
        const auto first = round->seats.size();
        std::vector<std::vector<QByteArray>> questions;
        for (const auto &place : places) {
            questions.push_back(questionsFor(place, *round));
            Seat seat{place, round->blank, static_cast<int>(questions.back().size()), 0, {}, false};
            for (const auto &command : questions.back())
                seat.said.answers[command].members = 1;
            round->seats.push_back(std::move(seat));
        }
        for (std::size_t i = 0; i < places.size(); ++i) {
            for (const auto &command : questions[i]) {
                const bool viaAdmin = adminFirst.contains({displayHost(places[i].at), command});
                ask({round, first + i, command, round->deadline, viaAdmin, adminPort == 0});
            }
        }
    }
    [[nodiscard]] std::vector<QByteArray> questionsFor(const Membership::Place &place, const Round &round) const
    {
        static const QByteArray probe = "srvr";
        if (isSilent(place.at) && silent.size() < membership.places().size())
            return {probe};
        auto questions = round.commands;
        const auto add = [&questions](const QByteArray &command) {
            if (std::ranges::find(questions, command) == questions.end())
                questions.push_back(command);
        };
        // Who is behind an address is asked at the same time: another one may be the next time.
        const bool isDue = identified == Instant{} || loop.now() - identified > identifyEvery;
        if (!membership.configured().empty() || isDue)
            add("conf");
        if (isDue)
            add(probe);
        return questions;
    }
    void ask(Question question)
    {
        const auto &member = question.round->seats[question.seat].place.at;
        auto to = member;
        auto words = question.command;
        if (question.viaAdmin) {
            to.port = adminPort;
            words = "GET /commands/" + adminName(question.command) + " HTTP/1.0\r\nHost: " + member.host.toUtf8()
                    + "\r\nAccept: application/json\r\nConnection: close\r\n\r\n";
        }
        // A way that is filtered answers with silence; it must leave time for the other one.
        const auto now = loop.now();
        const auto left = question.deadline - now;
        const auto until = question.isLastWay ? question.deadline : now + left / 2;
        const auto number = nextExchange++;
        auto done = [this, number, question](const QByteArray &answer, const QString &failure) {
            // The exchange calls from its own socket's signal: let it return before it is destroyed.
            if (auto over = exchanges.extract(number))
                over.mapped().release()->deleteLater();
            answered(question, answer, failure);
        };
        exchanges.emplace(number,
                          std::make_unique<Exchange>(loop, reach ? reach(to) : to, words, until, std::move(done)));
    }
    void answered(const Question &question, const QByteArray &answer, const QString &failure)
    {
        auto &seat = question.round->seats[question.seat];
        const auto where = displayHost(seat.place.at);
        // Once the round is over the answer only shows that the member is back.
        Evidence late;
        auto &evidence = question.round->isOver ? late : seat.said;
        auto &record = evidence.answers[question.command];
        const bool isRead = question.viaAdmin
                                ? readAdmin(adminName(question.command), bodyOf(answer), evidence)
                                : failure.isEmpty() && readFourLetter(question.command, answer, evidence);
        const auto key = std::pair(where, question.command);
        if (!answer.isEmpty()) {
            seat.isHeard = true;
            silent.erase(where);
            heardAt[where] = loop.now();
            usual[where] = loop.now() - question.round->started;
        }
        if (isRead) {
            record.answered = 1;
            record.ways.insert(question.viaAdmin ? "admin" : "4lw");
            record.refusal.clear();
            seat.bytes += answer.size();
            if (question.viaAdmin)
                adminFirst.insert(key);
            else
                adminFirst.erase(key);
            settle(question);
            return;
        }
        // The four-letter word's refusal says more to an administrator than that of the second way.
        if (!question.viaAdmin)
            record.refusal = failure.isEmpty() ? refusalIn(answer) : failure;
        else if (record.refusal.isEmpty())
            record.refusal = u"AdminServer: "_s + (failure.isEmpty() ? u"no such JSON"_s : failure);
        if (question.isLastWay) {
            settle(question);
            return;
        }
        auto other = question;
        other.viaAdmin = !question.viaAdmin;
        other.isLastWay = true;
        ask(other);
    }
    void settle(const Question &question)
    {
        const auto round = question.round;
        auto &seat = round->seats[question.seat];
        if (round->isOver || --seat.open > 0)
            return;
        seat.took = loop.now() - round->started;
        finishWhenEnough(round);
    }
    void finishWhenEnough(const std::shared_ptr<Round> &round)
    {
        const auto isOpen = [](const Seat &seat) { return seat.open > 0; };
        if (std::ranges::none_of(round->seats, isOpen)) {
            learnFrom(*round);
            const auto more = newPlaces(*round);
            if (more.empty() || loop.now() >= round->deadline)
                return finish(round);
            round->enough.cancel();
            return begin(round, more);
        }
        Duration slowest{};
        Duration expected{};
        for (const auto &seat : round->seats) {
            if (seat.open == 0 && seat.isHeard)
                slowest = std::max(slowest, seat.took);
            const auto known = usual.find(displayHost(seat.place.at));
            if (seat.open > 0 && known != usual.end() && !isSilent(seat.place.at))
                expected = std::max(expected, known->second * 2);
        }
        if (slowest == Duration::zero())
            return; // nobody yet: until the deadline
        const bool isForSilentOnly = std::ranges::all_of(
            round->seats, [&](const Seat &seat) { return seat.open == 0 || isSilent(seat.place.at); });
        const auto until = isForSilentOnly ? loop.now() + graceForSilent
                                           : round->started
                                                 + std::max<Duration>({grace, slowest * mostTimesSlower,
                                                                       std::min<Duration>(expected, mostGrace)});
        round->enough = loop.callAt(until, [this, weak = std::weak_ptr(round)] {
            const auto late = weak.lock();
            if (!late || late->isOver)
                return;
            for (auto &seat : late->seats) {
                if (seat.open == 0)
                    continue;
                seat.open = 0;
                for (auto &[command, answer] : seat.said.answers)
                    if (answer.answered == 0 && answer.refusal.isEmpty())
                        answer.refusal = u"no answer in time"_s;
            }
            finishWhenEnough(late);
        });
    }
    void finish(const std::shared_ptr<Round> &round)
    {
        round->isOver = true;
        round->enough.cancel();
        auto all = sumOf(*round);
        all.answeredAt = loop.now();
        round->reply.complete(std::move(all));
    }
    // Members that have turned up in this round's answers.
    [[nodiscard]] std::vector<Membership::Place> newPlaces(const Round &round) const
    {
        auto places = membership.places();
        std::erase_if(places, [&round](const auto &place) {
            return std::ranges::any_of(round.seats, [&place](const Seat &seat) { return seat.place.at == place.at; });
        });
        return places;
    }
    void learnFrom(const Round &round)
    {
        std::vector<std::pair<HostPort, MemberFacts>> said;
        for (const auto &seat : round.seats) {
            said.emplace_back(seat.place.at, seat.said.raw.member);
            if (const auto conf = seat.said.answers.find("conf"); conf != seat.said.answers.end()) {
                identified = loop.now();
                if (conf->second.answered == 0)
                    unidentifiedReason = u"conf: "_s + conf->second.refusal;
            }
            // An answer to an earlier round may have come meanwhile.
            const auto heard = heardAt.find(displayHost(seat.place.at));
            if (!seat.isHeard && (heard == heardAt.end() || heard->second < round.started))
                silent.insert(displayHost(seat.place.at));
        }
        membership.learn(said);
        if (!membership.isKnown())
            identified = {}; // the next round asks again
    }
    [[nodiscard]] Evidence sumOf(Round &round) const
    {
        Evidence all = round.blank;
        std::map<qint64, const Seat *> byId; // in an ensemble
        std::set<const Seat *> repeated;
        const bool isEnsemble = !membership.configured().empty();
        for (auto &seat : round.seats) {
            const auto who = isEnsemble ? membership.whoIs(seat.place, seat.said.raw.member) : std::nullopt;
            if (who && !byId.try_emplace(*who, &seat).second) {
                // Two addresses of one server: the one that answers counts. Where both do, the server's own: behind
                // an address that many share each question may have reached another one.
                auto &known = byId[*who];
                const bool isOwn = seat.place.expected == who && known->place.expected != who;
                const bool isBetter = !known->hasAnswered() || (isOwn && seat.hasAnswered());
                repeated.insert(isBetter ? std::exchange(known, &seat) : &seat);
            }
        }
        for (auto &seat : round.seats) {
            all.work = std::max(all.work, seat.hasAnswered() ? workOf(seat) : Duration{});
            if (repeated.contains(&seat))
                continue;
            Evidence said = seat.said;
            said.settle();
            said.answers.clear();
            all.merge(said);
        }
        const auto size = membership.size();
        for (const auto &command : round.commands) {
            Evidence::Answer sum;
            const auto add = [&](const Seat &seat) {
                if (sum.refusal.isEmpty())
                    sum.refusal = refusalOf(seat, command);
                const auto at = seat.said.answers.find(command);
                if (at == seat.said.answers.end())
                    return;
                sum.answered += at->second.answered;
                sum.ways.insert(at->second.ways.begin(), at->second.ways.end());
            };
            if (isEnsemble) {
                for (const auto &[id, seat] : byId)
                    add(*seat);
                sum.refusal = refusalsOf(command, byId, membership);
            } else {
                for (const auto &seat : round.seats)
                    add(seat);
            }
            sum.members = size.value_or(static_cast<int>(round.seats.size()));
            all.answers[command] = std::move(sum);
        }
        if (!size)
            all.membersUnknown = unidentifiedReason.isEmpty() ? u"conf: no answer"_s : unidentifiedReason;
        return all;
    }

    [[nodiscard]] bool isSilent(const HostPort &at) const { return silent.contains(displayHost(at)); }

    Loop &loop;
    Membership membership;
    quint16 adminPort;
    Reach reach;
    std::chrono::milliseconds serverAhead{};
    std::set<std::pair<QString, QByteArray>> adminFirst; // place and command
    std::set<QString> silent;                            // places that did not answer the last time
    std::map<QString, Duration> usual;                   // how long a place took the last time, in time or not
    std::map<QString, Instant> heardAt;
    Instant identified{};
    QString unidentifiedReason; // "conf: not in the whitelist"
    quint64 nextExchange = 0;
    std::map<quint64, std::unique_ptr<Exchange>> exchanges;
    std::vector<std::weak_ptr<Round>> rounds;
};

EvidenceSource::EvidenceSource(Loop &loop, std::vector<HostPort> named, quint16 adminPort, Reach reach)
    : d(std::make_unique<Private>(loop, std::move(named), adminPort, std::move(reach)))
{
}

EvidenceSource::~EvidenceSource()
{
    for (const auto &weak : d->rounds) {
        if (const auto round = weak.lock()) {
            round->enough.cancel();
            round->reply.complete(Error{ErrorCode::Cancelled, u"no longer asked"_s, false});
        }
    }
    d->exchanges.clear();
}

Reply<Evidence> EvidenceSource::ask(std::vector<QByteArray> commands, Deadline deadline)
{
    constexpr auto longest = std::chrono::seconds(30);
    const auto now = d->loop.now();
    Evidence blank;
    blank.askedAt = datedNow(d->loop);
    blank.serverAhead = d->serverAhead;

    Reply<Evidence> reply(d->loop);
    const auto places = d->membership.places();
    if (places.empty() || commands.empty()) {
        reply.complete(blank);
        return reply;
    }
    auto round = std::make_shared<Round>(Round{reply,
                                               std::move(commands),
                                               std::move(blank),
                                               now,
                                               deadline.isNever() ? now + longest : deadline.when(),
                                               {},
                                               {}});
    std::erase_if(d->rounds, [](const auto &over) { return over.expired(); });
    d->rounds.emplace_back(round);
    d->begin(round, places);
    return reply;
}

void EvidenceSource::setServerAhead(std::chrono::milliseconds ahead)
{
    d->serverAhead = ahead;
}

qint64 EvidenceSource::questions() const
{
    return static_cast<qint64>(d->nextExchange);
}

void EvidenceSource::setConfiguration(const QByteArray &text)
{
    d->membership.learnConfiguration(text);
}

} // namespace lockscope::zk
