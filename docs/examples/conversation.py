"""Holds a conversation with dormouse over pipes: one question for each argument.

    python3 conversation.py "what is in this folder?" "and the tests?"

Calls that only list files are approved, all others denied. A question of `/stop` interrupts the turn that runs; one of
`/model NAME` changes the model.
"""
import json
import subprocess
import sys


def ask(questions, command=("dormouse",)):
    arguments = [*command, "-p", "--input-format", "stream-json", "--output-format", "stream-json"]
    agent = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(line):
        agent.stdin.write(json.dumps(line) + "\n")
        agent.stdin.flush()

    for number, question in enumerate(questions):
        word, _, rest = question.partition(" ")
        if word == "/model":
            send({"type": "control_request", "request_id": str(number), "request": {"subtype": "set_model", "model": rest}})
            wanted = "control_response"
        else:
            send({"type": "user", "message": {"role": "user", "content": question}})
            wanted = "result"
        for line in map(json.loads, agent.stdout):
            if line["type"] == "stream_event" and question == "/stop":
                send({"type": "control_request", "request_id": str(number), "request": {"subtype": "interrupt"}})
            elif line["type"] == "control_request":
                allowed = line["request"]["input"].get("command", "").startswith("ls")
                answer = {"behavior": "allow"} if allowed else {"behavior": "deny", "message": "only listing is allowed"}
                send({"type": "control_response",
                      "response": {"subtype": "success", "request_id": line["request_id"], "response": answer}})
            if line["type"] == wanted:
                yield line
                break
    agent.stdin.close()
    agent.wait()


if __name__ == "__main__":
    for answer in ask(sys.argv[1:]):
        print(answer.get("result", answer))
