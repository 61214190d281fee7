<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>FaultKind</name>
    <message>
        <source>a client stops for a while (SIGSTOP, garbage collection), shorter or longer than its lease</source>
        <translation>客户端停顿一段时间（SIGSTOP、垃圾回收），比租期短或长</translation>
    </message>
    <message>
        <source>a client dies between two of its requests</source>
        <translation>客户端在两次请求之间崩溃</translation>
    </message>
    <message>
        <source>a request never arrives; the connection breaks</source>
        <translation>请求没有到达，连接断开</translation>
    </message>
    <message>
        <source>a request is done, its reply never arrives; the connection breaks</source>
        <translation>请求已执行，响应没有到达，连接断开</translation>
    </message>
    <message>
        <source>a message is late</source>
        <translation>消息迟到</translation>
    </message>
    <message>
        <source>nothing gets through between a client and the server, one way or both</source>
        <translation>客户端与服务器之间单向或双向不通</translation>
    </message>
    <message>
        <source>the server ends a client&apos;s session</source>
        <translation>服务器结束了客户端的会话</translation>
    </message>
    <message>
        <source>a follower shows an older state than the leader&apos;s</source>
        <translation>跟随者给出的状态比领导者的旧</translation>
    </message>
    <message>
        <source>a wall clock jumps</source>
        <translation>时钟跳变</translation>
    </message>
    <message>
        <source>a client&apos;s clock runs fast or slow</source>
        <translation>客户端的时钟走快或走慢</translation>
    </message>
    <message>
        <source>the server comes back without its data</source>
        <translation>服务器重启后数据丢失</translation>
    </message>
    <message>
        <source>a replica takes over that never saw the last writes</source>
        <translation>接管的副本没见过最后的写入</translation>
    </message>
    <message>
        <source>a published message reaches no client</source>
        <translation>发布的消息没有人收到</translation>
    </message>
    <message>
        <source>the thread that holds the lock dies; what keeps the lease alive does not</source>
        <translation>持锁的线程死亡，续期的却还在</translation>
    </message>
    <message>
        <source>an operator takes the lock away from its holder</source>
        <translation>运维人员从持有者手中收走锁</translation>
    </message>
</context>
<context>
    <name>FaultName</name>
    <message>
        <source>pause</source>
        <translation>停顿</translation>
    </message>
    <message>
        <source>crash</source>
        <translation>崩溃</translation>
    </message>
    <message>
        <source>lose-request</source>
        <translation>请求丢失</translation>
    </message>
    <message>
        <source>lose-reply</source>
        <translation>响应丢失</translation>
    </message>
    <message>
        <source>delay</source>
        <translation>延迟</translation>
    </message>
    <message>
        <source>partition</source>
        <translation>网络分区</translation>
    </message>
    <message>
        <source>expire</source>
        <translation>会话过期</translation>
    </message>
    <message>
        <source>lag</source>
        <translation>落后</translation>
    </message>
    <message>
        <source>clock-jump</source>
        <translation>时钟跳变</translation>
    </message>
    <message>
        <source>drift</source>
        <translation>时钟漂移</translation>
    </message>
    <message>
        <source>restart-empty</source>
        <translation>重启丢数据</translation>
    </message>
    <message>
        <source>failover</source>
        <translation>故障切换</translation>
    </message>
    <message>
        <source>lost-publish</source>
        <translation>发布丢失</translation>
    </message>
    <message>
        <source>dead-thread</source>
        <translation>线程死亡</translation>
    </message>
    <message>
        <source>force-release</source>
        <translation>强制释放</translation>
    </message>
</context>
<context>
    <name>Recipe</name>
    <message>
        <source>etcd mutex</source>
        <translation>etcd 互斥锁</translation>
    </message>
    <message>
        <source>FOR UPDATE</source>
        <translation>FOR UPDATE</translation>
    </message>
    <message>
        <source>Optimistic</source>
        <translation>乐观锁</translation>
    </message>
    <message>
        <source>Advisory</source>
        <translation>咨询锁</translation>
    </message>
    <message>
        <source>FOR UPDATE (PostgreSQL)</source>
        <translation>FOR UPDATE（PostgreSQL）</translation>
    </message>
    <message>
        <source>SKIP LOCKED</source>
        <translation>SKIP LOCKED</translation>
    </message>
    <message>
        <source>Polling</source>
        <translation>轮询</translation>
    </message>
    <message>
        <source>Quorum of nodes</source>
        <translation>多数派节点</translation>
    </message>
    <message>
        <source>Publish and subscribe</source>
        <translation>发布与订阅</translation>
    </message>
    <message>
        <source>A fair queue</source>
        <translation>公平队列</translation>
    </message>
    <message>
        <source>One ephemeral node</source>
        <translation>单个临时节点</translation>
    </message>
    <message>
        <source>Watch the children</source>
        <translation>监视子节点列表</translation>
    </message>
    <message>
        <source>Watch the predecessor</source>
        <translation>监视前一个节点</translation>
    </message>
    <message>
        <source>Predecessor, faster hand-off</source>
        <translation>前一个节点，交接更快</translation>
    </message>
    <message>
        <source>Broken: does not check again</source>
        <translation>有误：醒来后不再检查</translation>
    </message>
    <message>
        <source>Broken: takes the timeout for the lock</source>
        <translation>有误：把超时当成得到锁</translation>
    </message>
    <message>
        <source>Broken: does not watch its own node</source>
        <translation>有误：不监视自己的节点</translation>
    </message>
    <message>
        <source>Broken: looks without sync</source>
        <translation>有误：检查前不做 sync</translation>
    </message>
    <message>
        <source>Broken: a persistent node</source>
        <translation>有误：节点是持久的</translation>
    </message>
    <message>
        <source>Broken: DEL without comparing</source>
        <translation>有误：不比较就 DEL</translation>
    </message>
    <message>
        <source>GET_LOCK</source>
        <translation>GET_LOCK</translation>
    </message>
    <message>
        <source>A row with a time</source>
        <translation>带期限的一行</translation>
    </message>
    <message>
        <source>A row as a mark</source>
        <translation>以一行作标记</translation>
    </message>
    <message>
        <source>A flag with a version</source>
        <translation>带版本号的标志</translation>
    </message>
    <message>
        <source>SETNX, then EXPIRE</source>
        <translation>先 SETNX，再 EXPIRE</translation>
    </message>
    <message>
        <source>A time in the value</source>
        <translation>值里写着期限</translation>
    </message>
    <message>
        <source>Readers and writers watch the children</source>
        <translation>读者写者监视子节点列表</translation>
    </message>
    <message>
        <source>Readers and writers watch one node</source>
        <translation>读者写者只监视一个节点</translation>
    </message>
</context>
<context>
    <name>ServerState</name>
    <message>
        <source>children watched by %1</source>
        <translation>子节点列表被 %1 监视</translation>
    </message>
    <message>
        <source>watched by %1</source>
        <translation>被 %1 监视</translation>
    </message>
    <message>
        <source>locked by %1</source>
        <translation>被 %1 锁住</translation>
    </message>
    <message>
        <source>created at %1</source>
        <translation>创建于 %1</translation>
    </message>
    <message>
        <source>lease %1 of %2</source>
        <translation>租约 %1（%2）</translation>
    </message>
    <message>
        <source>lease %1</source>
        <translation>租约 %1</translation>
    </message>
    <message>
        <source>version %1</source>
        <translation>版本 %1</translation>
    </message>
    <message>
        <source>queue: %1</source>
        <translation>队列：%1</translation>
    </message>
    <message>
        <source>by %1</source>
        <translation>持有者 %1</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>属于 %1</translation>
    </message>
    <message>
        <source>free</source>
        <translation>空闲</translation>
    </message>
</context>
<context>
    <name>ServerStrip</name>
    <message>
        <source>They believe</source>
        <translation>各自以为</translation>
    </message>
    <message>
        <source>On servers</source>
        <translation>服务器上</translation>
    </message>
    <message>
        <source>On server</source>
        <translation>服务器上</translation>
    </message>
    <message>
        <source>its time is over</source>
        <translation>已到期</translation>
    </message>
    <message>
        <source>%1 s left</source>
        <translation>剩余 %1 秒</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>空</translation>
    </message>
    <message>
        <source>down</source>
        <translation>停机</translation>
    </message>
    <message>
        <source>s%1</source>
        <translation>s%1</translation>
    </message>
    <message>
        <source>held by %1</source>
        <translation>由 %1 持有</translation>
    </message>
    <message>
        <source>held by %1; waiting: %2</source>
        <translation>由 %1 持有；等待：%2</translation>
    </message>
    <message>
        <source>a cycle: %1 holds A and waits for B; %2 holds B and waits for A</source>
        <translation>循环等待：%1 持有 A 等待 B；%2 持有 B 等待 A</translation>
    </message>
    <message>
        <source>%1’s</source>
        <translation>%1 的</translation>
    </message>
    <message>
        <source>not kept beyond %1</source>
        <translation>%1 之后未保留</translation>
    </message>
</context>
<context>
    <name>Simulator</name>
    <message>
        <source>a majority of them</source>
        <translation>其中多数</translation>
    </message>
    <message>
        <source>Undo: %1</source>
        <translation>撤销：%1</translation>
    </message>
    <message>
        <source>choose a recipe</source>
        <translation>请选择锁算法</translation>
    </message>
    <message>
        <source>the simulator</source>
        <translation>模拟世界</translation>
    </message>
    <message>
        <source>the sandbox</source>
        <translation>沙箱</translation>
    </message>
    <message>
        <source>Herd against predecessor</source>
        <translation>羊群效应对比监视前一个节点</translation>
    </message>
    <message>
        <source>Polling against publish against a fair queue</source>
        <translation>轮询、发布、公平队列三者对比</translation>
    </message>
    <message>
        <source>Optimistic against FOR UPDATE</source>
        <translation>乐观锁对比 FOR UPDATE</translation>
    </message>
    <message>
        <source>One run: watch the predecessor</source>
        <translation>单独运行：监视前一个节点</translation>
    </message>
    <message>
        <source>Redlock on five servers</source>
        <translation>Redlock：五台服务器</translation>
    </message>
    <message>
        <source>Redlock on three of five servers</source>
        <translation>Redlock：五台服务器中得到三台</translation>
    </message>
    <message>
        <source>production: nothing is ever simulated there</source>
        <translation>生产环境：绝不在那里模拟</translation>
    </message>
    <message>
        <source>read-only for this run: contenders write</source>
        <translation>程序本次启动为只读：竞争者需要写入</translation>
    </message>
    <message>
        <source>read-only: contenders write; allow writes on it first</source>
        <translation>只读：竞争者需要写入，请先允许写入</translation>
    </message>
    <message>
        <source>not connected</source>
        <translation>未连接</translation>
    </message>
    <message>
        <source>the sandbox has no connected %1; choose another recipe or the simulator</source>
        <translation>沙箱里没有已连接的 %1；请选择别的锁算法，或模拟世界</translation>
    </message>
    <message>
        <source>the sandbox is read-only for this run: contenders write</source>
        <translation>程序本次启动中沙箱为只读：竞争者需要写入</translation>
    </message>
    <message>
        <source>%1 is not open any more</source>
        <translation>%1 已不再打开</translation>
    </message>
    <message>
        <source>nothing is played on %1: %2</source>
        <translation>不能在 %1 上运行：%2</translation>
    </message>
    <message>
        <source>%1 is a lock on %2, which %3 is not</source>
        <translation>%1 是 %2 上的锁，而 %3 是另一种服务</translation>
    </message>
    <message>
        <source>Simulator</source>
        <translation>模拟世界</translation>
    </message>
    <message>
        <source>Sandbox (starts private servers)</source>
        <translation>沙箱（启动私有服务器）</translation>
    </message>
    <message>
        <source>Sandbox</source>
        <translation>沙箱</translation>
    </message>
    <message>
        <source>%1</source>
        <translation>%1</translation>
    </message>
    <message>
        <source>half its lease: %1</source>
        <translation>租期的一半：%1</translation>
    </message>
    <message>
        <source>twice its lease: %1</source>
        <translation>租期的两倍：%1</translation>
    </message>
    <message>
        <source>Jump a clock by twice the lease: %1</source>
        <translation>时钟跳变两倍租期：%1</translation>
    </message>
    <message>
        <source>%1, back</source>
        <translation>%1，拨慢</translation>
    </message>
    <message>
        <source>%1, forward</source>
        <translation>%1，拨快</translation>
    </message>
    <message>
        <source>server s%1</source>
        <translation>服务器 s%1</translation>
    </message>
    <message>
        <source>the server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation>%2 时 %1</translation>
    </message>
    <message>
        <source>Pause for</source>
        <translation>停顿时长</translation>
    </message>
    <message>
        <source>Cut off for</source>
        <translation>断网时长</translation>
    </message>
    <message>
        <source>The server at %1</source>
        <translation>%1 时的服务器</translation>
    </message>
    <message>
        <source>its notification</source>
        <translation>收到的通知</translation>
    </message>
    <message>
        <source>%1: %2 at %3</source>
        <translation>%3 时 %1：%2</translation>
    </message>
    <message>
        <source>Lose this request</source>
        <translation>丢失这个请求</translation>
    </message>
    <message>
        <source>Lose the reply to it</source>
        <translation>丢失对它的响应</translation>
    </message>
    <message>
        <source>Delay it</source>
        <translation>延迟它</translation>
    </message>
    <message>
        <source>Crash with it: sent or not, the seed decides</source>
        <translation>随它一起崩溃：发出与否由种子决定</translation>
    </message>
    <message>
        <source>Pause %1 just before it hears of this</source>
        <translation>在 %1 得知此事的前一刻使它停顿</translation>
    </message>
    <message>
        <source>Cut %1 off just before</source>
        <translation>在此前一刻使 %1 断网</translation>
    </message>
    <message>
        <source>Expire its session just before</source>
        <translation>在此前一刻使它的会话过期</translation>
    </message>
    <message>
        <source>server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>s%1</source>
        <translation>s%1</translation>
    </message>
    <message>
        <source>Fault: %1</source>
        <translation>故障：%1</translation>
    </message>
    <message>
        <source>Fault that befalls %1: %2</source>
        <translation>%1 遭遇故障：%2</translation>
    </message>
    <message>
        <source>%1 asks for the lock.</source>
        <translation>%1 请求锁。</translation>
    </message>
    <message>
        <source>%1 sends %2.</source>
        <translation>%1 发出 %2。</translation>
    </message>
    <message>
        <source>%1 sends %2 %3.</source>
        <translation>%1 发出 %2 %3。</translation>
    </message>
    <message>
        <source>%1 gets its answer.</source>
        <translation>%1 得到响应。</translation>
    </message>
    <message>
        <source>%1 gets its answer: %2.</source>
        <translation>%1 得到响应：%2。</translation>
    </message>
    <message>
        <source>%1 is woken by a watch, wasted: it is not its turn.</source>
        <translation>%1 白白收到监视器的通知：还没轮到它。</translation>
    </message>
    <message>
        <source>%1 is woken by its watch.</source>
        <translation>%1 收到监视器的通知。</translation>
    </message>
    <message>
        <source>%1 is woken by a publish, wasted: another client was quicker.</source>
        <translation>%1 白白收到发布的通知：别人更快。</translation>
    </message>
    <message>
        <source>%1 is woken by a publish.</source>
        <translation>%1 收到发布的通知。</translation>
    </message>
    <message>
        <source>%1 holds the lock, with fencing token %2.</source>
        <translation>%1 持有锁，隔离令牌（fencing token）为 %2。</translation>
    </message>
    <message>
        <source>%1 holds the lock.</source>
        <translation>%1 持有锁。</translation>
    </message>
    <message>
        <source>%1 released the lock.</source>
        <translation>%1 释放了锁。</translation>
    </message>
    <message>
        <source>%1 learns that it lost the lock.</source>
        <translation>%1 得知自己失去了锁。</translation>
    </message>
    <message>
        <source>%1 gives up waiting.</source>
        <translation>%1 放弃等待。</translation>
    </message>
    <message>
        <source>%1 gives up waiting: %2.</source>
        <translation>%1 放弃等待：%2。</translation>
    </message>
    <message>
        <source>%1 writes to what the lock guards, with token %2: %3.</source>
        <translation>%1 带令牌 %2 写入受锁保护的资源：%3。</translation>
    </message>
    <message>
        <source>%1 writes to what the lock guards: %2.</source>
        <translation>%1 写入受锁保护的资源：%2。</translation>
    </message>
    <message>
        <source>%1 is paused: it hears nothing, and does not know that time passes.</source>
        <translation>%1 停顿：什么也听不到，也不知道时间在流逝。</translation>
    </message>
    <message>
        <source>%1 goes on where it was paused, believing what it believed.</source>
        <translation>%1 从停顿处继续，所想的仍和停顿前一样。</translation>
    </message>
    <message>
        <source>%1 dies.</source>
        <translation>%1 崩溃。</translation>
    </message>
    <message>
        <source>%1 is back.</source>
        <translation>%1 回来了。</translation>
    </message>
    <message>
        <source>%1 has %2, and goes on.</source>
        <translation>%1 得到 %2，继续。</translation>
    </message>
    <message>
        <source>%1: %2. The answer: %3.</source>
        <translation>%1：%2。响应：%3。</translation>
    </message>
    <message>
        <source>%1 died</source>
        <translation>%1 崩溃了</translation>
    </message>
    <message>
        <source>%1 lost the lock</source>
        <translation>%1 失去了锁</translation>
    </message>
    <message>
        <source>%1 released</source>
        <translation>%1 释放了锁</translation>
    </message>
    <message>
        <source>A guarantee is violated: %1</source>
        <translation>保证被破坏：%1</translation>
    </message>
    <message>
        <source>The server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>An operator: %1.</source>
        <translation>运维人员：%1。</translation>
    </message>
    <message>
        <source>%1; one is woken, and only that one</source>
        <translation>%1；一个收到通知，也只有这一个</translation>
    </message>
    <message>
        <source>%1; one is woken, wasted</source>
        <translation>%1；一个白白收到通知</translation>
    </message>
    <message>
        <source>%1; %2 are woken, %3 of them wasted</source>
        <translation>%1；%2 个收到通知，其中 %3 个是白白收到</translation>
    </message>
    <message>
        <source>%1; %2 are woken</source>
        <translation>%1；%2 个收到通知</translation>
    </message>
    <message>
        <source>%1; %2 holds now</source>
        <translation>%1；现在 %2 持有锁</translation>
    </message>
    <message>
        <source>%1 (run %2)</source>
        <translation>%1（运行 %2）</translation>
    </message>
    <message>
        <source>Nothing has happened yet. Space plays, → steps to the first event.</source>
        <translation>还什么都没有发生。按空格键播放，按 → 走到第一个事件。</translation>
    </message>
    <message>
        <source>All is over after %1.</source>
        <translation>%1后全部结束。</translation>
    </message>
    <message>
        <source>no wasted wake-up</source>
        <translation>没有徒劳的唤醒</translation>
    </message>
    <message>
        <source>%1 wasted wake-ups</source>
        <translation>%1 次徒劳的唤醒</translation>
    </message>
    <message>
        <source>%1 requests and %2</source>
        <translation>%1 个请求，%2</translation>
    </message>
    <message>
        <source>It took %1.</source>
        <translation>总共用了 %1。</translation>
    </message>
    <message>
        <source>the animation cannot be made: %1</source>
        <translation>无法生成动画：%1</translation>
    </message>
    <message>
        <source>no memory for a picture of that size</source>
        <translation>内存不足，无法生成这么大的图片</translation>
    </message>
    <message>
        <source>simulated, seed %1</source>
        <translation>模拟，种子 %1</translation>
    </message>
    <message>
        <source>played on %1</source>
        <translation>运行于 %1</translation>
    </message>
    <message>
        <source>the picture cannot be made</source>
        <translation>无法生成图片</translation>
    </message>
    <message>
        <source>Lockscope: contenders of a lock</source>
        <translation>Lockscope：一把锁的竞争者</translation>
    </message>
    <message>
        <source> and </source>
        <translation> 和 </translation>
    </message>
    <message>
        <source>played on %1 of the sandbox</source>
        <translation>运行于沙箱的 %1</translation>
    </message>
    <message>
        <source>simulator</source>
        <translation>模拟世界</translation>
    </message>
    <message>
        <source>simulator and %1</source>
        <translation>模拟世界，也%1</translation>
    </message>
    <message>
        <source>all queue first</source>
        <translation>全部先排好队</translation>
    </message>
    <message>
        <source>arrive within %1</source>
        <translation>%1 内到达</translation>
    </message>
    <message>
        <source>1 contender</source>
        <translation>1 个竞争者</translation>
    </message>
    <message>
        <source>%1 contenders</source>
        <translation>%1 个竞争者</translation>
    </message>
    <message>
        <source>%1 permits</source>
        <translation>%1 个许可</translation>
    </message>
    <message>
        <source>one lock</source>
        <translation>一把锁</translation>
    </message>
    <message>
        <source>%1, %2, %3 rounds</source>
        <translation>%1，%2，%3 轮</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>real time</source>
        <translation>真实时间</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>种子 %1</translation>
    </message>
    <message>
        <source>hold %1</source>
        <translation>持有 %1</translation>
    </message>
    <message>
        <source>%1 % readers</source>
        <translation>读者 %1 %</translation>
    </message>
    <message>
        <source>%1 share a process</source>
        <translation>每 %1 个共用一个进程</translation>
    </message>
    <message>
        <source>no faults</source>
        <translation>无故障</translation>
    </message>
    <message>
        <source>faults: %1</source>
        <translation>故障：%1</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>停顿</translation>
    </message>
    <message>
        <source>Crash</source>
        <translation>崩溃</translation>
    </message>
    <message>
        <source>Lose its next request</source>
        <translation>丢失它的下一个请求</translation>
    </message>
    <message>
        <source>Lose its next reply</source>
        <translation>丢失给它的下一个响应</translation>
    </message>
    <message>
        <source>Delay its messages</source>
        <translation>延迟它的消息</translation>
    </message>
    <message>
        <source>Cut it off</source>
        <translation>使它断网</translation>
    </message>
    <message>
        <source>Expire its session</source>
        <translation>使它的会话过期</translation>
    </message>
    <message>
        <source>Let the follower lag</source>
        <translation>让跟随者落后</translation>
    </message>
    <message>
        <source>Let its clock jump</source>
        <translation>让它的时钟跳变</translation>
    </message>
    <message>
        <source>Let its clock drift</source>
        <translation>让它的时钟漂移</translation>
    </message>
    <message>
        <source>Restart the server, empty</source>
        <translation>重启服务器，数据全无</translation>
    </message>
    <message>
        <source>Fail over, losing the last writes</source>
        <translation>故障切换，丢失最后的写入</translation>
    </message>
    <message>
        <source>Lose the next publish</source>
        <translation>丢失下一条发布</translation>
    </message>
    <message>
        <source>Kill its thread, not its watchdog</source>
        <translation>杀死它的线程，看门狗照常</translation>
    </message>
    <message>
        <source>Force-release what it holds</source>
        <translation>强制释放它持有的锁</translation>
    </message>
    <message>
        <source>%1 of server %2 at %3</source>
        <translation>%3 时服务器 %2 %1</translation>
    </message>
    <message>
        <source>%1 %2 at %3</source>
        <translation>%3 时 %2 %1</translation>
    </message>
    <message>
        <source>%1 requests, and no release</source>
        <translation>%1 个请求，没有人释放</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 B</source>
        <translation>%1 B</translation>
    </message>
    <message>
        <source>%1 KiB</source>
        <translation>%1 KiB</translation>
    </message>
    <message>
        <source>%1 MiB</source>
        <translation>%1 MiB</translation>
    </message>
    <message>
        <source>%1 m %2 s</source>
        <translation>%1 分 %2 秒</translation>
    </message>
    <message>
        <source>%1 h %2 m</source>
        <translation>%1 小时 %2 分</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 毫秒</translation>
    </message>
    <message>
        <source>%1 µs</source>
        <translation>%1 微秒</translation>
    </message>
    <message>
        <source>%1: %2.</source>
        <comment>a run, a sentence</comment>
        <translation>%1：%2。</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>a run, whole sentences</comment>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>%1.</source>
        <comment>a sentence</comment>
        <translation>%1。</translation>
    </message>
    <message>
        <source>%1 · %2 · contenders: %3 · requests: %4 · watch events: %5 · wasted: %6 · wait p99 %7</source>
        <translation>%1 · %2 · 竞争者 %3 个 · 请求 %4 个 · 监视事件 %5 个 · 徒劳 %6 次 · 等待 p99 %7</translation>
    </message>
    <message>
        <source>, </source>
        <comment>between the parts of what a server has</comment>
        <translation>，</translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation>%1 以及另外 %2 条</translation>
    </message>
    <message>
        <source>typed: %1</source>
        <translation>输入：%1</translation>
    </message>
    <message>
        <source>%1 … %2 of %3</source>
        <translation>%1 … %2，共 %3 个</translation>
    </message>
    <message>
        <source>%1 holds</source>
        <translation>%1 持有</translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation>另有 %1 个</translation>
    </message>
</context>
<context>
    <name>Told</name>
    <message>
        <source>%1 was paused</source>
        <translation>%1 停顿</translation>
    </message>
    <message>
        <source>%1 died</source>
        <translation>%1 崩溃</translation>
    </message>
    <message>
        <source>%1 sent a request that was lost</source>
        <translation>%1 的请求丢失</translation>
    </message>
    <message>
        <source>%1 was answered, and the reply was lost</source>
        <translation>给 %1 的响应丢失</translation>
    </message>
    <message>
        <source>%1 sent a message that came late</source>
        <translation>%1 的消息迟到</translation>
    </message>
    <message>
        <source>%1 was cut off</source>
        <translation>%1 与服务器断开</translation>
    </message>
    <message>
        <source>%1 lost its session: the server ended it</source>
        <translation>%1 的会话被服务器结束</translation>
    </message>
    <message>
        <source>a follower lagged behind</source>
        <translation>跟随者落后</translation>
    </message>
    <message>
        <source>a server&apos;s clock jumped</source>
        <translation>服务器的时钟跳变</translation>
    </message>
    <message>
        <source>the clock of %1 jumped</source>
        <translation>%1 的时钟跳变</translation>
    </message>
    <message>
        <source>%1 had a clock that went wrong</source>
        <translation>%1 的时钟走得不准</translation>
    </message>
    <message>
        <source>the server came back without its data</source>
        <translation>服务器重启后数据丢失</translation>
    </message>
    <message>
        <source>a replica took over that had not seen the last writes</source>
        <translation>一个没有收到最后几次写入的副本接管</translation>
    </message>
    <message>
        <source>a published message reached no client</source>
        <translation>发布的消息没有人收到</translation>
    </message>
    <message>
        <source>%1 lost its thread, but not its process</source>
        <translation>%1 的线程死亡，进程还在</translation>
    </message>
    <message>
        <source>all believe they hold it: %1</source>
        <translation>都以为自己持有锁：%1</translation>
    </message>
    <message>
        <source>its fencing token %1 is not above %2</source>
        <translation>它的隔离令牌 %1 不大于 %2</translation>
    </message>
    <message>
        <source>number %1 was granted after number %2</source>
        <translation>序号 %1 在序号 %2 之后得到锁</translation>
    </message>
    <message>
        <source>a write of a former holder was accepted after one of its successor</source>
        <translation>前一个持有者的写入在后一个的写入之后被接受</translation>
    </message>
    <message>
        <source>a second write was accepted as the successor of version %1</source>
        <translation>版本 %1 之后又接受了第二次写入</translation>
    </message>
    <message>
        <source>still holds: its process is alive, but the thread that would release it has ended</source>
        <translation>仍然持有：进程还在，而本该释放锁的线程没了</translation>
    </message>
    <message>
        <source>still waits: the holder&apos;s process keeps the lock, but the thread that would release it has ended</source>
        <translation>仍在等待：持有者的进程占着锁，而本该释放它的线程没了</translation>
    </message>
    <message>
        <source>still holds, long after everything was well again</source>
        <translation>故障早已过去，仍然持有</translation>
    </message>
    <message>
        <source>still waits, long after everything was well again</source>
        <translation>故障早已过去，仍在等待</translation>
    </message>
    <message>
        <source>left behind: %1 and %2 more</source>
        <translation>遗留：%1 及另外 %2 个</translation>
    </message>
    <message>
        <source>left behind: %1</source>
        <translation>遗留：%1</translation>
    </message>
    <message>
        <source>; </source>
        <comment>between the parts of a sentence</comment>
        <translation>；</translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation>%2：%1</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>, for %1</source>
        <translation>，持续 %1</translation>
    </message>
    <message>
        <source>its lease ended on the server</source>
        <translation>服务器上的租期已到</translation>
    </message>
    <message>
        <source>its lock no longer existed on the server</source>
        <translation>服务器上它的锁没了</translation>
    </message>
    <message>
        <source>%1 got the lock</source>
        <translation>%1 得到锁</translation>
    </message>
    <message>
        <source>and %1 did not know that it had lost it</source>
        <translation>而 %1 不知道自己已失去锁</translation>
    </message>
    <message>
        <source>at %1 %2 woke and wrote</source>
        <translation>%1：%2 醒来并写入</translation>
    </message>
    <message>
        <source>%1 wrote</source>
        <translation>%1 写入</translation>
    </message>
    <message>
        <source>%1 was the last to get the lock</source>
        <translation>最后得到锁的是 %1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>%1 made %2</source>
        <translation>%1 创建了 %2</translation>
    </message>
    <message>
        <source>it has no TTL, and no other client may delete it</source>
        <translation>它没有生存时间，别人也不该删除它</translation>
    </message>
    <message>
        <source> (for %1 ms)</source>
        <translation>（已 %1 毫秒）</translation>
    </message>
    <message>
        <source>an operator force-released the lock</source>
        <translation>运维人员强制释放了锁</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::CounterTiles</name>
    <message>
        <source>requests</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>wake-ups</source>
        <translation>唤醒</translation>
    </message>
    <message>
        <source>wasted wake-ups</source>
        <translation>徒劳的通知</translation>
    </message>
    <message>
        <source>wait p99</source>
        <translation>等待 p99</translation>
    </message>
    <message>
        <source>Sent from the first release on</source>
        <translation>自第一次释放起发出的请求</translation>
    </message>
    <message>
        <source>Of watches, or messages of a publish, from the first release on</source>
        <translation>自第一次释放起，来自监视器或发布的通知</translation>
    </message>
    <message>
        <source>Woken, and yet not its turn</source>
        <translation>被唤醒，却还没轮到</translation>
    </message>
    <message>
        <source>above: from the first release on · since the start: %1 requests, %2 wake-ups, %3 wasted</source>
        <translation>上方：自第一次释放起 · 从头算起：%1 个请求，%2 次通知，%3 次徒劳</translation>
    </message>
    <message>
        <source>wait p50 %1, longest %2</source>
        <translation>等待 p50 %1，最长 %2</translation>
    </message>
    <message numerus="yes">
        <source>%n gave up</source>
        <translation>
            <numerusform>%n 个放弃</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 requests while waiting</source>
        <translation>等待期间 %1 个请求</translation>
    </message>
    <message>
        <source>fairness %1</source>
        <translation>公平度 %1</translation>
    </message>
    <message>
        <source>%1 · whole run: %2</source>
        <translation>%1 · 整个运行：%2</translation>
    </message>
    <message>
        <source>99 of 100 waits so far are not longer, those that go on included</source>
        <translation>到目前为止，100 次等待中有 99 次不超过此值；仍在等待的也算在内</translation>
    </message>
    <message>
        <source>Bytes: total network traffic. Wait: from a contender&apos;s first attempt until it gets the lock or gives up. Fairness: share of overlapping waits that were served in arrival order; 1 for a queue.</source>
        <translation>所有链路上的字节数。等待从竞争者第一次尝试算起，到得到锁或彻底放弃为止。公平度：在一方到来时另一方已在等待的所有配对中，后来者没有先得到服务的比例。队列为 1。</translation>
    </message>
    <message>
        <source>since the start: %1 requests, %2 wake-ups, %3 wasted</source>
        <translation>从头算起：%1 个请求，%2 次通知，%3 次徒劳</translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>never</source>
        <translation>从未</translation>
    </message>
    <message>
        <source>all requests</source>
        <translation>全部请求</translation>
    </message>
    <message>
        <source>Sent since the start</source>
        <translation>从头算起发出的请求</translation>
    </message>
    <message>
        <source>all events</source>
        <translation>全部事件</translation>
    </message>
    <message>
        <source>Of watches, or messages of a publish, since the start</source>
        <translation>从头算起，来自监视器或发布的通知</translation>
    </message>
    <message>
        <source>grants</source>
        <translation>授予</translation>
    </message>
    <message>
        <source>How often a client got the lock</source>
        <translation>有人得到锁的次数</translation>
    </message>
    <message>
        <source>gave up</source>
        <translation>放弃</translation>
    </message>
    <message>
        <source>Who waited, got nothing, and does not try again</source>
        <translation>等了、没得到、也不再尝试的</translation>
    </message>
    <message>
        <source>two at once</source>
        <translation>两个同时持有</translation>
    </message>
    <message>
        <source>How long, at the longest, more believed to hold it than may</source>
        <translation>以为自己持有锁的多于锁所允许的数量，最长持续多久</translation>
    </message>
    <message>
        <source>violations</source>
        <translation>违规</translation>
    </message>
    <message>
        <source>How often a guarantee was violated</source>
        <translation>保证被破坏了几次</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::ExportMenu</name>
    <message>
        <source>Picture (PNG)</source>
        <translation>图片（PNG）</translation>
    </message>
    <message>
        <source>Picture (SVG)</source>
        <translation>图片（SVG）</translation>
    </message>
    <message>
        <source>Animation (PNG)</source>
        <translation>动画（PNG）</translation>
    </message>
    <message>
        <source>Events (CSV)</source>
        <translation>事件（CSV）</translation>
    </message>
    <message>
        <source>Results (JSON)</source>
        <translation>结果（JSON）</translation>
    </message>
    <message>
        <source>Recording</source>
        <translation>运行记录</translation>
    </message>
    <message>
        <source>Open recordings…</source>
        <translation>打开运行记录…</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Open recordings</source>
        <translation>打开运行记录</translation>
    </message>
    <message>
        <source>Recordings (*.lockscope)</source>
        <translation>运行记录 (*.lockscope)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Saved %1</source>
        <translation>已保存 %1</translation>
    </message>
    <message>
        <source>%1 was not saved: %2</source>
        <translation>%1 未保存：%2</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::FaultChoice</name>
    <message>
        <source>PLANNED FOR CERTAIN MOMENTS OF THE RUN</source>
        <translation>在指定时刻发生</translation>
    </message>
    <message>
        <source>Cannot happen to these recipes</source>
        <translation>这些锁算法不会遇到</translation>
    </message>
    <message>
        <source>Simulator only: real servers play no faults</source>
        <translation>仅用于模拟世界：真实服务器上不破坏任何东西</translation>
    </message>
    <message>
        <source>WHAT GOES WRONG: NOTHING, ON REAL SERVERS</source>
        <translation>出什么故障：真实服务器上没有</translation>
    </message>
    <message>
        <source>WHAT GOES WRONG, AT LEAST ONCE IN EACH ROUND</source>
        <translation>出什么故障（每轮至少一次）</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::KeyBar</name>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>end the presentation</source>
        <translation>结束演示</translation>
    </message>
    <message>
        <source>hide this line</source>
        <translation>隐藏这一行</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::LanesView</name>
    <message>
        <source>Lanes of the contenders</source>
        <translation>竞争者的泳道</translation>
    </message>
    <message>
        <source>server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Its events were not kept: only the counters are known.</source>
        <translation>没有保留它的事件：只有计数。</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::Legend</name>
    <message>
        <source>waits</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>holds</source>
        <translation>持有</translation>
    </message>
    <message>
        <source>holds to read</source>
        <translation>持有（读）</translation>
    </message>
    <message>
        <source>has a part of what it wants</source>
        <translation>只得到所需的一部分</translation>
    </message>
    <message>
        <source>works without keeping others out</source>
        <translation>工作中，不阻挡任何人</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>停顿中</translation>
    </message>
    <message>
        <source>dies</source>
        <translation>崩溃</translation>
    </message>
    <message>
        <source>is woken</source>
        <translation>唤醒</translation>
    </message>
    <message>
        <source>is woken without getting the lock</source>
        <translation>白白收到通知</translation>
    </message>
    <message>
        <source>gives up</source>
        <translation>放弃</translation>
    </message>
    <message>
        <source>learns that it lost it</source>
        <translation>得知失去了锁</translation>
    </message>
    <message>
        <source>writes, with its token</source>
        <translation>带令牌写入</translation>
    </message>
    <message>
        <source>write refused</source>
        <translation>写入被拒绝</translation>
    </message>
    <message>
        <source>does something else</source>
        <translation>做别的事</translation>
    </message>
    <message>
        <source>fault</source>
        <translation>故障</translation>
    </message>
    <message>
        <source>a guarantee is violated</source>
        <translation>保证被破坏</translation>
    </message>
    <message>
        <source>request</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>on its way to the server</source>
        <translation>发往服务器途中</translation>
    </message>
    <message>
        <source>reply</source>
        <translation>响应</translation>
    </message>
    <message>
        <source>event</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>lost or held back</source>
        <translation>丢失或被拦下</translation>
    </message>
    <message>
        <source>server is down</source>
        <translation>服务器停机</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::LessonsPage</name>
    <message>
        <source>next step, and back</source>
        <translation>下一步，上一步</translation>
    </message>
    <message>
        <source>answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>all lessons</source>
        <translation>全部课程</translation>
    </message>
    <message>
        <source>replay</source>
        <translation>重放</translation>
    </message>
    <message>
        <source>zoom time</source>
        <translation>缩放时间</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::MustHoldPanel</name>
    <message>
        <source>never two holders</source>
        <translation>绝无两个持有者</translation>
    </message>
    <message>
        <source>Never do more contenders believe that they hold it than the lock permits</source>
        <translation>自以为持有锁的竞争者，从不多于锁所允许的数量</translation>
    </message>
    <message>
        <source>no late write</source>
        <translation>没有迟到的写入</translation>
    </message>
    <message>
        <source>No client writes to the guarded resource after its turn is over</source>
        <translation>持有结束之后，谁也不再写入受锁保护的资源</translation>
    </message>
    <message>
        <source>first come, first served</source>
        <translation>先到先得</translation>
    </message>
    <message>
        <source>Grants follow the order of the queue, where the recipe promises it</source>
        <translation>按队列次序授予，前提是锁算法如此承诺</translation>
    </message>
    <message>
        <source>no lost wake-up</source>
        <translation>不丢失唤醒</translation>
    </message>
    <message>
        <source>Whoever waits gets the lock once nothing goes wrong any more</source>
        <translation>不再出故障之后，等待者终会得到锁</translation>
    </message>
    <message>
        <source>nothing left behind</source>
        <translation>没有遗留</translation>
    </message>
    <message>
        <source>No node and no key of it is left at the end</source>
        <translation>结束时，它的节点和键一个不留</translation>
    </message>
    <message>
        <source>fencing tokens only grow</source>
        <translation>隔离令牌只增不减</translation>
    </message>
    <message>
        <source>A later holder has a larger token</source>
        <translation>后来的持有者令牌更大</translation>
    </message>
    <message>
        <source>not offered: it has no tokens</source>
        <translation>不提供：它没有令牌</translation>
    </message>
    <message>
        <source>not offered: no client is kept out</source>
        <translation>不提供：它不阻挡任何人</translation>
    </message>
    <message>
        <source>not promised</source>
        <translation>未承诺</translation>
    </message>
    <message>
        <source>%1 grants</source>
        <translation>授予 %1 次</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>%1 may stay</source>
        <translation>可能遗留 %1 个</translation>
    </message>
    <message>
        <source>held</source>
        <translation>成立</translation>
    </message>
    <message>
        <source>Guarantees</source>
        <translation>保证</translation>
    </message>
    <message>
        <source>All guarantees…</source>
        <translation>全部保证…</translation>
    </message>
    <message>
        <source>Show the guarantees by recipe and fault (H)</source>
        <translation>每种锁算法在每种故障下保证什么，不保证的原因何在（H）</translation>
    </message>
    <message>
        <source>● until %1</source>
        <translation>● 至 %1</translation>
    </message>
    <message>
        <source>✕ at %1</source>
        <translation>✕ 于 %1</translation>
    </message>
    <message>
        <source>so far</source>
        <translation>目前成立</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::PlannedList</name>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove: %1</source>
        <translation>移除：%1</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::Playback</name>
    <message>
        <source>unlimited</source>
        <translation>不限速</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::Player</name>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Playing: %1 of simulated time</source>
        <translation>正在运行：模拟时间 %1</translation>
    </message>
    <message>
        <source>Playing</source>
        <translation>正在运行</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>正在读取</translation>
    </message>
    <message>
        <source>Starting the sandbox: private servers on this machine</source>
        <translation>正在启动沙箱：本机上的私有服务器</translation>
    </message>
    <message>
        <source>Connecting to %1</source>
        <translation>正在连接 %1</translation>
    </message>
    <message>
        <source>Nothing was played: %1 (%2)</source>
        <translation>未能运行：%1（%2）</translation>
    </message>
    <message>
        <source>Opening %1 sessions on %2 for %3</source>
        <translation>正在为 %3 在 %2 上打开 %1 个会话</translation>
    </message>
    <message>
        <source>Deleting from %1 what the run created</source>
        <translation>正在从 %1 清除本次运行创建的内容</translation>
    </message>
    <message>
        <source>Playing %1 on %2: %3 of %4 grants, %5</source>
        <translation>正在 %2 上运行 %1：已授予 %3/%4 次，%5</translation>
    </message>
    <message>
        <source>plays</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>Ending the run and deleting what it created</source>
        <translation>正在结束运行：清除它创建的内容</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::RunPanel</name>
    <message>
        <source>the answer comes when it is its turn</source>
        <translation>轮到时才收到响应</translation>
    </message>
    <message>
        <source>no client is woken: it asks again</source>
        <translation>没有通知：反复询问</translation>
    </message>
    <message>
        <source>one wake-up per release</source>
        <translation>每次释放唤醒一次</translation>
    </message>
    <message>
        <source>herd: %1 wake-ups per release</source>
        <translation>羊群效应：每次释放唤醒 %1 次</translation>
    </message>
    <message>
        <source>More happened than was kept: the lanes end early, the totals do not.</source>
        <translation>发生的事件多于保留的：泳道提前结束，总数不受影响。</translation>
    </message>
    <message>
        <source>Lanes of %1</source>
        <translation>%1 的泳道</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::ScalingChart</name>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Time instead of requests</source>
        <translation>显示时间，而不是请求数</translation>
    </message>
    <message>
        <source>Time to drain the queue, against the number of contenders</source>
        <translation>排空队列所需的时间，随竞争者数量的变化</translation>
    </message>
    <message>
        <source>Requests to drain the queue, against the number of contenders</source>
        <translation>排空队列所需的请求数，随竞争者数量的变化</translation>
    </message>
    <message>
        <source>%1 · simulated</source>
        <translation>%1 · 模拟</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::ScenarioDialog</name>
    <message>
        <source>Scenario</source>
        <translation>场景</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Play it</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>运行位置</translation>
    </message>
    <message>
        <source>Recipe</source>
        <translation>锁算法</translation>
    </message>
    <message>
        <source>against</source>
        <translation>对比</translation>
    </message>
    <message>
        <source>and against</source>
        <translation>再对比</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>On real servers: one allows some 60 connections from one address; more contenders share sessions</source>
        <translation>在真实服务器上：同一地址约允许 60 个连接；竞争者再多就共用会话</translation>
    </message>
    <message>
        <source>all queue first</source>
        <translation>全部先排好队</translation>
    </message>
    <message>
        <source>spread over a time</source>
        <translation>在一段时间内陆续到达</translation>
    </message>
    <message>
        <source>without limit</source>
        <translation>不限</translation>
    </message>
    <message>
        <source>Consecutive acquires, each waiting this long and queueing again</source>
        <translation>连续加锁的次数，每次都等这么久，并重新排队</translation>
    </message>
    <message>
        <source>How often each takes the lock, one inside the other: who is reentrant has it at once</source>
        <translation>每个竞争者加锁几次，一层套一层：可重入的立刻得到</translation>
    </message>
    <message>
        <source>one</source>
        <translation>一把</translation>
    </message>
    <message>
        <source>two, same order</source>
        <translation>两把，顺序相同</translation>
    </message>
    <message>
        <source>two, opposite order</source>
        <translation>两把，顺序相反</translation>
    </message>
    <message>
        <source>as many as it needs</source>
        <translation>按需</translation>
    </message>
    <message>
        <source>all but a second</source>
        <translation>除最后一秒外全部</translation>
    </message>
    <message>
        <source>everything</source>
        <translation>全部</translation>
    </message>
    <message>
        <source> µs</source>
        <translation> 微秒</translation>
    </message>
    <message>
        <source>At most; the least is two thirds of it</source>
        <translation>这是最大值；最小值为它的三分之二</translation>
    </message>
    <message>
        <source>What the lock guards refuses older fencing tokens</source>
        <translation>受锁保护的资源拒绝较旧的隔离令牌（fencing token）</translation>
    </message>
    <message>
        <source>Contenders</source>
        <translation>竞争者数</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>轮数</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>They arrive</source>
        <translation>到达方式</translation>
    </message>
    <message>
        <source>within</source>
        <translation>到达历时</translation>
    </message>
    <message>
        <source>Hold</source>
        <translation>持有时长</translation>
    </message>
    <message>
        <source>Wait at most</source>
        <translation>最多等待</translation>
    </message>
    <message>
        <source>Tries</source>
        <translation>尝试次数</translation>
    </message>
    <message>
        <source>Taken by each</source>
        <translation>每个加锁次数</translation>
    </message>
    <message>
        <source>Lease (TTL)</source>
        <translation>租期（TTL）</translation>
    </message>
    <message>
        <source>Session timeout</source>
        <translation>会话超时</translation>
    </message>
    <message>
        <source>Share a process</source>
        <translation>共用一个进程</translation>
    </message>
    <message>
        <source>Locks</source>
        <translation>锁</translation>
    </message>
    <message>
        <source>Permits</source>
        <translation>许可数</translation>
    </message>
    <message>
        <source>Readers</source>
        <translation>读者比例</translation>
    </message>
    <message>
        <source>Servers</source>
        <translation>服务器数</translation>
    </message>
    <message>
        <source>A restart finds</source>
        <translation>重启后保留</translation>
    </message>
    <message>
        <source>A message takes</source>
        <translation>消息耗时</translation>
    </message>
    <message>
        <source>Sessions at most</source>
        <translation>最多会话数</translation>
    </message>
    <message>
        <source>hold</source>
        <translation>持有时长</translation>
    </message>
    <message>
        <source>lease</source>
        <translation>租期</translation>
    </message>
    <message>
        <source>session timeout</source>
        <translation>会话超时</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>wait at most: %1</source>
        <translation>最多等待：%1</translation>
    </message>
    <message>
        <source>seed: a whole number, not negative</source>
        <translation>种子：须为非负整数</translation>
    </message>
    <message>
        <source>one for all</source>
        <translation>共用一行</translation>
    </message>
    <message>
        <source>one each, by an index</source>
        <translation>每个一行，有索引</translation>
    </message>
    <message>
        <source>one each, without an index</source>
        <translation>每个一行，没有索引</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::ServerStrip</name>
    <message>
        <source>What the servers have at the cursor, and what each contender believes</source>
        <translation>光标处服务器上有什么，各个竞争者以为什么</translation>
    </message>
    <message>
        <source>waits</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>has one, waits for the other</source>
        <translation>已得一把，在等另一把</translation>
    </message>
    <message>
        <source>holds to read</source>
        <translation>持有（读）</translation>
    </message>
    <message>
        <source>holds</source>
        <translation>持有</translation>
    </message>
    <message>
        <source>works</source>
        <translation>工作中</translation>
    </message>
    <message>
        <source>is dead</source>
        <translation>已崩溃</translation>
    </message>
    <message>
        <source>paused, believes it %1</source>
        <translation>停顿中，以为自己%1</translation>
    </message>
    <message>
        <source>%1 … (%2)</source>
        <translation>%1 …（共 %2 个）</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>They believe</source>
        <translation>各自以为</translation>
    </message>
    <message>
        <source>On servers</source>
        <translation>服务器上</translation>
    </message>
    <message>
        <source>On server</source>
        <translation>服务器上</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>另有 %1 项</translation>
    </message>
    <message>
        <source>waits for %1</source>
        <translation>等待 %1</translation>
    </message>
    <message>
        <source>has %1, waits for %2</source>
        <translation>已持有 %1，等待 %2</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::SightBar</name>
    <message>
        <source>Overview</source>
        <translation>总览</translation>
    </message>
    <message>
        <source>All of the time, and as many contenders as fit, in thin lanes</source>
        <translation>用细泳道显示全部时间和尽可能多的竞争者</translation>
    </message>
    <message>
        <source>Hide what comes</source>
        <translation>隐藏未发生的</translation>
    </message>
    <message>
        <source>What the cursor has not come to yet is not shown: not in the lanes, and not in what is counted or what broke</source>
        <translation>光标还没到过的不显示：泳道里没有，计数里没有，被破坏的性质里也没有</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::SimulatorHeading</name>
    <message>
        <source>Compare ▾</source>
        <translation>对比 ▾</translation>
    </message>
    <message>
        <source>Recipes worth seeing beside each other</source>
        <translation>值得并排对比的锁算法</translation>
    </message>
    <message>
        <source>Scenario…</source>
        <translation>场景…</translation>
    </message>
    <message>
        <source>What is played</source>
        <translation>运行什么</translation>
    </message>
    <message>
        <source>Fork here</source>
        <translation>从此处分叉</translation>
    </message>
    <message>
        <source>Play it again, with something going wrong at the cursor (F)</source>
        <translation>重新运行，并在光标处制造一个故障（F）</translation>
    </message>
    <message>
        <source>Export ▾</source>
        <translation>导出 ▾</translation>
    </message>
    <message>
        <source>Pictures, events, results, the recording</source>
        <translation>图片、事件、结果、运行记录</translation>
    </message>
    <message>
        <source>Where it ran. Play the same somewhere else</source>
        <translation>运行位置。可换个位置运行同一场景</translation>
    </message>
    <message>
        <source>Copy the seed</source>
        <translation>复制种子</translation>
    </message>
</context>
<context>
    <name>lockscope::ui::SimulatorPage</name>
    <message>
        <source>‹ Back to the lesson</source>
        <translation>‹ 返回课程</translation>
    </message>
    <message>
        <source>Nothing played yet</source>
        <translation>还没有运行</translation>
    </message>
    <message>
        <source>A scenario plays the real recipes in the simulator, on virtual time, or on real servers. It shows who waits, who is woken and what it costs.</source>
        <translation>场景让真实的锁算法在模拟世界里按虚拟时间运行，或在真实服务器上运行，并显示谁在等待、谁被唤醒、代价多大。</translation>
    </message>
    <message>
        <source>Scenario…</source>
        <translation>场景…</translation>
    </message>
    <message>
        <source>Play the same on</source>
        <translation>在以下位置运行同一场景</translation>
    </message>
    <message>
        <source>Real servers play no faults: fork a run of the simulator</source>
        <translation>真实服务器上不制造故障：请从模拟世界的运行分叉</translation>
    </message>
    <message>
        <source>Play the same scenario in the simulator</source>
        <translation>在模拟世界里运行同一场景</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>play and pause</source>
        <translation>播放与暂停</translation>
    </message>
    <message>
        <source>one event back, one on</source>
        <translation>退一个事件，进一个事件</translation>
    </message>
    <message>
        <source>to the start, to the end</source>
        <translation>到开头，到结尾</translation>
    </message>
    <message>
        <source>faster, slower</source>
        <translation>更快，更慢</translation>
    </message>
    <message>
        <source>fork at the cursor</source>
        <translation>从光标处分叉</translation>
    </message>
    <message>
        <source>choose a contender; a fault for it, or for its message, at the cursor</source>
        <translation>选择竞争者；在光标处给它或它的消息加故障</translation>
    </message>
    <message>
        <source>guarantees</source>
        <translation>哪些成立，哪些会被破坏</translation>
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
        <translation>回到开头（Home）</translation>
    </message>
    <message>
        <source>To the start</source>
        <translation>回到开头</translation>
    </message>
    <message>
        <source>◀ step</source>
        <translation>◀ 单步</translation>
    </message>
    <message>
        <source>One event back (←)</source>
        <translation>后退一个事件（←）</translation>
    </message>
    <message>
        <source>▶ play</source>
        <translation>▶ 播放</translation>
    </message>
    <message>
        <source>Play and pause (Space)</source>
        <translation>播放和暂停（空格键）</translation>
    </message>
    <message>
        <source>‖ pause</source>
        <translation>‖ 暂停</translation>
    </message>
    <message>
        <source>step ▶</source>
        <translation>单步 ▶</translation>
    </message>
    <message>
        <source>One event on (→)</source>
        <translation>前进一个事件（→）</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Simulated time by the clock on the wall (+ and −)</source>
        <translation>模拟时间与实际时间之比（+ 和 −）</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>t = %1 · event %2 of %3</source>
        <translation>t = %1 · 事件 %2 / %3</translation>
    </message>
    <message>
        <source>t = %1</source>
        <translation>t = %1</translation>
    </message>
    <message>
        <source>t = %1 · event %2</source>
        <translation>t = %1 · 事件 %2</translation>
    </message>
</context>
</TS>
