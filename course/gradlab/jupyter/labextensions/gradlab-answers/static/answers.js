// A check judges the definitions in the kernel, but a learner means those on the page. So a check first runs its answer,
// the answers above that the kernel lacks, and each cell between the last check and this one that was edited since this
// page ran it. Then it sends the page, so that the kernel can refuse to judge any other definition that differs from the
// page's. Before any cell, the set-up cells and the answers above it run that this kernel has never had, in the notebook's
// order: a set-up cell may build on an answer, and a picture show one. Cells that read the answers of chapters get what
// all open notebooks show, saved or not. JupyterLab loads this file without a build.

(() => {
  const kernels = new WeakMap(); // by notebook's session: by cell: the text that this page last sent to the kernel

  const isAnswer = cell => cell.model.getMetadata('nbgrader')?.solution;
  const isSetUp = cell =>
    cell.model.getMetadata('tags')?.some(tag => ['setup', 'question'].includes(tag)) || /^own_engine\(/m.test(text(cell));
  const readsAnswers = cell => /^(own_engine|take_home)\(/m.test(text(cell));
  const isOpen = cell => /^\s*raise NotImplementedError\(\)/m.test(text(cell)); // an answer that was not tried
  const isCheck = cell => /^check\(\s*"\d\d\.\d/m.test(text(cell));
  const text = cell => cell.model.sharedModel.getSource();

  function toRun(above, sent, check) {
    const last = above.findLastIndex(isCheck);
    const since = above.slice(last + 1);
    const own = since.findLast(isAnswer) ?? since.at(-1);
    const isNeeded = (cell, i) =>
      isSetUp(cell) ||
      (isAnswer(cell) && !sent.has(cell) && !isOpen(cell)) ||
      (check && (cell === own || (sent.has(cell) && (i > last || isAnswer(cell)))));
    return above.filter((cell, i) => sent.get(cell) !== text(cell) && isNeeded(cell, i));
  }

  function scheduled(app, { notebook, cell }) {
    const panel = [...app.shell.widgets('main')].find(widget => widget.content === notebook);
    if (!panel || cell.model.type !== 'code') return;
    const sent = sentTo(panel.sessionContext);
    sent.set(cell, text(cell));
    const { kernel } = panel.sessionContext.session ?? {};
    const tell = what => kernel?.requestExecute(NOTHING, true, what).done.catch(() => {}); // one that ends answers nothing
    const above = codeOf(notebook).slice(0, codeOf(notebook).indexOf(cell));
    for (const each of [...toRun(above, sent, isCheck(cell)), cell]) {
      if (readsAnswers(each)) tell({ open: openBeside(app, panel.context.path) });
      if (each === cell) break;
      sent.set(each, text(each));
      // the kernel runs the check even after an error; `ran_first` marks the cells that ran before it
      const metadata = { tags: ['raises-exception'], ran_first: true };
      each.constructor.execute(each, panel.sessionContext, metadata).catch(() => {}); // the cell shows its error
    }
    const alone = notebook.activeCell === cell; // not with all cells: then a pass shows its payoff
    if (isCheck(cell)) tell({ page: shown(notebook), alone });
  }

  const NOTHING = { code: 'pass', silent: true, store_history: false };
  const codeOf = notebook => notebook.widgets.filter(cell => cell.model.type === 'code');
  const shown = notebook =>
    codeOf(notebook).map(cell => ({ id: cell.model.id, metadata: cell.model.metadata, source: text(cell) }));

  // The cells of all open chapters of a workspace, by the chapter's name.
  function openBeside(app, path) {
    const chapters = path.split('/').slice(0, -2);
    const open = {};
    for (const { context, content } of app.shell.widgets('main')) {
      const [file, folder, ...above] = (context?.path ?? '').split('/').reverse();
      const isBeside = above.reverse().join('/') === chapters.join('/');
      if (isBeside && file === `${folder}.ipynb` && content?.widgets) open[folder] = shown(content);
    }
    return open;
  }

  function sentTo(context) {
    const forget = () => kernels.set(context, new WeakMap());
    if (!kernels.has(context)) {
      forget();
      context.kernelChanged.connect(forget);
      context.statusChanged.connect((_, status) => status.endsWith('restarting') && forget());
      context.iopubMessage.connect((_, { header, parent_header: asked }) => {
        const elsewhere = asked.session !== context.session?.kernel?.clientId; // in another window, or a console
        if (header.msg_type === 'execute_input' && elsewhere) forget();
      });
    }
    return kernels.get(context);
  }

  let notebooks; // JupyterLab's module with the signal for executed cells

  const plugin = {
    id: 'gradlab-answers:plugin',
    autoStart: true,
    activate: async app => {
      const { NotebookActions } = await notebooks();
      NotebookActions.executionScheduled.connect((_, what) => scheduled(app, what));
    }
  };

  async function shared(scope, name) {
    const factory = await Object.values(scope[name])[0].get();
    return factory();
  }

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB['gradlab-answers'] = {
    init: scope => {
      notebooks = () => shared(scope, '@jupyterlab/notebook');
    },
    get: async () => () => ({ __esModule: true, default: plugin })
  };
})();
