// SPDX-License-Identifier: Apache-2.0
#include "ui/graph/graphmaker.h"

#include <QElapsedTimer>

#include <utility>

namespace lockscope::ui {

namespace {

std::shared_ptr<GraphSight> sightOf(const GraphQuestion &question, GraphLayouter &layouter,
                                    const std::stop_token &stop)
{
    auto sight = std::make_shared<GraphSight>();
    const auto facts = graphFactsOf(question.locks, question.labels, question.now);
    sight->heading = headingOf(facts);
    sight->picture = graphPictureOf(facts, question.choice);
    if (sight->heading.client)
        sight->subject =
            sight->picture.find(keyOfClient(facts.graph.clients[static_cast<std::size_t>(*sight->heading.client)]));
    sight->waiting = facts.graph.waiting();
    sight->held = facts.graph.held();
    sight->isCycleOpen = facts.isCycleOpen;
    sight->unseenWaiters = facts.unseenWaiters;
    auto layout = layouter.layOut(sight->picture, question.width, question.height, stop);
    if (layout)
        sight->layout = std::move(*layout);
    else
        sight->failure = layout.error().message;
    return sight;
}

} // namespace

GraphMaker::GraphMaker(QObject *parent) : QObject(parent), m_layouter(std::make_shared<GraphLayouter>())
{
    m_worker.setMaxThreadCount(1);
}

GraphMaker::~GraphMaker()
{
    m_stop.request_stop();
    m_worker.waitForDone();
}

void GraphMaker::make(GraphQuestion question)
{
    if (m_isBusy)
        m_next = std::move(question);
    else
        begin(std::move(question));
}

void GraphMaker::begin(GraphQuestion question)
{
    m_isBusy = true;
    auto asked = std::make_shared<const GraphQuestion>(std::move(question));
    m_worker.start([this, asked, layouter = m_layouter, stop = m_stop.get_token()] {
        QElapsedTimer timer;
        timer.start();
        std::shared_ptr<const GraphSight> sight = sightOf(*asked, *layouter, stop);
        const std::chrono::milliseconds took(timer.elapsed());
        QMetaObject::invokeMethod(
            this,
            [this, sight, took] {
                m_took = took;
                m_isBusy = false;
                if (m_next)
                    begin(*std::exchange(m_next, std::nullopt));
                emit made(sight);
            },
            Qt::QueuedConnection);
    });
}

} // namespace lockscope::ui

#include "moc_graphmaker.cpp"
