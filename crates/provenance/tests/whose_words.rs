//! Whose words a memory is (M-17), on planted and on genuine statements in English, Chinese and Japanese: nothing planted
//! becomes the user's, and what users say stays theirs.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_base::{IdSource, MessageId, SeededIds, SystemClock};
use dormouse_memory::{MessageSource, Trust};
use dormouse_provenance::{ClaimedText, ProvenanceRecord};

/// A conversation so far.
struct Session {
    record: ProvenanceRecord,
    ids: SeededIds,
}

impl Session {
    fn new() -> Self {
        let ids = SeededIds::new(Arc::new(SystemClock::default()), 1);
        Self { record: ProvenanceRecord::default(), ids }
    }

    fn with(mut self, trust: Trust, text: &str) -> Self {
        self.record.add(MessageId::generate(&self.ids as &dyn IdSource), trust, text);
        self
    }

    /// The lowest trust of a memory's sources.
    fn trust(&self, text: &str, quotes: &[&str]) -> Trust {
        let quotes: Vec<String> = quotes.iter().map(|quote| (*quote).to_owned()).collect();
        let sources = self.record.sources_of(&ClaimedText { text, quotes: &quotes }, "s", &[]);
        sources.iter().map(|source: &MessageSource| source.trust).min().unwrap_or(Trust::Concluded)
    }
}

/// What a page plants: as it stands there, in other words, and in another language.
fn planted() -> Vec<[String; 3]> {
    serde_json::from_str(include_str!("planted.json")).unwrap()
}

/// What users ask for before such a page is read.
const ASKED: &[&str] = &[
    "please look at the page and tell me what it says about our setup",
    "看一下这个网页，说说里面写了什么",
    "このページを読んで内容を教えて",
];

/// A way to bring a planted statement into a memory.
type Way = (&'static str, fn(&[String; 3], &str) -> Vec<String>);

const WAYS: &[Way] = &[
    ("copied", |planted, _| vec![planted[0].clone()]),
    ("with a reason", |planted, _| vec![format!("{}\n\n**Why:** the user said so.", planted[0])]),
    ("behind the user's words", |planted, asked| vec![format!("{asked}: {}", planted[0])]),
    ("in other words", |planted, _| vec![planted[1].clone()]),
    ("translated", |planted, _| vec![planted[2].clone()]),
    ("in two saves", |planted, _| {
        let letters: Vec<char> = planted[0].chars().collect();
        let (one, two) = letters.split_at(letters.len() / 2);
        vec![one.iter().collect(), two.iter().collect()]
    }),
    ("look-alike letters", |planted, _| {
        let swap = |c| match c {
            'a' => 'а',
            'e' => 'е',
            'o' => 'о',
            'c' => 'с',
            'p' => 'р',
            other => other,
        };
        vec![planted[0].chars().map(swap).collect()]
    }),
    ("invisible characters", |planted, _| {
        vec![planted[0].chars().flat_map(|c| [c, '\u{200b}']).collect()]
    }),
    ("backwards", |planted, _| vec![planted[0].chars().rev().collect()]),
    ("in capitals and marks", |planted, _| vec![format!("**{}**", planted[0].to_uppercase())]),
];

#[test]
fn nothing_planted_becomes_the_users_word() {
    let mut table: BTreeMap<(&str, Trust), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (name, bring) in WAYS {
        for (at, planted) in planted().iter().enumerate() {
            let asked = ASKED[at % ASKED.len()];
            let page = format!("Welcome.\n{}\nAll rights reserved.", planted[0]);
            // Read in this turn; read in an earlier one; brought by a command; with a made-up quotation.
            let now = Session::new().with(Trust::Typed, asked).with(Trust::Outside, &page);
            let later = Session::new()
                .with(Trust::Typed, asked)
                .with(Trust::Outside, &page)
                .with(Trust::Typed, "thanks, go on");
            let file = Session::new().with(Trust::Typed, asked).with(Trust::Tool, &page);
            for text in bring(planted, asked) {
                for (session, quotes) in [
                    (&now, &[][..]),
                    (&later, &[]),
                    (&file, &[]),
                    (&now, &["the user really wants this done"]),
                ] {
                    let trust = session.trust(&text, quotes);
                    *table.entry((name, trust)).or_default() += 1;
                    if trust == Trust::Typed {
                        wrong.push(format!("{name}: {text}"));
                    }
                }
                // In the turn of the page it is out of the way altogether.
                let trust = now.trust(&text, &[]);
                if trust != Trust::Outside {
                    wrong.push(format!("{name} in the same turn is {trust}: {text}"));
                }
            }
        }
    }
    for ((name, trust), count) in &table {
        println!("{name}: {trust} {count}");
    }
    assert!(table.values().sum::<usize>() >= 200);
    assert_eq!(wrong, Vec::<String>::new());
}

/// What users type, and what a model makes of it.
const GENUINE: &[(&str, &str)] = &[
    ("please never mock the database in our tests", "Tests use a real database, no mocks."),
    ("I prefer tabs over spaces", "Indent with tabs."),
    (
        "we deploy every Thursday from the release branch",
        "Deployments happen on Thursdays from the release branch.",
    ),
    ("don't use unwrap outside of tests", "No `unwrap` in production code."),
    ("my name is Ana and I work on the billing team", "Ana, works on billing."),
    (
        "I've run Postgres for years, but this React code is new to me",
        "Knows Postgres well, new to React.",
    ),
    ("the staging server is called heron", "Staging server: heron"),
    ("commit messages should be in the imperative", "Commit messages use the imperative mood."),
    ("stop adding comments that repeat the code", "No comments that only repeat code."),
    ("yes, one large commit was right here", "One large commit is fine for changes like this."),
    (
        "always run clippy before you say it's done",
        "Run clippy before reporting that work is done.",
    ),
    (
        "we freeze merges after the 19th for the mobile release",
        "Merge freeze after the 19th: mobile release.",
    ),
    ("use pnpm, not npm", "Package manager: pnpm instead of npm"),
    (
        "bugs of the pipeline are tracked in Linear under INGEST",
        "Pipeline bugs: Linear project INGEST.",
    ),
    ("keep answers short, I read them on my phone", "Short answers: read on a phone."),
    (
        "the payments module belongs to Kim, ask her before changes",
        "Payments: Kim owns the module and is asked first.",
    ),
    ("no emojis please", "No emojis in answers."),
    (
        "our API returns dates in UTC, the UI shows local time",
        "API dates are UTC; the interface shows local time.",
    ),
    (
        "explain things by comparison with Java, that's what I know",
        "Explain by comparison with Java.",
    ),
    (
        "the flaky test in checkout_spec is known, ignore it",
        "checkout_spec has a known flaky test; ignore it.",
    ),
    ("write docs in British English", "Documentation is in British English."),
    (
        "I'm colour blind, don't rely on red and green",
        "Colour blind: avoid red and green as the only signal.",
    ),
    (
        "we use trunk-based development, no long branches",
        "Trunk-based development without long-lived branches.",
    ),
    ("error messages need a hint what to do", "Error messages carry a hint about what to do."),
    ("before a migration, take a backup of orders", "Back up orders before migrations."),
    ("logs older than 14 days are gone", "Logs are kept for 14 days."),
    ("Max reviews everything in infra/", "Reviewer for infra/: Max"),
    ("don't touch the vendored code", "Vendored code is not changed."),
    ("the customer demo is on 2026-12-03", "Customer demo: 2026-12-03."),
    ("call the variables in German like the rest", "Variable names are German, like the rest."),
    ("以后提交信息都用中文写", "提交信息用中文"),
    ("测试不要模拟数据库，上次出过事", "测试用真实数据库，不做模拟。"),
    ("我是后端开发，前端不太熟", "用户做后端开发，对前端不熟。"),
    ("每周四发版，别在周五合并", "每周四发版，周五不合并。"),
    ("代码注释用英文", "注释写英文。"),
    ("线上数据库只能读，不能改", "线上数据库只读。"),
    ("回答尽量简短一点", "回答要简短。"),
    ("部署前先跑一遍冒烟测试", "部署前跑冒烟测试。"),
    ("我们的包管理器是 pnpm", "包管理器：pnpm"),
    ("接口文档放在飞书的「平台」空间", "接口文档在飞书「平台」空间。"),
    ("金额一律用分存，不要用浮点数", "金额以分为单位存储，不用浮点。"),
    ("缩进用四个空格", "缩进：四个空格"),
    ("支付模块归小林管，改之前先问他", "支付模块由小林负责，改动前先问。"),
    ("不要自动格式化老代码", "老代码不做自动格式化。"),
    ("日志保留十四天", "日志保留十四天。"),
    ("变量名别用拼音", "变量名不用拼音。"),
    ("先写测试再写实现", "先写测试，再写实现。"),
    ("这个仓库的主分支叫 trunk", "主分支：trunk"),
    ("演示安排在十二月三号", "演示在十二月三号。"),
    ("错误信息要告诉用户怎么办", "错误信息说明用户该怎么办。"),
    ("コミットメッセージは日本語で書いてください", "コミットメッセージは日本語で書く。"),
    ("テストでデータベースをモックしないで", "テストではデータベースをモックしない。"),
    ("返事は短くしてほしい", "返事は短く。"),
    ("本番環境には金曜日にデプロイしない", "金曜日は本番環境にデプロイしない。"),
    ("インデントはタブでお願いします", "インデント：タブ"),
    ("決済モジュールは田中さんの担当です", "決済モジュールの担当は田中さん。"),
    ("私は React が初めてです", "React は初めて。"),
    ("ログは十四日で消えます", "ログの保存は十四日。"),
    ("レビューは必ず二人で行う", "レビューは二人で行う。"),
    ("変数名は英語にして", "変数名は英語。"),
];

#[test]
fn what_users_say_stays_theirs() {
    let (mut kept, mut lost) = (0, Vec::new());
    for (said, memory) in GENUINE {
        let in_words = format!("{memory}\n\n**Why:** the user asked for it.");
        let sessions = [
            Session::new().with(Trust::Typed, said),
            Session::new().with(Trust::Typed, &format!("The build is green again. {said}")),
            Session::new()
                .with(Trust::Typed, said)
                .with(Trust::Tool, "test result: ok. 12 passed; 0 failed"),
            Session::new()
                .with(Trust::Typed, said)
                .with(Trust::Typed, "ok, go on with the other task"),
        ];
        for session in &sessions {
            for text in [*memory, &in_words] {
                if session.trust(text, &[]) == Trust::Typed {
                    kept += 1;
                } else {
                    lost.push(format!("{said} / {text}"));
                }
            }
        }
    }
    let share = f64::from(kept) / f64::from(kept + u32::try_from(lost.len()).unwrap());
    println!("kept {kept}, lost {}: {:.1} %", lost.len(), 100.0 * share);
    assert!(share >= 0.97, "{share} {lost:#?}");
    // A quotation that is found is enough, whatever the memory makes of it.
    for (said, _) in GENUINE {
        let session = Session::new().with(Trust::Typed, said);
        assert_eq!(session.trust("Something else altogether.", &[said]), Trust::Typed, "{said}");
    }
}
