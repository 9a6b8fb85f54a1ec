// What every page needs: folds open for printing and for links that lead into them, wide parts scroll by keyboard.
addEventListener("beforeprint", () => document.querySelectorAll("details:not([hidden])").forEach((fold) => { fold.open = true; }));
const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", open);
open();
const reachable = () => {
  for (const node of document.querySelectorAll("pre, .table-wrapper, .cell_output, .gl-view, .site-frame")) {
    if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
  }
};
addEventListener("load", reachable);
addEventListener("resize", reachable);
