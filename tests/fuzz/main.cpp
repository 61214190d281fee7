// SPDX-License-Identifier: Apache-2.0
// Fuzzes one parser: first everything in its corpus, then what is made of it by spoiling. The same seed makes the
// same inputs. An input that breaks something is saved, to be mended and then kept in the corpus.
//
//   tests_fuzz PARSER [--runs N | --seconds N] [--seed N] [--keep] [FILE…]
//
// --seconds (or LOCKSCOPE_FUZZ_SECONDS, times the parser's share) are seconds by the clock, for at least the usual
// number of inputs. --keep adds to the corpus what reached new code (where the build traces it). With files it reads
// those only.
#include "core/base/logging.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/work.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <optional>
#include <string>
#include <sys/time.h>
#include <unistd.h>

#ifdef LOCKSCOPE_ADDRESS_SANITIZER
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif
// What UBSan finds ends the program, so that its input is saved.
extern "C" const char *__ubsan_default_options();
const char *__ubsan_default_options()
{
    return "halt_on_error=1:print_stacktrace=1";
}

namespace lockscope::fuzz {

namespace {

std::map<std::string, Parser> &parsersHere()
{
    static std::map<std::string, Parser> parsers;
    return parsers;
}

// What is being read, for whoever ends the program.
struct Reading {
    const char *parser = "";
    const char *bytes = nullptr;
    size_t size = 0;
    quint64 number = 0, seed = 0;
    const char *broken = nullptr;
};
Reading current;

void say(const char *text)
{
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// May be called from a signal: nothing here allocates.
void saveInput()
{
    if (!current.bytes)
        return;
    quint64 hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < current.size; ++i)
        hash = (hash ^ static_cast<unsigned char>(current.bytes[i])) * 0x100000001b3;
    char text[400];
    char file[200];
    std::snprintf(file, sizeof file, "%s-%016llx.input", current.parser, static_cast<unsigned long long>(hash));
    const int fd = ::open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t done = 0;
    while (fd >= 0 && done < current.size) {
        const auto wrote = ::write(fd, current.bytes + done, current.size - done);
        if (wrote <= 0)
            break;
        done += static_cast<size_t>(wrote);
    }
    const auto *why = current.broken     ? current.broken
                      : whatWasTooMuch() ? whatWasTooMuch()
                                         : "it crashed, or did not end";
    std::snprintf(text, sizeof text, "FUZZ %s, seed %llu, input %llu (%zu bytes): %s\n     saved in %s\n",
                  current.parser, static_cast<unsigned long long>(current.seed),
                  static_cast<unsigned long long>(current.number), current.size, why, file);
    say(text);
    current.bytes = nullptr;
}

void onSignal(int number)
{
    saveInput();
    std::signal(number, SIG_DFL);
    std::raise(number);
}

void handle(int number)
{
    struct sigaction action = {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(number, &action, nullptr);
}

// Where loops are not counted: in libraries, and where nothing is traced.
void giveSeconds(int seconds)
{
    const itimerval limit{{0, 0}, {seconds, 0}};
    ::setitimer(ITIMER_VIRTUAL, &limit, nullptr);
}

void prepareSignals()
{
    // A stack of their own: what called itself too often has none left.
    static std::array<char, 64 * 1024> stack;
    const stack_t other{stack.data(), 0, stack.size()};
    ::sigaltstack(&other, nullptr);
#ifdef LOCKSCOPE_ADDRESS_SANITIZER
    __sanitizer_set_death_callback(saveInput);
#else
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
        handle(number);
#endif
    handle(SIGABRT);
    handle(SIGVTALRM);
}

Work readOne(const Parser &parser, const QByteArray &input)
{
    constexpr int longest = 20;
    // A copy that ends where the input does, so that a sanitizer sees who reads beyond it.
    const QByteArray exact(input.constData(), input.size());
    current.bytes = exact.constData();
    current.size = static_cast<size_t>(exact.size());
    giveSeconds(longest);
    beginCounting(parser.limits, exact.size());
    parser.read(exact);
    const auto work = endCounting();
    current.bytes = nullptr;
    ++current.number;
    return work;
}

struct Corpus {
    QDir folder;
    std::vector<QByteArray> inputs;
};

QByteArray contentsOf(const QString &path)
{
    QFile file(path);
    if (!file.open(QFile::ReadOnly))
        qFatal("cannot read %s", qPrintable(path));
    return file.readAll();
}

Corpus corpusOf(const Parser &parser)
{
    Corpus corpus{QDir(QStringLiteral(FUZZ_CORPUS "/") + QString::fromLatin1(parser.name)), {}};
    for (const auto &name : corpus.folder.entryList(QDir::Files, QDir::Name))
        corpus.inputs.push_back(contentsOf(corpus.folder.filePath(name)));
    if (corpus.inputs.empty())
        qFatal("%s has no corpus", parser.name);
    return corpus;
}

void keep(const Corpus &corpus, const QByteArray &input)
{
    const auto name = QString::number(qHash(input, 1), 16) + QStringLiteral(".input");
    QFile file(corpus.folder.filePath(name));
    if (!file.open(QFile::WriteOnly) || file.write(input) != input.size())
        qFatal("cannot write %s", qPrintable(file.fileName()));
}

struct Most {
    Work work;
    void note(const Work &one)
    {
        work.blocks = std::max(work.blocks, one.blocks);
        work.allocations = std::max(work.allocations, one.allocations);
        work.peakBytes = std::max(work.peakBytes, one.peakBytes);
    }
};

struct Options {
    quint64 runs = 0;
    double seconds = 0;
    quint64 seed = 1;
    bool keeps = false;
    QStringList files;
};

void fuzz(const Parser &parser, const Options &options)
{
    constexpr std::size_t mostKept = 4000;
    auto corpus = corpusOf(parser);
    auto &inputs = corpus.inputs;
    Most most;
    for (const auto &input : inputs)
        most.note(readOne(parser, input));
    const auto given = inputs.size();
    QElapsedTimer spent;
    spent.start();
    const auto seconds = [&spent] { return static_cast<double>(spent.elapsed()) / 1000; };
    Random random(options.seed);
    for (quint64 run = 0; run < options.runs || seconds() < options.seconds; ++run) {
        const auto &from = inputs[random.below(inputs.size())];
        const auto &other = inputs[random.below(inputs.size())];
        const auto input = spoilt(random, parser, from, other);
        const auto work = readOne(parser, input);
        most.note(work);
        if (!work.isNew || inputs.size() >= mostKept)
            continue;
        inputs.push_back(input);
        if (options.keeps)
            keep(corpus, input);
    }
    std::printf("FUZZ %s, seed %llu: %llu inputs (%zu of the corpus, %zu more that came where none had been), %llu "
                "places in the code; at most %llu blocks, %llu allocations, %llu bytes for one; %.1f s\n",
                parser.name, static_cast<unsigned long long>(options.seed),
                static_cast<unsigned long long>(current.number), given, inputs.size() - given,
                static_cast<unsigned long long>(placesReached()), static_cast<unsigned long long>(most.work.blocks),
                static_cast<unsigned long long>(most.work.allocations),
                static_cast<unsigned long long>(most.work.peakBytes), seconds());
}

std::optional<Options> optionsIn(const Parser &parser, const QStringList &arguments)
{
    Options options;
#ifdef LOCKSCOPE_ADDRESS_SANITIZER
    constexpr int share = 10;
#else
    constexpr int share = 1;
#endif
    options.runs = static_cast<quint64>(parser.effort.runs / share);
    options.seconds = qEnvironmentVariable("LOCKSCOPE_FUZZ_SECONDS").toDouble() * parser.effort.ofMinute;
    for (qsizetype at = 0; at < arguments.size(); ++at) {
        const auto &word = arguments[at];
        const auto number = arguments.value(at + 1);
        if (word == QLatin1String("--keep"))
            options.keeps = true;
        else if (word == QLatin1String("--runs"))
            options.runs = number.toULongLong(), ++at;
        else if (word == QLatin1String("--seconds"))
            options.seconds = number.toDouble(), ++at;
        else if (word == QLatin1String("--seed"))
            options.seed = number.toULongLong(), ++at;
        else if (word.startsWith(u'-'))
            return std::nullopt;
        else
            options.files << word;
    }
    return options;
}

} // namespace

Registration::Registration(Parser parser)
{
    parsersHere().emplace(parser.name, std::move(parser));
}

void must(bool isSo, std::string_view what)
{
    if (isSo)
        return;
    static const std::string kept(what);
    current.broken = kept.c_str();
    std::abort();
}

QByteArray takeLine(QByteArray &input)
{
    const auto end = input.indexOf('\n');
    const auto line = end < 0 ? input : input.left(end);
    input = end < 0 ? QByteArray() : input.mid(end + 1);
    return line;
}

int run(const QStringList &arguments)
{
    const auto &parsers = parsersHere();
    const auto at = parsers.find(arguments.value(1).toStdString());
    const auto options = at == parsers.end() ? std::nullopt : optionsIn(at->second, arguments.mid(2));
    if (!options) {
        std::fputs("tests_fuzz PARSER [--runs N | --seconds N] [--seed N] [--keep] [FILE…], of these:\n", stderr);
        for (const auto &[name, parser] : parsers)
            std::fprintf(stderr, "  %s\n", name.c_str());
        return 2;
    }
    const auto &parser = at->second;
    current.parser = parser.name;
    current.seed = options->seed;
    prepareSignals();
    prepareCounting();
    for (const auto &file : options->files)
        (void)readOne(parser, contentsOf(file));
    if (options->files.isEmpty())
        fuzz(parser, *options);
    return 0;
}

} // namespace lockscope::fuzz

int main(int argc, char **argv)
{
    // What is logged of each broken input nobody reads.
    qputenv("QT_LOGGING_RULES", "*=false");
    const QCoreApplication application(argc, argv);
    return lockscope::fuzz::run(QCoreApplication::arguments());
}
