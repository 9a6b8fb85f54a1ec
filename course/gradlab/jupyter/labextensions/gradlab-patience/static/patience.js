// A cell that has been running for ten seconds says below its code how to stop it, until it ends. A cell that shows
// its progress with `gradlab.track` says nothing. JupyterLab loads this file without a build.

(() => {
  const PATIENCE_MS = 10000;
  const BAR = /\d%\|/;
  // A text in the reader's language.
  const _ = text =>
    JSON.parse(JSON.parse(document.getElementById('jupyter-config-data').textContent).gradlabTexts ?? '{}')[text] ?? text;

  function wait(cell) {
    const note = document.createElement('p'); // there from the start, so that a screen reader reads what it says later
    note.className = 'gl-patience';
    note.setAttribute('role', 'status');
    const due = () => {
      if (cell.isDisposed) return;
      if (BAR.test(cell.outputArea.node.textContent)) timer = setTimeout(due, PATIENCE_MS);
      else note.textContent = _(
        'This cell has been running for 10 seconds. To stop it, click ■ above the notebook, choose Kernel → Interrupt Kernel, or press Esc, then I twice.'
      );
    };
    let timer = setTimeout(due, PATIENCE_MS);
    cell.ready.then(() => { // JupyterLab draws an off-screen cell later
      if (timer) cell.node.querySelector('.jp-Cell-inputWrapper').after(note);
    });
    return () => {
      clearTimeout(timer);
      timer = null;
      note.remove();
    };
  }

  function watch(panel) {
    let end = () => {};
    panel.sessionContext.iopubMessage.connect((sender, { header, parent_header: parent }) => {
      if (header.msg_type !== 'execute_input') return;
      end();
      const cell = panel.content.widgets.find(one => one.outputArea?.future?.msg.header.msg_id === parent.msg_id);
      end = cell ? wait(cell) : () => {};
    });
    panel.sessionContext.statusChanged.connect((sender, status) => {
      if (status !== 'busy') end();
    });
  }

  let notebooks; // JupyterLab's module that reports which cells run

  const plugin = {
    id: 'gradlab-patience:plugin',
    autoStart: true,
    activate: async app => {
      const watched = new WeakSet();
      const { NotebookActions } = await notebooks();
      NotebookActions.executionScheduled.connect((sender, { notebook }) => {
        const panel = [...app.shell.widgets('main')].find(widget => widget.content === notebook);
        if (!panel || watched.has(panel)) return;
        watched.add(panel);
        watch(panel);
      });
    }
  };

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB['gradlab-patience'] = {
    init: scope => {
      notebooks = async () => (await Object.values(scope['@jupyterlab/notebook'])[0].get())();
    },
    get: async () => () => ({ __esModule: true, default: plugin })
  };
})();
