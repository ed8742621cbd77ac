// Keeps a page as things are. A page that can change says where by data-live: there, an event for each part that has changed
// brings its HTML. A game that can be stepped through says where by data-game.
"use strict";
(() => {
  const status = document.getElementById("status"), said = document.getElementById("said");
  const say = (text) => { status.textContent = text; status.hidden = !text; };

  // tell tells those who hear the page what just happened, in the words of data-says. The region that is read out stays in
  // its place: one that comes new with its part would not be read.
  const tell = () => {
    const text = document.querySelector("[data-says]")?.dataset.says ?? "";
    if (said.textContent !== text) said.textContent = text;
  };

  // replace puts new HTML into a part, and leaves open what was open, what was scrolled where it was, and the focus too.
  const replace = (part, html) => {
    const open = new Map([...part.querySelectorAll("details[id]")].map((d) => [d.id, d.open]));
    const scrolled = new Map([...part.querySelectorAll(".wide[id]")].map((e) => [e.id, e.scrollLeft]));
    const focus = part.contains(document.activeElement) ? key(document.activeElement) : null;
    part.innerHTML = html;
    for (const d of part.querySelectorAll("details[id]")) if (open.has(d.id)) d.open = open.get(d.id);
    for (const e of part.querySelectorAll(".wide[id]")) e.scrollLeft = scrolled.get(e.id) ?? 0;
    if (focus) [...part.querySelectorAll("a, button, summary, input, select, [tabindex]")].find((e) => key(e) === focus)?.focus({ preventScroll: true });
  };
  // key is what an element is found again by.
  const key = (e) => e.id || e.dataset.go || e.getAttribute("href") || e.closest("details")?.id + e.tagName;

  let stream = null;
  const follow = (address, parts, told) => {
    stream = new EventSource(address);
    for (const part of parts) stream.addEventListener(part.id, (e) => replace(part, e.data));
    stream.addEventListener("told", told);
    stream.addEventListener("open", () => say(""));
    stream.addEventListener("over", () => { stream.close(); say(""); });
    stream.addEventListener("error", () => say("Connection lost; trying again …"));
  };

  const live = document.querySelector("[data-live]");
  const game = document.querySelector("[data-game]");
  if (live) follow(live.dataset.live, live.querySelectorAll("section[id]"), () => { if (game) dress(); tell(); });
  if (!game) return;

  const path = game.dataset.game;
  const parts = game.querySelectorAll("section[id]"), controls = document.getElementById("controls");
  let timer = 0, delay = 700, asked = 0;
  const frame = () => document.getElementById("frame").dataset;
  const now = () => Number(frame().step), last = () => Number(frame().last);
  const address = () => path + "?step=" + now();

  // go shows another moment, and makes it the address of the page.
  const go = async (step) => {
    step = Math.min(Math.max(1, step), last());
    stream?.close();
    const mine = ++asked;
    let text;
    try {
      const answer = await fetch(path + "?step=" + step);
      if (!answer.ok) throw new Error(answer.statusText);
      text = await answer.text();
    } catch { stop(); return say("This moment cannot be shown now."); }
    if (mine !== asked) return; // another was asked for since
    say("");
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const part of parts) replace(part, page.getElementById(part.id).innerHTML);
    dress();
    if (timer && delay < 500) return; // nobody can hear that fast
    tell();
    if (!timer) history.replaceState(null, "", address());
  };
  const stop = () => {
    if (timer) history.replaceState(null, "", address());
    clearTimeout(timer);
    timer = 0;
    dress();
  };
  const play = async () => {
    if (now() >= last()) return stop();
    await go(now() + 1);
    if (timer) timer = setTimeout(play, delay);
  };
  const toggle = async () => {
    if (timer) return stop();
    timer = setTimeout(play, delay);
    if (now() >= last()) await go(1);
    dress();
  };
  // round goes to the beginning of another round.
  const round = (by) => {
    const steps = [...controls.querySelectorAll("[data-step]")].map((a) => Number(a.dataset.step));
    const here = steps.findLastIndex((step) => step <= now());
    go(steps[here + by] ?? (by < 0 ? 1 : last()));
  };
  // dress makes of the controls without script those with it.
  const dress = () => {
    const button = document.getElementById("play"), scrub = document.getElementById("scrub"), speed = document.getElementById("speed");
    button.hidden = scrub.parentElement.hidden = speed.parentElement.hidden = false;
    button.textContent = timer ? "Pause" : "Play";
    speed.value = String(delay);
    scrub.setAttribute("aria-valuetext", frame().says);
  };
  // copy keeps the address of the moment; where the page may not, it is the address of the page at least.
  const copy = async () => {
    stream?.close();
    stop();
    history.replaceState(null, "", address());
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is copied.");
    } catch { say("The link is the address of this page now."); }
  };
  controls.addEventListener("click", (e) => {
    const link = e.target.closest("a");
    if (e.target.id === "play") return toggle();
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey || link.dataset.go === "live") return;
    e.preventDefault();
    if (link.id === "moment") return copy();
    stop();
    go(Number(new URL(link.href).searchParams.get("step")));
  });
  controls.addEventListener("input", (e) => { if (e.target.id === "scrub") { stop(); go(Number(e.target.value)); } });
  controls.addEventListener("change", (e) => { if (e.target.id === "speed") delay = Number(e.target.value); });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    if (e.key === " " && /^(BUTTON|SUMMARY|A)$/.test(e.target.tagName)) return;
    const move = e.shiftKey ? round : (by) => go(now() + by);
    const act = { ArrowLeft: () => move(-1), ArrowRight: () => move(1), Home: () => go(1), End: () => go(last()), " ": toggle }[e.key];
    if (!act) return;
    e.preventDefault();
    if (e.key !== " ") stop();
    act();
  });
  document.getElementById("keys").hidden = false;
  dress();
})();
