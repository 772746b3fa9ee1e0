-- RASP in Neovim 0.7 or later. Put this file somewhere on your runtime path as `lua/rasp.lua`
-- and say `require("rasp").setup()`; or: `:lua dofile("editors/neovim/rasp.lua").setup()`.
local M = {}

function M.setup(options)
  options = options or {}
  vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
    pattern = "*.rasp",
    command = "setfiletype rasp",
  })
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "rasp",
    callback = function(event)
      vim.bo[event.buf].commentstring = "# %s"
      local id = M.client
      if not id then
        id = vim.lsp.start_client({
          name = "rasp",
          cmd = options.command or { "rasp", "lsp" },
          root_dir = vim.fn.getcwd(),
          init_options = { example = options.example },
          on_exit = function() M.client = nil end,
        })
        M.client = id
      end
      vim.lsp.buf_attach_client(event.buf, id)
    end,
  })
end

return M
