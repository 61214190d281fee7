<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ru_RU">
<context>
    <name>FaultKind</name>
    <message>
        <source>a client stops for a while (SIGSTOP, garbage collection), shorter or longer than its lease</source>
        <translation>клиент замирает (SIGSTOP, сборка мусора) на время короче или длиннее аренды</translation>
    </message>
    <message>
        <source>a client dies between two of its requests</source>
        <translation>клиент умирает между двумя запросами</translation>
    </message>
    <message>
        <source>a request never arrives; the connection breaks</source>
        <translation>запрос не доходит, соединение обрывается</translation>
    </message>
    <message>
        <source>a request is done, its reply never arrives; the connection breaks</source>
        <translation>запрос выполнен, ответ не доходит, соединение обрывается</translation>
    </message>
    <message>
        <source>a message is late</source>
        <translation>сообщение опаздывает</translation>
    </message>
    <message>
        <source>nothing gets through between a client and the server, one way or both</source>
        <translation>между клиентом и сервером ничего не проходит, в одну сторону или в обе</translation>
    </message>
    <message>
        <source>the server ends a client&apos;s session</source>
        <translation>сервер завершает сессию клиента</translation>
    </message>
    <message>
        <source>a follower shows an older state than the leader&apos;s</source>
        <translation>ведомый показывает состояние старше, чем у лидера</translation>
    </message>
    <message>
        <source>a wall clock jumps</source>
        <translation>часы прыгают</translation>
    </message>
    <message>
        <source>a client&apos;s clock runs fast or slow</source>
        <translation>часы клиента спешат или отстают</translation>
    </message>
    <message>
        <source>the server comes back without its data</source>
        <translation>сервер возвращается без данных</translation>
    </message>
    <message>
        <source>a replica takes over that never saw the last writes</source>
        <translation>роль ведущего переходит к реплике, не видевшей последних записей</translation>
    </message>
    <message>
        <source>a published message reaches no client</source>
        <translation>опубликованное сообщение не доходит ни до кого</translation>
    </message>
    <message>
        <source>the thread that holds the lock dies; what keeps the lease alive does not</source>
        <translation>поток с блокировкой умирает, а аренду продолжают продлевать</translation>
    </message>
    <message>
        <source>an operator takes the lock away from its holder</source>
        <translation>администратор отбирает блокировку у владельца</translation>
    </message>
</context>
<context>
    <name>FaultName</name>
    <message>
        <source>pause</source>
        <translation>пауза</translation>
    </message>
    <message>
        <source>crash</source>
        <translation>авария</translation>
    </message>
    <message>
        <source>lose-request</source>
        <translation>потеря запроса</translation>
    </message>
    <message>
        <source>lose-reply</source>
        <translation>потеря ответа</translation>
    </message>
    <message>
        <source>delay</source>
        <translation>задержка</translation>
    </message>
    <message>
        <source>partition</source>
        <translation>обрыв связи</translation>
    </message>
    <message>
        <source>expire</source>
        <translation>истечение сессии</translation>
    </message>
    <message>
        <source>lag</source>
        <translation>отставание</translation>
    </message>
    <message>
        <source>clock-jump</source>
        <translation>скачок часов</translation>
    </message>
    <message>
        <source>drift</source>
        <translation>дрейф часов</translation>
    </message>
    <message>
        <source>restart-empty</source>
        <translation>перезапуск без данных</translation>
    </message>
    <message>
        <source>failover</source>
        <translation>переключение</translation>
    </message>
    <message>
        <source>lost-publish</source>
        <translation>потеря публикации</translation>
    </message>
    <message>
        <source>dead-thread</source>
        <translation>гибель потока</translation>
    </message>
    <message>
        <source>force-release</source>
        <translation>принудительное снятие</translation>
    </message>
</context>
<context>
    <name>Recipe</name>
    <message>
        <source>etcd mutex</source>
        <translation>Мьютекс etcd</translation>
    </message>
    <message>
        <source>FOR UPDATE</source>
        <translation>FOR UPDATE</translation>
    </message>
    <message>
        <source>Optimistic</source>
        <translation>Оптимистическая блокировка</translation>
    </message>
    <message>
        <source>Advisory</source>
        <translation>Рекомендательная блокировка</translation>
    </message>
    <message>
        <source>FOR UPDATE (PostgreSQL)</source>
        <translation>FOR UPDATE (PostgreSQL)</translation>
    </message>
    <message>
        <source>SKIP LOCKED</source>
        <translation>SKIP LOCKED</translation>
    </message>
    <message>
        <source>Polling</source>
        <translation>Опрос</translation>
    </message>
    <message>
        <source>Quorum of nodes</source>
        <translation>Кворум узлов</translation>
    </message>
    <message>
        <source>Publish and subscribe</source>
        <translation>Публикация и подписка</translation>
    </message>
    <message>
        <source>A fair queue</source>
        <translation>Справедливая очередь</translation>
    </message>
    <message>
        <source>One ephemeral node</source>
        <translation>Один эфемерный узел</translation>
    </message>
    <message>
        <source>Watch the children</source>
        <translation>Следить за списком</translation>
    </message>
    <message>
        <source>Watch the predecessor</source>
        <translation>Следить за предшественником</translation>
    </message>
    <message>
        <source>Predecessor, faster hand-off</source>
        <translation>Предшественник, передача быстрее</translation>
    </message>
    <message>
        <source>Broken: does not check again</source>
        <translation>С ошибкой: не смотрит ещё раз</translation>
    </message>
    <message>
        <source>Broken: takes the timeout for the lock</source>
        <translation>С ошибкой: принимает тайм-аут за блокировку</translation>
    </message>
    <message>
        <source>Broken: does not watch its own node</source>
        <translation>С ошибкой: не следит за своим узлом</translation>
    </message>
    <message>
        <source>Broken: looks without sync</source>
        <translation>С ошибкой: смотрит без sync</translation>
    </message>
    <message>
        <source>Broken: a persistent node</source>
        <translation>С ошибкой: постоянный узел</translation>
    </message>
    <message>
        <source>Broken: DEL without comparing</source>
        <translation>С ошибкой: DEL без сравнения</translation>
    </message>
    <message>
        <source>GET_LOCK</source>
        <translation>GET_LOCK</translation>
    </message>
    <message>
        <source>A row with a time</source>
        <translation>Строка со сроком</translation>
    </message>
    <message>
        <source>A row as a mark</source>
        <translation>Строка-метка</translation>
    </message>
    <message>
        <source>A flag with a version</source>
        <translation>Флаг с версией</translation>
    </message>
    <message>
        <source>SETNX, then EXPIRE</source>
        <translation>SETNX, затем EXPIRE</translation>
    </message>
    <message>
        <source>A time in the value</source>
        <translation>Срок в значении</translation>
    </message>
    <message>
        <source>Readers and writers watch the children</source>
        <translation>Читатели и писатели следят за списком</translation>
    </message>
    <message>
        <source>Readers and writers watch one node</source>
        <translation>Читатели и писатели следят за одним узлом</translation>
    </message>
</context>
<context>
    <name>ServerState</name>
    <message>
        <source>children watched by %1</source>
        <translation>наблюдатели дочерних: %1</translation>
    </message>
    <message>
        <source>watched by %1</source>
        <translation>наблюдатели: %1</translation>
    </message>
    <message>
        <source>locked by %1</source>
        <translation>блокировка у %1</translation>
    </message>
    <message>
        <source>created at %1</source>
        <translation>ревизия создания %1</translation>
    </message>
    <message>
        <source>lease %1 of %2</source>
        <translation>аренда %1 у %2</translation>
    </message>
    <message>
        <source>lease %1</source>
        <translation>аренда %1</translation>
    </message>
    <message>
        <source>version %1</source>
        <translation>версия %1</translation>
    </message>
    <message>
        <source>queue: %1</source>
        <translation>очередь: %1</translation>
    </message>
    <message>
        <source>by %1</source>
        <translation>у %1</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>узел %1</translation>
    </message>
    <message>
        <source>free</source>
        <translation>свободна</translation>
    </message>
</context>
<context>
    <name>ServerStrip</name>
    <message>
        <source>They believe</source>
        <translation>Считают</translation>
    </message>
    <message>
        <source>On servers</source>
        <translation>На серверах</translation>
    </message>
    <message>
        <source>On server</source>
        <translation>На сервере</translation>
    </message>
    <message>
        <source>its time is over</source>
        <translation>срок вышел</translation>
    </message>
    <message>
        <source>%1 s left</source>
        <translation>ещё %1 с</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>пусто</translation>
    </message>
    <message>
        <source>down</source>
        <translation>не работает</translation>
    </message>
    <message>
        <source>s%1</source>
        <translation>s%1</translation>
    </message>
    <message>
        <source>held by %1</source>
        <translation>держит %1</translation>
    </message>
    <message>
        <source>held by %1; waiting: %2</source>
        <translation>держит %1; ждут: %2</translation>
    </message>
    <message>
        <source>a cycle: %1 holds A and waits for B; %2 holds B and waits for A</source>
        <translation>цикл: %1 держит A и ждёт B; %2 держит B и ждёт A</translation>
    </message>
    <message>
        <source>%1’s</source>
        <translation>«%1»</translation>
    </message>
    <message>
        <source>not kept beyond %1</source>
        <translation>после %1 не сохранено</translation>
    </message>
</context>
<context>
    <name>Simulator</name>
    <message>
        <source>a majority of them</source>
        <translation>большинство</translation>
    </message>
    <message>
        <source>Undo: %1</source>
        <translation>Отменить: %1</translation>
    </message>
    <message>
        <source>choose a recipe</source>
        <translation>выберите рецепт</translation>
    </message>
    <message>
        <source>the simulator</source>
        <translation>симуляция</translation>
    </message>
    <message>
        <source>the sandbox</source>
        <translation>песочница</translation>
    </message>
    <message>
        <source>Herd against predecessor</source>
        <translation>Стадо и предшественник</translation>
    </message>
    <message>
        <source>Polling against publish against a fair queue</source>
        <translation>Опрос, публикация, справедливая очередь</translation>
    </message>
    <message>
        <source>Optimistic against FOR UPDATE</source>
        <translation>Оптимистическая блокировка и FOR UPDATE</translation>
    </message>
    <message>
        <source>One run: watch the predecessor</source>
        <translation>Один прогон: следить за предшественником</translation>
    </message>
    <message>
        <source>Redlock on five servers</source>
        <translation>Redlock на пяти серверах</translation>
    </message>
    <message>
        <source>Redlock on three of five servers</source>
        <translation>Redlock на трёх из пяти серверов</translation>
    </message>
    <message>
        <source>production: nothing is ever simulated there</source>
        <translation>боевая среда: прогонов там не бывает</translation>
    </message>
    <message>
        <source>read-only for this run: contenders write</source>
        <translation>в этом запуске только чтение, а участники пишут</translation>
    </message>
    <message>
        <source>read-only: contenders write; allow writes on it first</source>
        <translation>только чтение, а участники пишут; сначала разрешите там запись</translation>
    </message>
    <message>
        <source>not connected</source>
        <translation>нет подключения</translation>
    </message>
    <message>
        <source>the sandbox has no connected %1; choose another recipe or the simulator</source>
        <translation>в песочнице нет подключённого сервера %1; выберите другой рецепт или симуляцию</translation>
    </message>
    <message>
        <source>the sandbox is read-only for this run: contenders write</source>
        <translation>песочница в этом запуске только для чтения, а участники пишут</translation>
    </message>
    <message>
        <source>%1 is not open any more</source>
        <translation>подключение %1 уже закрыто</translation>
    </message>
    <message>
        <source>nothing is played on %1: %2</source>
        <translation>на %1 прогон невозможен: %2</translation>
    </message>
    <message>
        <source>%1 is a lock on %2, which %3 is not</source>
        <translation>%1 — блокировка для %2, а %3 — другой сервер</translation>
    </message>
    <message>
        <source>Simulator</source>
        <translation>Симуляция</translation>
    </message>
    <message>
        <source>Sandbox (starts private servers)</source>
        <translation>Песочница (запустит свои серверы)</translation>
    </message>
    <message>
        <source>Sandbox</source>
        <translation>Песочница</translation>
    </message>
    <message>
        <source>%1</source>
        <translation>%1</translation>
    </message>
    <message>
        <source>half its lease: %1</source>
        <translation>пол-аренды: %1</translation>
    </message>
    <message>
        <source>twice its lease: %1</source>
        <translation>две аренды: %1</translation>
    </message>
    <message>
        <source>Jump a clock by twice the lease: %1</source>
        <translation>Сдвинуть часы на две аренды: %1</translation>
    </message>
    <message>
        <source>%1, back</source>
        <translation>%1, назад</translation>
    </message>
    <message>
        <source>%1, forward</source>
        <translation>%1, вперёд</translation>
    </message>
    <message>
        <source>server s%1</source>
        <translation>сервер s%1</translation>
    </message>
    <message>
        <source>the server</source>
        <translation>сервер</translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation>%1 при t = %2</translation>
    </message>
    <message>
        <source>Pause for</source>
        <translation>Пауза на</translation>
    </message>
    <message>
        <source>Cut off for</source>
        <translation>Обрыв на</translation>
    </message>
    <message>
        <source>The server at %1</source>
        <translation>Сервер при t = %1</translation>
    </message>
    <message>
        <source>its notification</source>
        <translation>уведомление</translation>
    </message>
    <message>
        <source>%1: %2 at %3</source>
        <translation>%1: %2 при t = %3</translation>
    </message>
    <message>
        <source>Lose this request</source>
        <translation>Потерять этот запрос</translation>
    </message>
    <message>
        <source>Lose the reply to it</source>
        <translation>Потерять ответ на него</translation>
    </message>
    <message>
        <source>Delay it</source>
        <translation>Задержать</translation>
    </message>
    <message>
        <source>Crash with it: sent or not, the seed decides</source>
        <translation>Авария на нём: ушёл ли он, решает зерно</translation>
    </message>
    <message>
        <source>Pause %1 just before it hears of this</source>
        <translation>Пауза %1 прямо перед этим уведомлением</translation>
    </message>
    <message>
        <source>Cut %1 off just before</source>
        <translation>Обрыв связи %1 перед этим</translation>
    </message>
    <message>
        <source>Expire its session just before</source>
        <translation>Истечение сессии перед этим</translation>
    </message>
    <message>
        <source>server</source>
        <translation>сервер</translation>
    </message>
    <message>
        <source>s%1</source>
        <translation>s%1</translation>
    </message>
    <message>
        <source>Fault: %1</source>
        <translation>Сбой: %1</translation>
    </message>
    <message>
        <source>Fault that befalls %1: %2</source>
        <translation>Сбой у %1: %2</translation>
    </message>
    <message>
        <source>%1 asks for the lock.</source>
        <translation>%1 просит блокировку.</translation>
    </message>
    <message>
        <source>%1 sends %2.</source>
        <translation>%1 шлёт %2.</translation>
    </message>
    <message>
        <source>%1 sends %2 %3.</source>
        <translation>%1 шлёт %2 %3.</translation>
    </message>
    <message>
        <source>%1 gets its answer.</source>
        <translation>%1 получает ответ.</translation>
    </message>
    <message>
        <source>%1 gets its answer: %2.</source>
        <translation>%1 получает ответ: %2.</translation>
    </message>
    <message>
        <source>%1 is woken by a watch, wasted: it is not its turn.</source>
        <translation>%1 уведомлён наблюдателем, но впустую: очередь не его.</translation>
    </message>
    <message>
        <source>%1 is woken by its watch.</source>
        <translation>%1 уведомлён своим наблюдателем.</translation>
    </message>
    <message>
        <source>%1 is woken by a publish, wasted: another client was quicker.</source>
        <translation>%1 уведомлён публикацией, но впустую: кто-то успел раньше.</translation>
    </message>
    <message>
        <source>%1 is woken by a publish.</source>
        <translation>%1 уведомлён публикацией.</translation>
    </message>
    <message>
        <source>%1 holds the lock, with fencing token %2.</source>
        <translation>%1 владеет блокировкой, ограждающий токен %2.</translation>
    </message>
    <message>
        <source>%1 holds the lock.</source>
        <translation>%1 владеет блокировкой.</translation>
    </message>
    <message>
        <source>%1 released the lock.</source>
        <translation>%1 освободил блокировку.</translation>
    </message>
    <message>
        <source>%1 learns that it lost the lock.</source>
        <translation>%1 узнаёт, что потерял блокировку.</translation>
    </message>
    <message>
        <source>%1 gives up waiting.</source>
        <translation>%1 сдаётся, не дождавшись.</translation>
    </message>
    <message>
        <source>%1 gives up waiting: %2.</source>
        <translation>%1 сдаётся, не дождавшись: %2.</translation>
    </message>
    <message>
        <source>%1 writes to what the lock guards, with token %2: %3.</source>
        <translation>%1 пишет в охраняемый ресурс с токеном %2: %3.</translation>
    </message>
    <message>
        <source>%1 writes to what the lock guards: %2.</source>
        <translation>%1 пишет в охраняемый ресурс: %2.</translation>
    </message>
    <message>
        <source>%1 is paused: it hears nothing, and does not know that time passes.</source>
        <translation>%1 на паузе: ничего не слышит и не знает, что время идёт.</translation>
    </message>
    <message>
        <source>%1 goes on where it was paused, believing what it believed.</source>
        <translation>%1 продолжает с того же места и верит в то же, что и раньше.</translation>
    </message>
    <message>
        <source>%1 dies.</source>
        <translation>%1 умирает.</translation>
    </message>
    <message>
        <source>%1 is back.</source>
        <translation>%1 снова здесь.</translation>
    </message>
    <message>
        <source>%1 has %2, and goes on.</source>
        <translation>%1 получил %2 и продолжает.</translation>
    </message>
    <message>
        <source>%1: %2. The answer: %3.</source>
        <translation>%1: %2. Ответ: %3.</translation>
    </message>
    <message>
        <source>%1 died</source>
        <translation>%1 умер</translation>
    </message>
    <message>
        <source>%1 lost the lock</source>
        <translation>%1 потерял блокировку</translation>
    </message>
    <message>
        <source>%1 released</source>
        <translation>%1 освободил блокировку</translation>
    </message>
    <message>
        <source>A guarantee is violated: %1</source>
        <translation>Гарантия нарушена: %1</translation>
    </message>
    <message>
        <source>The server</source>
        <translation>Сервер</translation>
    </message>
    <message>
        <source>An operator: %1.</source>
        <translation>Администратор: %1.</translation>
    </message>
    <message>
        <source>%1; one is woken, and only that one</source>
        <translation>%1; уведомлён один, и только он</translation>
    </message>
    <message>
        <source>%1; one is woken, wasted</source>
        <translation>%1; уведомлён один, и впустую</translation>
    </message>
    <message>
        <source>%1; %2 are woken, %3 of them wasted</source>
        <translation>%1; уведомлений %2, из них впустую %3</translation>
    </message>
    <message>
        <source>%1; %2 are woken</source>
        <translation>%1; уведомлений %2</translation>
    </message>
    <message>
        <source>%1; %2 holds now</source>
        <translation>%1; теперь владеет %2</translation>
    </message>
    <message>
        <source>%1 (run %2)</source>
        <translation>%1 (прогон %2)</translation>
    </message>
    <message>
        <source>Nothing has happened yet. Space plays, → steps to the first event.</source>
        <translation>Пока ничего не произошло. Пробел запускает, → ведёт к первому событию.</translation>
    </message>
    <message>
        <source>All is over after %1.</source>
        <translation>Всё закончилось за %1.</translation>
    </message>
    <message>
        <source>no wasted wake-up</source>
        <translation>пробуждений впустую нет</translation>
    </message>
    <message>
        <source>%1 wasted wake-ups</source>
        <translation>пробуждений впустую %1</translation>
    </message>
    <message>
        <source>%1 requests and %2</source>
        <translation>запросов %1, %2</translation>
    </message>
    <message>
        <source>It took %1.</source>
        <translation>Итого: %1.</translation>
    </message>
    <message>
        <source>the animation cannot be made: %1</source>
        <translation>анимацию создать не удалось: %1</translation>
    </message>
    <message>
        <source>no memory for a picture of that size</source>
        <translation>не хватает памяти на картинку такого размера</translation>
    </message>
    <message>
        <source>simulated, seed %1</source>
        <translation>симуляция, зерно %1</translation>
    </message>
    <message>
        <source>played on %1</source>
        <translation>прогон на %1</translation>
    </message>
    <message>
        <source>the picture cannot be made</source>
        <translation>картинку создать не удалось</translation>
    </message>
    <message>
        <source>Lockscope: contenders of a lock</source>
        <translation>Lockscope: участники блокировки</translation>
    </message>
    <message>
        <source> and </source>
        <translation> и </translation>
    </message>
    <message>
        <source>played on %1 of the sandbox</source>
        <translation>прогон в песочнице на %1</translation>
    </message>
    <message>
        <source>simulator</source>
        <translation>симуляция</translation>
    </message>
    <message>
        <source>simulator and %1</source>
        <translation>симуляция и %1</translation>
    </message>
    <message>
        <source>all queue first</source>
        <translation>все сразу в очередь</translation>
    </message>
    <message>
        <source>arrive within %1</source>
        <translation>приходят за %1</translation>
    </message>
    <message>
        <source>1 contender</source>
        <translation>1 участник</translation>
    </message>
    <message>
        <source>%1 contenders</source>
        <translation>участников: %1</translation>
    </message>
    <message>
        <source>%1 permits</source>
        <translation>разрешений: %1</translation>
    </message>
    <message>
        <source>one lock</source>
        <translation>одна блокировка</translation>
    </message>
    <message>
        <source>%1, %2, %3 rounds</source>
        <translation>%1, %2, раундов: %3</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>real time</source>
        <translation>реальное время</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>зерно %1</translation>
    </message>
    <message>
        <source>hold %1</source>
        <translation>держат %1</translation>
    </message>
    <message>
        <source>%1 % readers</source>
        <translation>%1 % читателей</translation>
    </message>
    <message>
        <source>%1 share a process</source>
        <translation>по %1 на процесс</translation>
    </message>
    <message>
        <source>no faults</source>
        <translation>без сбоев</translation>
    </message>
    <message>
        <source>faults: %1</source>
        <translation>сбои: %1</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Пауза</translation>
    </message>
    <message>
        <source>Crash</source>
        <translation>Авария</translation>
    </message>
    <message>
        <source>Lose its next request</source>
        <translation>Потеря следующего запроса</translation>
    </message>
    <message>
        <source>Lose its next reply</source>
        <translation>Потеря следующего ответа</translation>
    </message>
    <message>
        <source>Delay its messages</source>
        <translation>Задержка сообщений</translation>
    </message>
    <message>
        <source>Cut it off</source>
        <translation>Обрыв связи</translation>
    </message>
    <message>
        <source>Expire its session</source>
        <translation>Истечение сессии</translation>
    </message>
    <message>
        <source>Let the follower lag</source>
        <translation>Отставание ведомого</translation>
    </message>
    <message>
        <source>Let its clock jump</source>
        <translation>Скачок часов</translation>
    </message>
    <message>
        <source>Let its clock drift</source>
        <translation>Дрейф часов</translation>
    </message>
    <message>
        <source>Restart the server, empty</source>
        <translation>Перезапуск сервера без данных</translation>
    </message>
    <message>
        <source>Fail over, losing the last writes</source>
        <translation>Переключение с потерей последних записей</translation>
    </message>
    <message>
        <source>Lose the next publish</source>
        <translation>Потеря следующей публикации</translation>
    </message>
    <message>
        <source>Kill its thread, not its watchdog</source>
        <translation>Гибель потока, но не сторожа</translation>
    </message>
    <message>
        <source>Force-release what it holds</source>
        <translation>Принудительное снятие блокировки</translation>
    </message>
    <message>
        <source>%1 of server %2 at %3</source>
        <translation>%1 сервера %2 при t = %3</translation>
    </message>
    <message>
        <source>%1 %2 at %3</source>
        <translation>%1 %2 при t = %3</translation>
    </message>
    <message>
        <source>%1 requests, and no release</source>
        <translation>запросов %1, никто не освободил</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 с</translation>
    </message>
    <message>
        <source>%1 B</source>
        <translation>%1 Б</translation>
    </message>
    <message>
        <source>%1 KiB</source>
        <translation>%1 КиБ</translation>
    </message>
    <message>
        <source>%1 MiB</source>
        <translation>%1 МиБ</translation>
    </message>
    <message>
        <source>%1 m %2 s</source>
        <translation>%1 мин %2 с</translation>
    </message>
    <message>
        <source>%1 h %2 m</source>
        <translation>%1 ч %2 мин</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 мс</translation>
    </message>
    <message>
        <source>%1 µs</source>
        <translation>%1 мкс</translation>
    </message>
    <message>
        <source>%1: %2.</source>
        <comment>a run, a sentence</comment>
        <translation>%1: %2.</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>a run, whole sentences</comment>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>%1.</source>
        <comment>a sentence</comment>
        <translation>%1.</translation>
    </message>
    <message>
        <source>%1 · %2 · contenders: %3 · requests: %4 · watch events: %5 · wasted: %6 · wait p99 %7</source>
        <translation>%1 · %2 · участников: %3 · запросов: %4 · событий наблюдателей: %5 · впустую: %6 · ожидание p99 %7</translation>
    </message>
    <message>
        <source>, </source>
        <comment>between the parts of what a server has</comment>
        <translation>, </translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation>%1 и ещё %2</translation>
    </message>
    <message>
        <source>typed: %1</source>
        <translation>набрано: %1</translation>
    </message>
    <message>
        <source>%1 … %2 of %3</source>
        <translation>%1 … %2 из %3</translation>
    </message>
    <message>
        <source>%1 holds</source>
        <translation>%1 владеет</translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation>ещё %1</translation>
    </message>
</context>
<context>
    <name>Told</name>
    <message>
        <source>%1 was paused</source>
        <translation>%1 замер</translation>
    </message>
    <message>
        <source>%1 died</source>
        <translation>%1 умер</translation>
    </message>
    <message>
        <source>%1 sent a request that was lost</source>
        <translation>запрос %1 потерялся</translation>
    </message>
    <message>
        <source>%1 was answered, and the reply was lost</source>
        <translation>ответ на запрос %1 потерялся</translation>
    </message>
    <message>
        <source>%1 sent a message that came late</source>
        <translation>сообщение %1 опоздало</translation>
    </message>
    <message>
        <source>%1 was cut off</source>
        <translation>%1 потерял связь</translation>
    </message>
    <message>
        <source>%1 lost its session: the server ended it</source>
        <translation>%1 потерял сессию: сервер её завершил</translation>
    </message>
    <message>
        <source>a follower lagged behind</source>
        <translation>ведомый отстал</translation>
    </message>
    <message>
        <source>a server&apos;s clock jumped</source>
        <translation>часы сервера прыгнули</translation>
    </message>
    <message>
        <source>the clock of %1 jumped</source>
        <translation>часы %1 прыгнули</translation>
    </message>
    <message>
        <source>%1 had a clock that went wrong</source>
        <translation>часы %1 шли неверно</translation>
    </message>
    <message>
        <source>the server came back without its data</source>
        <translation>сервер вернулся без данных</translation>
    </message>
    <message>
        <source>a replica took over that had not seen the last writes</source>
        <translation>роль ведущего перешла к реплике, которая не видела последних записей</translation>
    </message>
    <message>
        <source>a published message reached no client</source>
        <translation>опубликованное сообщение никто не получил</translation>
    </message>
    <message>
        <source>%1 lost its thread, but not its process</source>
        <translation>поток %1 умер, а процесс живёт</translation>
    </message>
    <message>
        <source>all believe they hold it: %1</source>
        <translation>владельцами себя считают: %1</translation>
    </message>
    <message>
        <source>its fencing token %1 is not above %2</source>
        <translation>его ограждающий токен %1 не больше %2</translation>
    </message>
    <message>
        <source>number %1 was granted after number %2</source>
        <translation>номер %1 получил блокировку после номера %2</translation>
    </message>
    <message>
        <source>a write of a former holder was accepted after one of its successor</source>
        <translation>запись прежнего владельца принята после записи следующего</translation>
    </message>
    <message>
        <source>a second write was accepted as the successor of version %1</source>
        <translation>следующей за версией %1 принята вторая запись</translation>
    </message>
    <message>
        <source>still holds: its process is alive, but the thread that would release it has ended</source>
        <translation>всё ещё владеет: процесс жив, а потока, который освободил бы блокировку, нет</translation>
    </message>
    <message>
        <source>still waits: the holder&apos;s process keeps the lock, but the thread that would release it has ended</source>
        <translation>всё ещё ждёт: блокировку держит процесс владельца, а потока, который освободил бы её, нет</translation>
    </message>
    <message>
        <source>still holds, long after everything was well again</source>
        <translation>всё ещё владеет, хотя неполадки давно позади</translation>
    </message>
    <message>
        <source>still waits, long after everything was well again</source>
        <translation>всё ещё ждёт, хотя неполадки давно позади</translation>
    </message>
    <message>
        <source>left behind: %1 and %2 more</source>
        <translation>осталось: %1 и ещё %2</translation>
    </message>
    <message>
        <source>left behind: %1</source>
        <translation>осталось: %1</translation>
    </message>
    <message>
        <source>; </source>
        <comment>between the parts of a sentence</comment>
        <translation>; </translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation>%2: %1</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 с</translation>
    </message>
    <message>
        <source>, for %1</source>
        <translation>, на %1</translation>
    </message>
    <message>
        <source>its lease ended on the server</source>
        <translation>срок аренды на сервере истёк</translation>
    </message>
    <message>
        <source>its lock no longer existed on the server</source>
        <translation>его блокировки на сервере больше нет</translation>
    </message>
    <message>
        <source>%1 got the lock</source>
        <translation>%1 получил блокировку</translation>
    </message>
    <message>
        <source>and %1 did not know that it had lost it</source>
        <translation>а %1 не знал, что потерял её</translation>
    </message>
    <message>
        <source>at %1 %2 woke and wrote</source>
        <translation>%1: %2 очнулся и записал</translation>
    </message>
    <message>
        <source>%1 wrote</source>
        <translation>%1 записал</translation>
    </message>
    <message>
        <source>%1 was the last to get the lock</source>
        <translation>последним блокировку получил %1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>%1 made %2</source>
        <translation>%1 создал %2</translation>
    </message>
    <message>
        <source>it has no TTL, and no other client may delete it</source>
        <translation>срока жизни у него нет, а никто другой удалить его не вправе</translation>
    </message>
    <message>
        <source> (for %1 ms)</source>
        <translation> (уже %1 мс)</translation>
    </message>
    <message>
        <source>an operator force-released the lock</source>
        <translation>администратор отобрал блокировку</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::CounterTiles</name>
    <message>
        <source>requests</source>
        <translation>запросы</translation>
    </message>
    <message>
        <source>wake-ups</source>
        <translation>пробуждения</translation>
    </message>
    <message>
        <source>wasted wake-ups</source>
        <translation>впустую</translation>
    </message>
    <message>
        <source>wait p99</source>
        <translation>ожидание p99</translation>
    </message>
    <message>
        <source>Sent from the first release on</source>
        <translation>Отправлено начиная с первого освобождения</translation>
    </message>
    <message>
        <source>Of watches, or messages of a publish, from the first release on</source>
        <translation>События наблюдателей или сообщения публикации, начиная с первого освобождения</translation>
    </message>
    <message>
        <source>Woken, and yet not its turn</source>
        <translation>Разбужен, а очередь не его</translation>
    </message>
    <message>
        <source>above: from the first release on · since the start: %1 requests, %2 wake-ups, %3 wasted</source>
        <translation>в плитках: с первого освобождения · всего: запросов %1, уведомлений %2, впустую %3</translation>
    </message>
    <message>
        <source>wait p50 %1, longest %2</source>
        <translation>ожидание p50 %1, макс. %2</translation>
    </message>
    <message numerus="yes">
        <source>%n gave up</source>
        <translation>
            <numerusform>%n сдался</numerusform>
            <numerusform>%n сдались</numerusform>
            <numerusform>%n сдались</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 requests while waiting</source>
        <translation>запросов в ожидании %1</translation>
    </message>
    <message>
        <source>fairness %1</source>
        <translation>справедливость %1</translation>
    </message>
    <message>
        <source>%1 · whole run: %2</source>
        <translation>%1 · итог: %2</translation>
    </message>
    <message>
        <source>99 of 100 waits so far are not longer, those that go on included</source>
        <translation>99 из 100 ожиданий пока не дольше; те, что ещё идут, тоже считаются</translation>
    </message>
    <message>
        <source>Bytes: total network traffic. Wait: from a contender&apos;s first attempt until it gets the lock or gives up. Fairness: share of overlapping waits that were served in arrival order; 1 for a queue.</source>
        <translation>Байты по всем каналам. Ожидание считается от первой попытки участника до получения блокировки или до окончательного отказа. Справедливость: среди всех пар, где один уже ждал, когда пришёл другой, доля тех, где пришедшего позже не обслужили первым. У очереди она равна 1.</translation>
    </message>
    <message>
        <source>since the start: %1 requests, %2 wake-ups, %3 wasted</source>
        <translation>с самого начала: запросов %1, уведомлений %2, впустую %3</translation>
    </message>
    <message>
        <source>now</source>
        <translation>сейчас</translation>
    </message>
    <message>
        <source>never</source>
        <translation>ни разу</translation>
    </message>
    <message>
        <source>all requests</source>
        <translation>все запросы</translation>
    </message>
    <message>
        <source>Sent since the start</source>
        <translation>Отправлено с самого начала</translation>
    </message>
    <message>
        <source>all events</source>
        <translation>все события</translation>
    </message>
    <message>
        <source>Of watches, or messages of a publish, since the start</source>
        <translation>События наблюдателей или сообщения публикации, с самого начала</translation>
    </message>
    <message>
        <source>grants</source>
        <translation>выдачи</translation>
    </message>
    <message>
        <source>How often a client got the lock</source>
        <translation>Сколько раз кто-то получал блокировку</translation>
    </message>
    <message>
        <source>gave up</source>
        <translation>сдались</translation>
    </message>
    <message>
        <source>Who waited, got nothing, and does not try again</source>
        <translation>Ждали, ничего не получили и больше не пробуют</translation>
    </message>
    <message>
        <source>two at once</source>
        <translation>двое сразу</translation>
    </message>
    <message>
        <source>How long, at the longest, more believed to hold it than may</source>
        <translation>Самое долгое время, когда владельцами считало себя больше участников, чем можно</translation>
    </message>
    <message>
        <source>violations</source>
        <translation>нарушения</translation>
    </message>
    <message>
        <source>How often a guarantee was violated</source>
        <translation>Сколько раз нарушена гарантия</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::ExportMenu</name>
    <message>
        <source>Picture (PNG)</source>
        <translation>Картинка (PNG)</translation>
    </message>
    <message>
        <source>Picture (SVG)</source>
        <translation>Картинка (SVG)</translation>
    </message>
    <message>
        <source>Animation (PNG)</source>
        <translation>Анимация (PNG)</translation>
    </message>
    <message>
        <source>Events (CSV)</source>
        <translation>События (CSV)</translation>
    </message>
    <message>
        <source>Results (JSON)</source>
        <translation>Результаты (JSON)</translation>
    </message>
    <message>
        <source>Recording</source>
        <translation>Запись</translation>
    </message>
    <message>
        <source>Open recordings…</source>
        <translation>Открыть записи…</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Экспорт</translation>
    </message>
    <message>
        <source>Open recordings</source>
        <translation>Открыть записи</translation>
    </message>
    <message>
        <source>Recordings (*.lockscope)</source>
        <translation>Записи (*.lockscope)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Все файлы (*)</translation>
    </message>
    <message>
        <source>Saved %1</source>
        <translation>Сохранено: %1</translation>
    </message>
    <message>
        <source>%1 was not saved: %2</source>
        <translation>%1 не сохранено: %2</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::FaultChoice</name>
    <message>
        <source>PLANNED FOR CERTAIN MOMENTS OF THE RUN</source>
        <translation>НАМЕЧЕНО НА ОПРЕДЕЛЁННЫЕ МОМЕНТЫ ПРОГОНА</translation>
    </message>
    <message>
        <source>Cannot happen to these recipes</source>
        <translation>С этими рецептами так не бывает</translation>
    </message>
    <message>
        <source>Simulator only: real servers play no faults</source>
        <translation>Только для симуляции: на настоящих серверах ничего не ломают</translation>
    </message>
    <message>
        <source>WHAT GOES WRONG: NOTHING, ON REAL SERVERS</source>
        <translation>ЧТО ПОЙДЁТ НЕ ТАК: НА НАСТОЯЩИХ СЕРВЕРАХ НИЧЕГО</translation>
    </message>
    <message>
        <source>WHAT GOES WRONG, AT LEAST ONCE IN EACH ROUND</source>
        <translation>ЧТО ПОЙДЁТ НЕ ТАК, ХОТЯ БЫ РАЗ ЗА КАЖДЫЙ РАУНД</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::KeyBar</name>
    <message>
        <source>Keys</source>
        <translation>Клавиши</translation>
    </message>
    <message>
        <source>end the presentation</source>
        <translation>закончить показ</translation>
    </message>
    <message>
        <source>hide this line</source>
        <translation>скрыть эту строку</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::LanesView</name>
    <message>
        <source>Lanes of the contenders</source>
        <translation>Дорожки участников</translation>
    </message>
    <message>
        <source>server</source>
        <translation>сервер</translation>
    </message>
    <message>
        <source>Its events were not kept: only the counters are known.</source>
        <translation>События не сохранены: известны только счётчики.</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::Legend</name>
    <message>
        <source>waits</source>
        <translation>ждёт</translation>
    </message>
    <message>
        <source>holds</source>
        <translation>владеет</translation>
    </message>
    <message>
        <source>holds to read</source>
        <translation>владеет, читает</translation>
    </message>
    <message>
        <source>has a part of what it wants</source>
        <translation>получил часть нужного</translation>
    </message>
    <message>
        <source>works without keeping others out</source>
        <translation>работает, никого не блокируя</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>пауза</translation>
    </message>
    <message>
        <source>dies</source>
        <translation>умирает</translation>
    </message>
    <message>
        <source>is woken</source>
        <translation>уведомлён</translation>
    </message>
    <message>
        <source>is woken without getting the lock</source>
        <translation>уведомлён впустую</translation>
    </message>
    <message>
        <source>gives up</source>
        <translation>сдаётся</translation>
    </message>
    <message>
        <source>learns that it lost it</source>
        <translation>узнаёт о потере</translation>
    </message>
    <message>
        <source>writes, with its token</source>
        <translation>пишет со своим токеном</translation>
    </message>
    <message>
        <source>write refused</source>
        <translation>отказ в записи</translation>
    </message>
    <message>
        <source>does something else</source>
        <translation>делает другое</translation>
    </message>
    <message>
        <source>fault</source>
        <translation>сбой</translation>
    </message>
    <message>
        <source>a guarantee is violated</source>
        <translation>гарантия нарушена</translation>
    </message>
    <message>
        <source>request</source>
        <translation>запрос</translation>
    </message>
    <message>
        <source>on its way to the server</source>
        <translation>на пути к серверу</translation>
    </message>
    <message>
        <source>reply</source>
        <translation>ответ</translation>
    </message>
    <message>
        <source>event</source>
        <translation>событие</translation>
    </message>
    <message>
        <source>lost or held back</source>
        <translation>потеряно или задержано</translation>
    </message>
    <message>
        <source>server is down</source>
        <translation>сервер не работает</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::LessonsPage</name>
    <message>
        <source>next step, and back</source>
        <translation>следующий шаг и назад</translation>
    </message>
    <message>
        <source>answer</source>
        <translation>ответить</translation>
    </message>
    <message>
        <source>all lessons</source>
        <translation>все уроки</translation>
    </message>
    <message>
        <source>replay</source>
        <translation>ещё раз</translation>
    </message>
    <message>
        <source>zoom time</source>
        <translation>масштаб времени</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::MustHoldPanel</name>
    <message>
        <source>never two holders</source>
        <translation>нет двух владельцев</translation>
    </message>
    <message>
        <source>Never do more contenders believe that they hold it than the lock permits</source>
        <translation>Владельцами никогда не считают себя больше участников, чем допускает блокировка</translation>
    </message>
    <message>
        <source>no late write</source>
        <translation>нет поздней записи</translation>
    </message>
    <message>
        <source>No client writes to the guarded resource after its turn is over</source>
        <translation>Никто не пишет в охраняемый ресурс, когда его черёд прошёл</translation>
    </message>
    <message>
        <source>first come, first served</source>
        <translation>в порядке очереди</translation>
    </message>
    <message>
        <source>Grants follow the order of the queue, where the recipe promises it</source>
        <translation>Выдачи идут в порядке очереди, если рецепт это обещает</translation>
    </message>
    <message>
        <source>no lost wake-up</source>
        <translation>пробуждения не теряются</translation>
    </message>
    <message>
        <source>Whoever waits gets the lock once nothing goes wrong any more</source>
        <translation>Кто ждёт, получит блокировку, как только сбои прекратятся</translation>
    </message>
    <message>
        <source>nothing left behind</source>
        <translation>ничего не осталось</translation>
    </message>
    <message>
        <source>No node and no key of it is left at the end</source>
        <translation>В конце не остаётся ни узлов блокировки, ни ключей</translation>
    </message>
    <message>
        <source>fencing tokens only grow</source>
        <translation>ограждающие токены растут</translation>
    </message>
    <message>
        <source>A later holder has a larger token</source>
        <translation>У более позднего владельца токен больше</translation>
    </message>
    <message>
        <source>not offered: it has no tokens</source>
        <translation>не обещано: токенов нет</translation>
    </message>
    <message>
        <source>not offered: no client is kept out</source>
        <translation>не обещано: никого не блокирует</translation>
    </message>
    <message>
        <source>not promised</source>
        <translation>не обещано</translation>
    </message>
    <message>
        <source>%1 grants</source>
        <translation>выдач: %1</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>ничего</translation>
    </message>
    <message>
        <source>%1 may stay</source>
        <translation>может остаться: %1</translation>
    </message>
    <message>
        <source>held</source>
        <translation>соблюдено</translation>
    </message>
    <message>
        <source>Guarantees</source>
        <translation>Гарантии</translation>
    </message>
    <message>
        <source>All guarantees…</source>
        <translation>Все гарантии…</translation>
    </message>
    <message>
        <source>Show the guarantees by recipe and fault (H)</source>
        <translation>Что каждый рецепт сохраняет при каждом сбое и почему нет (H)</translation>
    </message>
    <message>
        <source>● until %1</source>
        <translation>● до %1</translation>
    </message>
    <message>
        <source>✕ at %1</source>
        <translation>✕ t = %1</translation>
    </message>
    <message>
        <source>so far</source>
        <translation>пока да</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::PlannedList</name>
    <message>
        <source>Remove</source>
        <translation>Убрать</translation>
    </message>
    <message>
        <source>Remove: %1</source>
        <translation>Убрать: %1</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::Playback</name>
    <message>
        <source>unlimited</source>
        <translation>без предела</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::Player</name>
    <message>
        <source>Progress</source>
        <translation>Прогресс</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Отмена</translation>
    </message>
    <message>
        <source>Playing: %1 of simulated time</source>
        <translation>Прогон: %1 модельного времени</translation>
    </message>
    <message>
        <source>Playing</source>
        <translation>Прогон</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>Чтение</translation>
    </message>
    <message>
        <source>Starting the sandbox: private servers on this machine</source>
        <translation>Запускаем песочницу: свои серверы на этой машине</translation>
    </message>
    <message>
        <source>Connecting to %1</source>
        <translation>Подключение: %1</translation>
    </message>
    <message>
        <source>Nothing was played: %1 (%2)</source>
        <translation>Прогона не было: %1 (%2)</translation>
    </message>
    <message>
        <source>Opening %1 sessions on %2 for %3</source>
        <translation>Открываем сессии (%1) на %2 для %3</translation>
    </message>
    <message>
        <source>Deleting from %1 what the run created</source>
        <translation>Убираем с %1 созданное прогоном</translation>
    </message>
    <message>
        <source>Playing %1 on %2: %3 of %4 grants, %5</source>
        <translation>Прогон %1 на %2: выдач %3 из %4, %5</translation>
    </message>
    <message>
        <source>plays</source>
        <translation>идёт</translation>
    </message>
    <message>
        <source>Ending the run and deleting what it created</source>
        <translation>Завершаем прогон: созданное им убирают</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::RunPanel</name>
    <message>
        <source>the answer comes when it is its turn</source>
        <translation>ответ приходит, когда подойдёт очередь</translation>
    </message>
    <message>
        <source>no client is woken: it asks again</source>
        <translation>никого не уведомляют: спрашивает снова</translation>
    </message>
    <message>
        <source>one wake-up per release</source>
        <translation>одно пробуждение на освобождение</translation>
    </message>
    <message>
        <source>herd: %1 wake-ups per release</source>
        <translation>стадо: пробуждений на освобождение %1</translation>
    </message>
    <message>
        <source>More happened than was kept: the lanes end early, the totals do not.</source>
        <translation>Событий больше, чем сохранено: дорожки обрываются раньше, итоги полные.</translation>
    </message>
    <message>
        <source>Lanes of %1</source>
        <translation>Дорожки: %1</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::ScalingChart</name>
    <message>
        <source>Time</source>
        <translation>Время</translation>
    </message>
    <message>
        <source>Time instead of requests</source>
        <translation>Время вместо запросов</translation>
    </message>
    <message>
        <source>Time to drain the queue, against the number of contenders</source>
        <translation>Время разбора очереди в зависимости от числа участников</translation>
    </message>
    <message>
        <source>Requests to drain the queue, against the number of contenders</source>
        <translation>Запросы на разбор очереди в зависимости от числа участников</translation>
    </message>
    <message>
        <source>%1 · simulated</source>
        <translation>%1 · симуляция</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::ScenarioDialog</name>
    <message>
        <source>Scenario</source>
        <translation>Сценарий</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Отмена</translation>
    </message>
    <message>
        <source>Play it</source>
        <translation>Начать</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Где</translation>
    </message>
    <message>
        <source>Recipe</source>
        <translation>Рецепт</translation>
    </message>
    <message>
        <source>against</source>
        <translation>сравнить с</translation>
    </message>
    <message>
        <source>and against</source>
        <translation>и ещё с</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>ничего</translation>
    </message>
    <message>
        <source>On real servers: one allows some 60 connections from one address; more contenders share sessions</source>
        <translation>На настоящих серверах: сервер допускает около 60 подключений с одного адреса; если участников больше, они делят сессии</translation>
    </message>
    <message>
        <source>all queue first</source>
        <translation>все сразу в очередь</translation>
    </message>
    <message>
        <source>spread over a time</source>
        <translation>в разное время</translation>
    </message>
    <message>
        <source>without limit</source>
        <translation>без предела</translation>
    </message>
    <message>
        <source>Consecutive acquires, each waiting this long and queueing again</source>
        <translation>Попыток подряд: каждая ждёт столько же и встаёт в очередь заново</translation>
    </message>
    <message>
        <source>How often each takes the lock, one inside the other: who is reentrant has it at once</source>
        <translation>Сколько раз каждый берёт блокировку вложенно: реентерабельную получает сразу</translation>
    </message>
    <message>
        <source>one</source>
        <translation>одна</translation>
    </message>
    <message>
        <source>two, same order</source>
        <translation>две, один порядок</translation>
    </message>
    <message>
        <source>two, opposite order</source>
        <translation>две, разный порядок</translation>
    </message>
    <message>
        <source>as many as it needs</source>
        <translation>сколько нужно</translation>
    </message>
    <message>
        <source>all but a second</source>
        <translation>всё, кроме секунды</translation>
    </message>
    <message>
        <source>everything</source>
        <translation>всё</translation>
    </message>
    <message>
        <source> µs</source>
        <translation> мкс</translation>
    </message>
    <message>
        <source>At most; the least is two thirds of it</source>
        <translation>Не дольше; наименьшее — две трети этого</translation>
    </message>
    <message>
        <source>What the lock guards refuses older fencing tokens</source>
        <translation>Охраняемый ресурс отвергает старые ограждающие токены</translation>
    </message>
    <message>
        <source>Contenders</source>
        <translation>Участники</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Раунды</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Зерно</translation>
    </message>
    <message>
        <source>They arrive</source>
        <translation>Приходят</translation>
    </message>
    <message>
        <source>within</source>
        <translation>в течение</translation>
    </message>
    <message>
        <source>Hold</source>
        <translation>Держат</translation>
    </message>
    <message>
        <source>Wait at most</source>
        <translation>Ждут не дольше</translation>
    </message>
    <message>
        <source>Tries</source>
        <translation>Попытки</translation>
    </message>
    <message>
        <source>Taken by each</source>
        <translation>Берёт каждый</translation>
    </message>
    <message>
        <source>Lease (TTL)</source>
        <translation>Аренда (TTL)</translation>
    </message>
    <message>
        <source>Session timeout</source>
        <translation>Тайм-аут сессии</translation>
    </message>
    <message>
        <source>Share a process</source>
        <translation>На один процесс</translation>
    </message>
    <message>
        <source>Locks</source>
        <translation>Блокировки</translation>
    </message>
    <message>
        <source>Permits</source>
        <translation>Разрешения</translation>
    </message>
    <message>
        <source>Readers</source>
        <translation>Читатели</translation>
    </message>
    <message>
        <source>Servers</source>
        <translation>Серверы</translation>
    </message>
    <message>
        <source>A restart finds</source>
        <translation>После перезапуска</translation>
    </message>
    <message>
        <source>A message takes</source>
        <translation>Сообщение идёт</translation>
    </message>
    <message>
        <source>Sessions at most</source>
        <translation>Сессий не более</translation>
    </message>
    <message>
        <source>hold</source>
        <translation>держат</translation>
    </message>
    <message>
        <source>lease</source>
        <translation>аренда</translation>
    </message>
    <message>
        <source>session timeout</source>
        <translation>тайм-аут сессии</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>wait at most: %1</source>
        <translation>ждут не дольше: %1</translation>
    </message>
    <message>
        <source>seed: a whole number, not negative</source>
        <translation>зерно: целое неотрицательное число</translation>
    </message>
    <message>
        <source>one for all</source>
        <translation>одна на всех</translation>
    </message>
    <message>
        <source>one each, by an index</source>
        <translation>каждому своя, по индексу</translation>
    </message>
    <message>
        <source>one each, without an index</source>
        <translation>каждому своя, без индекса</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>Строки</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::ServerStrip</name>
    <message>
        <source>What the servers have at the cursor, and what each contender believes</source>
        <translation>Что есть на серверах у курсора и что думает каждый участник</translation>
    </message>
    <message>
        <source>waits</source>
        <translation>ждёт</translation>
    </message>
    <message>
        <source>has one, waits for the other</source>
        <translation>есть одна, ждёт другую</translation>
    </message>
    <message>
        <source>holds to read</source>
        <translation>владеет, читает</translation>
    </message>
    <message>
        <source>holds</source>
        <translation>владеет</translation>
    </message>
    <message>
        <source>works</source>
        <translation>работает</translation>
    </message>
    <message>
        <source>is dead</source>
        <translation>мёртв</translation>
    </message>
    <message>
        <source>paused, believes it %1</source>
        <translation>на паузе, считает, что %1</translation>
    </message>
    <message>
        <source>%1 … (%2)</source>
        <translation>%1 … (%2)</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>They believe</source>
        <translation>Считают</translation>
    </message>
    <message>
        <source>On servers</source>
        <translation>На серверах</translation>
    </message>
    <message>
        <source>On server</source>
        <translation>На сервере</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>и ещё %1</translation>
    </message>
    <message>
        <source>waits for %1</source>
        <translation>ждёт %1</translation>
    </message>
    <message>
        <source>has %1, waits for %2</source>
        <translation>держит %1, ждёт %2</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::SightBar</name>
    <message>
        <source>Overview</source>
        <translation>Обзор</translation>
    </message>
    <message>
        <source>All of the time, and as many contenders as fit, in thin lanes</source>
        <translation>Всё время целиком и столько участников, сколько поместится, тонкими дорожками</translation>
    </message>
    <message>
        <source>Hide what comes</source>
        <translation>Скрыть будущее</translation>
    </message>
    <message>
        <source>What the cursor has not come to yet is not shown: not in the lanes, and not in what is counted or what broke</source>
        <translation>Чего курсор ещё не достиг, того не видно: ни на дорожках, ни в подсчётах, ни среди нарушений</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::SimulatorHeading</name>
    <message>
        <source>Compare ▾</source>
        <translation>Сравнить ▾</translation>
    </message>
    <message>
        <source>Recipes worth seeing beside each other</source>
        <translation>Рецепты, которые стоит увидеть рядом</translation>
    </message>
    <message>
        <source>Scenario…</source>
        <translation>Сценарий…</translation>
    </message>
    <message>
        <source>What is played</source>
        <translation>Что прогоняется</translation>
    </message>
    <message>
        <source>Fork here</source>
        <translation>Ветка отсюда</translation>
    </message>
    <message>
        <source>Play it again, with something going wrong at the cursor (F)</source>
        <translation>Повторить прогон, но со сбоем в точке курсора (F)</translation>
    </message>
    <message>
        <source>Export ▾</source>
        <translation>Экспорт ▾</translation>
    </message>
    <message>
        <source>Pictures, events, results, the recording</source>
        <translation>Картинки, события, результаты, запись</translation>
    </message>
    <message>
        <source>Where it ran. Play the same somewhere else</source>
        <translation>Где шёл прогон. Повторить то же в другом месте</translation>
    </message>
    <message>
        <source>Copy the seed</source>
        <translation>Скопировать зерно</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::SimulatorPage</name>
    <message>
        <source>‹ Back to the lesson</source>
        <translation>‹ Назад к уроку</translation>
    </message>
    <message>
        <source>Nothing played yet</source>
        <translation>Прогонов ещё нет</translation>
    </message>
    <message>
        <source>A scenario plays the real recipes in the simulator, on virtual time, or on real servers. It shows who waits, who is woken and what it costs.</source>
        <translation>Сценарий прогоняет настоящие рецепты в симуляции, в модельном времени, или на настоящих серверах и показывает, кто ждёт, кого будят и чего это стоит.</translation>
    </message>
    <message>
        <source>Scenario…</source>
        <translation>Сценарий…</translation>
    </message>
    <message>
        <source>Play the same on</source>
        <translation>Где повторить то же</translation>
    </message>
    <message>
        <source>Real servers play no faults: fork a run of the simulator</source>
        <translation>На настоящих серверах сбоев не устраивают: ответвите прогон симуляции</translation>
    </message>
    <message>
        <source>Play the same scenario in the simulator</source>
        <translation>Повторить то же в симуляции</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Закрыть</translation>
    </message>
    <message>
        <source>play and pause</source>
        <translation>пуск и пауза</translation>
    </message>
    <message>
        <source>one event back, one on</source>
        <translation>на событие назад, вперёд</translation>
    </message>
    <message>
        <source>to the start, to the end</source>
        <translation>в начало, в конец</translation>
    </message>
    <message>
        <source>faster, slower</source>
        <translation>быстрее, медленнее</translation>
    </message>
    <message>
        <source>fork at the cursor</source>
        <translation>ветка от курсора</translation>
    </message>
    <message>
        <source>choose a contender; a fault for it, or for its message, at the cursor</source>
        <translation>выбрать участника; сбой для него или его сообщения у курсора</translation>
    </message>
    <message>
        <source>guarantees</source>
        <translation>что обещано и что может нарушиться</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::TransportBar</name>
    <message>
        <source>|◀</source>
        <translation>|◀</translation>
    </message>
    <message>
        <source>To the start (Home)</source>
        <translation>В начало (Home)</translation>
    </message>
    <message>
        <source>To the start</source>
        <translation>В начало</translation>
    </message>
    <message>
        <source>◀ step</source>
        <translation>◀ шаг</translation>
    </message>
    <message>
        <source>One event back (←)</source>
        <translation>На событие назад (←)</translation>
    </message>
    <message>
        <source>▶ play</source>
        <translation>▶ пуск</translation>
    </message>
    <message>
        <source>Play and pause (Space)</source>
        <translation>Пуск и пауза (Пробел)</translation>
    </message>
    <message>
        <source>‖ pause</source>
        <translation>‖ пауза</translation>
    </message>
    <message>
        <source>step ▶</source>
        <translation>шаг ▶</translation>
    </message>
    <message>
        <source>One event on (→)</source>
        <translation>На событие вперёд (→)</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Скорость</translation>
    </message>
    <message>
        <source>Simulated time by the clock on the wall (+ and −)</source>
        <translation>Модельное время относительно реального (+ и −)</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Время</translation>
    </message>
    <message>
        <source>t = %1 · event %2 of %3</source>
        <translation>t = %1 · событие %2 из %3</translation>
    </message>
    <message>
        <source>t = %1</source>
        <translation>t = %1</translation>
    </message>
    <message>
        <source>t = %1 · event %2</source>
        <translation>t = %1 · событие %2</translation>
    </message>
</context>
</TS>
