// What every page needs: folds open for printing and for links that lead into them; wide parts scroll by keyboard;
// landmarks have names.
addEventListener("beforeprint", () => document.querySelectorAll("details:not([hidden])").forEach((fold) => { fold.open = true; }));
const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", open);
open();
document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Contents");
document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
for (const cell of document.querySelectorAll("th")) if (!cell.textContent.trim()) cell.replaceWith(document.createElement("td"));
const reachable = () => {
  for (const node of document.querySelectorAll("pre, .table-wrapper, .math-wrapper, .cell_output, .gl-view, .gl-frame, p:has(> img)")) {
    if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
  }
};
addEventListener("load", reachable);
addEventListener("resize", reachable);
