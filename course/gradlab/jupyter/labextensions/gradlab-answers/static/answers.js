// A check judges the definitions in the kernel, but a learner means those on the page. So a check first runs its answer,
// the answers above that the kernel lacks, and each cell between the last check and this one that was edited since this
// page ran it. Then it sends the page, so that the kernel can refuse to judge any other definition that differs from the
// page's. Before any cell, the set-up cells above it run, if they have not. JupyterLab loads this file without a build.

(() => {
  const kernels = new WeakMap(); // by notebook's session: by cell: the text that this page last sent to the kernel

  const isAnswer = cell => cell.model.getMetadata('nbgrader')?.solution;
  const isSetUp = cell => cell.model.getMetadata('tags')?.includes('setup');
  const isOpen = cell => /^\s*raise NotImplementedError\(\)/m.test(text(cell)); // an answer that was not tried
  const isCheck = cell => /^check\(\s*"\d\d\.\d/m.test(text(cell));
  const text = cell => cell.model.sharedModel.getSource();

  function toRun(above, sent, check) {
    const last = above.findLastIndex(isCheck);
    const since = above.slice(last + 1);
    const own = since.findLast(isAnswer) ?? since.at(-1);
    const isNeeded = (cell, i) =>
      isSetUp(cell) ||
      (check && (cell === own || (sent.has(cell) ? i > last || isAnswer(cell) : isAnswer(cell) && !isOpen(cell))));
    return above.filter((cell, i) => sent.get(cell) !== text(cell) && isNeeded(cell, i));
  }

  function scheduled(app, { notebook, cell }) {
    const panel = [...app.shell.widgets('main')].find(widget => widget.content === notebook);
    if (!panel || cell.model.type !== 'code') return;
    const sent = sentTo(panel.sessionContext);
    sent.set(cell, text(cell));
    const cells = notebook.widgets.filter(each => each.model.type === 'code');
    for (const first of toRun(cells.slice(0, cells.indexOf(cell)), sent, isCheck(cell))) {
      sent.set(first, text(first));
      // the kernel runs the check even after an error; `ran_first` marks the cells that ran before it
      const metadata = { tags: ['raises-exception'], ran_first: isSetUp(first) ? 'setup' : 'answer' };
      first.constructor.execute(first, panel.sessionContext, metadata).catch(() => {}); // the cell shows its error
    }
    if (!isCheck(cell)) return;
    const alone = notebook.activeCell === cell; // not with all cells: then a pass shows its payoff
    const page = cells.map(each => ({ metadata: each.model.metadata, source: text(each) }));
    const nothing = { code: 'pass', silent: true, store_history: false };
    const { kernel } = panel.sessionContext.session ?? {};
    kernel?.requestExecute(nothing, true, { page, alone }).done.catch(() => {}); // a kernel that ends answers nothing
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
