// An authorization server (oidc-provider) and an MCP server that wants its tokens, on one port of this machine. Arguments: where the
// packages are, and how long an access token lives, in seconds. Prints its address. The user says yes to everything, unless
// /deny was asked for; /log tells what was granted and revoked, /expire ends all access tokens.
import http from 'node:http';
import { pathToFileURL } from 'node:url';

const [modules, ttl] = process.argv.slice(2);
const { default: Provider, errors } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));

const server = http.createServer((req, res) => handle(req, res).catch((error) => {
  res.statusCode = 500;
  res.end(String(error.stack));
}));
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${server.address().port}`;
const resource = `${base}/mcp`;
const log = { granted: [], tokens: [], revoked: 0, registered: 0, authorized: [] };
let denies = false;
let refused = new Set();

const provider = new Provider(base, {
  clients: [{
    client_id: 'known', token_endpoint_auth_method: 'none', application_type: 'native',
    redirect_uris: ['http://127.0.0.1/callback'], grant_types: ['authorization_code', 'refresh_token'],
  }],
  cookies: { keys: ['secret'] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, asked) => {
        if (asked !== resource) throw new errors.InvalidTarget();
        return { scope: 'tools', accessTokenFormat: 'opaque', accessTokenTTL: Number(ttl) };
      },
    },
  },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  issueRefreshToken: () => true,
  pkce: { required: () => true, methods: ['S256'] },
  rotateRefreshToken: true,
  ttl: { RefreshToken: 3600, Grant: 3600, Session: 3600, Interaction: 600, AccessToken: Number(ttl) },
});
provider.on('grant.success', (ctx) => {
  log.granted.push(ctx.oidc.params.grant_type);
  log.tokens.push(ctx.body.access_token, ctx.body.refresh_token);
});
provider.on('grant.error', (ctx, error) => log.granted.push(error.message));
provider.on('registration_create.success', () => { log.registered += 1; });

async function handle(req, res) {
  const url = new URL(req.url, base);
  const json = (value, status = 200, headers = {}) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(JSON.stringify(value));
  };
  if (url.pathname === '/log') return json(log);
  if (url.pathname === '/deny') { denies = true; return json({}); }
  if (url.pathname === '/expire') { refused = new Set(log.tokens); return json({}); }
  if (url.pathname === '/.well-known/oauth-protected-resource/mcp') {
    return json({ resource, authorization_servers: [base], scopes_supported: ['tools'] });
  }
  if (url.pathname.startsWith('/interaction/')) return interaction(req, res);
  if (url.pathname === '/mcp') return mcp(req, json);
  if (url.pathname === '/auth') log.authorized.push(Object.fromEntries(url.searchParams));
  if (url.pathname === '/token/revocation') log.revoked += 1;
  return provider.callback()(req, res);
}

async function interaction(req, res) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(req, res);
  const finish = (result) => provider.interactionFinished(req, res, result, { mergeWithLastSubmission: true });
  if (denies) return finish({ error: 'access_denied', error_description: 'the user said no' });
  if (prompt.name === 'login') return finish({ login: { accountId: 'user' } });
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope('openid offline_access');
  grant.addResourceScope(resource, 'tools');
  return finish({ consent: { grantId: await grant.save() } });
}

async function mcp(req, json) {
  const sent = (req.headers.authorization ?? '').replace(/^Bearer /, '');
  const token = refused.has(sent) ? undefined : await provider.AccessToken.find(sent);
  if (!token || token.aud !== resource) {
    const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;
    return json({ error: 'no token' }, 401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` });
  }
  let body = '';
  for await (const piece of req) body += piece;
  const { id, method } = JSON.parse(body || '{}');
  const answer = (result) => json({ jsonrpc: '2.0', id, result });
  switch (method) {
    case 'initialize':
      return answer({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } });
    case 'tools/list':
      return answer({ tools: [{ name: 'repeat', description: 'Repeats.', inputSchema: { type: 'object' } }] });
    case 'tools/call':
      return answer({ content: [{ type: 'text', text: `you sent ${sent}` }] });
    default:
      return id === undefined ? json({}, 202) : json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } });
  }
}

console.log(base);
