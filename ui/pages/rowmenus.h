// SPDX-License-Identifier: Apache-2.0
// Which menu each table of a page opens at its rows.
#pragma once

namespace lockscope::ui {

class ConnectionBook;
class FindingsPage;
class KeysPage;
class LockDetail;
class LocksPage;
class LogPage;
class Page;
class SessionsPage;
class ZnodesPage;

// All of them outlive the pages. What a menu asks for is asked by the page, or by `asking`.
void offerRowMenus(LocksPage &page, const ConnectionBook &book);
void offerRowMenus(LockDetail &detail, const ConnectionBook &book, Page &asking);
void offerRowMenus(SessionsPage &page, const ConnectionBook &book);
void offerRowMenus(ZnodesPage &page, LocksPage &locks, const ConnectionBook &book);
void offerRowMenus(KeysPage &page, LocksPage &locks, const ConnectionBook &book);
void offerRowMenus(LogPage &page);
void offerRowMenus(FindingsPage &page, LocksPage &locks, const ConnectionBook &book);
// Of that page, if it is one of them.
void offerRowMenusOf(Page &page, LocksPage &locks, const ConnectionBook &book);

} // namespace lockscope::ui
