# Notices and errors. A message says what happened, why, and what to do next.

# Prefixes

error-line = 错误：{ $text }
hint-line = 提示：{ $text }
note-line = 注意：{ $text }

# Lists

list-truncated =
    注意：还有 { $count } 项没有列出；使用 --limit { $all } 可列出全部

# Sessions

session-none-to-continue = 此项目没有可以继续的会话
session-none-to-continue-hint = 去掉 --continue 可开始新会话
session-invalid-id = `{ $name }` 不是会话 ID，也不是会话 ID 的开头部分
session-unknown = 此项目中没有 ID 以 `{ $name }` 开头的会话
session-ambiguous = 有多个会话的 ID 以 `{ $name }` 开头
session-ambiguous-hint = 请多给出几位 ID；运行 `dormouse sessions` 可列出所有会话
session-list-hint = 运行 `dormouse sessions` 可列出所有会话
sessions-none = 此项目还没有会话。
sessions-no-match = 此项目中没有包含 `{ $text }` 的会话。
max-cost-without-price =
    警告：--max-cost 不起作用：{ $model } 的价格未知（价格表日期：{ $dated }）；请在设置 `prices` 中添加

# Sandbox

sandbox-on = 命令在沙箱中运行：只能写入项目、临时目录和包缓存，不能读取凭据
sandbox-on-without-network = 命令在沙箱中运行：只能写入项目、临时目录和包缓存，不能读取凭据，也不能访问网络
sandbox-off = 命令不在沙箱中运行：设置 `sandbox.mode` 为 `off`
sandbox-unsupported = 命令不在沙箱中运行：当前系统不支持沙箱
sandbox-excluded = 此命令在沙箱外运行：它匹配 `sandbox.excluded`
sandbox-missing = 注意：当前系统没有可用的命令沙箱（需要 Linux 5.13 或更高版本，并启用 Landlock）；凡是你能写入的位置，命令都能写入
sandbox-excluded-hint = `sandbox.excluded` 中有 `{ $rule }`；命令的写法与权限规则相同，例如 `docker:*`

# Rewind

rewind-finished =
    上次中断的回退已完成：恢复了 { $count } 个文件。
rewind-none = 没有可以回退到的消息。
rewind-how = 要回退，请给出消息编号：这条消息及之后的一切都会撤销。加上 --dry-run 可预览。
rewind-how-here = /rewind N 撤销第 N 条消息及之后的一切；/rewind N code 或 /rewind N conversation 只撤销文件或对话。
rewind-usage-here = 用法：/rewind、/rewind N、/rewind N code、/rewind N conversation；加上 overwrite 会连同你之后改过的文件一起恢复
rewind-no-message =
    没有第 { $number } 条消息；{ $count ->
        [0] 会话中没有消息
       *[other] 会话中共有 { $count } 条消息
    }
rewind-no-message-hint = 不带编号可列出消息
rewind-is-rewind = （一次回退；选择此编号可撤销它）
rewind-no-changes = 没有文件改动
rewind-new = { $path }（新建）
rewind-deleted = { $path }（已删除）
rewind-more = 另有 { $count } 个
rewind-label-restore = 恢复内容
rewind-label-bring-back = 重新创建
rewind-label-remove = 删除文件
rewind-label-changed = 之后改过
rewind-label-not-kept = 没有保留
rewind-branch-moved = Git 当时位于 { $then }，现在位于 { $now }。文件会恢复，分支不会切换。
rewind-incomplete = 有一个命令因崩溃而中断；此列表可能没有包含它的全部改动。
rewind-dry-run = 预览：没有做任何改动。
rewind-dry-run-files = 不带 --dry-run 时，{ $count ->
        [0] 不会改动任何文件
       *[other] 会恢复 { $count } 个文件
    }。
rewind-dry-run-conversation = 不带 --dry-run 时，会从对话中移除第 { $number } 条消息及之后的一切。
rewind-dry-run-both = 不带 --dry-run 时，{ $count ->
        [0] 不会改动任何文件
       *[other] 会恢复 { $count } 个文件
    }，并从对话中移除第 { $number } 条消息及之后的一切。
rewind-restored =
    { $count ->
        [0] 没有需要恢复的文件。
       *[other] 已恢复 { $count } 个文件。
    }
rewind-conversation = 已从对话中移除第 { $number } 条消息及之后的一切。
rewind-taken-back = 已撤销那次回退：被它移除的消息重新成为对话的一部分。
rewind-skipped = 保持原样：{ $path }（{ $reason }）
rewind-overwrite-here = 之后改过的文件保持原样。要一并恢复：/rewind { $number } overwrite
rewind-no-diff = { $path }：不是文本，或过大而无法在此比较
rewind-listing-cost = 本会话中，检测命令改动了哪些文件共用时 { $seconds } 秒。
rewind-diff-now = { $path }（当前）
rewind-diff-then = { $path }（恢复后）

# Compaction

compacted = 已压缩（{ $method }）：从 { $before } token 减到 { $after } token；名称保留率 { $percent }%；完整内容在会话记录中
compacted-from-notes = 使用会话笔记，未发送请求
compacted-by-model = 由模型生成摘要
compacted-by-server = 由模型服务生成摘要
compacted-without-model = 不使用模型
compacted-model-failed = { $notice }（模型没有生成摘要：{ $reason }）

# Doctor

doctor-summary = { $ok } 项正常，{ $warnings } 个警告，{ $problems } 个问题
doctor-fix = 解决方法：{ $fix }
doctor-fix-value = 请改正或删除

doctor-key-ok = 来自 { $source }，用于 { $server }
doctor-key-ok-unused = 来自 { $source }，用于 { $server }；{ $unused } 也已设置，但没有使用
doctor-key-not-needed = 不会向 { $server } 发送 API 密钥
doctor-key-fix-none =
    export ANTHROPIC_API_KEY=… 或 OPENAI_API_KEY=…；使用自己的服务时设置 OPENAI_BASE_URL=http://host:port/v1；`dormouse demo` 不需要密钥
doctor-key-fix-invalid = export { $variable }=…，填入有效的 API 密钥
doctor-key-fix-command = 手动运行该命令：它只应输出 API 密钥，不应输出其他内容

doctor-server-ok = { $url } 在 { $milliseconds } 毫秒内响应
doctor-server-fix-unavailable = 稍后重试，或配置其他模型服务
doctor-model-ok = 模型 { $model } 可用
doctor-model-first = 没有配置模型；使用模型服务列出的第一个：{ $model }
doctor-model-none-listed = 模型服务没有列出任何模型；使用 { $model }
doctor-model-none = 没有配置模型，模型服务也没有列出任何模型
doctor-model-fix-none = 用 --model、DORMOUSE_MODEL 或设置 `model` 指定一个
doctor-model-not-listed = 模型 { $model } 不在模型服务列出的 { $count } 个模型中
doctor-model-fix-not-listed = 如果请求失败，请用 --model 指定其他模型；模型服务列出了 { $models }

doctor-mcp-ok = `{ $name }` 有响应（协议 { $protocol }），工具：{ $tools }
doctor-mcp-timeout = `{ $name }` 在 { $seconds } 秒内没有响应
doctor-mcp-fix-server = 编辑 { $file } 中的 `mcpServers.{ $name }`，或运行 `dormouse mcp remove { $name } --scope { $scope }`
doctor-mcp-fix-file = 编辑 { $file } 中的 `{ $name }` 条目
doctor-mcp-fix-entry = 改正或删除该条目；参见 `dormouse help mcp`

doctor-embeddings-file = 词向量位于 { $path }
doctor-embeddings-fix-prepare = 运行 `dormouse memory embed`
doctor-embeddings-fix-setting = 改正该设置；或删除它，只按词搜索记忆

doctor-guards-fix-file = 改正该文件，或将它移走
doctor-guard-ok = `{ $name }`，位于 { $settings }
doctor-guard-memory-missing = { $settings } 中的守卫规则 `{ $name }` 仍在生效，但对应的记忆已不存在
doctor-guard-fix-memory-missing = 运行 `{ $command }` 可移除该守卫规则
doctor-guard-lines-missing = { $settings } 中缺少守卫规则 `{ $name }`，或其内容不完整
doctor-guard-fix-lines-missing = 运行 `{ $command }` 可移除它；使用 `--install` 可恢复它

doctor-folder-ok = { $path }：仅自己可读，剩余 { $megabytes } MB
doctor-folder-missing = { $path }：尚未创建，剩余 { $megabytes } MB
doctor-folder-unreadable = 无法读取 { $path }：{ $error }
doctor-folder-not-a-folder = { $path } 不是目录
doctor-folder-fix-not-a-folder = 将它移走，或将 DORMOUSE_HOME 设为一个目录
doctor-folder-read-only = { $path } 不可写
doctor-folder-cannot-create = { $path } 不存在，也无法在 { $parent } 中创建
doctor-project-file-damaged = { $path } 已损坏：它记录所在目录的会话和记忆属于哪个项目
doctor-project-file-fix = 在那个项目中启动一次 dormouse，即可重新写入
doctor-folder-fix-permissions = 检查所有者和权限，或将 DORMOUSE_HOME 设为自己的目录
doctor-folder-not-private = { $path } 中有对话内容，而其他用户可以读取（权限 { $mode }）
doctor-folder-disk-full = 磁盘已满：{ $path } 剩余 { $megabytes } MB
doctor-folder-low-space = 磁盘空间不足：{ $path } 剩余 { $megabytes } MB
doctor-folder-fix-space = 清理一些空间，或将 DORMOUSE_HOME 设为其他磁盘上的目录

doctor-locks-no-sessions = 还没有会话
doctor-locks-free =
    { $count } 个会话已关闭
doctor-locks-open = 会话 { $session } 已在 { $host } 上的进程 { $pid } 中打开
doctor-locks-open-unknown = 会话 { $session } 已在其他进程中打开
doctor-locks-orphaned = 会话 { $session } 处于锁定状态，但进程 { $pid }（位于 { $host }）已经结束：它的某个子进程可能还在运行
doctor-locks-fix-orphaned = 对该会话的 session.lock 运行 `fuser` 找到这个进程，并将其停止
doctor-locks-fix-unreadable = 检查该目录的所有者和权限

doctor-transcripts-none = 此项目还没有会话记录
doctor-transcripts-checked = 共 { $all } 个，检查了 { $checked } 个，{ $damaged } 个有损坏的行
doctor-transcripts-damaged =
    { $file }：{ $lines } 行损坏；{ $first }
doctor-transcripts-fix = 会话的其余部分可以正常使用；如有备份，可从中恢复损坏的行
doctor-transcripts-fix-unreadable = 检查该文件的所有者和权限

doctor-settings-none = 没有设置文件；如需创建，你的设置文件是 { $path }
doctor-settings-fix-file = 改正该文件；或将它移走，使用默认值
doctor-settings-fix-key = 在 { $path } 中改正或删除
doctor-settings-forbidden = 项目不能设置 `{ $key }`；该设置不起作用
doctor-settings-fix-forbidden = 从 { $path } 中删除
doctor-settings-untrusted = 此项目的部分设置在你信任它之前不起作用
doctor-settings-fix-untrusted = 运行 `dormouse permissions trust` 查看并信任这些设置

doctor-git-repository = 仓库 { $path } 可读取
doctor-git-old = { $version } 低于 { $minimum }：git 命令不会被视为只读
doctor-git-fix-old = 安装更新的版本
doctor-git-fix-missing = 安装 git；没有它，模型得不到分支和改动的信息
doctor-git-owner = git 不信任 { $path }：它属于其他用户
doctor-git-fix-owner = 如果信任它，请运行：git config --global --add safe.directory '{ $path }'
doctor-git-unreadable = git 无法读取 { $path }：{ $error }
doctor-git-fix-unreadable = 在该处运行 `git status` 查看详情

doctor-shell-missing = { $error }：命令改用 sh 运行，且每个命令都需要确认
doctor-shell-old = { $version } 低于 4.4：每个命令都需要确认
doctor-shell-unknown = 无法识别的 bash 版本 `{ $version }`
doctor-shell-fix = 安装 bash 4.4 或更高版本，并确保它在 PATH 中排在最前

doctor-terminal-none = 标准输出不是终端
doctor-terminal-fix-narrow = 将终端宽度调到至少 80 列：否则表格会被截断
doctor-locale-not-utf8 = { $variable }={ $value } 不是 UTF-8 区域设置：非英文文字可能显示为乱码
doctor-locale-none = 没有设置区域：非英文文字可能显示为乱码
doctor-locale-fix = export { $variable }=C.UTF-8，或使用你所用语言的 UTF-8 区域设置

# Common

nothing-changed = 没有改动。
did-you-mean = 是不是想用 `{ $name }`？

# Memory

memory-unknown = 没有名为 `{ $name }` 的记忆
memory-unknown-hint = 运行 `dormouse memory list` 可列出所有记忆
memory-ambiguous = `{ $name }` 匹配多条记忆：{ $memories }
memory-ambiguous-hint = 请使用文件名；如果多个范围中都有，请加上 --scope
memory-scope-hint = 用 --scope 指定一个范围
memory-unreadable-files =
    注意：{ $count } 个文件无法读取；运行 `dormouse memory doctor` 查看详情
memory-no-repo-scope = `--scope repo` 不能在主目录中使用
memory-no-repo-scope-hint = 去掉 `--scope repo`，或切换到项目目录
memory-directory-variable-hint = 修改或取消设置 { $name }
memory-directory-setting-hint = 修改或取消设置 `autoMemoryDirectory`
memory-repository-moved = 注意：此仓库以前位于 { $path }；它的记忆已移到这里
memory-external-changes-skipped = 注意：其他程序所做的改动没有显示：{ $error }
memory-secret-confirm = 这段内容看起来是机密信息（{ $rules }）。能读取该文件的人都能看到它。仍要保存吗？[y/N]
memory-secret-found = 未保存：文本中含有疑似密钥的内容（{ $rules }）
memory-secret-hint = 仍要保存请使用 --allow-secret
memory-change-held = 按写入策略，这项改动没有直接生效
memory-change-held-hint = 运行 `dormouse memory inbox` 可查看

memory-list-empty = 还没有记忆。保存方法参见 `dormouse memory add --help`。
memory-list-no-match = 没有匹配的记忆。运行不带选项的 `dormouse memory list` 可列出全部。
memory-age-today = 今天
memory-age-yesterday = 昨天
memory-age-days = { $count } 天前
memory-show-header = { $path }（{ $scope }，最后修改：{ $age }）
memory-usage = 召回 { $recalled } 次（{ $tokens } token），引用 { $cited } 次，遵守 { $followed } 次，违反 { $violated } 次；{ $helped }
memory-usage-helped = 最近一次起作用：{ $when }
memory-usage-not-helped = 尚未起过作用

memory-field-empty = 记忆的 { $field } 不能为空
memory-added = 已为此项目保存为“{ $name }”（类型 `{ $kind }`）；用 `dormouse memory edit { $file }` 修改；加 `--scope user` 则对所有项目有效
memory-added-user = 已为所有项目保存为“{ $name }”（类型 `{ $kind }`）；用 `dormouse memory edit { $file }` 修改
memory-name-confirm = 已有名为“{ $name }”的记忆（{ $file }）。仍要另存一条吗？[y/N]
memory-name-exists = 已有名为“{ $name }”的记忆：{ $file }
memory-name-exists-hint = 用 `dormouse memory edit { $file }` 修改它，或加上 --new 另存一条
memory-body-prompt = 请输入记忆的正文；按 Ctrl-D 结束。
memory-body-empty = 标准输入中没有记忆的正文
memory-body-empty-hint = 使用 --body TEXT；如果只需要描述，使用 --body ""
memory-not-saved = 没有保存
memory-not-utf8 = { $file } 不是有效的 UTF-8
memory-not-utf8-hint = 请先将它转换为 UTF-8
memory-edit-hint = 运行不带选项的 `dormouse memory edit` 可编辑整个文件
memory-removed = 已移到回收站。运行 `dormouse memory undo` 或 `dormouse memory restore FILE` 可恢复。
memory-removed-guard-stays = 它的守卫规则仍在生效。运行 `dormouse memory guard { $path } --remove` 可移除。
memory-confirmed = 已确认。模型现在可以使用这条记忆。
memory-not-quarantined = 这条记忆没有被隔离。

memory-no-changes = 还没有改动。
memory-only-index-changed = 只有索引有改动。
memory-unknown-change = 没有编号为 { $number } 的改动
memory-unknown-change-hint = 运行 `dormouse memory log` 可列出所有改动
memory-ambiguous-change = 多个范围中都有编号为 { $number } 的改动：{ $scopes }
memory-undone = 已撤销 { $scope } 中的改动 { $number }：{ $reason }（作者：{ $author }）
memory-undo-partial = 这项改动在 { $scope } 范围的记忆中；同一次梦境整理的其他改动已撤销
memory-nothing-to-undo = 没有可以撤销的改动

memory-inbox-empty = 没有提议。
memory-inbox-hint = 运行 `dormouse memory inbox accept ID`、`edit ID` 或 `refuse ID` 处理提议；`--all` 选择所有提议。
memory-unknown-proposal = 没有编号为 { $number } 的提议
memory-unknown-proposal-hint = 运行 `dormouse memory inbox` 可列出所有提议
memory-ambiguous-proposal = 多个范围中都有编号为 { $number } 的提议：{ $scopes }

memory-index-fixed = 已修复索引（{ $scope }），改动 { $change }。
memory-doctor-fix-hint = 运行 `dormouse memory doctor --fix` 可修复索引。
memory-check-ok = 没有发现问题。

memory-restore-unchanged = 这条记忆已经是此内容。
memory-not-removed = `{ $name }` 不在回收站中
memory-not-removed-hint = 使用 --change N 可恢复较早的版本；运行 `dormouse memory log` 可列出改动
memory-not-in-trash = 回收站中没有名为 `{ $name }` 的记忆
memory-not-in-trash-hint = 运行 `dormouse memory restore` 可列出回收站；记忆会保留 30 天
memory-trash-empty = 回收站是空的。删除的记忆会保留 30 天。

memory-export-empty = 没有可以导出的记忆。
memory-export-exists = { $path } 已存在
memory-export-exists-hint = 没有写入任何内容；请选择其他目录
memory-import-skipped = 已跳过：{ $reason }
memory-import-done = 导入 { $added } 条，已有 { $known } 条，跳过 { $skipped } 条
memory-import-undo = `dormouse memory undo { $number } --scope { $scope }` 可撤销这次导入
memory-import-how = 共 { $count } 条：用 `dormouse memory import --from { $agent }` 导入
memory-import-none = 其他代理没有关于本项目的记忆；请给出要导入的目录或导出文件的路径
memory-import-nothing = { $agent } 没有关于本项目的记忆（已查找 { $path }）
memory-import-nothing-hint = `dormouse memory import` 列出其他代理所知的内容
memory-import-failed = 无法导入 { $path }：{ $reason }
memory-import-failed-hint = `dormouse memory import --help` 列出支持的格式；用 --format 指定一种
memory-import-unknown-json = 格式未知的 JSON
memory-import-not-json = 不是目录、markdown 文件或有效的 JSON（{ $error }）
memory-import-invalid = 无法读取导出文件（{ $error }）；请重新导出
not-a-folder = `{ $path }` 不是目录：{ $error }

editor-failed = 编辑器 `{ $editor }` 出错；没有做任何改动
output-none = 还没有工具调用产生输出。
user-command-empty = 请在感叹号后输入命令，例如：!git status
rule-saved = 已将 { $rule } 保存到 { $file }
editor-failed-hint = 设置 VISUAL 或 EDITOR，或使用 --body、--description 等选项
editor-no-terminal = 没有可供编辑器 `{ $editor }` 使用的终端
editor-no-terminal-hint = 用 --body TEXT（`--body -` 读取标准输入）、--description 或 --name 修改；或将 EDITOR 设为不需要终端的程序
editor-empty = `{ $editor }` 没有保存任何文字；没有做任何改动
editor-empty-hint = 要删除记忆，请运行 `dormouse memory rm`
editor-not-utf8 = `{ $editor }` 保存的文字不是有效的 UTF-8
editor-text-kept = 你的文字保存在 { $path }

embed-not-configured = 没有配置向量模型；按词搜索记忆
embed-not-configured-hint = 在设置中指定 `embeddings.file`，或 `embeddings.baseUrl` 和 `embeddings.model`：参见 `dormouse help memory`
embed-failed-hint = 已算出的向量会保留；模型可用后请再次运行
embed-busy = 注意：另一个进程正在计算向量；它的结果也会使用
embed-prepared = 注意：已准备 { $words } 个词，{ $dimensions } 维，{ $kilobytes } kB
embed-result = 共 { $all } 条记忆，{ $count } 条有向量，其中 { $new } 条是新算的
embed-result-unknown = { $count } 条所用的语言不受该模型支持
embed-result-missing = { $count } 条还没有向量

# Recall and search

search-empty = 没有给出搜索词
recall-no-match = 没有匹配 `{ $query }` 的记忆。
recall-index-age = 注意：距上次检查其他程序的改动：{ $age }；使用 --fresh 可先检查
recall-explain =
    { $file }（{ $scope }，{ $age }）：得分 { $score }，有用的可能性 { $confidence }%，约 { $tokens } token；{ $verdict }
recall-explain-sure = 会话会把它加入对话
recall-explain-likely = 会话会用一行提到它，除非会话开始时的列表中已有
recall-explain-not-sure = 会话不会主动加入它；小模型可能会选中它
recall-explain-confidence = 可能性（对数几率）：任何记忆为 { $base }，再加上 { $parts }
recall-explain-work = 主题：{ $word }
recall-explain-file = 打开的文件：{ $file }
recall-explain-not-searched = 只有一个词的消息，或“继续”之类的消息，会话不会去查找
recall-explain-repo = 不会加入：它存放在仓库中（可用设置 `memory.inRepository` 改变）
recall-explain-same = { $word }，匹配 `{ $term }`
recall-explain-family = { $word }，匹配 `{ $term }`（同族词）
recall-explain-related = { $word }，匹配 `{ $term }`（相关词）
recall-explain-typo = { $word }，匹配 `{ $term }`（相差一个字母）
recall-explain-company = `{ $term }`：查询中没有，但在最佳匹配中常见
recall-explain-file-missing = 得分降低：它引用的文件已不存在
recall-explain-file-changed = 得分降低：它引用的文件后来有改动
recall-explain-ranks = 按词排名：{ $words }（得分 { $score }）；按向量排名：{ $vectors }（相似度 { $similarity }）
recall-explain-no-rank = 无
recall-without-embeddings = 注意：只按词排名：{ $reason }

# Guards

guard-suggested =
    { $name }：已纠正 { $violated } 次；运行 `dormouse memory guard { $file }` 可查看守卫规则
guard-none = 没有守卫规则。一条 `feedback` 记忆被纠正 { $corrections } 次后会建议添加。
guard-proposal =
    { $name }（{ $file }）：已纠正 { $violated } 次
guard-confirm = 安装这条守卫规则吗？[y/N]
guard-installed = 已安装守卫规则。使用 `--remove` 可移除。
guard-not-installed = 没有改动。使用 `--install` 可安装守卫规则；使用 `--refuse` 可拒绝。
guard-already-there = 所有行都已存在；安装只会把它们与这条记忆关联起来。
guard-explain-rule = 被拒绝的调用不会运行；`ask` 下的调用需要确认。
guard-explain-reminder = 这条记忆没有提到规则可以拒绝的命令或路径。涉及相关主题时，这些钩子会提醒模型。
guard-active = 这条守卫规则正在生效。使用 `--remove` 可移除。
guard-incomplete = 这条守卫规则缺少部分行。使用 `--remove` 可移除其余部分。
guard-refused = 已拒绝。再纠正 { $corrections } 次后会重新建议。
guard-removed = 已移除守卫规则。文件的其余内容没有改动。
guard-removed-partly = 已移除守卫规则。其中部分行此前已不存在。
guard-unknown = 没有为 `{ $name }` 安装守卫规则
guard-unknown-hint = 运行 `dormouse memory guard` 可列出所有守卫规则
guard-no-settings = 没有可以写入守卫规则的设置文件
guard-no-program = 无法确定本程序的路径：{ $error }
guard-program-not-utf8 = 本程序的路径不是有效的 UTF-8：{ $path }
guard-program-not-utf8-hint = 请将它安装到名称有效的目录中

# Settings files

config-invalid-value = 无法设置 `{ $key }`：{ $problem }
config-unchanged = 没有做任何改动
settings-fix-first = 请先改正该文件；没有做任何改动
settings-no-project = `--scope project` 和 `--scope local` 不能在主目录中使用
settings-no-project-hint = 去掉 `--scope`，或切换到项目目录
settings-invalid-path = { $path } 不是有效的设置文件路径
settings-changed-meanwhile = { $path } 在此期间被改动
try-again = 请重试

# Sessions: search

search-sessions-empty-hint = 请给出错误信息、路径或函数名
search-sessions-no-match = 此项目中没有包含 `{ $query }` 的会话。

# Input and confirmation

no-terminal-for-confirmation = 没有可用于确认的终端
stdin-unreadable = 无法读取标准输入：{ $error }
nothing-was-changed-hint = 没有做任何改动

# Setup of other agents

setup-done = 配置完成。请重启该代理。
setup-undone = 已移除配置。
setup-already-done = 已经配置过。
setup-nothing-to-undo = 没有可以移除的配置。
setup-confirm = 进行这些改动吗？[y/N]
setup-confirm-hint = 检查上面的改动，然后加上 --yes 再次运行该命令
setup-no-home = 没有设置 HOME，无法找到该代理的配置
setup-no-home-hint = 请设置 HOME

# Hooks

hook-unknown-event = 没有名为 `{ $name }` 的钩子事件
hooks-none = 没有钩子。
hooks-none-for-event = { $event } 没有钩子。
hooks-invalid = 警告：有一个钩子不会运行：{ $problem }
hooks-events-hint = 事件：{ $events }
hooks-input-not-json = --input 不是有效的 JSON：{ $error }
hooks-input-hint = 应为工具的输入，例如 '{ "{" }"command":"git push"{ "}" }'

# Messages to sessions

send-empty = 消息为空
send-empty-hint = 通过参数或标准输入给出消息
send-summary-hint = 用 --summary 指定

# Settings

config-set = 已设置 { $key }
config-unset = 已取消设置 { $key }
config-was-not-set = { $key } 原本就没有设置
config-unknown = 未知的设置 `{ $key }`
config-unknown-hint = 没有做任何改动；`dormouse config schema` 列出所有设置
config-not-set = 没有设置 `{ $key }`
config-not-set-hint = `dormouse config list --all` 列出有值或有默认值的设置，`dormouse config schema` 列出所有设置

# Permissions and trust

permissions-unknown-tool = 没有名为 `{ $name }` 的工具
permissions-unknown-tool-hint = 工具：{ $names }
trust-given = 已信任。
trust-revoked = 已撤销信任。
trust-was-not-given = 此项目原本就不受信任。
trust-kept = 注意：这是你自己的改动，因此仍受信任；运行 `dormouse permissions trust --revoke` 可撤销信任
trust-no-effect = 注意：此项目不受信任，部分设置不起作用（{ $keys }）；运行 `dormouse permissions trust` 可查看并信任这些设置
trust-no-effect-changed = 注意：此项目在你信任之后有改动，部分设置不起作用（{ $keys }）；运行 `dormouse permissions trust` 可查看并信任这些设置
trust-already-given = 已经信任。
trust-not-needed = 没有需要信任的内容：此项目的设置不运行程序，也不授予权限。
trust-yes-hint = 检查上面的列表，然后运行 `dormouse permissions trust --yes`

# Agent definitions

agent-problem = 警告：代理定义：{ $problem }
agent-not-loaded = 警告：有一个代理定义没有使用：{ $problem }

# Embeddings

embeddings-unavailable = 注意：记忆只按词排名：{ $reason }
embeddings-hint = `dormouse help memory` 说明了如何配置向量模型

# Plugins

plugin-none = 没有插件。运行 `dormouse plugin install` 可从目录或 git URL 安装。
plugin-installed = 已从 { $source } 安装 { $name }。
plugin-installed-untrusted =
    该插件尚未受信任，其中的内容都不会使用。运行 `dormouse plugin trust { $name }` 可信任它；运行 `dormouse plugin remove { $name }` 可移除它。
plugin-enabled = 已启用 { $name }
plugin-disabled = 已禁用 { $name }
plugin-removed = 已移除 { $name }
plugin-contents = 它会运行：
plugin-contents-changed = 它在你信任之后有改动。它会运行：
plugin-hook-invalid = 有一个钩子不会运行：{ $problem }
plugin-trust-confirm = 信任这个插件吗？只有知道作者是谁时才应回答 y。[y/N]
plugin-not-trusted = 该插件不受信任
plugin-trust-yes-hint = 检查上面的列表，然后运行 `dormouse plugin trust { $name } --yes`
plugin-unknown-hint = 运行 `dormouse plugin list` 可列出所有插件
plugin-invalid-hint = 请改正后重新安装

# MCP

ui-running = 查看器会一直运行，直到您按 Ctrl-C。该地址只能使用一次。
ui-open-it = 无法启动浏览器：请自行打开该地址。
mcp-token-note = 客户端必须发送 { $path } 中的令牌：Authorization: Bearer TOKEN
mcp-no-memory-folder = 此项目没有记忆目录
mcp-no-memory-folder-hint = 运行 `dormouse memory path` 可显示记忆目录
mcp-none = 没有 MCP 服务器。运行 `dormouse mcp add` 可添加。
mcp-timeout = { $seconds } 秒内没有响应
mcp-invalid = 无效的条目：{ $reason }
mcp-untrusted = 需要信任：运行 `dormouse permissions trust`
mcp-switched-off = { $name } 已关闭
mcp-added = 已将 MCP 服务器 `{ $name }` 添加到 { $file }。
mcp-replaced = 已替换 { $file } 中的 MCP 服务器 `{ $name }`。
mcp-already-configured = { $file } 中已配置 MCP 服务器 `{ $name }`。
mcp-removed = 已从 { $file } 中移除 MCP 服务器 `{ $name }`。
mcp-needs-trust = 信任此项目后才会使用：运行 `dormouse permissions trust`。
mcp-unknown-in-file = { $file } 中没有 MCP 服务器 `{ $name }`
mcp-found-in-file = 它的配置在 { $file }{ $removal }
mcp-list-hint = 运行 `dormouse mcp list` 可列出所有服务器
mcp-login-open = 请在浏览器中打开以下地址登录 `{ $name }`，正在等待…
mcp-login-page = 登录成功，可以关闭此窗口。
mcp-login-failed = 未能登录 `{ $name }`：{ $reason }
mcp-logged-in = 已通过 { $issuer } 登录 `{ $name }`。
mcp-logout-failed = 已删除本机上 `{ $name }` 的令牌，但{ $reason }
mcp-logged-out = 已退出 `{ $name }` 的登录。
mcp-not-logged-in = `{ $name }` 没有登录记录。
mcp-unknown = 没有 MCP 服务器 `{ $name }`
mcp-missing-dashes = `{ $word }` 必须放在 `--` 之后
mcp-missing-dashes-hint = 将命令写在 `--` 之后：`dormouse mcp add { $name } -- { $command }`
mcp-invalid-pair = `{ $text }` 不是有效的 { $kind }：应为 `Name{ $separator }value`
mcp-url-and-command = URL 和命令只能指定其一
mcp-no-server = 没有为 `{ $name }` 指定命令或 URL
mcp-no-server-hint = 运行 `dormouse mcp add { $name } -- PROGRAM ARGUMENTS` 或 `dormouse mcp add { $name } --url URL`

# Interactive mode: /cost

tokens = { $count } token
cost-new-input = 新输入
cost-cache-written = 缓存写入
cost-cache-read = 缓存读取
cost-output = 输出
cost-total = 费用
cost-background = 子代理和后台任务
cost-unknown = 没有 { $model } 的价格；请在设置 `prices` 中添加

# Command line

command-behind-options = `{ $name }` 是命令，选项要写在它后面：请运行 `dormouse { $line }`；要作为提示词发送，请运行 `dormouse -p { $line }`
command-unknown = 未知的命令 `{ $name }`
command-unknown-hint = 要把它作为提示词发送，请运行 `dormouse -p { $name }`
interactive-needs-terminal = 交互模式需要终端（{ $stream } 不是 TTY）
interactive-needs-terminal-hint = 使用 -p：dormouse -p "你的问题"
output-format-needs-print = --output-format 需要与 -p 同用

# Dreams

dream-running = 正在进行梦境整理…
dream-catching-up = 正在从之前的会话中提取记忆…
dream-interrupted = 已中断。没有改动。
dream-not-started = 没有进行梦境整理：{ $reason }
dream-now-hint = 提示：使用 --now 可强制开始
dream-none = 还没有进行过梦境整理。
dream-report-unchanged = { $scope } 范围：{ $count } 条记忆没有改动
dream-report-refused = 已拒绝：{ $change }
dream-report-left-out = 未采用：{ $change }
dream-memory-off = 此处的记忆功能已关闭，没有可以整理的内容
dream-memory-off-hint = `dormouse config list` 显示是哪项设置关闭了它
memory-saved-note = 记忆：{ $change }；运行 `dormouse memory undo` 可撤销
signals-failed = 无法监听信号：{ $error }

# Statistics and profiles

stats-head-purpose = 请求用途
stats-head-model = 模型
stats-head-sent = 发送
stats-head-failed = 失败
stats-head-input = 输入 token
stats-head-cached = 缓存
stats-head-output = 输出
stats-head-cost = 费用
stats-head-time = 用时
stats-head-layer = 层
stats-head-fired = 触发
stats-head-freed = 释放 token
stats-head-changed = 改动
stats-head-summaries = 摘要
stats-head-prefix = 前缀改变
stats-head-tool = 工具
stats-head-calls = 调用
stats-head-denied = 拒绝
stats-head-stored = 存文件
stats-head-task = 后台任务
stats-head-runs = 运行
stats-head-skipped = 跳过
stats-head-killed = 被终止
stats-head-requests = 请求
stats-requests = { $count ->
       *[other] { $number } 个请求
    }
stats-sessions = { $count ->
       *[other] { $number } 个会话
    }
stats-period = { $first } 至 { $last }
stats-overview = { $when }，{ $sessions }
stats-spent = { $requests }，输入 { $input } token{ $cached }，输出 { $output }
stats-cached = （{ $percent } 来自缓存）
stats-cost = 费用 { $cost }
stats-cost-unknown = 费用未知：{ $requests }所用模型没有价格
stats-cost-partly = 费用 { $cost }，另有 { $requests }价格未知
stats-cache-breaks = 意外的缓存失效
stats-break-model = 模型变了
stats-break-system = 系统提示变了
stats-break-tools = 工具变了
stats-break-options = 请求选项变了
stats-break-head = 系统提示或工具变了
stats-break-message = 较早的消息变了
stats-break-expired = 缓存已过期
stats-break-unknown = 原因未知：请求没有变化
stats-summaries = 每个会话的摘要数：{ $number }
stats-kept = { $layer } 的摘要保留了：{ $names } % 的名称，{ $messages } % 的用户消息
stats-memories-kept = 记忆：写入 { $written }，更正 { $corrected }，撤销 { $undone }，提议后放弃 { $dropped }
stats-memories-used = 记忆：召回 { $recalled }，引用 { $cited }，有帮助 { $helpful }
stats-pollution = 写入后被更正或撤销的：{ $percent }
stats-breaker = 断路器 { $name }：打开 { $times } 次；仍打开：{ $open }
stats-unknown-kind = { $count } 条未知类型的指标 { $kind }
stats-unreadable = 日志中有 { $count } 行无法读取
stats-title = 统计：{ $scope }
stats-none = { $scope }：还没有向模型发出请求：{ $folder } 中没有记录。
stats-none-since = { $scope }：自 { $since } 以来没有向模型发出请求：{ $folder } 中没有记录。
stats-none-all = 还没有向模型发出请求：{ $folder } 中没有记录。
stats-none-all-since = 自 { $since } 以来没有向模型发出请求：{ $folder } 中没有记录。
stats-from = 来自 { $folder }
stats-scope-session = 会话 { $name }
stats-scope-all = 所有项目
stats-scope-project = 此项目（--all 显示所有项目）
stats-invalid-since = --since 的值 `{ $text }` 无效
stats-invalid-since-hint = 请使用时长或日期，例如 12h、7d、4w 或 2026-11-02
profile-written = 已写入 { $path }。
profile-not-writable = 无法写入 `{ $path }`：{ $error }
profile-not-writable-hint = 请让 --html 指向已有目录中的文件
profile-window-hint = 将 --window 设为该模型的上下文窗口大小
profile-more-skipped = 警告：另有 { $count } 行被跳过
profile-unpriced = 警告：{ $count } 个请求所用的模型价格未知，按免费计算；请在设置 `prices` 中添加
profile-log-has-more = 警告：会话的统计日志比会话记录多 { $requests } 个请求，共 { $tokens } 个 token（{ $cost }）：这些回复在留下内容之前就中断了
profile-log-has-less = 警告：会话的统计日志不完整；以会话记录为准，对话之外的请求未计入
profile-no-cache = 无：没有任何请求读取或写入过缓存
profile-cache-unknown = 未知：服务器没有报告用量
profile-purposes = 会话的全部请求（据统计日志）：
profile-status-fired = 已触发
profile-status-idle = 开启，未触发
profile-status-simulated = 模拟
profile-status-not-offered = 不支持
profile-layers-note =
    已触发：在此会话中起过作用。未触发：已开启，但没有需要处理的内容。
    模拟：未开启或未知，显示的是假如开启会怎样。不支持：该模型的服务器不提供。
    kept out：该层使所有请求合计少发送（或本可少发送）的 token 数。
    with、without：其一为实际费用（含日志中记录的该层自身的请求），另一个为估算：
    只改变这一层，其他一切不变。
profile-no-file = 无法读取文件 `{ $name }`
profile-no-file-hint = 请给出会话记录的路径或会话 ID（见 `dormouse sessions`）
profile-unknown-session = 此项目没有会话 `{ $session }`
profile-unknown-session-hint = 运行 `dormouse sessions` 可列出所有会话；其他项目的会话请给出会话记录的路径
profile-no-requests = 没有可以分析的内容：{ $path } 中没有模型的回复（共 { $lines } 行，{ $damaged } 行无法读取）
profile-no-requests-hint = 会话记录每行是一个 JSON 对象：参见 `dormouse help transcript`
profile-no-answer = 没有可以显示的内容：{ $path } 中模型还没有回答
file-unreadable = 无法读取 { $path }：{ $error }

# Instruction files outside the project

include-outside = { $who } 引用了项目之外的文件 { $file } 作为指令。要读取它吗？[y/N]
include-refused = 不读取，以后也不再询问；运行 `dormouse permissions trust` 可以重新询问。
include-asked-again = 下次启动时会重新询问曾被拒绝的项目外文件。

# 手册

manual-topics = 手册的各页（`dormouse help TOPIC`）：{ $topics }
manual-unknown = 没有叫做 `{ $topic }` 的手册页或命令
manual-options = 选项见 `dormouse { $command } --help`。
cost-share-spent = 其费用份额已用完：只运行你要求的任务；设置 `background.maxShare`
short-prompt-set = 提示：上下文窗口为 { $tokens } token（来自设置）：使用简短的系统提示
short-prompt-name = 提示：上下文窗口为 { $tokens } token（来自模型名称）：使用简短的系统提示
short-prompt-server = 提示：上下文窗口为 { $tokens } token（由服务器报告）：使用简短的系统提示
model-info-late = 提示：服务器在 { $seconds } 秒内没有说明 { $model } 的窗口大小；本次会话按常用大小处理（可在设置的 `contextWindows` 中指定）
short-prompt-assumed = 提示：上下文窗口为 { $tokens } token（假定）：使用简短的系统提示
setup-undo-first = 已用另一种方式配置过。请先运行 `dormouse setup { $agent } --undo`，然后再运行一次。
setup-no-hooks = `{ $agent }` 没有 hook，无法读取其会话；`--extract` 适用于 claude-code
setup-no-extraction = 不会从其会话中学习。要开启，请先运行 `dormouse setup claude-code --undo`，再用 `--extract PROVIDER` 重新设置。
setup-cannot-extract = 该代理可以读取和保存记忆。它没有钩子，所以不会自动从其会话中学习。
setup-unknown-provider = 没有名为 `{ $provider }` 的提供方
setup-unknown-provider-hint = 可用 { $providers }，或服务器地址，例如 http://127.0.0.1:8080/v1
setup-whole-path = 提示：按名称找不到 `dormouse`，因此告诉代理完整路径：{ $path }

## 团队记忆

team-no-directory = 此处没有团队记忆的目录
team-no-remote = 此项目没有 git 远程地址，因此无法确定其团队
team-no-remote-hint = 添加远程地址，或用 `--repository HOST/OWNER/REPO` 指定仓库
team-no-token = 没有团队服务器的令牌
team-no-token-hint = 向团队管理员索取令牌（`dormouse team token create NAME`），然后运行 `dormouse team join`
team-token-variable-hint = 将 { $name } 设为完整的令牌，或取消设置
team-token-prompt = 令牌（输入时不显示）：
team-unreachable-hint = 检查地址和网络；本地改动会保留，并在下次同步时发送
team-not-joined = 此项目尚未加入团队
team-not-joined-hint = 运行 `dormouse team join URL`；`dormouse team serve` 可运行服务器
team-joined = 已以 { $person }（{ $role }）的身份加入 { $repository }。
team-layer-off = `team` 层已关闭，不会同步。
team-layers-off = 已为此仓库的所有人关闭：{ $layers }
team-config-hint = 可用的键：listen、database、tlsCert、tlsKey、maxEntries、rate 和 log
team-tls-half = 证书和私钥必须成对
team-tls-half-hint = 两者都设置；使用明文 http 时都不设置
team-variable = { $name } 的值是 `{ $value }`
team-variable-hint = 请使用 { $expected }
team-session-layers = { $layers } 从下一次会话起生效。
team-layers-none-off = 没有关闭任何层。
team-left = 已离开团队。记忆保留在此项目中。
team-pushed = 已发送 { $name }
team-proposed = 已提议 { $name }，由管理员决定
team-waiting = 等待审核：{ $name }
team-pulled = 已收到 { $name }，作者：{ $author }
team-came-back = { $name } 已恢复：在本地删除文件不会为团队删除；请使用 `dormouse team rm { $name }`
team-removed = 已移除 { $name }，历史中仍保留
team-replaced = { $name }：你的版本替换了 { $author } 的版本，后者仍在历史中（`dormouse team log { $name }`）
team-replaced-deleted = { $name }：它已为所有人删除，你的版本使其恢复
team-held-back = 未同步：{ $file }：{ $reason }
team-postponed = 尚未发送：{ $name }；其他成员先一步写入，请再次运行 `dormouse team sync`
team-up-to-date = 已是最新。
team-status = { $server } 上的 { $repository }，版本 { $version }；你是 { $person }（{ $role }）
team-status-review = 写入者的改动需要审核；待定提议：{ $count }
team-log-deleted = 已删除
team-restored = { $name } 已恢复为版本 { $version } 的内容
team-rm-unconfirmed = 没有可供确认的终端
team-rm-unconfirmed-hint = 请加上 --yes
team-rm-confirm = 为所有人删除 { $name }？历史中仍会保留。[y/N]
team-rm-done = 已为所有人删除 { $name }。
team-review-on = 从现在起，写入者的改动需要审核。
team-review-off = 从现在起，写入者的改动立即生效。
team-accepted = 已接受 { $name }。
team-rejected = 已拒绝 { $name }。
team-no-proposals = 没有待定的提议。
team-proposal = { $id }：{ $name }，作者：{ $author }
team-first-token = 数据库是新建的。这是管理员令牌，只显示一次：
team-serving = 团队服务器：{ $url }
team-serving-plain = 警告：没有 TLS，令牌和记忆会以明文经过网络；请加上 --tls-cert 和 --tls-key，或置于代理之后
team-stopping = 正在停止；进行中的请求会先完成。
team-token-created = { $person }（{ $role }）的令牌，只显示一次：
team-token-revoked = 已吊销 { $id }。
team-token-revoked-mark = 已吊销
team-token-unknown = 没有有效的令牌 { $id }
team-token-unknown-hint = `dormouse team token list` 会显示编号
team-backed-up = 已写入 { $lines } 行。
team-backup-restored = 已恢复 { $lines } 行。
team-purge-confirm = 吊销 { $person } 的所有令牌，并在使用 --entries 时移除其写入的全部内容？[y/N]
team-purged = 已吊销令牌：{ $tokens }；已移除版本：{ $versions }
team-session-news = 团队记忆：收到 { $count } 项改动：{ $names }
team-session-failed = 团队记忆未同步：{ $reason }
team-session-off = 团队记忆在此会话中不可用：{ $reason }
memory-promote-team = 此记忆已属于团队
memory-promote-quarantined = 此记忆来自外部，尚未确认
memory-promote-quarantined-hint = 检查后运行 `dormouse memory confirm { $name }`
memory-promote-refused = 未将此记忆提供给团队
memory-promote-refused-hint = 修改它，或加上 --force
memory-promote-repeats = 它只是重复了 { $file }。
memory-promote-contradicts = 它与 { $file } 矛盾。
memory-promote-anchor = 它提到的 { $path } 已不存在。
memory-promoted = 已为团队保存，下次同步时发送。你自己的副本保留不变。
memory-promoted-alone = 已为团队保存。此项目尚未加入团队：运行 `dormouse team join URL` 后会发送。你自己的副本保留不变。

acp-always = 是，并且本次会话中不再询问此类调用
acp-mode-refused = 这里没有模式“{ $mode }”，或者它允许的操作多于代理启动时的设置
acp-session-unknown = 没有会话 { $id }；请用 session/new 或 session/load 打开
acp-max-cost = 模型完成之前已达到费用上限
acp-busy = 该会话正在运行一个回合；请先取消
acp-cwd-relative = 工作目录 `{ $cwd }` 必须是绝对路径
acp-command-terminal = 此命令需要终端：请在终端中运行 `dormouse --resume`
acp-servers-question = 启动编辑器提供的 MCP 服务器？
acp-servers-always = 是，并且在此项目中始终允许（配置不变时）
acp-server-unsupported = 警告：已忽略编辑器的 MCP 服务器 { $name }：不支持 { $kind }，请使用 stdio 或 http

# Why a call may run or not

reason-agent-asks = 子代理 { $agent } 请求：{ $reason }
reason-plan-mode = { $reason }。计划模式下不允许修改。
reason-agent-reads = { $reason }。该子代理只能读取。
reason-rule-denies = 规则 `{ $rule }` 禁止该操作
reason-rule-asks = 规则 `{ $rule }` 要求先确认
reason-rule-allows = 规则 `{ $rule }` 允许该操作
reason-rule-hides = 规则 `{ $rule }` 禁止读取 { $file }，而该操作可能读到它
reason-read-only = 只读操作
reason-read-only-command = 该命令只读取
reason-bypass = 当前模式允许一切操作
reason-edits-accepted = 当前模式接受对工作目录的修改
reason-sandboxed = 在沙箱中运行
reason-unknown-tool = { $tool } 可能会修改内容
reason-request = 会向 `{ $host }` 发送请求
reason-program = `{ $part }` 不是已知的只读命令
reason-git-subcommand = `git { $part }` 不是只读的 git 子命令
reason-flag = `{ $part }` 可能不只是读取
reason-writes-file = `{ $part }` 会写入文件
reason-modifies-files = `{ $part }` 可能会修改文件
reason-deletes-files = `{ $part }` 会删除找到的文件
reason-changes-repository = `{ $part }` 可能会修改仓库
reason-runs-program = `{ $part }` 会运行其他程序
reason-writes = 会写入 { $path }
reason-credentials = 可能读到 { $path }，其中可能有密钥或密码
reason-reads-outside = 会读取项目之外的 { $path }
reason-outside = { $path } 在工作目录之外
reason-configuration-file = { $path } 是程序启动时加载的配置文件
reason-configuration-folder = { $path } 位于 `{ $folder }`，其中的文件用于配置程序

# Notices of the engine

notice-attached = 已附上 { $path }
notice-not-attached = 未附上：{ $problem }
notice-too-many-files = 只附上前 { $most } 个文件
notice-results-cleared = 之后的请求不再包含 { $count } 条旧的工具结果，这样更省（约少 { $tokens } token）；最新的结果保留
notice-messages-collapsed = { $count } 条较早的消息从现在起以摘要形式提供给模型（约少 { $tokens } token）；/expand 可恢复
notice-messages-dropped = 上下文窗口快满了：之后的请求不再包含最早的 { $count } 条消息（约 { $tokens } token），会话记录中仍然保留
notice-cache-broken = 服务器从缓存读取了 { $read } token，而不是 { $expected }：{ $cause }
notice-compaction-refused = 钩子拒绝了压缩：{ $why }
notice-turn-ended = 钩子结束了本轮：{ $why }
notice-stop-hook = Stop 钩子已连续 { $times } 次让本轮继续，不再询问它。

# Subagents

agent-general-purpose = 独立完成多步骤任务：跨多个文件的调研、带测试的修改，以及没有更合适的代理时的任何工作。
agent-explore = 快速浏览代码库，只读取：某段代码在哪里、如何工作、被谁使用。请说明要查得多细。
agent-plan = 设计如何实现或修改某项功能，只读取：步骤、文件、风险。适合在较大的改动之前使用。
agent-guide = 根据手册回答关于 Dormouse 本身的问题：命令、设置、记忆、钩子、代理和插件。
agent-statusline-setup = 设置 Dormouse 提示符上方的状态行：显示什么内容，以及由哪个命令输出。
agent-origin-built-in = 内置
agent-origin-plugin = 插件 { $name }
agent-origin-user = 用户
agent-origin-project = 项目
agent-origin-command-line = 命令行
agent-origin-managed = 统一管理
agent-memory = { $scope } 记忆
agent-in-background = 后台
agent-done = 已完成
worktrees-none = 此仓库中没有子代理遗留的工作树。
worktree-clean = 不会丢失任何内容
worktree-would-lose = 未提交的文件：{ $files } 个；仅存在于此的提交：{ $commits } 个
worktree-removed = 已删除
worktree-confirm = 连同列出的内容一起删除？[y/N]
worktrees-kept = 保留了 { $count } 个工作树，因为删除会丢失内容
worktrees-kept-hint = 请先合并或复制需要的内容，或使用 --yes 强制删除
memory-no-agent = 没有带记忆的子代理 `{ $name }`
memory-no-agent-hint = 带记忆的子代理：{ $agents }；`dormouse agents` 列出全部
agent-interrupted = 已中断（{ $id }）；用 /agents resume 继续
agents-interrupted = 提示：{ $count } 个子代理被中断：{ $names }。可以让模型继续，或使用 /agents resume NAME。
agent-requests = { $count } 次请求
notice-background-hook = 后台钩子有消息要告诉模型
notice-agent-done = 子代理 { $name } 已完成：{ $task }
notice-agent-failed = 子代理 { $name } 失败：{ $task }
notice-agent-stopped = 子代理 { $name } 已停止：{ $task }

# Labels of dormouse doctor

doctor-status-ok = 正常
doctor-status-warning = 警告
doctor-status-problem = 问题
doctor-area-settings = 设置
doctor-area-key = 密钥
doctor-area-server = 模型服务
doctor-area-embeddings = 向量
doctor-area-guards = 守卫规则
doctor-area-folders = 目录
doctor-area-locks = 锁
doctor-area-transcripts = 会话记录
doctor-area-sandbox = 沙箱
doctor-area-terminal = 终端
output-style-unknown = 找不到输出风格 { $name }；可用的有：{ $known }
web-search-no-url = webSearch 需要 `url`，即 SearXNG 服务器的地址
web-search-bad-url = webSearch.url 的值是 { $url }；它必须是以 http:// 或 https:// 开头且不含密码的地址
web-search-no-key = 没有网页搜索的密钥：环境变量 { $variable } 未设置
notice-web-search = 已搜索网页：{ $query }
notice-web-results = 网页搜索结果：

# The model server

server-too-long = 对话超出了模型的长度：{ $said }
server-too-long-by = 对话超出了模型的长度（{ $used } 个 token，上限 { $limit }）：{ $said }
server-too-long-limit = 对话超出了模型的长度（上限 { $limit } 个 token）：{ $said }
server-too-large = 请求对服务器来说太大（字节过多，通常是图片）：{ $said }
server-thinking = 服务器拒绝了先前回答中的思考块：{ $said }
server-rate-limited = 服务器限制了请求频率：{ $said }
server-overloaded = 服务器过载：{ $said }
server-fault = 服务器出错，状态码 { $status }：{ $said }
server-bad-key = 服务器不接受此密钥：{ $said }
server-billing = 账户余额或消费限额已用完：{ $said }
server-not-allowed = 此密钥没有相应权限：{ $said }
server-not-found = 服务器没有此模型或地址：{ $said }
server-invalid-request = 服务器拒绝了请求（状态码 { $status }）：{ $said }
server-unreachable = 无法连接 { $url }：{ $problem }
server-none = { $url } 没有服务器在监听（{ $problem }）
server-unknown-host = 找不到 { $url } 的主机（{ $problem }）
server-broken-stream = 响应中断：{ $said }
server-stalled = 服务器已有 { $seconds } 秒没有发送任何内容
server-malformed = 无法读取服务器的响应：{ $said }
server-hint-saved = 会话已保存；可重试：dormouse -p --continue "continue"
server-hint-key = 密钥来自 { $source }；请将 { $variable } 设为有效密钥后重试
server-hint-no-key = 没有发送密钥；请将 { $variable } 设为有效密钥后重试
server-hint-not-allowed = 此密钥不能使用该模型；请用 --model 选择其他模型，或换一个密钥
server-hint-not-found = 请检查模型名称（--model）和服务器地址
server-hint-billing = 请查看账户的计费页面；重试没有用
server-hint-too-long = 去掉 --continue 开始新会话；如果上下文窗口更大，请设置 DORMOUSE_CONTEXT_WINDOW
server-hint-too-large = 请开始新会话，并使用更少或更小的图片
server-hint-address = 请检查服务器是否在运行、地址是否正确（ANTHROPIC_BASE_URL、OPENAI_BASE_URL 或 provider.baseUrl）
server-hint-thinking = 去掉 --continue 开始新会话
server-hint-stalled = 服务器较慢时，请增大 DORMOUSE_IDLE_TIMEOUT_MS
provider-none = 尚未设置模型
provider-no-key = 没有 { $url } 的密钥：变量 { $variable } 未设置
provider-bad-key = 来自 { $variable } 的密钥含有密钥中不会出现的字符（空格或换行？）
provider-hint-export = 执行 export { $variable }=… 后重试
provider-hint-value = 请修正或删除它
provider-hint-running = 本机似乎正在运行 { $name }；要使用它：export OPENAI_BASE_URL={ $url } DORMOUSE_MODEL={ $model }
provider-hint-anthropic = 使用 Anthropic API 密钥：export ANTHROPIC_API_KEY=…
provider-hint-openai = 使用 OpenAI API 密钥：   export OPENAI_API_KEY=…
provider-hint-own = 使用自己的服务器：      export OPENAI_BASE_URL=http://host:port/v1（或 ANTHROPIC_BASE_URL）
provider-hint-demo = 不用模型试用：运行 `dormouse demo`；memory、recall、search、sessions、context、stats、config 和 doctor 也不需要模型
tokens-invalid = { $name } 的值是 `{ $value }`，不是 token 数
tokens-invalid-hint = 请将 { $name } 设为整数（例如 32768），或取消设置
