// Starts `rasp lsp` for RASP files and hands the rest to VS Code's own language client.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

function makeClient() {
  const settings = vscode.workspace.getConfiguration("rasp");
  const [command, ...args] = settings.get("command", ["rasp", "lsp"]);
  const server = { command, args };
  const options = {
    documentSelector: [{ language: "rasp" }],
    initializationOptions: { example: settings.get("example") },
  };
  return new LanguageClient("rasp", "RASP", server, options);
}

async function start() {
  client = makeClient();
  try {
    await client.start();
  } catch (error) {
    const how = 'Install it with its extra "lsp", or set "rasp.command".';
    vscode.window.showErrorMessage(`RASP's language server did not start: ${error}. ${how}`);
  }
}

async function stop() {
  const old = client;
  client = undefined;
  if (old) await old.stop();
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("rasp.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("rasp")) return restart();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
