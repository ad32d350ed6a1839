// Sorting, the theme, and hiding learners. Every page can be read without it.
"use strict";

const THEMES = ["auto", "light", "dark"];
const root = document.documentElement;

function remembered() {
  try {
    return localStorage.getItem("okbench-theme") || "auto";
  } catch {
    return "auto"; // storage is closed to pages opened from a disk in some browsers
  }
}

function setTheme(theme) {
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    localStorage.setItem("okbench-theme", theme);
  } catch {
    // the choice then lasts as long as the page
  }
}

// Before anything is drawn, so that no page flashes in the other theme.
setTheme(THEMES.includes(remembered()) ? remembered() : "auto");

function themeSwitch(button) {
  const show = () => {
    button.textContent = `Theme: ${root.dataset.theme || "auto"}`;
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = THEMES.indexOf(root.dataset.theme || "auto") + 1;
    setTheme(THEMES[next % THEMES.length]);
    show();
  });
  show();
}

function keyOf(row, place) {
  const key = row.cells[place].dataset.key;
  return key === "" ? null : key;
}

// Numbers by size, else texts by alphabet; what has no key comes last either way.
function compare(first, second, sign) {
  if (first === null || second === null) return (first === null) - (second === null);
  const difference = Number(first) - Number(second);
  if (!Number.isNaN(difference)) return sign * difference;
  return sign * first.localeCompare(second, "en", { numeric: true });
}

function sortable(table) {
  const body = table.tBodies[0];
  const asWritten = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];

  function sortBy(head, order) {
    for (const other of heads) other.removeAttribute("aria-sort");
    const rows = [...asWritten];
    if (order) {
      head.setAttribute("aria-sort", order);
      const place = heads.indexOf(head);
      const sign = order === "ascending" ? 1 : -1;
      rows.sort((a, b) => compare(keyOf(a, place), keyOf(b, place), sign));
    }
    table.classList.toggle("sorted", Boolean(order));
    body.append(...rows);
  }

  // The dataset's name stands in the first of its rows that is shown.
  function regroup() {
    let before = null;
    for (const row of asWritten.filter((one) => !one.classList.contains("away"))) {
      const name = row.cells[0].dataset.key;
      row.classList.toggle("first", name !== before);
      before = name;
    }
  }
  if (table.querySelector("td.group")) document.addEventListener("learners", regroup);

  for (const head of table.querySelectorAll("th[data-sortable]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "" };
      sortBy(head, next[head.getAttribute("aria-sort")] ?? "ascending");
    });
  }
}

function learnerSwitches(nav) {
  for (const item of nav.querySelectorAll("li")) {
    const button = document.createElement("button");
    const key = item.firstElementChild;
    button.type = "button";
    button.className = key.className;
    button.append(...key.childNodes);
    button.setAttribute("aria-pressed", "true");
    key.replaceWith(button);
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      const all = `main [data-learner="${item.dataset.key}"]`;
      for (const one of document.querySelectorAll(all)) one.classList.toggle("away", !shown);
      document.dispatchEvent(new Event("learners"));
    });
  }
  nav.classList.add("live");
}

document.addEventListener("DOMContentLoaded", () => {
  themeSwitch(document.getElementById("theme"));
  document.querySelectorAll("table.grid").forEach(sortable);
  document.querySelectorAll("#learners").forEach(learnerSwitches);
});
