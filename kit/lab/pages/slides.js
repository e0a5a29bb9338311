// Arrow keys, space and page keys lead from slide to slide.
const slides = [...document.querySelectorAll("section")];
const STEPS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
const shown = () => slides.findIndex(slide => slide.getBoundingClientRect().bottom > innerHeight / 2);
addEventListener("keydown", event => {
  const step = STEPS[event.key];
  if (!step || event.target.closest("summary, input, iframe")) return;
  event.preventDefault();
  slides[Math.min(Math.max(shown() + step, 0), slides.length - 1)].scrollIntoView();
});
