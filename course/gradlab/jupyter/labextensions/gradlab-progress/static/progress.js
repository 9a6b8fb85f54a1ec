// Show passed exercises immediately: with a tick in the table of contents, and on the start page, even if it is already
// open. Both ask the server when another document comes to the front and when a check has run. A page without a layout
// of its own, such as a second tab's, begins with the table of contents. JupyterLab loads this file without a build.

(() => {
  const START_PAGE = 'README.md';
  const MEMORY = '.progress.json';
  const CHAPTER = /^\d\d_\w+$/;
  const EXERCISE = /\b\d\d\.\d+\w*/g;
  const CHECK = /\bcheck\(\s*"(\d\d\.\d+\w*)/;

  // A text in the reader's language.
  const _ = text =>
    JSON.parse(JSON.parse(document.getElementById('jupyter-config-data').textContent).gradlabTexts ?? '{}')[text] ?? text;

  let notebooks; // JupyterLab's module that reports which cells ran
  let passed = new Set(); // the exercises of the notebook in front that have passed

  const isCheck = model => model.getMetadata('nbgrader')?.grade;

  async function remembered(contents, path) {
    const folders = path.split('/').slice(0, -1);
    if (CHAPTER.test(folders.at(-1))) folders.pop();
    const beside = await contents.get(folders.join('/'));
    if (!beside.content.some(file => file.name === MEMORY)) return {};
    const file = await contents.get([...folders, MEMORY].join('/'), { type: 'file', format: 'text', content: true });
    return JSON.parse(file.content);
  }

  function tick() {
    for (const entry of document.querySelectorAll('.jp-tocItem-content')) {
      entry.classList.toggle('gl-passed', (entry.textContent.match(EXERCISE) ?? []).some(id => passed.has(id)));
    }
  }

  async function renewStartPage(app) {
    const { contents } = app.serviceManager;
    for (const { context, isVisible } of app.shell.widgets('main')) {
      if (context?.path !== START_PAGE || !isVisible || !context.isReady || context.model.dirty) continue;
      const now = await contents.get(START_PAGE, { content: false });
      if (!context.isDisposed && now.last_modified !== context.contentsModel.last_modified) await context.revert();
    }
  }

  async function renew(app) {
    const panel = app.shell.currentWidget;
    if (panel?.context?.path.endsWith('.ipynb')) {
      await panel.context.ready;
      const verdicts = await remembered(app.serviceManager.contents, panel.context.path).catch(() => ({}));
      if (panel.isDisposed) return; // closed meanwhile; another document is in front, and renews
      const checks = [...panel.content.model.cells].filter(isCheck);
      const ids = checks.map(model => model.sharedModel.getSource().match(CHECK)?.[1]);
      passed = new Set(ids.filter(id => verdicts[id] === 'passed'));
      tick();
    }
    await renewStartPage(app);
  }

  const plugin = {
    id: 'gradlab-progress:plugin',
    autoStart: true,
    activate: async app => {
      document.body.style.setProperty('--gl-passed', JSON.stringify(_('passed: '))); // read aloud before a ticked heading
      const { NotebookActions } = await notebooks();
      NotebookActions.executed.connect((sender, { cell }) => {
        if (isCheck(cell.model)) renew(app);
      });
      app.shell.currentChanged?.connect(() => renew(app));
      app.commands.commandExecuted.connect((sender, { id, result }) => {
        if (id === 'gradlab:start-over') result.then(() => renew(app));
      });
      app.restored.then(async () => {
        const layout = await app.shell.restored; // by now JupyterLab has opened the file browser in a page without a layout
        if (layout?.fresh) app.shell.activateById('table-of-contents');
        const list = document.getElementById('table-of-contents');
        if (list) new MutationObserver(tick).observe(list, { childList: true, subtree: true, characterData: true });
        renew(app);
      });
    }
  };

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB['gradlab-progress'] = {
    init: scope => {
      notebooks = async () => (await Object.values(scope['@jupyterlab/notebook'])[0].get())();
    },
    get: async () => () => ({ __esModule: true, default: plugin })
  };
})();
