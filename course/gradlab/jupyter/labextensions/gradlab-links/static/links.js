// A link such as 04_grad_fn.ipynb#cell-id=ex5-statement leads to its cell, even if it opens the notebook. JupyterLab
// itself scrolls before the cells are laid out, and stays at the top. A link with data-fold also opens the cell's fold
// with that number. JupyterLab loads this file without a build.

const CELL = '#cell-id=';

async function follow(app, path, id, fold) {
  const end = Date.now() + 60000;
  let taken = false; // whether the reader has scrolled or clicked elsewhere
  for (const deed of ['wheel', 'pointerdown', 'keydown']) {
    window.addEventListener(deed, () => (taken = true), { once: true, capture: true });
  }
  for (let calm = 0; calm < 5 && !taken && Date.now() < end; ) {
    await new Promise(resolve => setTimeout(resolve, 100));
    if (taken) return;
    const panel = app.shell.currentWidget;
    const notebook = panel?.context?.path === path ? panel.content : null;
    const names = ({ model }) => [model.id, model.getMetadata('nbgrader')?.grade_id];
    const place = notebook?.widgets?.findIndex(cell => names(cell).includes(id)) ?? -1;
    if (place < 0) continue;
    const cell = notebook.widgets[place].node.getBoundingClientRect();
    const view = notebook.node.getBoundingClientRect();
    const seen = cell.height > 0 && cell.top >= view.top - 2 && cell.top < view.bottom - 80;
    if (notebook.activeCellIndex === place && seen) {
      const details = fold && notebook.widgets[place].node.querySelectorAll('details')[fold];
      if (details) {
        details.open = true;
        details.querySelector('summary').focus();
      }
      calm += 1;
      continue;
    }
    calm = 0;
    notebook.deselectAll();
    notebook.activeCellIndex = place;
    await notebook.scrollToItem(place, 'start').catch(() => {}); // not laid out yet
    notebook.widgets[place].node.scrollIntoView();
  }
}

const plugin = {
  id: 'gradlab-links:plugin',
  autoStart: true,
  activate: app => {
    let fold; // the fold's number in the link that was clicked last
    const note = event => (fold = event.target.closest?.('a')?.dataset.fold);
    window.addEventListener('click', note, { capture: true });
    app.commands.commandExecuted.connect((_, { id, args }) => {
      if (id === 'rendermime:handle-local-link' && args?.id?.startsWith(CELL)) {
        follow(app, args.path, decodeURIComponent(args.id.slice(CELL.length)), fold);
      }
    });
  }
};

window._JUPYTERLAB = window._JUPYTERLAB ?? {};
window._JUPYTERLAB['gradlab-links'] = { init: () => {}, get: async () => () => ({ __esModule: true, default: plugin }) };
