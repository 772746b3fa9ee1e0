// The reader's wish (light, dark, or the system's) in, the class `dark` on the page out.
"use strict";
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let wish = "auto";
  try { wish = localStorage.getItem("rasp-theme") || "auto"; } catch { /* no storage: the system's */ }
  const apply = () => {
    document.documentElement.classList.toggle("dark", wish === "dark" || (wish === "auto" && system.matches));
  };
  system.addEventListener("change", apply);
  apply();
  window.raspTheme = {
    next() {
      const order = ["auto", "light", "dark"];
      wish = order[(order.indexOf(wish) + 1) % 3];
      try { localStorage.setItem("rasp-theme", wish); } catch { /* not kept then */ }
      apply();
      return wish;
    },
    get wish() { return wish; },
    get isDark() { return document.documentElement.classList.contains("dark"); },
  };
})();
