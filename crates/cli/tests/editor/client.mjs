// An editor for the tests: drives `dormouse acp` with a library that editors use, and prints what it hears as lines of JSON.
//
//     node client.mjs MODULES current|earlier PROGRAM FOLDER STEPS
//
// STEPS is JSON: a list of ["new"], ["load", ID], ["list"], ["mode", ID], ["prompt", BLOCKS], ["stop", BLOCKS] (a prompt that
// is cancelled at its first text), ["answer", KIND] (how the next permission requests are answered).
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [modules, library, program, cwd, steps] = process.argv.slice(2);
const print = (line) => console.log(JSON.stringify(line));
const agent = spawn(program, ["acp"], { cwd, stdio: ["pipe", "pipe", "inherit"] });
const streams = [Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)];

let answer = "allow_once";
let stopping = null;
const heard = {
  permission(params) {
    print({ asked: params.toolCall, options: params.options.map((option) => option.kind) });
    const option = params.options.find((option) => option.kind === answer);
    return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
  },
  update(params) {
    print({ update: params.update });
    if (params.update.sessionUpdate === "agent_message_chunk" && stopping) {
      const stop = stopping;
      stopping = null;
      stop();
    }
  },
};

// The two libraries, behind one set of calls.
async function talk(work) {
  if (library === "current") {
    const acp = await import(pathToFileURL(`${modules}/@agentclientprotocol/sdk/dist/v1/stable/acp.js`).href);
    const { agent: to } = acp.methods;
    await acp
      .client({ name: "test" })
      .onRequest(acp.methods.client.session.requestPermission, ({ params }) => heard.permission(params))
      .onNotification(acp.methods.client.session.update, ({ params }) => heard.update(params))
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
    };
    await work(new acp.ClientSideConnection(() => client, acp.ndJsonStream(...streams)));
  }
}

await talk(async (dormouse) => {
  print({ initialized: await dormouse.initialize({ protocolVersion: 1, clientCapabilities: {} }) });
  let sessionId = null;
  for (const [step, value] of JSON.parse(steps)) {
    try {
      if (step === "new") {
        const opened = await dormouse.newSession({ cwd, mcpServers: [] });
        sessionId = opened.sessionId;
        print({ opened });
      } else if (step === "load") {
        sessionId = value;
        print({ loaded: await dormouse.loadSession({ sessionId, cwd, mcpServers: [] }) });
      } else if (step === "list") {
        print({ listed: await dormouse.listSessions({ cwd }) });
      } else if (step === "mode") {
        print({ mode: await dormouse.setSessionMode({ sessionId, modeId: value }) });
      } else if (step === "answer") {
        answer = value;
      } else {
        if (step === "stop") stopping = () => dormouse.cancel({ sessionId });
        print({ ended: await dormouse.prompt({ sessionId, prompt: value }) });
      }
    } catch (error) {
      print({ refused: error?.data ?? error?.message ?? String(error) });
    }
  }
});
agent.stdin.end();
agent.on("exit", (code) => process.exit(code ?? 1));
