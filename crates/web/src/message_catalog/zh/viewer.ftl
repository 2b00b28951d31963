# Texts of the viewer. Both languages have the same messages; a test compares them.

age-days = { $count } 天前
age-today = 今天

anchor-changed = 之后有改动
anchor-file-gone = 文件已不存在
anchor-fresh = 未改动
anchor-symbol-gone = 符号已不存在

change-added = 新增
change-changed = 修改
change-diff = 查看改动内容
change-index = 索引
change-more = 以及另外 { $count } 个
change-number = 改动 { $number }
change-removed = 移除
change-restore = 恢复此版本
change-sources = 依据
change-undo = 撤销
change-undo-dream = 撤销整个梦
change-undone = 已撤销

changes-none = 还没有改动。
changes-title = 改动

chart-table = 以表格显示

checkpoints-cut-off = 此轮的一个命令被中断，其改动未知。
checkpoints-none = 此会话没有改动文件，或其检查点已过保留期。
checkpoints-not-kept = 内容未保留：过大、二进制或不是文件。
checkpoints-rewind = 会话记录第 { $line } 行的回退
checkpoints-turn = 会话记录第 { $line } 行的一轮

diff-absent = 不存在。
diff-after = 之后
diff-before = 之前
diff-label = 改动的行
diff-none = 没有差异。
diff-too-long = 太长，无法逐行比较。

doctor-file = 文件
doctor-fix = 修复索引
doctor-message = 说明
doctor-more = 另有 { $count } 个未显示；`dormouse memory doctor` 会列出全部。
doctor-ok = 没有发现问题。
doctor-problem = 问题
doctor-title = 体检

done-accepted = 已接受提议。
done-confirmed = 已确认：此记忆今后可以被回忆。
done-fixed = 索引已修复。
done-refused = 已拒绝提议。
done-removed = 已移到回收站，30 天内可以恢复。
done-restored = 已恢复。
done-saved = 已保存。
done-unchanged = 没有改动。
done-undone = 已撤销。

dream-actions = 做了什么，为什么
dream-added = 新增
dream-before-after = 之前与之后
dream-completed = 改进了 { $count } 条记忆
dream-corrected = 更正
dream-failed = 失败：{ $reason }
dream-left-out = 未处理
dream-merged = 合并
dream-no-actions = 没有任何改动。
dream-overtaken = 未执行：期间记忆已被改动
dream-previewed = 将改进 { $count } 条记忆
dream-refusals = 做梦期间被拒绝
dream-refused = 被拒绝：{ $reason }
dream-remove-new = 移除这条记忆
dream-removed = 移除
dream-restore-old = 恢复这条记忆
dream-stopped = 已停止，没有改动
dream-take-back = 撤回此改动
dream-unchanged = 无需改动
dream-undo-hint = 这会一起撤销此梦的所有改动。下面的每个文件也可以单独撤回。
dream-waits = 在收件箱中等待

dreams-hint = 梦会在若干会话之后合并、更正和移除记忆。
dreams-none = 还没有梦。`dormouse dream --now` 会开始一个。
dreams-requests = { $count } 次请求
dreams-sessions = { $count } 个会话
dreams-title = 梦

edit-again = 再次编辑文本
edit-allow-secret = 这不是机密，或我仍要保存
edit-cancel = 取消
edit-changes = 将会改动的内容
edit-conflict = 此记忆在此期间已被改动。
edit-conflict-hint = 您的文本在下方，没有丢失。差异显示的是您的文本与当前记忆的对比；保存会替换它。
edit-findings = 此文本的问题：
edit-hint = 两个 --- 之间是元数据。保存前会先显示将要改动的内容。
edit-label = 记忆文本
edit-line = 第 { $line } 行：
edit-preview = 查看将要改动的内容
edit-refused = 未保存：{ $reason }
edit-save = 保存
edit-secret = 未保存：这看起来是机密（{ $rules }）。
edit-title = 编辑 { $name }

entry-continue = 进入查看器
entry-foreign = 已拒绝
entry-foreign-hint = 查看器只接受来自其自身页面、以本机名称发出的请求。
entry-no-cookie = 未登录
entry-no-cookie-hint = 请打开 `dormouse ui` 打印的地址。该地址只能使用一次；重新运行命令可获得新地址。
entry-used = 此地址已被使用
entry-used-hint = 该地址只能使用一次。如果不是您打开的，请停止查看器并重新启动。
entry-welcome = 正在打开查看器……

error-not-found = 未找到
error-title = 操作未成功

fact-anchors = 涉及的文件
fact-changed = 修改时间
fact-created = 创建时间
fact-file = 文件
fact-sources = 来源
fact-supersedes = 取代
fact-trust = 可信度
fact-type = 类型

figures-all-projects = 所有项目
figures-breaks = 缓存中断
figures-by-model = 按模型
figures-by-task = 按任务
figures-cache-hit = 从缓存读取
figures-cache-tooltip = { $day }：输入 { $tokens } 个令牌，{ $rate } 从缓存读取
figures-cited = 在回答中被引用
figures-corrected = 更正或撤销
figures-cost = 费用
figures-cost-by-day = 每日费用
figures-day = 日期
figures-days = 最近 { $count } 天
figures-helped = 记忆有帮助的次数
figures-helpful = 有帮助（被引用或遵循）
figures-kept-messages = 保留的用户消息
figures-kept-names = 保留的标识符
figures-layers = 上下文层
figures-memory-by-day = 每日记忆
figures-memory-tooltip = { $day }：回忆 { $recalled }，保存 { $written }，更正或撤销 { $corrected }
figures-name = 名称
figures-none = 此期间没有数据。
figures-period = 期间
figures-pollution = 污染率
figures-projects = 项目
figures-put-in = 放入对话
figures-recall = 回忆：放入、引用、有帮助
figures-recall-how = 在每轮结束时计数：留在上下文中的记忆可能在多轮中有帮助。
figures-recall-none = 此期间没有记忆被回忆、引用或遵循。
figures-recalled = 回忆次数
figures-requests = 请求
figures-sessions = 会话
figures-show = 显示
figures-summaries = 摘要
figures-this-project = 此项目
figures-title = 数据
figures-tokens-by-day = 每日输入令牌
figures-written = 保存

filter-age = 时间
filter-age-day = 1 天内
filter-age-month = 30 天内
filter-age-older = 超过 90 天
filter-age-week = 7 天内
filter-all = 全部
filter-anchors = 文件状态
filter-anchors-broken = 已不存在
filter-anchors-changed = 有改动
filter-anchors-fresh = 未改动
filter-anchors-none = 未涉及文件
filter-scope = 范围
filter-state = 状态
filter-trust = 可信度
filter-type = 类型

history-none = 历史中没有此记忆的改动。
history-title = { $name } 的历史

inbox-accept = 接受
inbox-accept-edited = 按编辑后的内容接受
inbox-edit = 接受前编辑
inbox-empty = 没有等待处理的提议。
inbox-hint = 需要您决定的改动提议。
inbox-refuse = 拒绝
inbox-title = 收件箱

match-company = “{ $term }”常与消息中的词一同出现
match-family = “{ $word }”与同词变形“{ $term }”匹配
match-related = “{ $word }”与“{ $term }”相关
match-same = “{ $word }”在记忆中为“{ $term }”
match-typo = “{ $word }”与“{ $term }”拼写相近
match-work = “{ $word }”与当前工作有关

memories-count = { $count } 条记忆
memories-matching = { $all } 条中的 { $count } 条
memories-no-match = 没有匹配的记忆。
memories-none = 还没有记忆。`dormouse memory add` 可保存第一条。
memories-title = 记忆

memory-about = 信息
memory-confirm = 确认
memory-edit = 编辑
memory-history = 历史
memory-problems = 这条记忆的文件有问题：
memory-quarantined = 已隔离：其内容仅来自外部，在您确认之前不会被回忆。
memory-remove = 移到回收站
memory-text = 文本
memory-was-removed = 这条记忆于 { $when } 被 { $author } 移除。30 天内可以恢复。

nav-changes = 改动
nav-doctor = 体检
nav-dreams = 梦
nav-figures = 数据
nav-inbox = 收件箱
nav-label = 页面
nav-memories = 记忆
nav-read-only = 只读
nav-sessions = 会话
nav-skip = 跳到内容
nav-team = 团队

pager-label = 列表分页
pager-next = 下一页
pager-position = 第 { $page } 页，共 { $pages } 页
pager-previous = 上一页

profile-after = 之后的令牌
profile-all-requests = 所有请求
profile-at = 时间
profile-before = 之前的令牌
profile-breaks = 缓存中断
profile-broke = 缓存丢失
profile-cache-unknown = 服务器未报告计数，缓存情况未知。
profile-cached = 从缓存读取
profile-calls = 模型调用
profile-compactions = 压缩
profile-context = 上下文
profile-cost = 费用
profile-cost-with = 使用时费用
profile-cost-without = 不使用时费用
profile-estimated = 估算的请求
profile-fidelity = 保真度
profile-first-after = 之后的首个请求
profile-freed = 释放的令牌
profile-here = 在此会话中
profile-input = 输入令牌
profile-kept = 你的消息 { $messages }，最后的请求 { $request }，路径 { $paths }，名称 { $identifiers }，数字 { $numbers }，错误 { $errors }，未完成任务 { $tasks }
profile-kept-out = 未发送的令牌
profile-kept-out-by = 由何层减少
profile-layer = 层
profile-layers = 层
profile-layers-how = 已触发：在此会话中起作用。空闲：已开启但无事可做。模拟：未开启或未知，显示其可能的效果。不提供：此模型的服务器不支持。使用与不使用的费用中，一个是实际费用，另一个是仅针对该层的估算。
profile-limit = 需要压缩
profile-lost = { $count } 次中断共丢失 { $tokens } 个缓存令牌。
profile-method = 摘要方式
profile-model = 模型
profile-never-lost = 缓存从未丢失。
profile-no-cache = 服务器未使用提示缓存。
profile-no-layer = 没有任何层起作用。
profile-output = 输出令牌
profile-overflow = 如果没有 { $layer }，上下文窗口从第 { $number } 个请求起就会满。
profile-prices = 价格：{ $date } 的标价以及设置 `prices`。
profile-purpose = 用途
profile-purposes = 按用途的请求
profile-read = 从缓存读取
profile-request = 请求
profile-requests = 请求数
profile-runs = 次数
profile-saves = 节省
profile-savings = 各层累计节省
profile-sizes = 每个请求的大小
profile-span = { $requests } 次请求，{ $first } 至 { $last }，{ $models }；窗口 { $window }
profile-status-fired = 已触发
profile-status-idle = 空闲
profile-status-not-offered = 不提供
profile-status-simulated = 模拟
profile-title = { $name } 的上下文
profile-tokens-lost = 丢失的令牌
profile-tooltip = 请求 { $number }：{ $tokens } 个令牌，从缓存读取 { $read }，写入 { $written }，未缓存 { $uncached }
profile-tooltip-lost = ；丢失 { $tokens }：{ $reason }
profile-trigger = 触发原因
profile-uncached = 未缓存
profile-unknown = 未知
profile-warnings = 警告
profile-why = 原因
profile-written = 写入缓存

rank-confidence = 有帮助的概率
rank-file-changed = 其涉及的文件已改动。
rank-file-missing = 其涉及的文件已不存在。
rank-gain = 得分
rank-helps = 有帮助的概率 { $percent } %
rank-if-selected = 仅当小模型选中时
rank-line = 会在对话中被提及
rank-made-of = 概率的对数几率构成：{ $parts }。
rank-never = 会话不读取
rank-reason = 原因
rank-score = 得分 { $score }，仅在此列表内可比。
rank-vectors = 按词排名 { $words }，按向量排名 { $vectors }（相似度 { $similarity }）。
rank-whole = 会被加入对话
rank-why = 为什么？

recalled-body = 已展示其正文
recalled-later = 由请求发出后才到达的向量找到。
recalled-line = 仅被提及
recalled-score = 得分 { $score }，仅在此消息的排名内可比。
recalled-selected = ——由小模型选中
recalled-similarity = 向量相似度：{ $similarity }。
recalled-unrecorded = 此记录由早先的版本写入，未写明原因。在用户消息处可用现在的记忆重新排名。
recalled-why = 原因：当时有 { $percent } % 的把握

related-contradicts = 相矛盾
related-files = 同样的文件
related-none = 没有找到相关的记忆。
related-same = 内容相同
related-similar = 相似
related-title = 相关

role-model = 模型
role-tool = 工具
role-user = 用户

scope-project = 项目
scope-repo = 仓库
scope-team = 团队
scope-user = 用户

search-button = 搜索
search-label = 按会话的方式搜索记忆
search-placeholder = 输入问题或几个词；按 / 跳到此处

session-compacted = 压缩 { $count } 次
session-cost-unknown = 费用未知
session-no-requests = 还没有请求：模型尚未在此会话中回答。
session-recalled = 召回 { $count } 条记忆
session-saved = 保存 { $count } 条记忆
session-tokens = { $tokens } token

sessions-count = { $count } 个会话
sessions-no-match = 没有包含这些词的段落。
sessions-none = 这里没有会话。
sessions-open = 打开会话
sessions-search = 搜索对话和工具结果
sessions-source = 会话来源
sessions-title = 会话
sessions-untitled = 无标题会话

source-message = { $when } 的一条消息

state-never-helped = 从未有帮助
state-pinned = 置顶
state-quarantined = 已隔离

tab-checkpoints = 改动的文件
tab-requests = 请求与费用
tab-transcript = 会话记录

tabs-label = 会话视图

team-layers-off = 对所有人关闭的层：{ $layers }。
team-log = 谁改了什么
team-member = { $count } 次改动，最近 { $when }
team-memory = 记忆
team-no-proposals = 没有待定的提议。
team-none = 此项目尚未加入团队。可使用 `dormouse team join` 加入。
team-people = 成员
team-proposals = 提议
team-repository = 仓库
team-review-off = 改动立即生效。
team-review-on = 写入者的改动需要审核。
team-role = 角色
team-server = 服务器
team-title = 团队
team-version = 版本
team-who = 谁
team-you = 您

transcript-attached = 附加的上下文
transcript-blocks = { $count } 个块
transcript-compacted = 对话已压缩
transcript-cut = [另有 { $count } 字节未显示]
transcript-document = [文档]
transcript-earlier = 显示更早的消息
transcript-failed = 失败
transcript-image = [图片]
transcript-left-out = 某层省略了消息
transcript-prefix = 系统提示与工具：约 { $tokens } 个令牌
transcript-recalled = 为此消息回忆了 { $count } 条记忆
transcript-recalled-text = 显示模型看到的内容
transcript-redacted = [仅服务器可读的思考]
transcript-replaced = 缩短了 { $count } 个早先的结果
transcript-summary = 替代早先消息的摘要
transcript-thinking = 思考
transcript-thinking-dropped = 不再发送早先的思考
transcript-tokens = { $before } → { $after } 个令牌
transcript-unreadable = 有 { $count } 行无法读取。
transcript-usage = 输入 { $input }，输出 { $output }
transcript-why = 用现在的记忆为此消息重新排名
transcript-withdrawn = 已撤销

trash-empty = 回收站是空的。
trash-hint = 移除的记忆在 30 天内可以恢复。
trash-removed = { $when } 由 { $author } 移除
trash-restore = 恢复
trash-title = 回收站

trust-concluded = 模型推断
trust-outside = 来自外部
trust-tool = 来自工具
trust-typed = 用户输入

type-feedback = 反馈
type-project = 项目
type-reference = 参考
type-user = 关于用户

usage-cited = 引用
usage-heeded = 遵循
usage-last-helped = 上次有帮助：{ $when }。
usage-never-helped = 尚无有帮助的记录。
usage-recalled = 回忆
usage-short = 回忆 { $recalled } 次，有帮助 { $helped } 次
usage-title = 使用情况
usage-violated = 需要重复
