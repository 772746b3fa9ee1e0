// Shows how much of Python has arrived, and keeps the site for the next visit when all has.

const bar = document.createElement("progress");
bar.id = "loading";
bar.max = 1;
bar.setAttribute("aria-label", "Python is loading");

let isShown = false;

const keep = () => {
  if ("serviceWorker" in navigator) {
    navigator.serviceWorker.register(new URL("service-worker.js", import.meta.url)).catch(() => {});
  }
};

export const showLoading = () => {
  if (isShown) return;
  isShown = true;
  document.body.prepend(bar);
  addEventListener("python-loading", ({ detail }) => {
    bar.value = detail.share;
    bar.textContent = `${Math.round(100 * detail.share)} %`;
    if (detail.share < 1) return;
    bar.remove();
    keep();
  });
};
