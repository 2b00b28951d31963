//! Kinds of work: a request to `write specs` and a memory about `tests` are about the same kind.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{TextPiece, Tokenizer, split_text};

/// A kind of work per line: its name, its words, and after `|` its words in scripts without spaces.
const KINDS: &str = "\
test: test tests tester testing spec specs suite unittest pytest jest rspec fixture mock mocks stub coverage assert assertion e2e flaky regression snapshot | 测试 单测 用例 断言 覆盖率 回归 自测 打桩
release: deploy deployment release releases rollout rollback ship prod production staging canary publish hotfix launch | 部署 上线 发布 发版 回滚 灰度 生产 线上 投产 封网
database: migration migrate schema column table alter backfill ddl database | 迁移 建表 表结构 字段 加列 索引 回填 数据库
review: review reviewer approve approval pr merge signoff | 评审 审核 审批 合并 审查 提测 合入
commit: commit branch rebase push squash git changelog | 提交 分支 推送 变基 合并
log: log logs logging logger trace metric metrics monitor monitoring alert dashboard observability | 日志 打点 监控 告警 报警 指标 看板 埋点
config: config configuration configure setting settings env environment flag variable toggle default | 配置 参数 环境变量 开关 默认值 设置
style: style format formatter lint linter naming rename convention wording tone comment indentation | 格式 命名 风格 规范 注释 排版 措辞 改名
dependency: dependency dependencies package library upgrade bump version vendor install | 依赖 升级 版本 安装 引入 第三方
document: doc docs documentation readme guide changelog explain wiki runbook | 文档 说明 手册 解释 教程
secret: secret password token key credential vault encrypt | 密钥 密码 令牌 凭证 证书 加密 口令
privacy: privacy personal gdpr pii anonymize mask purge consent email phone address | 隐私 脱敏 个人信息 手机号 身份证 地址 明文
speed: slow performance latency optimize speed benchmark profile cache timeout | 性能 优化 延迟 耗时 缓存 内存 超时
error: error exception panic crash raise throw catch rescue retry failure | 报错 异常 错误 崩溃 重试 失败 容错
schedule: schedule scheduler cron nightly hourly daily job queue worker batch background | 定时 调度 每天 凌晨 任务 队列 批处理 后台
interface: button page screen view form color layout css modal dialog icon translation locale string label | 按钮 页面 界面 样式 颜色 弹窗 文案 翻译 多语言 图标
api: api endpoint route request response json rest graphql grpc webhook header status | 接口 请求 响应 返回 网关 调用 路由
date: date time timezone utc timestamp clock | 时间 时区 日期 时间戳
money: money amount price currency payment invoice tax refund | 金额 价格 货币 支付 退款 发票 运费 结算 费用
incident: incident outage postmortem oncall pager emergency | 事故 故障 复盘 值班 宕机
ticket: ticket issue board bug report | 工单 缺陷 需求 提单
";

/// Words with the kinds they stand for, in scripts with and without spaces.
pub(super) struct KindWords {
    /// Kinds of each stem.
    stems: HashMap<String, Vec<&'static str>>,
    /// Words in scripts without spaces.
    unspaced: Vec<(&'static str, &'static str)>,
}

impl KindWords {
    /// Reads lists of words, each with its kind: words, and after `|` those in scripts without spaces.
    pub(super) fn read(lists: impl Iterator<Item = (&'static str, &'static str)>) -> Self {
        let words = Tokenizer::new();
        let mut table = Self { stems: HashMap::new(), unspaced: Vec::new() };
        for (kind, list) in lists {
            let (spaced, unspaced) = list.split_once('|').unwrap_or((list, ""));
            for word in spaced.split_whitespace() {
                let kinds = table.stems.entry(words.stem(word).into_owned()).or_default();
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            table.unspaced.extend(unspaced.split_whitespace().map(|word| (word, kind)));
        }
        table
    }

    /// The kinds of the words of a text, each once: first those of scripts with spaces, in the order of the text.
    pub(super) fn kinds(&self, words: &Tokenizer, text: &str) -> Vec<&'static str> {
        let mut found = Vec::new();
        let mut add = |kind: &'static str| {
            if !found.contains(&kind) {
                found.push(kind);
            }
        };
        each_stem(words, text, |stem| {
            self.stems.get(stem).into_iter().flatten().for_each(|kind| add(kind));
        });
        if !text.is_ascii() {
            let unspaced = self.unspaced.iter().filter(|(word, _)| text.contains(word));
            unspaced.for_each(|(_, kind)| add(kind));
        }
        found
    }

    pub(super) fn has_stem(&self, stem: &str) -> bool {
        self.stems.contains_key(stem)
    }

    /// A text without the words of the table that are in scripts without spaces.
    pub(super) fn without_unspaced(&self, text: &str) -> String {
        let words = self.unspaced.iter().map(|(word, _)| word);
        words.fold(text.to_owned(), |text, word| text.replace(word, " "))
    }

    /// How many different words of the table a text has.
    pub(super) fn count(&self, words: &Tokenizer, text: &str) -> usize {
        let mut found: Vec<String> = Vec::new();
        each_stem(words, text, |stem| {
            if self.stems.contains_key(stem) && !found.iter().any(|known| known == stem) {
                found.push(stem.to_owned());
            }
        });
        let unspaced = self.unspaced.iter().filter(|(word, _)| text.contains(word)).count();
        found.len() + unspaced
    }
}

pub(super) static WORK: LazyLock<KindWords> =
    LazyLock::new(|| KindWords::read(KINDS.lines().filter_map(|line| line.split_once(": "))));

/// The names of the kinds of work that a text speaks of, each once.
pub(crate) fn kinds_of_work(words: &Tokenizer, text: &str) -> Vec<&'static str> {
    WORK.kinds(words, text)
}

/// The term under which documents about a kind of work are indexed; no word has this form.
pub(crate) fn work_term(kind: &str) -> String {
    format!("#{kind}")
}

/// Calls `give` with the stem of every word and part of a word.
fn each_stem(words: &Tokenizer, text: &str, mut give: impl FnMut(&str)) {
    split_text(text, |piece| {
        if let TextPiece::Word { text, .. } | TextPiece::Part { text } = piece {
            give(&words.stem(text));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_work_is_known_in_both_languages() {
        let words = Tokenizer::new();
        let kinds = |text| kinds_of_work(&words, text);
        assert_eq!(kinds("write specs for the invoice endpoint"), ["test", "money", "api"]);
        assert_eq!(kinds("帮我补一下单测"), ["test"]);
        assert_eq!(kinds("上线之前先看日志"), ["release", "log"]);
        assert!(kinds("thanks, looks good").is_empty());
    }
}
