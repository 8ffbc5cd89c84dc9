"use strict";
// Filters the list of checks and copies commands. The report is complete without it.
(() => {
  document.body.classList.remove("no-script");
  const checks = [...document.querySelectorAll(".check")];
  const text = document.getElementById("filter-text");
  const area = document.getElementById("filter-area");
  const verdicts = [...document.querySelectorAll(".filter-verdict")];
  const shown = document.getElementById("shown");

  function filter() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(verdicts.filter((box) => box.checked).map((box) => box.value));
    let count = 0;
    for (const check of checks) {
      const told = check.textContent.toLowerCase();
      check.hidden = !(wanted.has(check.dataset.verdict)
        && (!area.value || area.value === check.dataset.area)
        && words.every((word) => told.includes(word)));
      count += check.hidden ? 0 : 1;
    }
    shown.textContent = `${count} of ${checks.length} checks shown`;
  }

  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.classList.contains("check")) {
      target.hidden = false;
      target.open = true;
      target.scrollIntoView();
    }
  }

  for (const control of [text, area, ...verdicts]) control.addEventListener("input", filter);
  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", async () => {
      const command = button.parentElement.querySelector("pre").textContent.trimEnd();
      try {
        await navigator.clipboard.writeText(command);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(button.parentElement.querySelector("pre"));
        button.textContent = "Selected";
      }
    });
  }
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      text.focus();
    }
  });
  addEventListener("hashchange", openTarget);
  filter();
  openTarget();
})();
