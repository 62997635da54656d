"""Serves checkpoints of the student as an OpenAI-compatible server.

    python serve.py NAME=CKPT [NAME=CKPT …] [--host 127.0.0.1] [--port 0] [--context 1024] [--batch 64]
"""
import argparse
import http.server
import json
import signal
import socket
import sys
import threading

import torch

import checkpoint
from answers import Refused, answered, asked
from chat import Chat
from generate import Engine

MOST_BODY = 8 << 20  # bytes of a request


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection, which stays open between requests."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # so that an answer is sent at once

    def do_GET(self):
        if self.path != "/v1/models":
            return self.send(404, refusal(404, f"there is no {self.path}"))
        context = self.server.context
        self.send(200, {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "relabel", "max_model_len": context}
                                                   for name in self.server.engines]})

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BODY:
            self.close_connection = True
            return self.send(413, refusal(413, f"a request needs a Content-Length of at most {MOST_BODY}"))
        text = self.rfile.read(int(length))
        try:
            self.send(200, self.answer(json.loads(text)))
        except Refused as e:
            self.send(e.status, refusal(e.status, str(e)))
        except ValueError:
            self.send(400, refusal(400, "the request isn't JSON"))
        except Exception as e:
            self.send(500, refusal(500, repr(e)))
            raise

    def answer(self, body):
        if self.path not in ("/v1/chat/completions", "/v1/completions"):
            raise Refused(f"there is no {self.path}", 404)
        request, options = asked(body, self.server.chat, self.server.context, is_chat=self.path == "/v1/chat/completions")
        engine = self.server.engines.get(options.model)
        if engine is None:
            raise Refused(f"the model {options.model!r} isn't served: {', '.join(self.server.engines)}", 404)
        engine.answer(request)
        return answered(request, options, self.server.chat)

    def send(self, status, content):
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()

    def log_message(self, *_):
        """Requests aren't logged."""


def refusal(status, message):
    return {"error": {"message": message, "type": "invalid_request_error" if status < 500 else "internal_error", "param": None, "code": status}}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, address, engines, chat, context):
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, Handler)
        self.engines, self.chat, self.context = engines, chat, context


def arguments():
    parser = argparse.ArgumentParser(description="Serves checkpoints of the student.")
    parser.add_argument("models", nargs="+", metavar="NAME=CKPT", help="name of a model, and the folder of its checkpoint")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--context", type=int, default=1024, help="tokens of a prompt and its answer")
    parser.add_argument("--batch", type=int, default=64, help="requests of a model that run at the same time")
    return parser.parse_args()


def main():
    a = arguments()
    torch.set_num_threads(1)
    chat, engines = Chat(), {}
    for model in a.models:
        name, found, folder = model.partition("=")
        if not found or name in engines:
            raise SystemExit(f"{model} isn't NAME=CKPT with a new NAME")
        engines[name] = Engine(checkpoint.load(folder)[0], chat.stop, [id for id in chat.special if id != chat.stop], a.batch, a.context)
    server = Server((a.host, a.port), engines, chat, a.context)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    host, port = server.server_address[:2]
    print(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
