// What the learner should see is in view. A link such as 04_grad_fn.ipynb#cell-id=ex5-statement leads to its cell, even if
// it opens the notebook: JupyterLab itself scrolls before the cells are laid out, and stays at the top. A link with
// data-fold also opens the cell's fold with that number. After a check its card is in view, and after a payoff its
// picture: JupyterLab itself scrolls to the next cell. JupyterLab loads this file without a build.

(() => {
  const CELL = '#cell-id=';
  const CHAPTER = /(^|\/)\d\d_\w+\/\d\d_\w+\.ipynb$/;
  const HEAD = 120; // px of a cell to run that should be in view
  const CALM = 5; // looks, a tenth of a second apart, after which nothing moves anymore

  // Call `look` until it has returned true CALM times in a row: what was to be in view is there, and stays there. What the
  // learner does ends it.
  async function keep(look) {
    const end = Date.now() + 60000;
    let taken = false; // whether the reader has scrolled or clicked elsewhere
    for (const deed of ['wheel', 'pointerdown', 'keydown']) {
      window.addEventListener(deed, () => (taken = true), { once: true, capture: true });
    }
    for (let calm = 0; calm < CALM && Date.now() < end; ) {
      await new Promise(resolve => setTimeout(resolve, 100));
      if (taken) return;
      calm = (await look()) ? calm + 1 : 0;
    }
  }

  function follow(app, path, id, fold) {
    const names = ({ model }) => [model.id, model.getMetadata('nbgrader')?.grade_id];
    return keep(async () => {
      const panel = app.shell.currentWidget;
      const notebook = panel?.context?.path === path ? panel.content : null;
      const place = notebook?.widgets?.findIndex(cell => names(cell).includes(id)) ?? -1;
      if (place < 0) return false;
      const cell = notebook.widgets[place].node.getBoundingClientRect();
      const view = notebook.node.getBoundingClientRect();
      const seen = cell.height > 0 && cell.top >= view.top - 2 && cell.top < view.bottom - 80;
      if (notebook.activeCellIndex === place && seen) {
        const details = fold && notebook.widgets[place].node.querySelectorAll('details')[fold];
        if (details) {
          details.open = true;
          details.querySelector('summary').focus();
        }
        return true;
      }
      notebook.deselectAll();
      notebook.activeCellIndex = place;
      await notebook.scrollToItem(place, 'start').catch(() => {}); // not laid out yet
      notebook.widgets[place]?.node.scrollIntoView();
      return false;
    });
  }

  const html = cell => (cell.model.outputs?.toJSON() ?? []).map(output => String(output.data?.['text/html'] ?? '')).join('');
  const asks = cell => /^with predict\./m.test(cell?.model.sharedModel.getSource() ?? '');
  const isPassed = cell => // by goOn
    cell.model.type === 'markdown' || cell.model.getMetadata('tags')?.some(tag => ['setup', 'question'].includes(tag));
  const isOpen = cell => // an answer that was not tried
    cell.model.getMetadata('nbgrader')?.solution && /^\s*raise NotImplementedError\(\)/m.test(cell.model.sharedModel.getSource());
  const isPayoff = cell =>
    cell?.model.getMetadata('tags')?.includes('after-exercises') && cell.model.sharedModel.getSource().includes('@payoff(');

  // Keep the outputs of a cell in view; of those that are taller than the window, their beginning.
  function show(notebook, cell) {
    const place = notebook.widgets.indexOf(cell);
    const next = notebook.widgets[place + 1];
    const passed = notebook.widgets.slice(place + 1, notebook.activeCellIndex);
    if (notebook.activeCellIndex < place || !passed.every(isPassed)) return; // all cells are running
    if (html(cell).includes('class="gl-card-next"') && isPayoff(next) && notebook.activeCell === next) {
      select(notebook, notebook.activeCellIndex + 1); // the card shows what this cell would show again
    }
    keep(() => {
      if (cell.isDisposed) return true; // closed meanwhile
      const outputs = cell.outputArea.node.getBoundingClientRect();
      const view = notebook.node.getBoundingClientRect();
      const taller = outputs.height > view.height;
      const seen = taller ? Math.abs(outputs.top - view.top) < 2 : outputs.top >= view.top && outputs.bottom <= view.bottom;
      if (!seen) cell.outputArea.node.scrollIntoView({ block: taller ? 'start' : 'nearest' });
      return seen;
    });
  }

  // Shift+Enter goes on to the next cell to run. A text that is in view already needs no key, nor does set-up, which runs by
  // itself. A screen reader says the texts, because the keyboard passes them.
  function goOn(notebook) {
    const view = notebook.node.getBoundingClientRect();
    const isInView = ({ top, bottom }) => top >= view.top && bottom <= view.bottom;
    const isUnread = cell =>
      cell.model.type === 'markdown' && !(cell.rendered && isInView(cell.node.getBoundingClientRect()));
    const { activeCellIndex: first, widgets } = notebook;
    const next = widgets.findIndex((cell, place) => place >= first && (!isPassed(cell) || isUnread(cell)));
    if (next <= first || asks(widgets[first - 1])) return; // a form takes the keyboard, and knows where to go on
    announce(widgets.slice(first, next));
    arrive(notebook, next);
  }

  // When the cell has run: if what it showed, the texts below and the head of the next cell to run fit into the window, the
  // texts need no key. Nothing that was shown scrolls away for them.
  function goFurther(notebook, ran) {
    const { activeCellIndex: place, widgets } = notebook;
    const next = widgets.findIndex((cell, at) => at >= place && !isPassed(cell));
    const texts = widgets.slice(place, next);
    if (next <= place || !texts.every(cell => cell.model.type !== 'markdown' || cell.rendered)) return;
    const from = (widgets[ran].outputArea ?? widgets[ran]).node.getBoundingClientRect();
    const head = widgets[next].node.getBoundingClientRect();
    const view = notebook.node.getBoundingClientRect();
    const end = head.top + Math.min(head.height, HEAD);
    if (!head.height || end - from.top > view.height) return;
    announce(texts);
    arrive(notebook, next);
    if (end > view.bottom) notebook.outerNode.scrollBy(0, end - view.bottom);
    if (from.top < view.top) notebook.outerNode.scrollBy(0, from.top - view.top);
  }

  function announce(cells) {
    const texts = cells.map(cell => cell.node.querySelector('.jp-MarkdownOutput')?.innerText ?? '');
    document.querySelector('.gl-announced').textContent = texts.join('\n');
  }

  // An answer that has not been written gets the cursor at once.
  function arrive(notebook, place) {
    select(notebook, place);
    if (isOpen(notebook.activeCell) && notebook.activeCell.node === document.activeElement) notebook.mode = 'edit';
  }

  function select(notebook, place) {
    const hasKeyboard = notebook.node.contains(document.activeElement);
    notebook.activeCellIndex = place;
    if (hasKeyboard) notebook.activeCell.node.focus({ preventScroll: true });
  }

  let shared; // returns one of JupyterLab's modules, by its name

  const plugin = {
    id: 'gradlab-links:plugin',
    autoStart: true,
    activate: async app => {
      let fold; // the fold's number in the link that was clicked last
      const note = event => (fold = event.target.closest?.('a')?.dataset.fold);
      window.addEventListener('click', note, { capture: true });
      app.commands.commandExecuted.connect((_, { id, args, result }) => {
        if (id === 'rendermime:handle-local-link' && args?.id?.startsWith(CELL)) {
          follow(app, args.path, decodeURIComponent(args.id.slice(CELL.length)), fold);
        }
        const { content, context } = app.shell.currentWidget ?? {};
        if (id === 'notebook:run-cell-and-select-next' && CHAPTER.test(context?.path)) {
          const ran = content.activeCellIndex - 1;
          goOn(content);
          const place = content.activeCellIndex;
          const isHere = () => content.activeCellIndex === place && content.activeCell.node.contains(document.activeElement);
          if (!asks(content.widgets[ran])) result.then(() => isHere() && goFurther(content, ran)).catch(() => {});
        }
      });
      const { NotebookActions } = await shared('@jupyterlab/notebook');
      NotebookActions.executed.connect((_, { notebook, cell }) => {
        if (isPayoff(cell) || html(cell).includes('class="gl-card ')) show(notebook, cell);
      });
    }
  };

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB['gradlab-links'] = {
    init: scope => {
      shared = async name => (await Object.values(scope[name])[0].get())();
    },
    get: async () => () => ({ __esModule: true, default: plugin })
  };
})();
