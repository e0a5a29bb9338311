// Keeps keys that are pressed in an explorer from JupyterLab, which takes ↓ in a dropdown for a way to the next cell.
function keepKeys(within) {
  const explorer = within.closest(".kit-explorer");
  if (explorer) explorer.onkeydown = event => {
    if (event.key !== "Tab" && !event.ctrlKey && !event.metaKey) event.stopPropagation();
  };
}
