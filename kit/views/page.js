// The replays of an offline page: what it holds stands in for the models of widgets. replay_page.py puts canvas.js before it.
const contents = JSON.parse(document.getElementById("replays").textContent);
const models = contents.map(content => {
  const callbacks = {};
  const model = {
    get: name => content[name],
    set(name, value) {
      content[name] = value;
      callbacks[`change:${name}`]?.();
    },
    on(event, callback) { callbacks[event] = callback; },
    off() {},
    save_changes() { // replays side by side are at the same step
      for (const other of models) if (other.get("index") !== content.index) other.set("index", content.index);
    },
  };
  return model;
});
const dark = matchMedia("(prefers-color-scheme: dark)");
const followTheme = () => { document.body.dataset.jpThemeLight = String(!dark.matches); };
dark.addEventListener("change", followTheme);
followTheme();
for (const model of models) {
  const part = make("div", { class: "kit-place" }, make("h1", {}, model.get("name")));
  document.body.append(part);
  render({ model, el: part });
}
