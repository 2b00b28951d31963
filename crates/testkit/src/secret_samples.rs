//! Keys and tokens as their services publish the formats, and harmless texts that look like them. They are built here, so that no
//! scanner of code takes this file for a leak; the random parts are the same in every run.

/// A text with a secret, or without one.
#[derive(Debug, Clone)]
pub struct SecretSample {
    /// Whose key it is, or what it is instead.
    pub what: &'static str,
    /// A line as a note would have it.
    pub text: String,
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";

/// Characters that look random.
struct RandomText(u64);

impl RandomText {
    fn of(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut next = || {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let position = usize::try_from(self.0 >> 33).unwrap_or(0) % alphabet.len();
            alphabet.get(position).copied().unwrap_or('x')
        };
        (0..length).map(|_| next()).collect()
    }

    fn alphanumeric(&mut self, length: usize) -> String {
        self.of(&[LOWER, UPPER, DIGITS].concat(), length)
    }

    fn base64(&mut self, length: usize) -> String {
        self.of(&[LOWER, UPPER, DIGITS, "+/"].concat(), length)
    }

    fn hex(&mut self, length: usize) -> String {
        self.of(HEX, length)
    }

    fn uuid(&mut self) -> String {
        let parts = [8, 4, 4, 4, 12].map(|length| self.hex(length));
        parts.join("-")
    }
}

/// Secrets of the services that developers use.
pub fn secret_samples() -> Vec<SecretSample> {
    let mut random = RandomText(11);
    let parts = [prefixed, of_clouds_and_hosts, of_services_and_forms];
    parts.into_iter().flat_map(|part| part(&mut random)).collect()
}

/// Keys that are a prefix and random characters.
fn prefixed(r: &mut RandomText) -> Vec<SecretSample> {
    let mut samples = Vec::new();
    let mut add = |what: &'static str, text: String| samples.push(SecretSample { what, text });
    for (what, prefix, length) in [
        ("GitHub personal token", "ghp_", 36),
        ("GitHub OAuth token", "gho_", 36),
        ("GitHub app token", "ghs_", 36),
        ("GitLab personal token", "glpat-", 20),
        ("npm token", "npm_", 36),
        ("Stripe secret key", "sk_live_", 24),
        ("Stripe restricted key", "rk_live_", 24),
        ("Hugging Face token", "hf_", 34),
        ("Groq key", "gsk_", 52),
        ("Replicate token", "r8_", 37),
        ("Shopify token", "shpat_", 32),
        ("Docker Hub token", "dckr_pat_", 27),
        ("DigitalOcean token", "dop_v1_", 64),
        ("Linear key", "lin_api_", 40),
        ("Doppler token", "dp.pt.", 43),
        ("RubyGems key", "rubygems_", 48),
        ("SonarQube token", "sqp_", 40),
        ("New Relic key", "NRAK-", 27),
        ("xAI key", "xai-", 80),
        ("Perplexity key", "pplx-", 48),
        ("NVIDIA key", "nvapi-", 64),
    ] {
        let tail = match what {
            "Shopify token" | "DigitalOcean token" | "RubyGems key" | "SonarQube token" => {
                r.hex(length)
            }
            "Hugging Face token" => r.of(&[LOWER, UPPER].concat(), length),
            "New Relic key" => r.of(&[UPPER, DIGITS].concat(), length),
            _ => r.alphanumeric(length),
        };
        add(what, format!("Use {prefix}{tail} for the script."));
    }
    samples
}

fn of_clouds_and_hosts(r: &mut RandomText) -> Vec<SecretSample> {
    let mut samples = Vec::new();
    let mut add = |what: &'static str, text: String| samples.push(SecretSample { what, text });
    add(
        "GitHub fine-grained token",
        format!("token: github_pat_{}_{}", r.alphanumeric(22), r.alphanumeric(59)),
    );
    add(
        "AWS access key id",
        format!("aws_access_key_id = AKIA{}", r.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
    );
    add("AWS secret key", format!("aws_secret_access_key = {}", r.base64(40)));
    add(
        "Google API key",
        format!("maps key AIza{}", r.of(&[LOWER, UPPER, DIGITS, "_-"].concat(), 35)),
    );
    add("Google OAuth secret", format!("client_secret: GOCSPX-{}", r.alphanumeric(28)));
    add("Azure storage key", format!("AccountKey={}==", r.base64(86)));
    add("Alibaba access key", format!("AccessKeyId: LTAI{}", r.alphanumeric(20)));
    add("Tencent secret id", format!("SecretId: AKID{}", r.alphanumeric(32)));
    add("Anthropic key", format!("export ANTHROPIC_API_KEY=sk-ant-api03-{}AA", r.alphanumeric(93)));
    add("OpenAI key", format!("OPENAI_API_KEY=sk-proj-{}", r.alphanumeric(64)));
    add("OpenRouter key", format!("sk-or-v1-{}", r.hex(64)));
    add("DeepSeek key", format!("DEEPSEEK_API_KEY=sk-{}", r.hex(32)));
    add(
        "Slack bot token",
        format!("xoxb-{}-{}-{}", r.of(DIGITS, 12), r.of(DIGITS, 13), r.alphanumeric(24)),
    );
    add(
        "Slack webhook",
        format!(
            "https://hooks.slack.com/services/T{}/B{}/{}",
            r.of(&[UPPER, DIGITS].concat(), 8),
            r.of(&[UPPER, DIGITS].concat(), 10),
            r.alphanumeric(24)
        ),
    );
    add(
        "Discord webhook",
        format!("https://discord.com/api/webhooks/{}/{}", r.of(DIGITS, 18), r.alphanumeric(68)),
    );
    add("Telegram bot token", format!("bot{}:AA{}", r.of(DIGITS, 10), r.alphanumeric(33)));
    add(
        "DingTalk webhook",
        format!("https://oapi.dingtalk.com/robot/send?access_token={}", r.hex(64)),
    );
    add("Feishu webhook", format!("https://open.feishu.cn/open-apis/bot/v2/hook/{}", r.uuid()));
    add("SendGrid key", format!("SG.{}.{}", r.alphanumeric(22), r.alphanumeric(43)));
    add("Twilio key", format!("twilio auth: SK{}", r.hex(32)));
    add("Mailchimp key", format!("{}-us12 is the mailchimp api key", r.hex(32)));
    add("Square access token", format!("EAAA{}", r.of(&[LOWER, UPPER, DIGITS, "-_"].concat(), 60)));
    samples
}

fn of_services_and_forms(r: &mut RandomText) -> Vec<SecretSample> {
    let mut samples = Vec::new();
    let mut add = |what: &'static str, text: String| samples.push(SecretSample { what, text });
    add("PyPI token", format!("pypi-AgEIcHlwaS5vcmc{}", r.alphanumeric(70)));
    add("crates.io token", format!("cio{}", r.alphanumeric(32)));
    add("NuGet key", format!("oy2{}", r.of(&[LOWER, "234567"].concat(), 43)));
    add("Grafana token", format!("glsa_{}_{}", r.alphanumeric(32), r.hex(8)));
    add("Sentry token", format!("sntryu_{}", r.hex(64)));
    add("Notion token", format!("ntn_{}", r.alphanumeric(46)));
    add("Figma token", format!("figd_{}", r.alphanumeric(40)));
    add("Terraform Cloud token", format!("{}.atlasv1.{}", r.alphanumeric(14), r.alphanumeric(67)));
    add("Postman key", format!("PMAK-{}-{}", r.hex(24), r.hex(34)));
    add("Vault token", format!("hvs.{}", r.alphanumeric(95)));
    add("Databricks token", format!("dapi{}", r.hex(32)));
    add("PlanetScale password", format!("pscale_pw_{}", r.alphanumeric(43)));
    add("age key", format!("AGE-SECRET-KEY-1{}", r.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)));
    add(
        "private key",
        format!(
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----",
            r.base64(70)
        ),
    );
    add(
        "JSON web token",
        format!("eyJ{}.eyJ{}.{}", r.alphanumeric(33), r.alphanumeric(80), r.alphanumeric(43)),
    );
    add("database URL", format!("postgres://app:{}@db.internal:5432/shop", r.alphanumeric(16)));
    add("MongoDB URL", format!("mongodb+srv://app:{}@cluster0.example.net", r.alphanumeric(16)));
    add("basic authorization", format!("Authorization: Basic {}", r.base64(40)));
    add("npm auth line", format!("//registry.npmjs.org/:_authToken={}", r.uuid()));
    add(
        "netrc password",
        format!("machine git.example.com login bot password {}", r.alphanumeric(20)),
    );
    add("password in a setting", format!("DB_PASSWORD={}", r.alphanumeric(18)));
    add("password in Chinese prose", format!("数据库密码是 {}", r.alphanumeric(16)));
    add(
        "TOTP seed",
        format!("otpauth://totp/Shop:ana?secret={}", r.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32)),
    );
    samples
}

/// What developers write that is no secret.
pub fn harmless_samples() -> Vec<SecretSample> {
    let mut random = RandomText(23);
    let mut samples = Vec::new();
    let mut add = |what: &'static str, text: String| samples.push(SecretSample { what, text });
    let r = &mut random;
    add("git commit", format!("Fixed in {}.", r.hex(40)));
    add("short commit", format!("bisect says {}", r.hex(9)));
    add("SHA-256", format!("sha256:{}", r.hex(64)));
    add("lock file integrity", format!("\"integrity\": \"sha512-{}==\"", r.base64(86)));
    add("cargo checksum", format!("checksum = \"{}\"", r.hex(64)));
    add("UUID", format!("request id {}", r.uuid()));
    add("container digest", format!("debian@sha256:{}", r.hex(64)));
    add("placeholder", "export ANTHROPIC_API_KEY=<your key>".to_owned());
    add("placeholder with stars", "api_key: ****************".to_owned());
    add("placeholder of the documentation", "token = \"YOUR_TOKEN_HERE\"".to_owned());
    add("variable", "password = os.environ[\"DB_PASSWORD\"]".to_owned());
    add(
        "shell variable",
        "curl -H \"Authorization: Bearer $TOKEN\" https://api.example.com".to_owned(),
    );
    add("GitHub secret reference", "password: ${{ secrets.REGISTRY_PASSWORD }}".to_owned());
    add("type of a field", "let password: Option<String> = None;".to_owned());
    add("test that rejects", "assert!(login(\"ana\", \"wrong\").is_err());".to_owned());
    add("public key", format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{} ana@laptop", r.base64(44)));
    add(
        "certificate",
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", r.base64(64)),
    );
    add("URL without a password", "postgres://app@db.internal:5432/shop".to_owned());
    add("URL with a placeholder", "postgres://user:password@localhost/test".to_owned());
    add("picture in base64", format!("data:image/png;base64,iVBORw0KGgo{}", r.base64(80)));
    add("file name", "src/auth/token_refresh_handler_integration_test.rs".to_owned());
    add("constant", "const MAX_TOKEN_LENGTH: usize = 4_096;".to_owned());
    add("Stripe test key name", "Stripe keys begin with sk_live_ or sk_test_.".to_owned());
    add(
        "prose about passwords",
        "The password is asked for once and kept in the key ring.".to_owned(),
    );
    add("Chinese prose about passwords", "密码保存在钥匙串中，不要写进仓库。".to_owned());
    add("version", "openssl 3.0.14+dfsg-1~deb12u2".to_owned());
    add("phone-like numbers", "order 4929-1234-5678-9012 was refunded".to_owned());
    add("hex color list", "#1f2937 #9ca3af #e5e7eb #111827".to_owned());
    add("cache key", format!("cargo-registry-linux-{}", r.hex(16)));
    add("trace id", format!("traceparent: 00-{}-{}-01", r.hex(32), r.hex(16)));
    add("localhost address", "DATABASE_URL=sqlite:///tmp/test.db".to_owned());
    add("token count", "It used 18,204 tokens, 96 % of them cached.".to_owned());
    add("minified code", "function a(b){return b.split('').map(c=>c.charCodeAt(0)^42)}".to_owned());
    samples
}
