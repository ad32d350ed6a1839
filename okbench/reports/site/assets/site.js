// Sorting, searching, the theme, hiding learners, and charts that answer the pointer. Every page can
// be read without it.
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

// The list is a script, because pages from a disk may not fetch a file. It is loaded at first use.
function searchField(box) {
  const input = box.querySelector("input");
  const found = box.querySelector("ul");
  const kinds = ["learner", "dataset", "table", "claim", "cell"];
  let asked = false;

  function load() {
    if (asked) return;
    asked = true;
    const script = document.createElement("script");
    script.src = box.dataset.list;
    script.addEventListener("load", show);
    document.head.append(script);
  }

  function entry([kind, name, more, page]) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const under = document.createElement("small");
    link.href = box.dataset.root + page;
    under.textContent = more ? `${kind} · ${more}` : kind;
    link.append(name, under);
    item.append(link);
    return item;
  }

  // Every word is in the name or beside it; of equals, names that begin so come first.
  function matches(words) {
    const scored = [];
    for (const one of window.okbenchList || []) {
      const name = one[1].toLowerCase();
      const whole = `${name} ${one[2].toLowerCase()}`;
      if (!words.every((word) => whole.includes(word))) continue;
      const rank = name === words.join(" ") ? 0 : name.startsWith(words[0]) ? 1 : 2;
      scored.push([rank * kinds.length + kinds.indexOf(one[0]), one]);
    }
    return scored.sort((a, b) => a[0] - b[0]).slice(0, 30).map((pair) => pair[1]);
  }

  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0 || !window.okbenchList;
    if (found.hidden) return;
    const items = matches(words).map(entry);
    if (!items.length) {
      const none = document.createElement("li");
      none.className = "none";
      none.textContent = "Nothing of this name";
      items.push(none);
    }
    found.replaceChildren(...items);
  }

  box.hidden = false;
  input.addEventListener("focus", load);
  input.addEventListener("input", show);
  box.addEventListener("keydown", (event) => {
    const links = [...found.querySelectorAll("a")];
    const place = links.indexOf(document.activeElement);
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key === "Escape") {
      found.hidden = true;
      input.focus();
    } else if (event.key in steps) {
      event.preventDefault();
      (links[place + steps[event.key]] || input).focus();
    } else if (event.key === "Enter" && place < 0 && links.length) {
      links[0].click();
    }
  });
  document.addEventListener("click", (event) => {
    if (!box.contains(event.target)) found.hidden = true;
  });
}

// What the nearest point of a chart says, beside the pointer.
const tip = document.createElement("div");
tip.id = "tip";
tip.hidden = true;

function nearestPoint(chart, x, y) {
  let nearest = null;
  let least = 18 * 18; // pixels, squared
  for (const point of chart.querySelectorAll(".point")) {
    const box = point.querySelector(".mark").getBoundingClientRect();
    if (!box.width || point.closest(".out, .away")) continue;
    const far = (box.x + box.width / 2 - x) ** 2 + (box.y + box.height / 2 - y) ** 2;
    if (far < least) [nearest, least] = [point, far];
  }
  return nearest;
}

function hover(chart) {
  // The browser would show the title of a point too, and later.
  for (const title of chart.querySelectorAll(".point > title")) {
    title.parentNode.dataset.says = title.textContent;
    title.remove();
  }
  chart.addEventListener("pointermove", (event) => {
    const point = nearestPoint(chart, event.clientX, event.clientY);
    tip.hidden = !point;
    if (!point) return;
    tip.textContent = point.dataset.says;
    const right = event.clientX + 14 + tip.offsetWidth < innerWidth;
    tip.style.left = `${Math.max(4, right ? event.clientX + 14 : event.clientX - 14 - tip.offsetWidth)}px`;
    tip.style.top = `${Math.max(4, event.clientY - 12 - tip.offsetHeight)}px`;
  });
  chart.addEventListener("pointerleave", () => {
    tip.hidden = true;
  });
}

const MOVED = /translate\(([-\d.]+) ([-\d.]+)\)/;

// A part of a chart, chosen with the pointer, is drawn over all of it: places are moved, so that
// lines and letters keep their size.
function zoomable(figure) {
  const chart = figure.querySelector("svg");
  const plot = chart.querySelector(".plot");
  const [left, top, width, height] = ["x", "y", "width", "height"].map((name) =>
    Number(plot.getAttribute(name)));
  const paths = [...plot.querySelectorAll(".line, .band, .bound, .spread, .frontier")].map(
    (path) => [path, path.getAttribute("d")]);
  const points = [...chart.querySelectorAll(".point, .x-tick, .y-tick")].map((group) => [
    group, ...MOVED.exec(group.getAttribute("transform")).slice(1).map(Number),
  ]);
  const make = (name, words, act) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = name;
    button.textContent = words;
    button.addEventListener("click", act);
    return button;
  };

  function draw(x0, y0, x1, y1) {
    const tenth = (place) => Math.round(place * 10) / 10;
    const across = (x) => tenth(left + ((x - x0) / (x1 - x0)) * width);
    const down = (y) => tenth(top + ((y - y0) / (y1 - y0)) * height);
    for (const [path, d] of paths) {
      path.setAttribute("d", d.replace(/([ML])([-\d.]+) ([-\d.]+)/g, (_, sign, x, y) =>
        `${sign}${across(Number(x))} ${down(Number(y))}`));
    }
    for (const [group, x, y] of points) {
      const place = [
        group.matches(".y-tick") ? x : across(x),
        group.matches(".x-tick") ? y : down(y),
      ];
      group.setAttribute("transform", `translate(${place[0]} ${place[1]})`);
      const inside = place[0] > left - 1 && place[0] < left + width + 1 &&
        place[1] > top - 1 && place[1] < top + height + 1;
      group.classList.toggle("out", !inside);
    }
    thin(".x-tick", 0, 40);
    thin(".y-tick", 1, 16);
  }

  // Of the finer ticks those stay that have room.
  function thin(selector, axis, room) {
    const place = (group) => Number(MOVED.exec(group.getAttribute("transform"))[axis + 1]);
    const shown = [];
    const ticks = [...chart.querySelectorAll(`${selector}:not(.out)`)];
    ticks.sort((a, b) => a.matches(".fine") - b.matches(".fine"));
    for (const tick of ticks) {
      const free = shown.every((other) => Math.abs(other - place(tick)) >= room);
      if (free) shown.push(place(tick));
      else if (tick.matches(".fine")) tick.classList.add("out");
    }
  }

  const whole = make("whole", "Show all", () => {
    draw(left, top, left + width, top + height);
    figure.classList.remove("zoomed");
    whole.hidden = true;
  });
  whole.hidden = true;
  const larger = make("larger", "Enlarge", () => {
    larger.textContent = figure.classList.toggle("large") ? "Reduce" : "Enlarge";
  });
  const tools = document.createElement("span");
  tools.className = "tools";
  tools.append(whole, larger);
  figure.querySelector("figcaption").append(tools);

  const svg = (name, classes) => {
    const made = document.createElementNS(chart.namespaceURI, name);
    made.setAttribute("class", classes);
    return made;
  };
  const put = (rect, x, y, w, h) => {
    Object.entries({ x, y, width: w, height: h }).forEach(([key, value]) =>
      rect.setAttribute(key, value));
  };
  const surface = svg("rect", "surface");
  put(surface, left, top, width, height);
  plot.prepend(surface);
  const chosen = svg("rect", "chosen");
  let start = null;
  let view = [left, top, left + width, top + height];

  function placeOf(event) {
    const matrix = chart.getScreenCTM().inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return [
      Math.min(Math.max(x, left), left + width),
      Math.min(Math.max(y, top), top + height),
    ];
  }

  plot.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return; // a finger scrolls the page
    start = placeOf(event);
    plot.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  plot.addEventListener("pointermove", (event) => {
    if (!start) return;
    const [x, y] = placeOf(event);
    put(chosen, Math.min(x, start[0]), Math.min(y, start[1]), Math.abs(x - start[0]),
      Math.abs(y - start[1]));
    plot.append(chosen);
  });
  plot.addEventListener("pointerup", (event) => {
    if (!start) return;
    const [x, y] = placeOf(event);
    const [x0, x1] = [start[0], x].sort((a, b) => a - b);
    const [y0, y1] = [start[1], y].sort((a, b) => a - b);
    start = null;
    chosen.remove();
    if (x1 - x0 < 8 || y1 - y0 < 8) return;
    const at = (share, low, high) => low + share * (high - low);
    view = figure.classList.contains("zoomed") ? view : [left, top, left + width, top + height];
    view = [
      at((x0 - left) / width, view[0], view[2]), at((y0 - top) / height, view[1], view[3]),
      at((x1 - left) / width, view[0], view[2]), at((y1 - top) / height, view[1], view[3]),
    ];
    draw(...view);
    figure.classList.add("zoomed");
    whole.hidden = false;
  });
  plot.addEventListener("dblclick", () => whole.click());
  figure.classList.add("live-chart");
}

document.addEventListener("DOMContentLoaded", () => {
  themeSwitch(document.getElementById("theme"));
  searchField(document.getElementById("search"));
  document.querySelectorAll("table.grid").forEach(sortable);
  document.querySelectorAll("#learners").forEach(learnerSwitches);
  document.body.append(tip);
  document.querySelectorAll(".chart > svg").forEach(hover);
  for (const plot of document.querySelectorAll(".chart .plot")) zoomable(plot.closest("figure"));
});
