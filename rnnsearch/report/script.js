// The explorer of the attention. The page is whole without it: texts, figures and charts stand in
// the HTML, and this fills the places left for the explorers when they are opened.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const OTHER = { source: "target", target: "source" };
  const NAMES = { source: "Source", target: "Output" };
  const VIEWS = ["words", "pieces"];
  const BOUNDARY = "\u2581"; // SentencePiece begins a word with it
  const END = "</s>";
  const LEAST = 5; // thousandths; what would show as 0.00 is not written
  let view = "words"; // one choice for the whole page

  function make(tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  // What a screen reader says for a token; marks of the tokenizer get words.
  function spoken(token) {
    if (token === END) return "end of the sentence";
    const text = token.startsWith(BOUNDARY) ? token.slice(1) : token;
    return text.trim() ? text : "word boundary";
  }

  function label(token) {
    if (token === END || !spoken(token).trim() || spoken(token) === "word boundary") {
      return [
        make("span", { className: "boundary", ariaHidden: "true" }, token),
        make("span", { className: "unseen", lang: "en" }, spoken(token)),
      ];
    }
    if (!token.startsWith(BOUNDARY)) return [token];
    return [make("span", { className: "boundary", ariaHidden: "true" }, BOUNDARY), spoken(token)];
  }

  // The explorer of one sentence. `sentence` has a view or two of source, target and weights.
  function explorer(place, sentence) {
    const views = VIEWS.filter((name) => name in sentence);
    let shown; // the view that is drawn
    const rows = {};
    const live = make("p", { className: "looks" });
    live.setAttribute("aria-live", "polite");
    const body = make("div", {});

    function weight(side, index, other) {
      const weights = sentence[shown].weights;
      return side === "target" ? weights[index][other] : weights[other][index];
    }

    function draw() {
      shown = views.includes(view) ? view : views[0];
      const what = views.length > 1 ? shown : "words";
      body.replaceChildren();
      for (const side of ["source", "target"]) {
        const row = make("div", { className: "tokens", dir: "auto", lang: data[`${side}_lang`] });
        row.setAttribute("role", "toolbar");
        row.setAttribute("aria-label", `${NAMES[side]} ${what}`);
        row.dataset.side = side;
        sentence[shown][side].forEach((token, index) => {
          const shade = make("span", { className: "weight" });
          // One stop of Tab a row; the arrow keys move along it.
          const button = make(
            "button",
            { type: "button", className: "token", tabIndex: index ? -1 : 0 },
            make("bdi", {}, ...label(token)),
            shade,
          );
          button.setAttribute("aria-pressed", "false");
          row.append(button);
        });
        rows[side] = row;
        body.append(make("p", { className: "side", ariaHidden: "true" }, NAMES[side]), row);
      }
      body.append(live);
      clear();
    }

    function clear() {
      for (const button of body.querySelectorAll(".token")) paint(button, 0, false);
      live.textContent = "Choose a word of either row to see the weights.";
    }

    function paint(button, thousandths, pressed) {
      button.style.setProperty("--weight", thousandths / 1000);
      button.lastChild.textContent = thousandths < LEAST ? "" : (thousandths / 1000).toFixed(2);
      button.setAttribute("aria-pressed", String(pressed));
    }

    function select(button) {
      const side = button.parentElement.dataset.side;
      const index = [...rows[side].children].indexOf(button);
      for (const one of rows[side].children) {
        paint(one, 0, one === button);
        one.tabIndex = one === button ? 0 : -1;
      }
      [...rows[OTHER[side]].children].forEach((one, other) => {
        paint(one, weight(side, index, other), false);
      });
      tell(side, index);
    }

    // The weights as text, largest first: the shades are not the only carrier.
    function tell(side, index) {
      const tokens = sentence[shown][OTHER[side]];
      const found = tokens.map((token, other) => [weight(side, index, other), other, token]);
      const told = found
        .sort((a, b) => b[0] - a[0] || a[1] - b[1])
        .filter(([value], place_) => value >= 10 || (place_ === 0 && value >= LEAST))
        .slice(0, 6)
        .map(([value, , token]) => [make("bdi", { lang: data[`${OTHER[side]}_lang`] }, spoken(token)),
          ` ${(value / 1000).toFixed(2)}`]);
      const verb = side === "target" ? " looks at: " : " is looked at by: ";
      const name = make("bdi", { lang: data[`${side}_lang`] }, spoken(sentence[shown][side][index]));
      const list = told.flatMap((one, at) => (at ? [", ", ...one] : one));
      live.replaceChildren(make("b", {}, name), verb, ...(list.length ? list : ["nothing"]));
    }

    // The button of the other row with the largest weight.
    function partner(button) {
      const side = button.parentElement.dataset.side;
      const index = [...rows[side].children].indexOf(button);
      const others = [...rows[OTHER[side]].children];
      const weights = others.map((_, other) => weight(side, index, other));
      return others[weights.indexOf(Math.max(...weights))];
    }

    function target(event, button) {
      const row = [...button.parentElement.children];
      const at = row.indexOf(button);
      const forward = getComputedStyle(button.parentElement).direction === "rtl" ? -1 : 1;
      switch (event.key) {
        case "ArrowRight": return row[at + forward];
        case "ArrowLeft": return row[at - forward];
        case "Home": return row[0];
        case "End": return row.at(-1);
        case "ArrowUp":
        case "ArrowDown": return partner(button);
        default: return null;
      }
    }

    for (const kind of ["pointermove", "focusin", "click"]) {
      body.addEventListener(kind, (event) => {
        const button = event.target.closest(".token");
        if (!button || button.getAttribute("aria-pressed") === "true") return;
        // When the page scrolls under a mouse that rests, the keyboard has the say.
        if (kind === "pointermove" && !event.movementX && !event.movementY) return;
        select(button);
      });
    }
    body.addEventListener("keydown", (event) => {
      const button = event.target.closest(".token");
      if (!button || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "Escape") clear();
      const next = target(event, button);
      if (next === null) return;
      event.preventDefault();
      if (next) next.focus();
    });
    if (views.length > 1) place.append(switches(views));
    place.append(body);
    place.addEventListener("view", draw);
    draw();
  }

  // The switch between words and pieces; it changes all explorers that are open.
  function switches(views) {
    const group = make("div", { className: "views" });
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Show words or pieces");
    for (const name of views) {
      const text = name[0].toUpperCase() + name.slice(1);
      const button = make("button", { type: "button", textContent: text });
      button.dataset.view = name;
      button.setAttribute("aria-pressed", String(name === view));
      button.addEventListener("click", () => {
        view = name;
        for (const one of document.querySelectorAll(".views button")) {
          one.setAttribute("aria-pressed", String(one.dataset.view === name));
        }
        for (const one of document.querySelectorAll(".explorer[data-ready]")) {
          one.dispatchEvent(new Event("view"));
        }
      });
      group.append(button);
    }
    return group;
  }

  const places = [...document.querySelectorAll(".explorer")];
  for (const place of places) {
    place.hidden = false;
    // Built when opened: a page of thirty sentences has thousands of buttons.
    place.addEventListener("toggle", () => {
      if (!place.open || "ready" in place.dataset) return;
      place.dataset.ready = "";
      explorer(place, data.sentences[place.dataset.key]);
    });
  }
  if (places.length) places[0].open = true; // the first shows what the others hold
})();
