"""The language server: what editors ask in, answers out, over standard input and output.

A change of a document starts its analysis anew in a worker process; what the last one told is
used until then.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

import rasp
from rasp.apps.lsp import editor_answers
from rasp.apps.lsp.completion import completions
from rasp.apps.lsp.document import Document
from rasp.apps.lsp.editor_processes import Runner
from rasp.apps.lsp.renaming import rename, renameable
from rasp.base.errors import RaspError
from rasp.base.source import Source
from rasp.language.syntax.tree import Load

LARGEST_MESSAGE = 64 << 20
LONGEST_HEADER = 1 << 16
"""Bytes of what an editor sends at once, and of one line before it."""
PAUSE = 0.1
"""Seconds without a change after which a program is run."""


class RaspServer(LanguageServer):
    """The open documents, and what is being found out about them."""

    def __init__(self) -> None:
        super().__init__("rasp", rasp.__version__, lsp.TextDocumentSyncKind.Full)
        self.documents: dict[str, Document] = {}
        self.running: dict[str, asyncio.Task[None]] = {}
        self.runner: Runner | None = None
        self.example: object = None

    def open(self, uri: str, text: str, version: int | None) -> None:
        """Take a document's new text, and begin to find out about it."""
        name = to_fs_path(uri) if uri.startswith("file:") else uri
        chosen = self.workspace.position_encoding or "utf-16"
        encoding = str(getattr(chosen, "value", chosen))
        before = self.documents.get(uri)
        document = Document(Source(name or uri, text), encoding)
        if before is not None:
            document.facts = before.facts
        self.documents[uri] = document
        self.stop(uri)
        self.running[uri] = asyncio.create_task(self._analyse(uri, document, version))

    def stop(self, uri: str) -> None:
        """Give up what is still being found out about a document."""
        if uri in self.running:
            self.running.pop(uri).cancel()

    async def _analyse(self, uri: str, document: Document, version: int | None) -> None:
        await asyncio.sleep(PAUSE)
        self.runner = self.runner or Runner()
        request = {"name": document.source.name, "text": document.source.text}
        document.facts = {}

        def tell(answer: dict[str, Any]) -> None:
            if "errors" in answer:
                diagnostics = editor_answers.diagnostics(document, answer)
                self.text_document_publish_diagnostics(
                    lsp.PublishDiagnosticsParams(uri, diagnostics, version)
                )
            else:
                document.facts = answer["facts"]
                self._refresh_hints()

        await self.runner.analyse(request | {"example": self.example}, tell)

    def _refresh_hints(self) -> None:
        """Ask the editor to ask again for hints, if it knows how to."""
        workspace = self.client_capabilities.workspace
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    async def settled(self, uri: str) -> Document | None:
        """Return a document once everything is known about its newest text."""
        while (task := self.running.get(uri)) is not None and not task.done():
            await asyncio.wait({task})
        return self.documents.get(uri)


def make_server() -> RaspServer:
    """Make a server with every feature."""
    server = RaspServer()
    _follow_documents(server)
    _answer_about_values(server)
    _answer_about_text(server)
    return server


def _follow_documents(server: RaspServer) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        options = params.initialization_options
        if isinstance(options, dict):
            server.example = options.get("example")

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        opened = params.text_document
        server.open(opened.uri, opened.text, opened.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        changed = params.text_document
        text = server.workspace.get_text_document(changed.uri).source
        server.open(changed.uri, text, changed.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        """A file was written: whoever loads files may mean something else now."""
        for uri, document in list(server.documents.items()):
            if any(isinstance(statement, Load) for statement in document.parsed[0]):
                version = server.workspace.get_text_document(uri).version
                server.open(uri, document.source.text, version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.stop(uri)
        server.documents.pop(uri, None)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    @server.feature(lsp.SHUTDOWN)
    async def shutdown(params: None) -> None:
        for uri in list(server.running):
            server.stop(uri)
        if server.runner is not None:
            await server.runner.close()


def _answer_about_values(server: RaspServer) -> None:
    """Features that wait until the program has run."""

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document = await server.settled(params.text_document.uri)
        return (
            editor_answers.hover(document, document.places.offset(params.position))
            if document
            else None
        )

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hint(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        document = await server.settled(params.text_document.uri)
        if document is None:
            return []
        start, end = params.range.start, params.range.end
        return editor_answers.inlay_hints(
            document, document.places.offset(start), document.places.offset(end)
        )


def _answer_about_text(server: RaspServer) -> None:
    """Features that need only the text, and are answered at once."""

    def found(params: Any) -> tuple[Document, int]:
        document = server.documents.get(params.text_document.uri) or Document(Source("", ""))
        position = getattr(params, "position", lsp.Position(0, 0))
        return document, document.places.offset(position)

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION)
    async def completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        return lsp.CompletionList(False, completions(*found(params)))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        return editor_answers.go_to(*found(params))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        return editor_answers.references(*found(params), params.context.include_declaration)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        return editor_answers.symbols(found(params)[0])

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        return editor_answers.formatted(found(params)[0])

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        document, offset = found(params)
        with _refusing():
            occurrence = renameable(document, offset)
            return document.places.range(occurrence.start, occurrence.end)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename_name(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        with _refusing():
            edits = rename(*found(params), params.new_name)
            return lsp.WorkspaceEdit({params.text_document.uri: edits})


@contextmanager
def _refusing() -> Iterator[None]:
    """Tell the editor why something cannot be done."""
    try:
        yield
    except RaspError as error:
        raise JsonRpcException(error.message, lsp.LSPErrorCodes.RequestFailed) from None


class Messages:
    """What an editor sends, without headers that promise more than anybody sends.

    Such a header is passed over, and so is whatever follows up to the next one.
    """

    def __init__(self, sent: BinaryIO) -> None:
        self.sent = sent

    def readline(self) -> bytes:
        """Read a line of a header."""
        line = self.sent.readline(LONGEST_HEADER)
        name, _, number = line.partition(b":")
        if name.strip().lower() == b"content-length" and not _is_size(number.strip()):
            return b"Passed-Over: 1\r\n"
        return line

    def read(self, length: int) -> bytes:
        """Read a message."""
        return self.sent.read(length)


def _is_size(number: bytes) -> bool:
    return number.isdigit() and len(number) < 12 and int(number) <= LARGEST_MESSAGE


def serve() -> None:
    """Serve one editor over standard input and output until it leaves."""
    make_server().start_io(cast(BinaryIO, Messages(sys.stdin.buffer)))
