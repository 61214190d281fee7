// SPDX-License-Identifier: Apache-2.0
// What the suites of znodes begin with: a ZooKeeper of names, and the model over it.
#pragma once

#include "tests/support/fakebackend.h"
#include "ui/models/znodesmodel.h"

#include <QTest>

#include <map>

namespace lockscope::testing {

class ZnodesFixture : public QObject {
protected:
    static ZPath path(const char *text) { return ZPath(QByteArray(text)); }

    // A ZooKeeper of names: what listZnodes answers.
    class Ensemble {
    public:
        explicit Ensemble(FakeBackend &backend)
        {
            backend.on<ListZnodes>() = [this](const ListZnodes &query) { return list(query.path); };
        }

        void set(const QByteArray &path, const QByteArrayList &children) { m_children[path] = children; }
        void setStat(const QByteArray &path, qint32 version) { m_versions[path] = version; }
        void forbid(const QByteArray &path)
        {
            m_errors.insert_or_assign(path, Error{ErrorCode::NoPermission, QStringLiteral("no READ for us")});
        }
        void allow(const QByteArray &path) { m_errors.erase(path); }

    private:
        Result<std::vector<ZnodeRow>> list(const ZPath &path)
        {
            if (const auto error = m_errors.find(path.bytes()); error != m_errors.end())
                return error->second;
            if (!m_children.contains(path.bytes()))
                return Error{ErrorCode::NoNode, QStringLiteral("no such node")};
            std::vector<ZnodeRow> rows;
            for (const auto &name : m_children[path.bytes()]) {
                ZnodeRow row{.name = NodeName(name)};
                const QByteArray full = path.child(row.name).bytes();
                row.stat.czxid = 1;
                row.stat.version = m_versions[full];
                if (const auto children = m_children.find(full); children != m_children.end())
                    row.stat.numChildren = static_cast<qint32>(children->second.size());
                else
                    row.stat.ephemeralOwner = {0x1000009b4890001};
                rows.push_back(std::move(row));
            }
            return rows;
        }

        std::map<QByteArray, QByteArrayList> m_children;
        std::map<QByteArray, qint32> m_versions;
        std::map<QByteArray, Error> m_errors;
    };

    struct World {
        FakeBackend backend;
        Ensemble ensemble{backend};
        ui::ZnodesModel model;
        World()
        {
            ensemble.set("/", {"locks", "app"});
            ensemble.set("/locks", {"orders", "stock"});
            ensemble.set("/locks/orders", {"c-0000000002", "c-0000000001"});
            ensemble.set("/locks/stock", {});
            ensemble.set("/app", {});
        }
        void connectTo() { model.setConnection(&backend, ConnectionName("zk")); }
        // As a view does when a node is expanded.
        bool load(const char *text)
        {
            const auto index = model.find(path(text));
            if (!index.isValid())
                return false;
            model.fetchMore(index);
            return QTest::qWaitFor([&] { return model.isLoaded(model.find(path(text))); }, 60'000);
        }
    };

    // In no order, as a server's.
    static QByteArrayList shuffled(int many)
    {
        QByteArrayList names;
        for (int i = 0; i < many; ++i)
            names << numbered((i * 7919LL) % many);
        return names;
    }
    static QByteArrayList numbers(int from, int until)
    {
        QByteArrayList names;
        for (int i = from; i < until; ++i)
            names << numbered(i);
        return names;
    }
    static QByteArray numbered(qint64 number) { return "n-" + QByteArray::number(number).rightJustified(10, '0'); }
    static QByteArrayList namesIn(const ui::ZnodesModel &model, const ZPath &folder)
    {
        QByteArrayList names;
        const auto index = model.find(folder);
        for (int row = 0; row < model.rowCount(index); ++row)
            names << model.index(row, 0, index).data(ui::ZnodeNode::FilterRole).toString().toUtf8();
        return names;
    }
};

} // namespace lockscope::testing
