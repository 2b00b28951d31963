"""An agent of your own that remembers: saves a fact, then asks for what helps with a message, over MCP on pipes.

    python3 memory_over_mcp.py "Build server" "It is called badger." "what is the build server called?"

No library is needed: MCP over pipes is one JSON-RPC message per line.
"""
import json
import subprocess
import sys


class Memory:
    def __init__(self, command=("dormouse", "mcp")):
        self.server = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.count = 0
        client = {"name": "example", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def request(self, method, params):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        for line in map(json.loads, self.server.stdout):
            if line.get("id") == self.count:
                return line["result"]

    def call(self, tool, **arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        return "\n".join(part["text"] for part in result["content"])

    def close(self):
        self.server.stdin.close()
        self.server.wait()


if __name__ == "__main__":
    name, fact, question = sys.argv[1:4]
    memory = Memory()
    memory.call("memory_save", name=name, description=fact, type="project", content=fact)
    print(memory.call("memory_recall", query=question))
    memory.close()
