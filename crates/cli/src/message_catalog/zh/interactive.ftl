# Interactive mode. The texts of the terminal interface, of permission prompts and of slash commands.

# Header, composer and status line

session-resumed-header = 已恢复的会话
session-header-hint = /help 查看按键和命令，Ctrl-D 退出
first-session-init = 首次在此项目中使用：/init 会根据项目内容写一份 AGENTS.md
first-session-import = 其他代理了解本项目：{ $agents }。/memory import 可列出内容，未经同意不会导入
session-saved = 会话已保存。继续：dormouse --continue
connecting = 正在连接模型服务…
hint-leave = 再按一次 Ctrl-C 或 Ctrl-D 退出。
hint-rewind = 再按一次 Esc 回退到之前的消息。
hint-after-turn = 此按键在本轮结束后可用。
hint-leaving = 本轮结束后退出 · Esc：留下
hint-answer = 按 Tab 回答上面的问题。
hint-queued = 再按 Enter：随下一次请求发送 · ↑：编辑 · 否则本轮结束后发送
label-queued = 排队中：
label-steered = 随下一次请求发送：
status-window = 窗口 { $bar } { $percent } %
status-cache = 缓存 { $percent } %
status-cost-unknown = 费用未知
status-background = 其中后台 { $cost }
status-default-mode = 默认
status-line-failed = `statusLine` 命令失败：{ $problem }
status-line-no-reason = 命令失败
status-line-kind = `statusLine.type` 为 `{ $kind }`；只支持 `command`
terminal-unreadable = 错误：无法读取终端：{ $reason }
terminal-failed = 无法读取终端：{ $error }
terminal-mode-failed = 无法设置终端：{ $error }
history-not-saved = 未能写入输入历史：{ $error }
command-unknown-here = 未知命令 /{ $name }。{ $hint }/help 列出所有命令。
argument-error = /{ $name }：{ $problem }{ $similar }用 /{ $name } --help 查看参数。
argument-unknown-command = 没有子命令 `{ $given }`。
argument-unknown-option = 没有选项 `{ $given }`。
argument-too-many = 多余的参数 `{ $given }`。
argument-missing = 缺少 { $argument }。
argument-no-value = { $argument } 需要一个值。
argument-value = { $argument } 不能是 `{ $given }`。
argument-value-of = { $argument } 只能是 { $valid } 之一。
argument-suggestion = 是不是想用 `{ $name }`？
command-suggestion = 是否想输入 /{ $name }？

# Progress of a turn

progress-waiting = 等待模型回应
progress-first-token = 等待模型开始回应
progress-more-text = 等待回答的其余部分
progress-thinking = 思考中
progress-writing = 输出中
progress-compacting = 正在压缩对话
progress-retry = 等待模型，第 { $retry } 次尝试，共 { $of } 次
task-made-way = 已停止，让你的消息先行：{ $tasks }。本轮结束后会再试。
echo-more = … 还有 { $count } 行
skill-only-model = /{ $name } 是程序自带的命令，只有模型能调用此技能
skill-hidden = 被程序自带的 /{ $name } 遮住；请改名
export-exists = { $path } 已存在，导出不会覆盖文件；请换一个名字
export-no-folder = 没有目录 { $folder }
progress-retrying = { $seconds } 秒后重试（第 { $retry } 次，共 { $of } 次）
duration-seconds = { $seconds } 秒
duration-minutes = { $minutes } 分 { $seconds } 秒
duration-hours = { $hours } 小时 { $minutes } 分
progress-stopping = 正在停止
progress-more = { $label } 等 { $count } 项
progress-esc = Esc 中断
progress-control-c = Ctrl-C 中断
thinking-folded = 思考：{ $count } 行 · Alt-T 查看
thinking-none = 模型还没有思考，或服务端不提供思考内容。
response-discarded = 已丢弃不完整的回应，正在重试请求。
changed-by-hook = { $label }（被钩子修改）
context-left = 距自动压缩还剩 { $percent } % 的上下文。/compact 可立即压缩。

# The end of a turn

turn-interrupted = 已中断。
turn-truncated = 回应达到输出 token 上限被截断。发送“继续”获取其余部分。
turn-refused = 模型拒绝回应。
turn-empty = 模型返回了空回应。请重试。
turn-max-turns = 模型完成之前已达到 --max-turns。发送“继续”接着执行。
turn-max-cost = 已达到费用上限（--max-cost）。本次运行不再发送请求。
turn-repeating = 已停止：模型三次发起相同的 { $tool } 调用，结果相同，其间也没有新的进展。请告诉它换一种做法。
turn-halted = 钩子停止了本轮：{ $reason }
turn-blocked = 钩子拦截了这条消息，未发送：{ $reason }
turn-no-prompt = 未发送：{ $reason }
turn-retry-hint = 对话已保存：发送“继续”重试。
turn-too-long-hint = /context 显示上下文窗口的占用；/clear 开始新会话。

# Tool calls

call-interrupted = 已中断
call-declined = 未运行：已拒绝
call-declined-because = 未运行：已拒绝，“{ $said }”
call-not-run = 未运行：{ $why }
call-failed = 失败：{ $why }
call-no-output = 无输出
call-image = 图片
call-lines = { $count } 行
call-exit = 退出码 { $code }
call-signal = 被信号 { $signal } 终止
call-exit-lines = { $exit }，{ $lines }
call-more-lines = … 还有 { $count } 行 · Ctrl-O 查看全部

# Permission prompts

choice-yes = 允许
diff-summary = { $hunks } 处改动，+{ $added } −{ $removed }
diff-left-out = … 还有 { $count } 行。选择允许时会先显示全部改动；按 `v` 现在查看。
choice-view = 查看全部改动
choice-always = 允许，本次会话中不再询问 { $rule }
grant-outside-sandbox = 在沙箱外运行 { $rule }
grant-memory-changes = 记忆的修改
choice-this-call = 此操作
choice-rule = 允许，并编辑或保存规则
choice-no = 拒绝
choice-no-because = 拒绝，并告诉模型原因
choice-accept = 接受
choice-accept-edits = 接受，并允许修改此目录中的文件
choice-reject = 退回
choice-reject-because = 退回，并说明要改什么
choice-rule-session = 在本会话中允许 { $rule }
choice-rule-project = 在本项目中允许 { $rule }，仅对你自己（settings.local.json）
choice-rule-user = 在你的所有项目中允许 { $rule }（你的 settings.json）
choices-line = y 允许 · n 拒绝（后面可写给模型的原因） · a 总是允许 { $rule }
choices-line-plan = y 接受 · a 接受并允许修改此目录中的文件 · n 退回（后面可写要改什么）
choices-line-again = 请回答 y、n 或 a。n 后面的原因会发给模型。
plan-heading = 计划：
writes-to = 写入 { $path }

# Permission modes

mode-default = default：修改文件和运行命令前询问
mode-accept-edits = accept-edits：修改工作目录中的文件无需确认
mode-plan = plan：接受计划之前只读
mode-bypass = bypass：除规则禁止的以外全部允许
plan-not-on = 当前不是计划模式。
plan-none-yet = 已处于计划模式，模型尚未提交计划。/plan off 退出计划模式。

# Memory

memory-notice = 记忆：{ $what } · Alt-U 撤销
recall-notice = { $line } · Alt-R 查看原因
recall-listed = 索引列出 { $count } 条记忆
recall-bodies = 召回 { $count } 条记忆（{ $tokens } 个 token）：{ $files }
recall-lines = 提到 { $count } 条记忆：{ $files }
recall-lines-only = 提到 { $count } 条记忆：{ $files }（{ $tokens } 个 token）
recall-late = 记忆未能及时就绪，找到的内容随下一次请求发送
recall-nothing = 没有召回
recall-none = 本轮还没有召回记忆。
memory-waits = 有 { $count } 项记忆改动等待审阅：/memory inbox
memory-saving = 正在保存本次会话的记忆…（Ctrl-C 跳过）
subagent-unfinished = 子代理 { $name } 未完成就停止了：{ $task }
unclosed-quote = 命令中的引号没有配对。

# Pickers

replay-earlier = … 更早的消息在会话记录中
age-now = 刚刚
age-minutes = { $count } 分钟
age-hours = { $count } 小时
age-days = { $count } 天
picker-no-match = 没有匹配的条目
picker-hint = 输入以搜索 · ↑ ↓ Enter 选择 · Esc 取消
picker-sessions = 恢复会话
picker-session-details = { $age } · { $messages } 条消息 · { $tokens }k token
picker-session-first = 首条：{ $text }
picker-session-last = 末条：{ $text }
picker-rewind = 回退到哪条消息之前？
picker-rewind-scope = 从第 { $number } 条消息起，撤销什么？
rewind-scope-both = 文件和对话
rewind-scope-conversation = 仅对话
rewind-scope-code = 仅文件
resume-none = 此项目没有其他会话。

# Slash commands

slash-help = 显示按键和命令
slash-clear = 开始新会话；当前会话会保留
slash-model = 显示当前模型，或切换到另一个
slash-effort = 显示或设置模型的思考强度：low、medium、high、xhigh、max、default
slash-cost = 显示本次运行的 token 和费用
slash-stats = 显示上下文占用和会话统计
slash-config = 显示生效的配置和文件位置
slash-permissions = 显示权限模式和规则，或设置模式
slash-compact = 用摘要替换对话；INSTRUCTIONS 说明要保留什么
slash-context = 显示上下文窗口的占用
slash-expand = 恢复折叠的消息：最近的，或按编号（最早的为 1）
slash-rewind = 回退到第 N 条消息之前：文件、对话或两者；不带 N 则列出消息
slash-resume = 选择并打开此项目的另一个会话
slash-rename = 给会话起一个标题
slash-copy = 把最后一个回答复制到剪贴板
slash-export = 把对话写入 Markdown 文件
slash-init = 为此项目编写 AGENTS.md
slash-review = 审查工作区中的改动，或 WHAT
slash-doctor = 检查密钥、目录、服务器和终端
copy-nothing = 还没有可以复制的回答。
copy-done = 已将 { $count } 行发送到终端的剪贴板。如果没有收到，说明终端不允许（OSC 52）。
copy-needs-live = 剪贴板需要通过终端访问，`--plain` 模式下不可用。
export-done = 已写入 { $path }
export-no-file = 这不是文件名；请使用 `/export NAME.md`
export-user = 用户
export-model = Dormouse
rename-empty = 请给出标题：`/rename TITLE`
rename-done = 此会话的标题是“{ $title }”。
slash-snip = 后续请求不再包含最早的消息；会话记录中仍保留
slash-plan = 进入计划模式（接受计划之前只读）并发送 TEXT；已在计划模式时显示计划
slash-skills = 列出技能
slash-plugins = 列出插件及其状态
slash-mcp = 列出 MCP 服务器和工具，或重新连接
slash-tasks = 列出后台任务（记忆、子代理、命令）；查看或停止某一个
slash-agents = 列出代理和运行中的子代理；查看或停止某一个
slash-hooks = 列出钩子
slash-memory = 列出记忆；on、off 在本会话中开关；或运行 dormouse memory 的子命令，如 undo
slash-recall = 搜索记忆；不带 QUERY 则解释最近一次召回
slash-dream = 在后台整理记忆；运行中则显示进度
slash-guard = 把反复纠正的问题变成权限规则或钩子；不带 MEMORY 则列出建议
slash-team = 立即发送和获取团队记忆
slash-notes = 显示会话笔记及其路径
slash-quit = 退出（也可按 Ctrl-D）

model-current = { $model }。/model NAME 切换到另一个模型。
effort-current = 推理强度：{ $effort }。用 /effort LEVEL 设置：low、medium、high、xhigh、max 或 default。
effort-default = 服务端默认值
effort-set = 思考强度已设为 { $effort }。下一次请求不会命中缓存。
model-set = 模型已设为 { $model }
session-new = 已开始新会话。之前的会话已保存：用 dormouse sessions 查看。
plugins-none-here = 还没有插件。安装：dormouse plugin install 目录或 GIT-URL
hooks-none-here = 没有钩子。在设置的 `hooks` 中配置；见 `dormouse help hooks`。
skills-none = 还没有技能。技能是 ~/.dormouse/skills 或 .dormouse/skills 中带有 SKILL.md 的目录。
no-requests-yet = 还没有请求。
agents-stopping = 正在停止 { $name }。
agents-not-running = 没有运行中的子代理 `{ $name }`。/agents 列出全部。
agents-not-run = 本次会话中没有运行过子代理 `{ $name }`。/agents 列出全部。
agents-usage = 用法：/agents，/agents show NAME，/agents stop NAME，/agents resume NAME
agents-not-interrupted = 没有被中断的子代理 `{ $name }`。/agents 列出全部。
agents-transcript = 完整记录：{ $path }
tasks-none = 后台没有任务。
tasks-usage = /tasks show NAME 查看任务做了什么；/tasks stop NAME 停止任务
tasks-unknown = 没有运行中的任务 `{ $name }`。/tasks 列出全部。
tasks-stopping = 正在停止 { $name }。
tasks-running = 运行中
tasks-job = { $phase } · { $time } · { $turns } 轮
shell-ended = 后台命令 { $id } 已结束（{ $how }，用时 { $time }）：{ $command }
shell-started = 在后台运行，编号 { $id }
shell-runs = 运行中，{ $printed }：{ $command }
shell-stopped = 已停止
compact-how = /compact from 序号 把该消息及之后的内容替换为摘要；/compact upto 序号 替换之前的内容
compact-unknown-message = 没有第 { $number } 条消息。/compact from 列出消息。
compact-nothing = 还没有可压缩的内容。
compact-not-smaller = 未压缩：摘要不会比对话更短。
compact-blocked = 钩子拦截了压缩：{ $reason }
compact-interrupted = 已中断。对话未改变。
snip-done = 后续请求不再包含最早的消息：约释放 { $tokens } token。
snip-nothing = 没有可省略的内容。
expand-done = 已恢复 { $count } 条消息。
expand-nothing = 没有折叠的消息。
dream-usage = 用法：/dream 开始整理或显示进度；/dream stop；/dream log
dream-off = 本次会话关闭了记忆：没有可整理的内容。
dream-started = 正在后台整理记忆。/dream 显示进度，/dream stop 停止；退出也会停止。
dream-blocked = 未开始整理：{ $reason }
dream-stopped = 已停止整理。没有改动任何内容。
dream-not-running = 没有正在进行的整理。
dream-status = 正在整理：{ $phase }，{ $turns } 轮
dream-files = ；副本中改动的文件：{ $files }

# Rows of /context, /stats, /config and /permissions

share-system = 系统提示词
share-tools = 工具定义
share-mcp-tools = MCP 服务器的工具定义
share-instructions = 指令文件、日期
share-memory = 记忆索引
share-summary = 已压缩消息的摘要
share-program = 程序添加的消息
share-results = 工具结果
share-calls = 工具调用
share-thinking = 思考
share-pictures = 图片和文档
share-user = 你的消息及附件
share-answers = 回答
share-free = 空闲
share-reserved = 为压缩预留
layer-did = 本次会话 { $count } 次，约释放 { $freed } token
row-messages = 消息
row-context-left = 剩余上下文
row-used = 已用
row-used-of = { $used } / { $window } token
row-compacts-at = 自动压缩于
row-left-until = 距自动压缩还剩
row-model = 模型
row-key = 密钥来源
row-permissions = 权限
row-folder = 目录
row-home = 主目录
row-home-value = { $path }（设置 { $variable } 可更改）
row-settings = 设置
row-transcript = 会话记录
row-mode = 模式
row-allowed = 允许
row-ask = 询问
row-denied = 禁止
row-granted = 本次会话中允许
row-unknown = 未知
row-none = 无

# Keys, as /help lists them

key-enter = 发送消息；运行中：排队，再按一次：随下一次请求发送
key-newline = 换行；也可用 \ 加 Enter
key-history = 之前的消息；运行中，↑ 取回排队的消息
key-search = 搜索之前的消息
key-attach = 附加文件、目录或图片
key-command = 运行命令；输出随下一条消息发给模型
key-tab = 补全命令
key-esc = 中断本轮；在空输入框连按两次：回退到之前的消息
key-output = 显示最近一次调用的完整输出
key-thinking = 显示模型最近的思考内容
key-editor = 用编辑器编辑消息
key-mode = 切换权限模式（default、accept-edits、plan）
key-undo = 输入框为空时：撤销最近一次记忆改动
key-recall = 输入框为空时：解释最近一次召回
key-interrupt = 清空消息，再按中断本轮；在空输入框连按两次：退出
key-suspend = 挂起程序；用 fg 继续
key-leave = 退出

# Notifications

notify-done = 已完成
notify-asks = 等待你的回答

# Memory on and off, images

memory-not-in-session = 本会话从一开始就关闭了记忆。
memory-turned-on = 记忆已重新开启。
memory-turned-off = 本会话已关闭记忆：不再召回、保存或提取。已在上下文中的内容保持不变。/memory on 重新开启。
clipboard-no-program = 无法读取剪贴板：请安装 `wl-clipboard`（Wayland）、`xclip`（X11）或 `pngpaste`（macOS）。
clipboard-no-image = 剪贴板里没有图片。
key-image = 附上剪贴板中的图片；也可以把图片拖进终端
memory-instruction-files = 指令文件
task-failed = 后台任务“{ $name }”失败：{ $reason }
effort-unknown = 未知的推理强度 `{ $name }`；可用 low、medium、high、xhigh、max 或 default。
command-ends = 后台命令 { $id } 随会话结束：{ $command }
notes-none = 没有会话笔记。打开开关 `session_notes` 后，当对话占满窗口的一半或 40,000 token 时开始记录。
hint-searching = 历史消息 · 输入以搜索 · ↑↓：选择 · Enter：采用 · Esc：返回
expand-unknown = 没有折叠 `{ $number }`；折叠从 1 开始编号，最早的在前。

form-intro = MCP 服务器 `{ $server }` 向你提问。你的回答会发送给该服务器：请勿输入密码或密钥。
form-answer = 回答
form-numbers = 输入编号回答，例如 1, 3
form-expects-numbers = 列表中的编号（{ $range } 个）
form-yes = 是
form-no = 否
form-skip = 留空
form-decline = 不回答
form-send = 将以上内容发送给 `{ $server }`？
form-send-yes = 发送
form-invalid = 输入不符合要求，应为：{ $expected }。
form-expects-number = 数字{ $range }
form-expects-whole-number = 整数{ $range }
form-expects-text = { $range } 个字符的文本
form-plain = 使用 --plain 时无法回答，已告知服务器。
