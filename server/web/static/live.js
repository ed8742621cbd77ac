// Keeps a page as things are. A page that can change says where by data-live: there, an event for each part that has changed
// brings its HTML. A game that can be stepped through says where by data-game.
"use strict";
(() => {
  const status = document.getElementById("status");
  const say = (text) => { status.textContent = text; status.hidden = !text; };

  // replace puts new HTML into a part, and leaves open what was open and the focus where it was.
  const replace = (part, html) => {
    const open = new Map([...part.querySelectorAll("details[id]")].map((d) => [d.id, d.open]));
    const focus = document.activeElement && part.contains(document.activeElement) ? key(document.activeElement) : null;
    part.innerHTML = html;
    for (const d of part.querySelectorAll("details[id]")) if (open.has(d.id)) d.open = open.get(d.id);
    if (focus) [...part.querySelectorAll("a, button, summary, input, select")].find((e) => key(e) === focus)?.focus({ preventScroll: true });
  };
  const key = (e) => e.id || e.getAttribute("href") || e.closest("details")?.id + e.tagName;

  let stream = null;
  const follow = (address, parts, told) => {
    stream?.close();
    stream = new EventSource(address);
    for (const part of parts) stream.addEventListener(part.id, (e) => { replace(part, e.data); told(); });
    stream.addEventListener("open", () => say(""));
    stream.addEventListener("over", () => { stream.close(); say(""); });
    stream.addEventListener("error", () => say("Connection lost; trying again …"));
  };

  const live = document.querySelector("[data-live]");
  const game = document.querySelector("[data-game]");
  if (live) follow(live.dataset.live, live.querySelectorAll("section[id]"), () => game && dress());
  if (!game) return;

  const path = game.dataset.game;
  const table = document.getElementById("table"), controls = document.getElementById("controls");
  let timer = 0, delay = 700, asked = 0;
  const frame = () => document.getElementById("frame").dataset;
  const now = () => Number(frame().step), last = () => Number(frame().last);

  // go shows another moment, and makes it the address of the page.
  const go = async (step, keep) => {
    step = Math.min(Math.max(1, step), last());
    stream?.close(); stream = null;
    const mine = ++asked;
    const address = path + "?step=" + step;
    let text;
    try {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error(answer.statusText);
      text = await answer.text();
    } catch { stop(); return say("This moment cannot be shown now."); }
    if (mine !== asked) return; // another was asked for since
    say("");
    const page = new DOMParser().parseFromString(text, "text/html");
    replace(table, page.getElementById("table").innerHTML);
    replace(controls, page.getElementById("controls").innerHTML);
    dress();
    if (!keep) history.replaceState(null, "", address);
  };
  const stop = () => { clearTimeout(timer); timer = 0; dress(); };
  const play = async () => {
    if (now() >= last()) return stop();
    await go(now() + 1, true);
    if (timer) timer = setTimeout(play, delay);
  };
  const toggle = () => {
    if (timer) { stop(); history.replaceState(null, "", path + "?step=" + now()); return; }
    timer = setTimeout(play, now() >= last() ? 0 : delay);
    if (now() >= last()) go(1, true);
    dress();
  };
  // dress makes of the controls without script those with it.
  const dress = () => {
    const button = document.getElementById("play"), scrub = document.getElementById("scrub"), speed = document.getElementById("speed");
    button.hidden = scrub.parentElement.hidden = speed.parentElement.hidden = false;
    button.textContent = timer ? "Pause" : "Play";
    speed.value = String(delay);
  };
  controls.addEventListener("click", (e) => {
    const link = e.target.closest("a");
    if (e.target.id === "play") return toggle();
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey || link.dataset.go === "live") return;
    e.preventDefault();
    stop();
    go(Number(new URL(link.href).searchParams.get("step")));
  });
  controls.addEventListener("input", (e) => { if (e.target.id === "scrub") { stop(); go(Number(e.target.value)); } });
  controls.addEventListener("change", (e) => { if (e.target.id === "speed") delay = Number(e.target.value); });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    const steps = { ArrowLeft: () => go(now() - 1), ArrowRight: () => go(now() + 1), Home: () => go(1), End: () => go(last()), " ": toggle };
    if (e.key === " " && /^(BUTTON|SUMMARY|A)$/.test(e.target.tagName)) return;
    const act = steps[e.key];
    if (!act) return;
    e.preventDefault();
    if (e.key !== " ") stop();
    act();
  });
  dress();
})();
