# Help texts: one message per command, named after its path. `.notes` is printed below the examples, the other
# attributes are the command's arguments and (as `.argument-value`) their values. Commands start with a verb,
# arguments are noun phrases.

# Used by every command that has no text of its own for an argument.
common =
    .examples-heading = 示例：
    .example-heading = 示例：
    .json = JSON 格式的输出
    .limit = 结果数量上限
    .yes = 跳过确认
    .model = 模型名称
    .settings = 额外的设置：JSON 文件或 JSON 文本
    .key = 设置的名称，例如 `permissions.allow`
    .settings-scope = 要修改的设置文件
    .settings-scope-user = 你的设置，用于所有项目
    .settings-scope-project = 项目的设置，由项目的所有参与者共用
    .settings-scope-local = 项目的设置，仅用于这台机器
    .permission-mode = 权限模式
    .permission-mode-default = 修改文件和运行命令前先询问
    .permission-mode-accept-edits = 允许在工作目录中编辑，不再询问
    .permission-mode-plan = 只允许读取，直到计划获得批准
    .permission-mode-bypass = 允许规则没有拒绝的一切操作
    .kind = 记忆类型
    .kind-user = 你的身份、知识和偏好
    .kind-feedback = 你希望工作怎样完成
    .kind-project = 代码和 git 中没有的目标、决定和事件
    .kind-reference = 其他信息的所在位置
    .scope = 记忆范围
    .scope-user = 你自己的记忆，用于所有项目
    .scope-project = 你自己在此项目中的记忆
    .scope-team = 与项目团队共享的记忆
    .scope-repo = 存放在仓库 .dormouse/memory 中的记忆
    .scope-agent = 该子代理的记忆
    .name = 记忆：文件名或标题
    .allow-secret = 即使内容看起来是机密信息也保存
    .description = 一行描述，用来判断记忆何时相关

dormouse = 带记忆的终端编程代理
    .prompt = 给模型的提示词
    .print = 非交互模式：打印回复后退出；管道输入会附加到提示词中
    .output-format = 回复的输出格式
    .output-format-text = 文本形式的回复
    .output-format-json = 结束时输出一个 JSON 对象
    .output-format-stream-json = 随事件发生，每行输出一个 JSON 对象
    .input-format = 标准输入的格式
    .input-format-text = 文本形式的提示
    .input-format-stream-json = 每行一个 JSON 对象：消息、权限答复、中断；与 --output-format stream-json 一起使用
    .effort = 模型的思考强度：low、medium、high、xhigh 或 max；默认由服务端决定
    .continue = 继续此项目最近的会话
    .resume = 要恢复的会话：ID 或 ID 开头部分；不带值时列出会话
    .max-turns = 本次运行以及每个子代理的模型请求次数上限；达到上限时退出码为 3
    .max-cost = 本次运行的费用上限（美元）；达到上限时退出码为 3
    .allowed-tools = 无需确认的工具调用规则，例如 'Read' 或 'Bash(cargo test:*)'；可重复使用
    .disallowed-tools = 一律拒绝的工具调用规则；可重复使用
    .add-dir = 可允许编辑的额外目录；可重复使用
    .bare = 不使用记忆、钩子、技能、插件、MCP 服务器和指令文件的运行方式
    .name = 会话名称，其他代理和 `dormouse send` 可用它联系此会话
    .mcp-config = 额外的 MCP 服务器：.mcp.json 这样的文件，或 JSON 文本；可重复使用
    .system-prompt = 替换系统提示词固定部分的文本
    .append-system-prompt = 附加到系统提示词固定部分的文本
    .plain = 不带颜色、不重绘屏幕的输出，适用于屏幕阅读器和日志
    .wait = 与 -p 同用：退出前等待后台任务（例如保存记忆）完成
    .init = 会话开始前以触发方式 `init` 运行 `Setup` 钩子
    .init-only = 以触发方式 `init` 运行 `Setup` 钩子，然后退出
    .maintenance = 会话开始前以触发方式 `maintenance` 运行 `Setup` 钩子
    .verbose = 在标准错误输出中显示更多细节
    .notes =
        退出码：
          0    完成
          1    失败：模型服务或磁盘错误
          2    命令行、设置或配置无效
          3    提前停止：--max-turns、--max-cost，或回复被截断、为空或被拒绝
          101  内部错误（Dormouse 的 bug）；会写入崩溃报告
          130  被中断

help = 显示手册的一页，或某个命令的帮助
    .topic = 手册的页名或命令；不写则列出全部命令和页名

demo = 运行简短的演示，使用预设脚本的模型；不需要 API 密钥
    .fast = 场景之间不停顿

sessions = 列出此项目的会话
    .search = 会话必须包含的文本

rewind = 列出会话中你的消息，或撤销其中一条消息之后的操作
    .session = 会话：ID 或 ID 开头部分
    .number = 要回退到的消息编号：文件和对话恢复到这条消息之前的状态
    .code = 只回退文件
    .conversation = 只回退对话
    .overwrite = 连同之后（被你或其他程序）改过的文件一起恢复
    .dry-run = 预览将要进行的操作，以及会丢失的差异
    .notes =
        你之后改过的文件会保持原样，并显示差异。回退本身也可以撤销：它会出现在列表中。Git 的提交、分支和暂存区不会改变。

stats = 显示费用、缓存命中率和各上下文层的效果
    .since = 统计的起点：12h、7d、4w，或 2026-11-02 这样的日期
    .session = 要显示的会话：ID 或 ID 开头部分
    .project = 仅此项目（默认）
    .all = 所有项目

context = 分析会话：重放会话，显示每个请求的 token、缓存和费用
    .transcript = 会话记录文件（Dormouse 或其他代理的），或此项目的会话（ID 或 ID 开头部分）
    .html = 图表页面的输出文件
    .window = 上下文窗口的 token 数（与根据请求推断的值不同时指定）
    .cache-ttl = 提示缓存的有效期（会话记录中没有时指定）
    .cache-ttl-5m = 五分钟
    .cache-ttl-1h = 一小时
    .notes = 不会调用模型。各项数字的计算方法见 `dormouse help context`。

doctor = 检查 API 密钥、目录、锁、git、终端和模型服务，并显示解决问题的方法
    .offline = 不连接模型服务
    .notes =
        退出码：
          0    没有发现问题
          1    发现至少一个问题

permissions = 显示和授予权限

permissions-trust = 显示此项目的设置会运行或允许什么，并信任这些设置
    .yes = 跳过确认直接信任；仍会显示所信任的内容
    .revoke = 撤销信任

permissions-check = 显示一个工具调用是否会被允许及其原因；不运行任何操作
    .notes = 退出码：0 允许，3 需要确认，4 拒绝。
    .tool = 工具名
    .input = JSON 格式的工具输入；也可以只给出命令（Bash）或文件（其他工具）

config = 显示和修改设置
    .notes =
        不带子命令时，`dormouse config` 等同于 `dormouse config list`。
        在以名称为键的表中，名称可以含点：contextWindows.gpt-5.4；也可以加引号：'prices."gpt-5.4".input'。

config-list = 列出你设置过的设置和所有开关，以及各自的来源
    .all = 也列出你没有设置过的设置

config-get = 打印一项设置
    .json = JSON 格式的输出，包括该设置的来源

config-set = 修改一项设置
    .value = 新的值：JSON 或纯文本

config-unset = 删除一项设置

config-schema = 打印设置的 JSON schema

memory = 列出、修改、搜索和检查记忆；不需要模型
    .notes =
        用文件名或标题指定记忆。使用 --json 时，标准输出只包含 JSON，出错时也一样：{ "{" }"error": …, "kind": …, "hints": […]{ "}" }。

        退出码：
          0    完成；`list`、`search`、`log` 或 `inbox` 没有找到内容时也是如此
          1    失败，没有这条记忆，或 `doctor`、`lint` 报告了问题
          2    命令行或设置无效，路径无法读取，或记忆名称有歧义

memory-list = 列出记忆，从新到旧

memory-show = 打印记忆文件

memory-add = 保存一条记忆，并打印其文件路径
    .name = 要记住的内容；与 --description 或 --body 同用时只是标题
    .body = 记忆的正文；`-` 从标准输入读取；只给 --description 时也从标准输入读取
    .new = 即使已有同名记忆也保存
    .scope = 记忆范围；默认：`user` 类型的记忆为 `user`，其他为 `project`
    .pin = 在会话开始时的列表中始终列出这条记忆

memory-edit = 在编辑器中编辑记忆，或只修改选项指定的部分
    .new-name = 新标题；文件名不变
    .body = 新正文；`-` 表示从标准输入读取
    .pin = 是否固定在会话开始时的列表中（`true` 或 `false`）

memory-rm = 将记忆移到回收站；30 天内可以恢复
    .names = 记忆：文件名或标题

memory-promote = 在检查机密、重复、矛盾和失效锚点之后，将自己的记忆提供给团队
    .force = 即使发现问题也提供；机密仍会被拒绝

memory-confirm = 确认来自外部的记忆，使模型可以使用它

memory-search = 按标题、描述和正文中的词搜索记忆
    .query = 搜索词

memory-log = 列出改动，从新到旧，包括作者、时间和原因
    .name = 要列出改动的记忆：文件名或标题

memory-diff = 以 diff 显示记忆的改动
    .target = 改动编号，或记忆的文件名或标题；默认：最近一次改动

memory-undo = 撤销一次改动
    .change = 改动编号，见 `dormouse memory log`；默认：最近一次改动

memory-restore = 从回收站恢复记忆，或恢复到较早的版本
    .file = 记忆：文件名或标题；不指定时列出回收站中的记忆
    .change = 要恢复的版本所对应的改动编号

memory-inbox = 列出提议的改动；接受、编辑或拒绝它们
    .verb = 操作；不指定时列出提议
    .verb-accept = 进行提议的改动
    .verb-edit = 在编辑器中编辑提议，然后进行改动
    .verb-refuse = 丢弃提议
    .ids = 提议的编号
    .all = 所有提议

memory-guard = 用权限规则或钩子强制执行模型屡次忽视的记忆
    .name = 记忆：文件名或标题；不指定时列出建议的和已安装的守卫规则
    .install = 跳过确认直接安装守卫规则
    .remove = 移除已安装的守卫规则
    .refuse = 拒绝建议；再纠正 3 次后会重新建议

memory-doctor = 检查记忆目录及其索引
    .fix = 修复索引
    .notes =
        退出码：
          0    没有发现问题，或所有问题都已修复
          1    发现至少一个问题

memory-lint = 检查 markdown 文件中的机密信息、大小、索引错误、失效的锚点、重复和矛盾的内容
    .paths = 文件或文件夹；默认为记忆目录
    .annotations = 按代码托管平台在改动旁显示的格式输出结果
    .notes =
        退出码：
          0    没有发现问题
          1    发现至少一个问题
          2    有路径无法读取

memory-path = 打印记忆目录

memory-embed = 用 `embeddings` 下配置的模型计算缺少的向量
    .again = 重新计算所有向量，用于名称相同但已更换的模型

memory-export = 将记忆导出为 JSON，或导出为目录中的文件
    .folder = 存放文件的目录；不指定时打印 JSON

memory-import = 导入记忆，记为一次改动：来自其他代理、markdown 文件目录或 JSON 导出文件。不带参数时，列出其他代理所知的本项目内容
    .path = 目录或文件
    .from = 其他代理关于本项目的记忆
    .from-claude-code = Claude Code 为本项目保存的记忆目录
    .from-codex = Codex 记忆中关于本项目的部分
    .from-cursor = 本项目中的 Cursor 规则
    .format = 来源的格式；默认：自动检测
    .format-folder = markdown 文件目录，例如其他代理的记忆目录
    .format-dormouse = `dormouse memory export` 的输出
    .format-mem0 = mem0 的导出文件
    .format-mcp = MCP memory server 的文件或图

dream = 整理记忆：合并重复内容，改正和删除过时内容
    .now = 立即开始，即使还没有到时间
    .dry-run = 以 diff 预览改动，不实际进行
    .notes =
        不带 --now 时，只在到时间后才开始：距上次至少 24 小时，且此项目之后有至少 5 个会话。对于你自己写的记忆，只会提出改动的提议：见 `dormouse memory inbox`。运行 `dormouse memory undo` 可撤销整次梦境整理。不需要终端：可以由 cron 在项目目录中运行。

        退出码：
          0    完成，或还没有到时间
          1    失败，或结果不可用；没有改动
          2    命令行、设置或配置无效
          3    此记忆的另一次梦境整理正在进行
          130  被中断；没有改动

dream-log = 列出以往的梦境整理及其结果

recall = 查找与问题最匹配的记忆；不需要模型
    .query = 问题
    .explain = 每条记忆被找到的原因，以及是否会自动加入对话
    .fresh = 先检查其他程序所做的改动

search = 搜索记忆或以往的会话；不需要模型
    .sessions = 在此项目以往的会话中搜索，而不是在记忆中
    .query = 搜索词

agents = 列出可用的子代理及其定义位置
    .worktrees = 列出子代理在此仓库中遗留的工作树，以及只存在于其中的内容
    .remove = 删除不会丢失任何内容的工作树；其余的会询问
    .yes = 其余的也删除
    .notes = 要定义自己的子代理，请在 ~/.dormouse/agents 或项目的 .dormouse/agents 中创建 markdown 文件：参见 `dormouse help agents`。

ui = 在浏览器中查看记忆、会话、梦和数据
    .port = 端口号；0 表示任选空闲端口
    .read-only = 拒绝一切改动
    .no-open = 只打印地址
    .notes =
        页面只在本机提供。打印的地址只能使用一次：打开它的浏览器会得到一个
        Cookie。查看器会一直运行，直到被中断。

acp = 通过 Agent Client Protocol 充当编辑器的代理
    .model = 新会话使用的模型
    .effort = 模型的投入程度
    .permission-mode = 开始时的权限模式；编辑器不能选择允许更多操作的模式
    .notes =
        协议使用标准输入和输出：此命令由编辑器启动。docs/editors.md 说明如何在
        Zed、JetBrains IDE、Neovim 和 Emacs 中设置。

mcp = 通过 MCP 向其他代理提供此项目的记忆，或管理 Dormouse 使用的 MCP 服务器
    .http = 本地端口上的 Streamable HTTP，可供多个客户端使用
    .port = 端口号；0 表示选择空闲端口
    .memory-tool = 同时提供 Anthropic memory tool：以 /memories 下的文件访问此项目的记忆
    .notes =
        服务器使用标准输入和标准输出。使用 --http 时，它监听本地端口，打印地址，并接受带有 ~/.dormouse/mcp-token 中令牌的请求（`Authorization: Bearer TOKEN`）。它提供工具（memory_save、memory_search、memory_recall、memory_list、memory_read、memory_update、memory_delete、memory_undo），以资源形式提供记忆及其索引，并以提示词形式提供记忆的使用说明。

mcp-list = 连接 Dormouse 使用的 MCP 服务器，列出它们的工具

mcp-add = 添加供 Dormouse 使用的 MCP 服务器
    .name = 服务器名称，用作其工具名的前缀
    .url = HTTP 服务器的地址
    .header = HTTP 头，形式为 'Name: value'；可重复使用
    .env = 程序的环境变量，形式为 NAME=value；可重复使用
    .command = 程序及其参数

mcp-login = 在浏览器中通过 OAuth 登录远程 MCP 服务器
    .name = 服务器名称

mcp-logout = 退出远程 MCP 服务器的登录，并删除其令牌
    .name = 服务器名称

mcp-remove = 从设置中移除 MCP 服务器
    .name = 服务器名称

hooks = 列出钩子：某个事件会运行哪些钩子、各自在哪里配置，以及其他钩子为何不运行
    .event = 事件，例如 `PreToolUse`；默认：所有事件
    .tool = 工具名；对于没有工具的事件，为匹配器所比较的值（例如 `startup`）
    .input = 工具输入，用于带 `if` 条件的钩子

hook = 通过其他代理的钩子向它提供记忆；由 `dormouse setup` 配置
    .event = 事件名
    .notes =
        从标准输入读取 JSON 格式的事件。事件：session-start 打印记忆的使用说明和索引，prompt 打印匹配的记忆，stop 将会话记录排队，供之后提取记忆。也可以使用其他代理的事件名。

        为了不干扰其他代理，退出码始终为 0：错误写入 ~/.dormouse/hooks/hook.log。

setup = 配置其他代理使用此记忆，或撤销配置
    .agent = 代理
    .agent-claude-code = ~/.claude.json，以及 ~/.claude/settings.json 中的钩子
    .agent-codex = ~/.codex/config.toml
    .agent-gemini-cli = ~/.gemini/settings.json
    .agent-opencode = ~/.config/opencode/opencode.json 或 opencode.jsonc
    .agent-goose = ~/.config/goose/config.yaml
    .agent-cursor = ~/.cursor/mcp.json
    .agent-vscode = 此项目的 .vscode/mcp.json
    .undo = 移除添加的行
    .program = 该代理启动 Dormouse 的命令
    .extract = 同时从其会话中提取记忆：在会话结束后一分钟内于后台进行，费用由此提供方承担：`anthropic`、`openai` 或服务器地址；仅适用于有 hook 的代理
    .extract-model = 所用的模型；不给出时使用提供方的默认模型
    .notes = 会先显示改动。--undo 只移除添加的行，即使文件之后有过改动。

plugin = 安装、列出、信任和移除插件
    .notes =
        插件包含技能、子代理、钩子和 MCP 服务器。在你查看并信任它会运行的内容之前，其中的任何内容都不会使用；插件改动后需要重新信任。

plugin-install = 从目录或 git URL 安装或更新插件
    .source = 目录或 git URL（https、ssh、file），后面可加 #BRANCH 或 #TAG
    .trust = 跳过确认直接信任；仍会显示所信任的内容

plugin-list = 列出插件、其内容以及是否启用

plugin-trust = 显示插件会运行的内容，并信任其当前版本
    .name = 插件名称

plugin-enable = 启用插件
    .name = 插件名称

plugin-disable = 禁用插件但不移除
    .name = 插件名称

plugin-remove = 移除插件及其数据
    .name = 插件名称

team = 通过自己的服务器与团队共享记忆
    .notes =
        由一名成员运行 `dormouse team serve`，并为其他成员各创建一个令牌；每个人用自己的令牌加入。此后，作用域为
        `team` 的记忆会到达同一仓库的所有成员。docs/team.md 用五分钟说明整个过程。

team-join = 加入此项目仓库的团队；令牌从终端或 DORMOUSE_TEAM_TOKEN 读取
    .url = 团队服务器的地址
    .repository = 仓库名称；默认取自 git 远程地址
    .plain-http = 允许以 http:// 访问其他机器，仅限自己的网络

team-leave = 离开团队；记忆保留在此项目中

team-sync = 发送本地改动，并获取其他成员的改动

team-status = 显示服务器、仓库、角色和版本

team-log = 列出最近的改动，或某个条目的所有版本
    .entry = 条目，例如 `ci.md`
    .restore = 要为所有人恢复为最新的版本

team-rm = 为所有人删除一个条目；其历史会保留
    .entry = 条目，例如 `ci.md`

team-review = 列出提议、作出决定，或要求审核
    .accept = 要接受的提议编号；可重复
    .reject = 要拒绝的提议编号；可重复
    .require = 写入者的改动是否需要管理员审核
    .require-on = 改动先成为提议
    .require-off = 改动立即生效

team-layers = 为仓库的所有人关闭某些层（管理员）
    .off = 要关闭的层；可重复
    .none = 不关闭任何层

team-serve = 运行团队服务器
    .config = JSON 格式的配置文件
    .listen = 地址和端口；默认为 127.0.0.1:7311
    .database = 数据库：文件或 `postgres://…`；默认为 DORMOUSE_TEAM_DATABASE，或程序目录中的 team-server/team.db
    .tls-cert = PEM 格式的证书链
    .tls-key = PEM 格式的私钥
    .max-entries = 一个仓库的最大条目数
    .rate = 每个令牌每秒的最大请求数；0 表示不限制
    .log = 标准错误上日志的格式；默认为 text
    .log-text = 每个请求一行文本
    .log-json = 每个请求一行 JSON
    .log-none = 不记录日志
    .notes =
        每个选项也可以用环境变量（DORMOUSE_TEAM_LISTEN、DORMOUSE_TEAM_DATABASE 等）或在文件中设置，键为 `listen`、`database`、`tlsCert`、
        `tlsKey`、`maxEntries`、`rate` 和 `log`。选项优先于变量，变量优先于文件。

team-token = 创建、列出和吊销令牌

team-token-create = 创建令牌并只显示一次
    .person = 持有者的名称，会与其写入的内容一起显示
    .role = 令牌允许的操作
    .role-read = 读取
    .role-write = 读取和更改条目
    .role-admin = 另可管理令牌、审核和层
    .repository = 令牌唯一适用的仓库；默认适用于所有仓库
    .database = 数据库：文件或 `postgres://…`；不指定时使用本机服务器的数据库或已加入的服务器

team-token-list = 列出令牌，不显示其值
    .database = 数据库：文件或 `postgres://…`；不指定时使用本机服务器的数据库或已加入的服务器

team-token-revoke = 吊销令牌
    .id = 令牌列表中的编号
    .database = 数据库：文件或 `postgres://…`；不指定时使用本机服务器的数据库或已加入的服务器

team-backup = 将数据库的全部内容写入文件
    .file = 要写入的文件
    .database = 数据库：文件或 `postgres://…`；默认为 DORMOUSE_TEAM_DATABASE，或程序目录中的 team-server/team.db

team-restore = 用备份填充空数据库
    .file = 备份文件
    .database = 数据库：文件或 `postgres://…`；默认为 DORMOUSE_TEAM_DATABASE，或程序目录中的 team-server/team.db

team-purge = 吊销某人的所有令牌
    .person = 该成员的名称
    .entries = 同时移除其写入的全部内容
    .database = 数据库：文件或 `postgres://…`；不指定时使用本机服务器的数据库或已加入的服务器

send = 向有名称的会话发送消息
    .to = 此项目的会话名称（`dormouse --name NAME`），或 `uds:` 加套接字路径
    .text = 消息内容；不指定时从标准输入读取
    .summary = 用于显示的 5 到 10 个词的摘要；默认：消息的开头
    .from = 发送者名称
    .lines = 标准输入的每一行作为一条消息
    .notes =
        消息会放入该会话的信箱排队，在它的下一步或再次启动时送达。消息会标明来自代理，而不是来自用户。

completions = 打印 shell 补全脚本或 man 手册页
    .target = shell，或用 `man` 表示手册页
    .target-bash = bash 补全脚本
    .target-elvish = elvish 补全脚本
    .target-fish = fish 补全脚本
    .target-powershell = PowerShell 补全脚本
    .target-zsh = zsh 补全脚本
    .target-man = man 手册页
