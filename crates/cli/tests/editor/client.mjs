// An editor for the tests: drives `dormouse acp` with a library that editors use, and prints what it hears as lines of JSON.
//
//     node client.mjs MODULES current|earlier PROGRAM FOLDER STEPS
//
// STEPS is JSON: a list of ["new"], ["load", ID], ["list"], ["mode", ID], ["prompt", BLOCKS], ["stop", BLOCKS, TEXT] (a prompt
// that is cancelled when this text arrives), ["stop_command", BLOCKS] (one that is cancelled once a terminal has printed), ["answer", KIND]
// (how the next permission requests are answered), ["buffer", {PATH: TEXT}] (changes that are not saved), ["servers", LIST] (MCP
// servers for the sessions to come), ["hear", TEXT] (until an update has it), ["touch", {TEXT: FILE}] (files that are made when an update has the text), ["hasty", BLOCKS] (a prompt and at once its cancellation). ["offers", CAPABILITIES] as the first says what the
// editor does for the agent.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [modules, library, program, cwd, stepsText] = process.argv.slice(2);
const steps = JSON.parse(stepsText);
const offers = steps[0]?.[0] === "offers" ? steps.shift()[1] : {};
const print = (line) => console.log(JSON.stringify(line));
const agent = spawn(program, ["acp"], { cwd, stdio: ["pipe", "pipe", "inherit"] });
const streams = [Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)];

let answer = "allow_once";
let stopping = null;
let stoppingCommand = null;
let mcpServers = [];
const buffers = new Map();
const updates = [];
const touched = new Map();
const terminals = new Map();
const heard = {
  permission(params) {
    print({ asked: params.toolCall, options: params.options.map((option) => option.kind) });
    const option = params.options.find((option) => option.kind === answer);
    return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
  },
  update(params) {
    print({ update: params.update });
    const update = JSON.stringify(params.update);
    updates.push(update);
    for (const [text, file] of touched) if (update.includes(text)) writeFileSync(file, "");
    if (stopping && params.update.content?.text?.includes(stopping.text)) {
      const { stop } = stopping;
      stopping = null;
      stop();
    }
  },
  readTextFile({ path }) {
    print({ read: path });
    return { content: buffers.get(path) ?? readFileSync(path, "utf8") };
  },
  writeTextFile({ path, content }) {
    print({ wrote: path, content });
    buffers.delete(path);
    writeFileSync(path, content);
    return {};
  },
  createTerminal(params) {
    print({ created: params });
    const env = { ...process.env };
    for (const { name, value } of params.env ?? []) env[name] = value;
    const child = spawn(params.command, params.args ?? [], { cwd: params.cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const terminal = { child, output: "", truncated: false, exit: null };
    const take = (piece) => {
      terminal.output += piece;
      const limit = params.outputByteLimit ?? Infinity;
      terminal.truncated ||= terminal.output.length > limit;
      if (terminal.truncated) terminal.output = terminal.output.slice(-limit);
      stoppingCommand?.();
      stoppingCommand = null;
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    terminal.exited = new Promise((done) =>
      child.on("close", (exitCode, signal) => done((terminal.exit = { exitCode, signal }))),
    );
    const terminalId = `terminal-${terminals.size + 1}`;
    terminals.set(terminalId, terminal);
    return { terminalId };
  },
  terminalOutput({ terminalId }) {
    const { output, truncated, exit } = terminals.get(terminalId);
    return { output, truncated, exitStatus: exit };
  },
  waitForTerminalExit: ({ terminalId }) => terminals.get(terminalId).exited,
  killTerminal({ terminalId }) {
    print({ killed: terminalId });
    process.kill(-terminals.get(terminalId).child.pid, "SIGKILL");
    return {};
  },
  releaseTerminal({ terminalId }) {
    print({ released: terminalId });
    terminals.delete(terminalId);
    return {};
  },
};

// The two libraries, behind one set of calls.
async function talk(work) {
  if (library === "current") {
    const acp = await import(pathToFileURL(`${modules}/@agentclientprotocol/sdk/dist/v1/stable/acp.js`).href);
    const { agent: to, client: from } = acp.methods;
    await acp
      .client({ name: "test" })
      .onRequest(from.session.requestPermission, ({ params }) => heard.permission(params))
      .onRequest(from.fs.readTextFile, ({ params }) => heard.readTextFile(params))
      .onRequest(from.fs.writeTextFile, ({ params }) => heard.writeTextFile(params))
      .onRequest(from.terminal.create, ({ params }) => heard.createTerminal(params))
      .onRequest(from.terminal.output, ({ params }) => heard.terminalOutput(params))
      .onRequest(from.terminal.waitForExit, ({ params }) => heard.waitForTerminalExit(params))
      .onRequest(from.terminal.kill, ({ params }) => heard.killTerminal(params))
      .onRequest(from.terminal.release, ({ params }) => heard.releaseTerminal(params))
      .onNotification(from.session.update, ({ params }) => heard.update(params))
      .connectWith(acp.ndJsonStream(...streams), (peer) =>
        work({
          initialize: (params) => peer.request(to.initialize, params),
          newSession: (params) => peer.request(to.session.new, params),
          loadSession: (params) => peer.request(to.session.load, params),
          listSessions: (params) => peer.request(to.session.list, params),
          setSessionMode: (params) => peer.request(to.session.setMode, params),
          prompt: (params) => peer.request(to.session.prompt, params),
          cancel: (params) => peer.notify(to.session.cancel, params),
        }),
      );
  } else {
    const acp = await import(pathToFileURL(`${modules}/@zed-industries/agent-client-protocol/dist/acp.js`).href);
    const client = {
      requestPermission: async (params) => heard.permission(params),
      sessionUpdate: async (params) => heard.update(params),
      readTextFile: async (params) => heard.readTextFile(params),
      writeTextFile: async (params) => heard.writeTextFile(params),
      createTerminal: async (params) => heard.createTerminal(params),
      terminalOutput: async (params) => heard.terminalOutput(params),
      waitForTerminalExit: async (params) => heard.waitForTerminalExit(params),
      killTerminal: async (params) => heard.killTerminal(params),
      releaseTerminal: async (params) => heard.releaseTerminal(params),
    };
    await work(new acp.ClientSideConnection(() => client, acp.ndJsonStream(...streams)));
  }
}

await talk(async (dormouse) => {
  print({ initialized: await dormouse.initialize({ protocolVersion: 1, clientCapabilities: offers }) });
  let sessionId = null;
  for (const [step, value, text] of steps) {
    try {
      if (step === "new") {
        const opened = await dormouse.newSession({ cwd, mcpServers });
        sessionId = opened.sessionId;
        print({ opened });
      } else if (step === "load") {
        sessionId = value;
        print({ loaded: await dormouse.loadSession({ sessionId, cwd, mcpServers }) });
      } else if (step === "list") {
        print({ listed: await dormouse.listSessions({ cwd }) });
      } else if (step === "mode") {
        print({ mode: await dormouse.setSessionMode({ sessionId, modeId: value }) });
      } else if (step === "answer") {
        answer = value;
      } else if (step === "buffer") {
        for (const [path, text] of Object.entries(value)) buffers.set(path, text);
      } else if (step === "servers") {
        mcpServers = value;
      } else if (step === "touch") {
        for (const [text, file] of Object.entries(value)) touched.set(text, file);
      } else if (step === "hear") {
        while (!updates.some((update) => update.includes(value))) await new Promise((done) => setTimeout(done, 20));
      } else {
        if (step === "stop") stopping = { text, stop: () => dormouse.cancel({ sessionId }) };
        if (step === "stop_command") stoppingCommand = () => dormouse.cancel({ sessionId });
        const turn = dormouse.prompt({ sessionId, prompt: value });
        if (step === "hasty") await dormouse.cancel({ sessionId });
        const ended = await turn;
        // The libraries hand an update over later than a response that came with it in one piece.
        await new Promise(setImmediate);
        print({ ended });
      }
    } catch (error) {
      print({ refused: error?.data ?? error?.message ?? String(error) });
    }
  }
});
agent.stdin.end();
agent.on("exit", (code) => process.exit(code ?? 1));
