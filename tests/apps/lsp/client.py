"""A raw JSON-RPC client: an editor without an editor, talking to `rasp lsp` over its pipes."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds to wait for an answer before the test fails: the machine may be busy."""


class Refused(Exception):
    """The server answered a request with an error."""


class Client:
    """One running server and one conversation with it."""

    def __init__(self, encodings: list[str] | None = None, example: object = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rasp", "lsp", "--stdio"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.inbox: queue.Queue[dict[str, Any]] = queue.Queue()
        self.told: list[dict[str, Any]] = []
        self.number = 0
        self.versions: dict[str, int] = {}
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        general = {"positionEncodings": encodings} if encodings else {}
        self.capabilities = self.ask("initialize", {
            "processId": None, "rootUri": None, "capabilities": {"general": general},
            "initializationOptions": {"example": example} if example else None,
        })["capabilities"]  # fmt: skip
        self.tell("initialized", {})

    def _read(self) -> None:
        pipe = self.process.stdout
        assert pipe is not None
        while header := pipe.readline():
            size = int(header.split(b":")[1])
            while pipe.readline().strip():
                pass
            self.inbox.put(json.loads(pipe.read(size)))

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.inbox.get(timeout=PATIENCE)
            if message.get("id") == self.number and "method" not in message:
                if "error" in message:
                    raise Refused(message["error"]["message"])
                return message["result"]
            self.told.append(message)

    def open(self, uri: str, text: str) -> None:
        self.versions[uri] = 1
        document = {"uri": uri, "languageId": "rasp", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, text: str) -> None:
        self.versions[uri] += 1
        document = {"uri": uri, "version": self.versions[uri]}
        changes = [{"text": text}]
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """Wait for the diagnostics of a document's newest text."""

        def fits(message: dict[str, Any]) -> bool:
            params = message.get("params") or {}
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == uri
                and params.get("version") == self.versions[uri]
            )  # fmt: skip

        while not any(fits(message) for message in self.told):
            self.told.append(self.inbox.get(timeout=PATIENCE))
        found: list[dict[str, Any]] = [m for m in self.told if fits(m)][-1]["params"]["diagnostics"]
        return found

    def at(self, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
        """Ask about a place, counting lines and characters from 0."""
        position = {"line": line, "character": character}
        params = {"textDocument": {"uri": uri}, "position": position} | more
        return self.ask(f"textDocument/{method}", params)

    def close(self) -> int:
        self.ask("shutdown", None)
        self.tell("exit", None)
        code = self.process.wait(timeout=PATIENCE)
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        return code


def uri(path: Path) -> str:
    return path.as_uri()
