-- What tests/editors/test_neovim.py has a real Neovim do; the result is written as JSON.
local folder, command, file, result = unpack(vim.fn.json_decode(vim.env.RASP_TEST))
package.path = folder .. "/?.lua;" .. package.path
require("rasp").setup({ command = command, example = "abca" })
vim.cmd("edit " .. file)

local function ask(method, line, column, more)
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = line, character = column },
  }
  for key, value in pairs(more or {}) do params[key] = value end
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 30000) or {}) do
    return answer.result
  end
end

local function diagnostics(wanted)
  vim.wait(30000, function() return #vim.diagnostic.get(0) == wanted end, 50)
  return vim.tbl_map(function(each) return each.message end, vim.diagnostic.get(0))
end

local found = { filetype = vim.bo.filetype, mistakes = diagnostics(1) }
found.hover = ask("textDocument/hover", 0, 0).contents.value
found.definition = ask("textDocument/definition", 2, 21)[1].range.start.line
local renamed = ask("textDocument/rename", 1, 0, { newName = "mirror" })
vim.lsp.util.apply_workspace_edit(renamed, "utf-16")
local options = { options = { tabSize = 4, insertSpaces = true } }
vim.lsp.util.apply_text_edits(ask("textDocument/formatting", 0, 0, options), 0, "utf-16")
found.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
vim.api.nvim_buf_set_lines(0, 2, 3, false, { "reverse = aggregate(mirror, tokens);" })
found.fixed = diagnostics(0)
vim.fn.writefile({ vim.fn.json_encode(found) }, result)
vim.cmd("qa!")
